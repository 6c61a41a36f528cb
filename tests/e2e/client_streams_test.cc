// The C++ client's streams against a server: the same answers as by messages, at any size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "gpucall/client.h"
#include "tests/e2e/server_binary.h"
#include "tests/testing/child_process.h"

namespace gpucall {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Seeded, between -1 and 1.
Tensor Noise(Shape shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = uniform(random);
  return *Tensor::From<float>(std::move(shape), numbers);
}

int64_t AvailableBytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, unit; file >> name;) {
    int64_t kibibytes = 0;
    file >> kibibytes;
    if (name == "MemAvailable:") return kibibytes << 10;
    std::getline(file, unit);
  }
  return 0;
}

class ClientStreams : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<ServerProcess> server = StartServer();
    ASSERT_TRUE(server.ok()) << server.status();
    server_.emplace(*std::move(server));
    unary_ = *Connect(server_->address(), {.stream_bytes = 100 << 20});
    stream_ = *Connect(server_->address(), {.stream_bytes = 0});
  }

  std::optional<ServerProcess> server_;
  std::optional<Client> unary_, stream_;
};

void ExpectSame(const absl::StatusOr<Tensor>& by_message, const absl::StatusOr<Tensor>& by_stream) {
  ASSERT_TRUE(by_message.ok()) << by_message.status();
  ASSERT_TRUE(by_stream.ok()) << by_stream.status();
  EXPECT_EQ(by_stream->dtype(), by_message->dtype());
  EXPECT_EQ(by_stream->shape(), by_message->shape());
  EXPECT_TRUE(by_stream->bytes() == by_message->bytes());
}

TEST_F(ClientStreams, GiveTheBitsThatMessagesGive) {
  const Tensor a = Noise({1300, 1001}), square = Noise({600, 600});  // 5.2 MB
  const Tensor b = Noise({1001}), scalar = Tensor::Scalar(0.25f);
  const CallOptions checked = {.checksums = true};
  ExpectSame(unary_->Abs(a), stream_->Abs(a, checked));
  ExpectSame(unary_->Add(a, a), stream_->Add(a, a, checked));
  ExpectSame(unary_->Add(a, b), stream_->Add(a, b));
  ExpectSame(unary_->Subtract(scalar, a), stream_->Subtract(scalar, a));
  ExpectSame(unary_->Exp(scalar), stream_->Exp(scalar));
  ExpectSame(unary_->Exp(*Tensor::From<float>({0, 3}, {})),
             stream_->Exp(*Tensor::From<float>({0, 3}, {})));
  ExpectSame(unary_->MatMul(square, square, {.transpose_b = true}),
             stream_->MatMul(square, square, {.transpose_b = true}));
  ExpectSame(unary_->Gaussian(a, {.sigma = 2}), stream_->Gaussian(a, {.sigma = 2}, checked));
  ExpectSame(unary_->Correlate(a, Noise({3, 3})), stream_->Correlate(a, Noise({3, 3})));
}

TEST_F(ClientStreams, ProgramGivesSeveralOutputs) {
  Program program(2);
  const Program::Value sum = program.Add(program.input(0), program.input(1));
  program.Output(sum);
  program.Output(program.MatMul(sum, program.input(1)));
  program.Output(sum);
  const Tensor a = Noise({700, 700}), b = Noise({700, 700});
  Receipt receipt;
  const Client::Reply by_message = unary_->Run(program, {a, b});
  const Client::Reply by_stream =
      stream_->Run(program, {a, b}, {.receipt = &receipt, .checksums = true});
  ASSERT_TRUE(by_message.ok()) << by_message.status();
  ASSERT_TRUE(by_stream.ok()) << by_stream.status();
  ASSERT_EQ(by_stream->size(), 3u);
  for (size_t i = 0; i < 3; ++i) ExpectSame(by_message->at(i), by_stream->at(i));
  EXPECT_EQ(receipt.device, "cpu");
  EXPECT_GT(receipt.compute, absl::ZeroDuration());
}

TEST_F(ClientStreams, ResultsTooLargeForAMessageComeByThemselves) {
  // 8 KB each, and 64 MB of sums.
  const Tensor row = Noise({1, 4000}), column = Noise({4000, 1});
  const absl::StatusOr<Tensor> table = unary_->Add(row, column);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(table->shape(), ElementsAre(4000, 4000));
  const auto sums = *table->as<float>(), rows = *row.as<float>(), columns = *column.as<float>();
  for (size_t i : {size_t{0}, size_t{3999}, size_t{7'654'321}, size_t{15'999'999}}) {
    EXPECT_EQ(sums[i], columns[i / 4000] + rows[i % 4000]) << i;
  }
}

TEST_F(ClientStreams, StartedCallsEachGetTheirOwnAnswer) {
  std::vector<std::future<Client::Reply>> pending;
  for (int i = 0; i < 12; ++i) {
    const Tensor x = Tensor::From<int32_t>(std::vector<int32_t>(1'500'000 + i, i));
    pending.push_back(stream_->Future(Request::Elementwise(ElementwiseOp::kAdd, {x, x})));
  }
  for (int i = 0; i < 12; ++i) {
    const Client::Reply reply = pending[i].get();
    ASSERT_TRUE(reply.ok()) << reply.status();
    ASSERT_EQ(reply->at(0).count(), 1'500'000 + i);
    const auto sums = *reply->at(0).as<int32_t>();
    EXPECT_EQ(std::count(sums.begin(), sums.end(), 2 * i), 1'500'000 + i);
  }
}

TEST_F(ClientStreams, ErrorsNameTheArgument) {
  const absl::Status shapes = stream_->Add(Noise({3}), Noise({2})).status();
  EXPECT_EQ(shapes.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(shapes.message(), HasSubstr("(3)"));
  const std::string bytes(5 << 20, 'x');
  const absl::Status length =
      stream_->Abs(TensorRef(DType::kFloat32, {(5 << 18) + 1}, bytes)).status();
  EXPECT_EQ(length.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(length.message(), HasSubstr("5242884"));
  EXPECT_EQ(stream_->Abs(TensorRef(DType::kFloat32, {(5 << 18) - 1}, bytes)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(stream_->Abs(TensorRef(DType::kFloat32, {-1}, bytes)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(stream_->Abs(Noise({3})).ok());
}

TEST_F(ClientStreams, LateAndStoppedCallsEndAndTheNextIsServed) {
  const Tensor large = Noise({4000, 4000});
  for (int milliseconds : {0, 1, 5, 20, 40}) {
    const absl::Time begin = absl::Now();
    const absl::Status late =
        stream_->Median(large, {.size = 21}, {.deadline = absl::Milliseconds(milliseconds)})
            .status();
    EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
    EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
    std::stop_source stop;
    std::future<Client::Reply> pending = stream_->Future(
        Request::Filter(large, MedianOptions{.size = 21}), {.stop = stop.get_token()});
    absl::SleepFor(absl::Milliseconds(milliseconds));
    stop.request_stop();
    EXPECT_EQ(pending.get().status().code(), absl::StatusCode::kCancelled);
  }
  EXPECT_TRUE(stream_->Abs(large, {.deadline = absl::Seconds(60)}).ok());
}

TEST_F(ClientStreams, ServerThatDiesIsUnavailable) {
  const Tensor large = Noise({8000, 4000});
  std::future<Client::Reply> pending =
      stream_->Future(Request::Filter(large, MedianOptions{.size = 21}));
  absl::SleepFor(absl::Milliseconds(50));
  server_->process().Signal(SIGKILL);
  EXPECT_EQ(pending.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(stream_->Abs(large).status().code(), absl::StatusCode::kUnavailable);
}

// The caller's elements may not be let go while the connection still holds some of them.
TEST_F(ClientStreams, LateCallToAServerThatStallsReturnsWhenItMovesOn) {
  const Tensor large = Noise({8000, 4000});
  ASSERT_TRUE(stream_->Abs(Noise({3})).ok());
  server_->process().Signal(SIGSTOP);
  std::future<absl::Status> late = std::async(std::launch::async, [&] {
    return stream_->Abs(large, {.deadline = absl::Milliseconds(300)}).status();
  });
  absl::SleepFor(absl::Seconds(1));
  server_->process().Signal(SIGCONT);
  EXPECT_EQ(late.get().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(stream_->Abs(large).ok());
}

// There and back in turn, to halve the memory that it takes.
TEST_F(ClientStreams, PastTwoGibibytes) {
  if (AvailableBytes() < int64_t{7} << 30) GTEST_SKIP() << "needs 7 GiB of memory";
  constexpr int64_t kRows = 1100, kColumns = 2'000'003;  // 2.2 GB of uint8
  {
    std::vector<uint8_t> row(kColumns), column(kRows);
    for (int64_t i = 0; i < kColumns; ++i) row[i] = static_cast<uint8_t>(i);
    for (int64_t i = 0; i < kRows; ++i) column[i] = static_cast<uint8_t>(i * 5);
    const absl::StatusOr<Tensor> table =
        unary_->Add(TensorRef({1, kColumns}, absl::MakeConstSpan(row)),
                    TensorRef({kRows, 1}, absl::MakeConstSpan(column)));
    ASSERT_TRUE(table.ok()) << table.status();
    const auto sums = *table->as<uint8_t>();
    ASSERT_EQ(sums.size(), kRows * kColumns);
    for (int64_t i = 0; i < kRows; ++i) {
      const int64_t k = (i * 1'234'567) % kColumns;
      ASSERT_EQ(sums[i * kColumns + k], static_cast<uint8_t>(i * 5 + k)) << i << " " << k;
    }
  }
  // 2 GiB and a little of float32, whose columns have two numbers each.
  const int64_t rows = 268, columns = (int64_t{1} << 21) + 3;
  absl::StatusOr<Tensor> matrix = Tensor::Uninitialized(DType::kFloat32, {rows, columns});
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  float* elements = reinterpret_cast<float*>(matrix->mutable_data());
  std::fill_n(elements, rows * columns, 0.0f);
  for (int64_t k = 0; k < columns; ++k) {
    elements[(k % (rows - 1)) * columns + k] = static_cast<float>(k % 1000);
    elements[(rows - 1) * columns + k] = 2;
  }
  const Tensor ones = *Tensor::From<float>({1, rows}, std::vector<float>(rows, 1));
  const absl::StatusOr<Tensor> sums = stream_->MatMul(ones, *matrix);
  ASSERT_TRUE(sums.ok()) << sums.status();
  const auto values = *sums->as<float>();
  for (int64_t k = 0; k < columns; ++k) ASSERT_EQ(values[k], static_cast<float>(k % 1000 + 2));
}

}  // namespace
}  // namespace gpucall
