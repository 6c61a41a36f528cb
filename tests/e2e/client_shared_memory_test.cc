// The C++ client against a server at a Unix socket: tensors in shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpucall/client.h"
#include "tests/e2e/server_binary.h"

namespace gpucall {
namespace {

constexpr int64_t kCount = 1'000'000;

// Whether the bytes are in memory that this process can share.
bool IsShared(absl::string_view bytes) {
  std::ifstream maps("/proc/self/maps");
  const auto at = reinterpret_cast<uintptr_t>(bytes.data());
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end);
    if (begin <= at && at < end) return line.find("/memfd:gpucall") != line.npos;
  }
  return false;
}

class ClientSharedMemory : public testing::Test {
 protected:
  void SetUp() override {
    path_ = absl::StrCat(testing::TempDir(), "shm_e2e_", getpid());
    server_.emplace(*StartServer({absl::StrCat("--listen=unix:", path_)}));
    client_.emplace(*Connect(server_->address()));
  }

  Tensor Ramp() {
    Tensor tensor = *client_->SharedTensor(DType::kFloat32, {kCount});
    auto* const elements = reinterpret_cast<float*>(tensor.mutable_data());
    for (int64_t i = 0; i < kCount; ++i) elements[i] = static_cast<float>(i);
    return tensor;
  }
  static void ExpectEach(const Tensor& tensor, float factor, float offset) {
    ASSERT_EQ(tensor.count(), kCount);
    const absl::Span<const float> elements = *tensor.as<float>();
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(elements[i], static_cast<float>(i) * factor + offset) << i;
    }
  }

  std::string path_;
  std::optional<ServerProcess> server_;
  std::optional<Client> client_;
};

TEST_F(ClientSharedMemory, ArgumentsAndResultsAreShared) {
  const Tensor x = Ramp();
  EXPECT_TRUE(IsShared(x.bytes()));
  Receipt receipt;
  const absl::StatusOr<Tensor> sum = client_->Add(x, Tensor::Scalar(1.0f), {.receipt = &receipt});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_TRUE(IsShared(sum->bytes()));
  ExpectEach(*sum, 1, 1);
  EXPECT_EQ(receipt.batch_size, 1);
  const absl::StatusOr<Tensor> doubled = client_->Add(*sum, x);
  ASSERT_TRUE(doubled.ok()) << doubled.status();
  ExpectEach(*doubled, 2, 1);
}

TEST_F(ClientSharedMemory, OrdinaryTensorsAreCopied) {
  const std::vector<float> ones(kCount, 1);
  const absl::StatusOr<Tensor> sum =
      client_->Subtract(Ramp(), TensorRef(absl::MakeConstSpan(ones)));
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_TRUE(IsShared(sum->bytes()));
  ExpectEach(*sum, 1, -1);
}

TEST_F(ClientSharedMemory, ProgramsOfSeveralOutputs) {
  Program program(1);
  const auto x = program.input(0);
  program.Output(program.Negative(x));
  program.Output(program.Add(x, x));
  const Client::Reply reply = client_->Run(program, {Ramp()});
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->size(), 2u);
  ExpectEach((*reply)[0], -1, 0);
  ExpectEach((*reply)[1], 2, 0);
}

TEST_F(ClientSharedMemory, CallsThatDoNotBlock) {
  const Request request = Request::Elementwise(ElementwiseOp::kNegative, {Ramp()});
  std::vector<std::future<Client::Reply>> replies;
  for (int i = 0; i < 20; ++i) replies.push_back(client_->Future(request));
  for (auto& reply : replies) {
    const Client::Reply got = reply.get();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(IsShared(got->front().bytes()));
    ExpectEach(got->front(), -1, 0);
  }
}

TEST_F(ClientSharedMemory, ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      const Tensor x = Ramp();
      for (int i = 0; i < 10; ++i) {
        const absl::StatusOr<Tensor> sum = client_->Add(x, Tensor::Scalar(static_cast<float>(t)));
        ASSERT_TRUE(sum.ok()) << sum.status();
        ExpectEach(*sum, 1, static_cast<float>(t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ClientSharedMemory, TensorsLargerThanMessagesAndSmallOnes) {
  Tensor large = *client_->SharedTensor(DType::kUint8, {60'000'000});
  std::fill_n(large.mutable_data(), large.count(), 3);
  const absl::StatusOr<Tensor> sum = client_->Add(large, large);
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(std::count(sum->bytes().begin(), sum->bytes().end(), 6), 60'000'000);
  EXPECT_EQ((*client_->Square(Tensor::Scalar(3.0f))->as<float>())[0], 9);
  EXPECT_EQ(client_->Exp(*client_->SharedTensor(DType::kFloat32, {0, 3}))->count(), 0);
}

TEST_F(ClientSharedMemory, TensorsOutliveTheirClient) {
  std::optional<Tensor> sum = *client_->Add(Ramp(), Tensor::Scalar(1.0f));
  client_.reset();
  server_.reset();
  ExpectEach(*sum, 1, 1);
}

TEST_F(ClientSharedMemory, WithoutTheOtherSocketTensorsAreSent) {
  ASSERT_EQ(unlink((path_ + ".shm").c_str()), 0);
  const absl::StatusOr<Tensor> sum = client_->Add(Ramp(), Tensor::Scalar(1.0f));
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_FALSE(IsShared(sum->bytes()));
  ExpectEach(*sum, 1, 1);
}

TEST_F(ClientSharedMemory, ErrorsAreTheServers) {
  const absl::Status status = client_->Add(Ramp(), *Tensor::From<float>({1, 2}, {1, 2})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
}

}  // namespace
}  // namespace gpucall
