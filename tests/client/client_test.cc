#include "gpucall/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/client/fake_server.h"
#include "tests/client/proto_matcher.h"

namespace gpucall {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An output of one float32.
void AddOutput(float value, v1::RunReply& reply) {
  v1::Tensor& output = *reply.add_outputs();
  output.set_dtype(v1::DTYPE_FLOAT32);
  output.set_data(&value, sizeof(value));
}
grpc::Status AnswerOne(grpc::ServerContext&, v1::RunReply& reply) {
  AddOutput(1.5f, reply);
  return grpc::Status::OK;
}
// Answers only once the call is over.
grpc::Status AnswerNever(grpc::ServerContext& context, v1::RunReply&) {
  while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
  return grpc::Status::CANCELLED;
}
Request AnyRequest() { return Request::Elementwise(ElementwiseOp::kAbs, {Tensor::Scalar(1.0f)}); }

class ClientTest : public testing::Test {
 protected:
  FakeServer server;
  Client client = *Connect(server.target());
};

TEST_F(ClientTest, ElementwiseSendsInputsAndGivesTheOutput) {
  server.answer = [](grpc::ServerContext&, v1::RunReply& reply) {
    v1::Tensor& output = *reply.add_outputs();
    output.set_dtype(v1::DTYPE_UINT8);
    output.add_shape(1);
    output.add_shape(3);
    output.set_data("xyz");
    return grpc::Status::OK;
  };
  const absl::StatusOr<Tensor> result =
      client.Where(Tensor::Scalar(true), Tensor::From<uint8_t>({97, 98}),
                   *Tensor::From<uint8_t>({2, 1}, {99, 100}));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->dtype(), DType::kUint8);
  EXPECT_THAT(result->shape(), ElementsAre(1, 3));
  EXPECT_EQ(result->bytes(), "xyz");
  EXPECT_TRUE(EqualsText(server.elementwise, R"(
    op: ELEMENTWISE_OP_WHERE
    inputs { dtype: DTYPE_BOOL data: "\001" }
    inputs { dtype: DTYPE_UINT8 shape: 2 data: "ab" }
    inputs { dtype: DTYPE_UINT8 shape: [2, 1] data: "cd" })"));
}

TEST_F(ClientTest, MatMulSendsTransposes) {
  server.answer = AnswerOne;
  ASSERT_TRUE(
      client.MatMul(Tensor::Scalar(uint8_t{97}), Tensor::Scalar(uint8_t{98}), {.transpose_b = true})
          .ok());
  EXPECT_TRUE(EqualsText(server.matmul,
                         "a { dtype: DTYPE_UINT8 data: 'a' } "
                         "b { dtype: DTYPE_UINT8 data: 'b' } "
                         "attributes { transpose_b: true }"));
}

TEST_F(ClientTest, EveryFilterIsSent) {
  server.answer = AnswerOne;
  const Tensor image = *Tensor::From<float>({2, 2}, {1, 2, 3, 4});
  const Tensor kernel = *Tensor::From<float>({1, 1}, {1});
  ASSERT_TRUE(client.Gaussian(image, {.sigma = 2}).ok());
  EXPECT_TRUE(EqualsText(server.filter.filter().gaussian(), "sigma: [2] truncate: 4"));
  EXPECT_THAT(server.filter.image().shape(), ElementsAre(2, 2));
  ASSERT_TRUE(client.Box(image, {.size = 5}).ok());
  EXPECT_TRUE(server.filter.filter().has_box());
  ASSERT_TRUE(client.Sobel(image, {.axis = 0}).ok());
  EXPECT_TRUE(server.filter.filter().has_sobel());
  ASSERT_TRUE(client.Laplacian(image).ok());
  EXPECT_TRUE(server.filter.filter().has_laplacian());
  ASSERT_TRUE(client.Median(image, {.size = {3, 5}}).ok());
  EXPECT_TRUE(server.filter.filter().has_median());
  EXPECT_FALSE(server.filter.has_kernel());
  ASSERT_TRUE(client.Correlate(image, kernel).ok());
  EXPECT_TRUE(server.filter.filter().has_correlate());
  EXPECT_THAT(server.filter.kernel().shape(), ElementsAre(1, 1));
  ASSERT_TRUE(client.Convolve(image, kernel, {.border = {.mode = BorderMode::kWrap}}).ok());
  EXPECT_TRUE(server.filter.filter().has_convolve());
  EXPECT_EQ(server.filter.filter().border().mode(), v1::BORDER_MODE_WRAP);
}

TEST_F(ClientTest, RunGivesEveryOutputInOrder) {
  server.answer = [](grpc::ServerContext&, v1::RunReply& reply) {
    for (int i = 0; i < 3; ++i) AddOutput(static_cast<float>(i), reply);
    return grpc::Status::OK;
  };
  Program program(1);
  program.Output(program.Exp(program.input(0)));
  const Client::Reply outputs = client.Run(program, {Tensor::Scalar(2.0f)});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 3u);
  EXPECT_THAT(*(*outputs)[2].as<float>(), ElementsAre(2.0f));
  EXPECT_TRUE(EqualsText(server.run.program(),
                         "operations { elementwise: ELEMENTWISE_OP_EXP inputs: 0 } outputs: 1"));
  EXPECT_EQ(server.run.inputs_size(), 1);
}

TEST_F(ClientTest, ReceiptComesWhenAsked) {
  server.answer = [](grpc::ServerContext& context, v1::RunReply& reply) {
    reply.mutable_receipt()->set_compute_ns(42);
    reply.mutable_receipt()->set_batch_size(3);
    return AnswerOne(context, reply);
  };
  Receipt receipt;
  ASSERT_TRUE(client.Abs(Tensor::Scalar(1.0f), {.receipt = &receipt}).ok());
  EXPECT_TRUE(server.elementwise.options().want_receipt());
  EXPECT_EQ(receipt.compute, absl::Nanoseconds(42));
  EXPECT_EQ(receipt.batch_size, 3u);
  ASSERT_TRUE(client.Abs(Tensor::Scalar(1.0f)).ok());
  EXPECT_FALSE(server.elementwise.options().want_receipt());
}

TEST_F(ClientTest, ErrorsKeepCodeAndMessage) {
  for (int code = 1; code <= 16; ++code) {
    server.answer = [code](grpc::ServerContext&, v1::RunReply&) {
      return grpc::Status(static_cast<grpc::StatusCode>(code), "shape (2, 3) is odd");
    };
    EXPECT_EQ(client.Abs(Tensor::Scalar(1.0f)).status(),
              absl::Status(static_cast<absl::StatusCode>(code), "shape (2, 3) is odd"));
    EXPECT_EQ(client.Future(AnyRequest()).get().status(),
              absl::Status(static_cast<absl::StatusCode>(code), "shape (2, 3) is odd"));
  }
}

TEST_F(ClientTest, ReplyWithoutOutputIsInternal) {
  EXPECT_EQ(client.Abs(Tensor::Scalar(1.0f)).status().code(), absl::StatusCode::kInternal);
}

TEST_F(ClientTest, DeadlineReachesTheServerAndEndsTheCall) {
  std::atomic<bool> carried = false;
  server.answer = [&carried](grpc::ServerContext& context, v1::RunReply& reply) {
    const absl::Duration left = absl::FromChrono(context.deadline()) - absl::Now();
    carried = left < absl::Seconds(10);
    return AnswerNever(context, reply);
  };
  const absl::Time start = absl::Now();
  EXPECT_EQ(client.Abs(Tensor::Scalar(1.0f), {.deadline = absl::Milliseconds(200)}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(190));
  EXPECT_TRUE(carried);
  EXPECT_EQ(client.Future(AnyRequest(), {.deadline = absl::Milliseconds(50)}).get().status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(client.Abs(Tensor::Scalar(1.0f), {.deadline = -absl::Seconds(1)}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ClientTest, StopCancelsBlockedAndPendingCalls) {
  server.answer = AnswerNever;
  std::stop_source stop;
  std::future<Client::Reply> pending = client.Future(AnyRequest(), {.stop = stop.get_token()});
  std::thread stopper([&stop] {
    absl::SleepFor(absl::Milliseconds(50));
    stop.request_stop();
  });
  EXPECT_EQ(client.Abs(Tensor::Scalar(1.0f), {.stop = stop.get_token()}).status().code(),
            absl::StatusCode::kCancelled);
  stopper.join();
  EXPECT_EQ(pending.get().status().code(), absl::StatusCode::kCancelled);
  // Stopped already.
  EXPECT_EQ(client.Abs(Tensor::Scalar(1.0f), {.stop = stop.get_token()}).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(client.Info({.stop = stop.get_token()}).status().code(), absl::StatusCode::kCancelled);
}

TEST_F(ClientTest, CallbackRunsOnceForEveryCall) {
  server.answer = AnswerOne;
  constexpr int kCalls = 200;
  std::atomic<int> right = 0, ran = 0;
  std::promise<void> all;
  const Request request = AnyRequest();
  for (int i = 0; i < kCalls; ++i) {
    client.Start(request, [&](Client::Reply reply) {
      if (reply.ok() && (*reply->front().as<float>())[0] == 1.5f) ++right;
      if (++ran == kCalls) all.set_value();
    });
  }
  all.get_future().wait();
  EXPECT_EQ(right, kCalls);
  EXPECT_EQ(ran, kCalls);
}

TEST_F(ClientTest, ThreadsShareAClientAndCopies) {
  server.answer = AnswerOne;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&right, copy = client] {
      for (int k = 0; k < 25; ++k) right += copy.Abs(Tensor::Scalar(1.0f)).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

TEST_F(ClientTest, PendingCallsOutliveTheClient) {
  server.answer = [](grpc::ServerContext& context, v1::RunReply& reply) {
    absl::SleepFor(absl::Milliseconds(50));
    return AnswerOne(context, reply);
  };
  std::future<Client::Reply> pending = Connect(server.target())->Future(AnyRequest());
  EXPECT_TRUE(pending.get().ok());
}

TEST_F(ClientTest, MessagesPastGrpcsDefaultLimitPass) {
  server.answer = [this](grpc::ServerContext&, v1::RunReply& reply) {
    *reply.add_outputs() = server.elementwise.inputs(0);
    return grpc::Status::OK;
  };
  const Tensor large = Tensor::From<float>(std::vector<float>(5 << 20, 0.5f));
  const Client unary = *Connect(server.target(), {.stream_bytes = 20 << 20});
  const absl::StatusOr<Tensor> result = unary.Abs(large);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->bytes() == large.bytes());
}

TEST_F(ClientTest, ReplyLimitIsAnOption) {
  server.answer = [](grpc::ServerContext&, v1::RunReply& reply) {
    reply.add_outputs()->set_data(std::string(2000, 'x'));
    return grpc::Status::OK;
  };
  const Client small = *Connect(server.target(), {.max_reply_bytes = 1000});
  EXPECT_EQ(small.Abs(Tensor::Scalar(1.0f)).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ClientTest, InfoAndCatalogue) {
  server.info.set_version("1.2.3");
  server.info.set_device_choice("cpu: asked for");
  server.info.add_devices()->set_id("cpu");
  server.info.mutable_devices(0)->set_lanes(2);
  server.info.mutable_limits()->set_max_tensor_bytes(48);
  server.info.mutable_limits()->set_max_values(64);
  const absl::StatusOr<ServerInfo> info = client.Info();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->version, "1.2.3");
  EXPECT_EQ(info->device_choice, "cpu: asked for");
  ASSERT_EQ(info->devices.size(), 1u);
  EXPECT_EQ(info->devices[0].id, "cpu");
  EXPECT_EQ(info->devices[0].lanes, 2u);
  EXPECT_EQ(info->limits.max_tensor_bytes, 48u);
  EXPECT_EQ(info->limits.max_values, 64u);

  v1::CatalogueEntry& entry = *server.catalogue.add_operations();
  entry.set_name("add");
  entry.set_inputs(2);
  entry.add_dtypes(v1::DTYPE_FLOAT64);
  entry.add_dtypes(static_cast<v1::DType>(200));
  const absl::StatusOr<std::vector<CatalogueEntry>> catalogue = client.Catalogue();
  ASSERT_TRUE(catalogue.ok()) << catalogue.status();
  ASSERT_EQ(catalogue->size(), 1u);
  EXPECT_EQ(catalogue->front().name, "add");
  EXPECT_EQ(catalogue->front().inputs, 2u);
  EXPECT_THAT(catalogue->front().dtypes, ElementsAre(DType::kFloat64));
}

TEST_F(ClientTest, ProxyOfTheEnvironmentIsNotUsedForThisHost) {
  server.answer = AnswerOne;
  setenv("http_proxy", "http://127.0.0.1:9", 1);
  const Client behind_proxy = *Connect(server.target());
  EXPECT_TRUE(behind_proxy.Abs(Tensor::Scalar(1.0f)).ok());
  unsetenv("http_proxy");
}

TEST(Connect, NamesWhatItCannotReach) {
  EXPECT_EQ(Connect("").status().code(), absl::StatusCode::kInvalidArgument);
  // Nobody listens on port 9, and connecting is left to the first call.
  const absl::StatusOr<Client> lazy = Connect("127.0.0.1:9");
  ASSERT_TRUE(lazy.ok()) << lazy.status();
  EXPECT_EQ(lazy->Abs(Tensor::Scalar(1.0f)).status().code(), absl::StatusCode::kUnavailable);
  const absl::Status status =
      Connect("127.0.0.1:9", {.connect_deadline = absl::Milliseconds(200)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("127.0.0.1:9"));
}

}  // namespace
}  // namespace gpucall
