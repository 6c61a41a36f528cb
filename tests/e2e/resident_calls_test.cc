// The C++ client's tensors that stay on a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gpucall/client.h"
#include "tests/e2e/server_binary.h"
#include "tests/testing/child_process.h"

namespace gpucall {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ResidentCalls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new ServerProcess(
        *StartServer({"--max_resident_bytes=100000000", "--session_grace_seconds=1"}));
  }
  static void TearDownTestSuite() { delete server_; }

  static absl::StatusOr<Client> ConnectTo() { return Connect(server_->address()); }

  // Whether a tensor of all the bytes that one caller may keep can be put: that nothing else is.
  static bool IsEmpty() {
    const Client client = *ConnectTo();
    const std::vector<uint8_t> all(100'000'000);
    return client.Put(TensorRef(absl::MakeConstSpan(all))).ok();
  }
  static bool IsEmptySoon() {
    for (int i = 0; i < 100; ++i) {
      if (IsEmpty()) return true;
      absl::SleepFor(absl::Milliseconds(100));
    }
    return false;
  }

  // Of the server: each connection is one.
  static int OpenFiles() {
    const std::filesystem::directory_iterator files(
        "/proc/" + std::to_string(server_->process().pid()) + "/fd");
    return static_cast<int>(std::distance(begin(files), end(files)));
  }

  const Client client_ = *ConnectTo();
  const Tensor roots_ = Tensor::From<float>({1, 4, 9});

  static ServerProcess* server_;
};
ServerProcess* ResidentCalls::server_ = nullptr;

TEST_F(ResidentCalls, PutUseGet) {
  const absl::StatusOr<TensorHandle> handle = client_.Put(roots_);
  ASSERT_TRUE(handle.ok()) << handle.status();
  EXPECT_EQ(handle->dtype(), DType::kFloat32);
  EXPECT_THAT(handle->shape(), ElementsAre(3));
  EXPECT_EQ(handle->id().size(), 16u);
  EXPECT_THAT(*client_.Sqrt(*handle)->as<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(*client_.Add(*handle, roots_)->as<float>(), ElementsAre(2, 8, 18));
  EXPECT_EQ(client_.Get(*handle)->bytes(), roots_.bytes());
}

TEST_F(ResidentCalls, ResultsThatStay) {
  const TensorHandle x = *client_.Put(roots_);
  Program program(1);
  const auto root = program.Sqrt(program.input(0));
  program.Output(root);
  program.Output(program.Add(root, root));
  Receipt receipt;
  const auto kept = client_.CallAndKeep(Request::Run(program, {x}), {.receipt = &receipt});
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->size(), 2u);
  EXPECT_EQ(receipt.batch_size, 1u);
  EXPECT_THAT(*client_.Get((*kept)[1])->as<float>(), ElementsAre(2, 4, 6));
  const auto sum =
      client_.CallAndKeep(Request::Elementwise(ElementwiseOp::kAdd, {(*kept)[0], (*kept)[1]}));
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_THAT(*client_.Get(sum->front())->as<float>(), ElementsAre(3, 6, 9));
}

TEST_F(ResidentCalls, LargeTensorsGoInChunks) {
  std::vector<float> elements(5'000'001);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 1000);
  const TensorRef x(absl::MakeConstSpan(elements));
  const absl::StatusOr<TensorHandle> handle = client_.Put(x);
  ASSERT_TRUE(handle.ok()) << handle.status();
  EXPECT_EQ(client_.Get(*handle)->bytes(), x.bytes());
  // A large input beside a resident one, in a stream and kept.
  const Tensor sum = *client_.Add(*handle, x);
  EXPECT_EQ(sum.as<float>()->back(), 2 * elements.back());
  const auto kept = client_.CallAndKeep(Request::Elementwise(ElementwiseOp::kAdd, {x, *handle}));
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(client_.Get(kept->front())->bytes(), sum.bytes());
}

TEST_F(ResidentCalls, LargeTensorsGoOverSeveralConnections) {
  std::vector<uint32_t> elements(11'000'003);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<uint32_t>(i * 2654435761u);
  const TensorRef x(DType::kUint8, {static_cast<int64_t>(4 * elements.size())},
                    {reinterpret_cast<const char*>(elements.data()), 4 * elements.size()});
  const auto size = static_cast<int64_t>(x.bytes().size());
  const int before = OpenFiles();
  for (const int connections : {0, 1, 2, 3, 8}) {
    for (int i = 0; i < 500 && OpenFiles() > before; ++i) absl::SleepFor(absl::Milliseconds(10));
    const Client client = *Connect(server_->address(), {.connections = connections});
    std::vector<int64_t> done;
    CallOptions options = {.checksums = true, .progress = [&](int64_t bytes, int64_t in_all) {
                             EXPECT_EQ(in_all, size);
                             done.push_back(bytes);
                           }};
    const absl::StatusOr<TensorHandle> handle = client.Put(x, options);
    ASSERT_TRUE(handle.ok()) << handle.status();
    EXPECT_TRUE(std::ranges::is_sorted(done));
    EXPECT_EQ(done.back(), size);
    done.clear();
    const absl::StatusOr<Tensor> back = client.Get(*handle, options);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(back->bytes() == x.bytes());
    EXPECT_EQ(done.back(), size);
    EXPECT_GE(OpenFiles() - before, std::clamp(connections, 1, 5));  // 44 MB are five ranges
  }
}

TEST_F(ResidentCalls, RangesThatEndEarlyLeaveNothing) {
  const std::vector<uint8_t> elements(90'000'000);
  const TensorRef x(absl::MakeConstSpan(elements));
  for (const int64_t bytes : {1, 20'000'000, 80'000'000}) {
    std::stop_source stop;
    const auto status = client_
                            .Put(x, {.stop = stop.get_token(),
                                     .progress =
                                         [&](int64_t done, int64_t) {
                                           if (done >= bytes) stop.request_stop();
                                         }})
                            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
    EXPECT_TRUE(IsEmptySoon());
  }
  EXPECT_EQ(ConnectTo()->Put(x, {.deadline = absl::Milliseconds(1)}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(IsEmptySoon());
  const TensorHandle handle = *client_.Put(x);
  EXPECT_EQ(client_.Get(handle, {.deadline = absl::Milliseconds(1)}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  std::stop_source stop;
  const auto status = client_
                          .Get(handle, {.stop = stop.get_token(),
                                        .progress = [&](int64_t, int64_t) { stop.request_stop(); }})
                          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  EXPECT_TRUE(client_.Get(handle)->bytes() == x.bytes());
}

TEST_F(ResidentCalls, FreedWithTheLastCopy) {
  std::vector<uint8_t> elements(60'000'000);
  const TensorRef x(absl::MakeConstSpan(elements));
  for (int i = 0; i < 4; ++i) {  // two of them are more than the quota
    absl::StatusOr<TensorHandle> handle = client_.Put(x);
    for (int tries = 0; tries < 500 && !handle.ok(); ++tries) {  // the last ones are freed soon
      absl::SleepFor(absl::Milliseconds(20));
      handle = client_.Put(x);
    }
    ASSERT_TRUE(handle.ok()) << handle.status();
    TensorHandle copy = *handle;
    handle = TensorHandle();
    EXPECT_EQ(client_.Put(x).status().code(), absl::StatusCode::kResourceExhausted);
    copy = TensorHandle();
  }
  EXPECT_TRUE(IsEmptySoon());
}

TEST_F(ResidentCalls, GoneWithTheClient) {
  TensorHandle handle;
  {
    const Client client = *ConnectTo();
    handle = *client.Put(roots_);
  }
  EXPECT_TRUE(client_.Get(handle).ok());  // handles keep the session
  handle = TensorHandle();
  EXPECT_TRUE(IsEmptySoon());
}

TEST_F(ResidentCalls, Errors) {
  const absl::Status none = client_.Sqrt(TensorHandle()).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(none.message()), HasSubstr("inputs[0]: handle: has 0 bytes"));
  std::vector<uint8_t> much(100'000'001);
  const absl::Status quota = client_.Put(TensorRef(absl::MakeConstSpan(much))).status();
  EXPECT_EQ(quota.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(quota.message()), HasSubstr("100000001"));
  const absl::Status wrong = client_.Put(TensorRef(DType::kFloat32, {3}, "abc")).status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace gpucall
