// The gRPC server as a client sees it, over a device that echoes.
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "server/service/rpc_server.h"
#include "tests/testing/gated_device.h"

namespace gpucall {
namespace {

using ::testing::HasSubstr;

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    scheduler_ = *BatchScheduler::Make(device_, 1, {});
    v1::ServerInfo info;
    info.add_devices()->set_id("gated");
    ComputeLimits limits;
    limits.max_tensor_bytes = 1 << 20;
    limits.max_message_bytes = 4 << 20;
    server_ = *RpcServer::Start("127.0.0.1:0", *scheduler_, device_, limits, info);
    channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    stub_ = v1::Compute::NewStub(channel_);
  }

  void TearDown() override {
    device_.Open();
    scheduler_->Drain(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  }

  static v1::Tensor MakeTensor(std::initializer_list<int64_t> shape, std::string data,
                               v1::DType dtype = v1::DTYPE_UINT8) {
    v1::Tensor tensor;
    tensor.set_dtype(dtype);
    tensor.mutable_shape()->Add(shape.begin(), shape.end());
    tensor.set_data(std::move(data));
    return tensor;
  }

  // A Program that returns its only input.
  static v1::RunRequest Identity(v1::Tensor tensor) {
    v1::RunRequest request;
    *request.add_inputs() = std::move(tensor);
    request.mutable_program()->add_outputs(0);
    return request;
  }

  grpc::Status Run(const v1::RunRequest& request, v1::RunReply& reply) {
    grpc::ClientContext context;
    return stub_->Run(&context, request, &reply);
  }

  void ExpectError(const grpc::Status& status, grpc::StatusCode code, const std::string& part) {
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(part));
    EXPECT_LT(status.error_message().size(), 1001u);
  }

  // Sends bytes as they are to a method of Compute.
  grpc::Status Send(const std::string& method, const std::string& bytes) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const grpc::Slice slice(bytes);
    auto call = stub.PrepareUnaryCall(&context, "/gpucall.v1.Compute/" + method,
                                      grpc::ByteBuffer(&slice, 1), &queue);
    call->StartCall();
    grpc::ByteBuffer reply;
    grpc::Status status;
    call->Finish(&reply, &status, nullptr);
    void* tag;
    bool ok;
    queue.Next(&tag, &ok);
    return status;
  }

  GatedDevice device_;
  std::unique_ptr<BatchScheduler> scheduler_;
  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Compute::Stub> stub_;
};

TEST_F(ServiceTest, TensorsComeBackAsSent) {
  device_.Open();
  v1::RunRequest request = Identity(MakeTensor({2, 3}, "abcdef"));
  v1::RunReply reply;
  ASSERT_TRUE(Run(request, reply).ok());
  ASSERT_EQ(reply.outputs_size(), 1);
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(reply.outputs(0), request.inputs(0)));
  EXPECT_FALSE(reply.has_receipt());

  request.mutable_options()->set_want_receipt(true);
  ASSERT_TRUE(Run(request, reply).ok());
  EXPECT_EQ(reply.receipt().batch_size(), 1u);
  EXPECT_EQ(reply.receipt().device(), "gated");
}

TEST_F(ServiceTest, MalformedMessagesAreInvalidArgument) {
  device_.Open();
  for (const char* method : {"Elementwise", "MatMul", "Filter", "Run"}) {
    ExpectError(Send(method, "\xff\xff\xff\xff garbage"), grpc::INVALID_ARGUMENT,
                "not a valid gpucall.v1.");
    ExpectError(Send(method, ""), grpc::INVALID_ARGUMENT, "");
  }
  v1::RunReply reply;
  EXPECT_TRUE(Run(Identity(MakeTensor({1}, "x")), reply).ok());
}

TEST_F(ServiceTest, TensorsAreChecked) {
  v1::RunReply reply;
  ExpectError(Run(Identity(MakeTensor({-1, 4}, "abcd")), reply), grpc::INVALID_ARGUMENT,
              "negative dimension -1");
  ExpectError(Run(Identity(MakeTensor({2, 3}, "abc")), reply), grpc::INVALID_ARGUMENT,
              "inputs[0]: data has 3 bytes, shape (2, 3) of uint8 needs 6");
  ExpectError(Run(Identity(MakeTensor({int64_t{1} << 40}, "abc")), reply), grpc::INVALID_ARGUMENT,
              "data has 3 bytes");
  ExpectError(Run(Identity(MakeTensor({1}, "a", static_cast<v1::DType>(99))), reply),
              grpc::INVALID_ARGUMENT, "dtype is 99");
  v1::RunRequest request = Identity(MakeTensor({0}, ""));
  request.mutable_inputs(0)->clear_source();
  ExpectError(Run(request, reply), grpc::INVALID_ARGUMENT, "source is not set");
}

TEST_F(ServiceTest, OperationsAreChecked) {
  v1::ElementwiseRequest elementwise;
  v1::ComputeReply reply;
  const auto call = [&](int op) {
    grpc::ClientContext context;
    elementwise.set_op(static_cast<v1::ElementwiseOp>(op));
    return stub_->Elementwise(&context, elementwise, &reply);
  };
  ExpectError(call(0), grpc::INVALID_ARGUMENT, "op: is not set");
  ExpectError(call(9999), grpc::UNIMPLEMENTED, "9999");
  ExpectError(call(-1), grpc::UNIMPLEMENTED, "-1");

  v1::FilterRequest filter;
  *filter.mutable_image() = MakeTensor({1, 1}, "x");
  const auto run_filter = [&] {
    grpc::ClientContext context;
    return stub_->Filter(&context, filter, &reply);
  };
  ExpectError(run_filter(), grpc::INVALID_ARGUMENT, "kind is not set");
  filter.mutable_filter()->mutable_median()->add_size(0);
  ExpectError(run_filter(), grpc::INVALID_ARGUMENT, "size of the rows is 0, allowed is 1 to 255");
  filter.mutable_filter()->mutable_border()->set_mode(static_cast<v1::BorderMode>(77));
  ExpectError(run_filter(), grpc::INVALID_ARGUMENT,
              "allowed are nearest, reflect, mirror, wrap, constant");
  filter.mutable_filter()->mutable_gaussian();
  ExpectError(run_filter(), grpc::INVALID_ARGUMENT, "sigma is missing");
  filter.mutable_filter()->mutable_correlate();
  filter.mutable_filter()->clear_border();
  ExpectError(run_filter(), grpc::INVALID_ARGUMENT, "correlate: got 1 inputs, needs 2");
}

TEST_F(ServiceTest, MessagesOverTheLimitAreRefused) {
  v1::RunReply reply;
  ExpectError(Run(Identity(MakeTensor({5 << 20}, std::string(5 << 20, 'x'))), reply),
              grpc::RESOURCE_EXHAUSTED, "4194304");
  ExpectError(Run(Identity(MakeTensor({2 << 20}, std::string(2 << 20, 'x'))), reply),
              grpc::RESOURCE_EXHAUSTED, "1048576");
}

TEST_F(ServiceTest, CancelledAndLateCallsAreNotStarted) {
  auto running = std::async(std::launch::async, [&] {
    v1::RunReply reply;
    return Run(Identity(MakeTensor({1}, "x")), reply);
  });
  device_.AwaitBatches(1);
  {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
    v1::RunReply reply;
    const grpc::Status status = stub_->Run(&context, Identity(MakeTensor({1}, "x")), &reply);
    EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
  }
  {
    grpc::ClientContext context;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      context.TryCancel();
    });
    v1::RunReply reply;
    EXPECT_EQ(stub_->Run(&context, Identity(MakeTensor({1}, "x")), &reply).error_code(),
              grpc::CANCELLED);
    canceller.join();
  }
  // The client knows at once; the server when the cancellation has reached it.
  while (scheduler_->unfinished() > 1) std::this_thread::yield();
  device_.Open();
  EXPECT_TRUE(running.get().ok());
  EXPECT_TRUE(scheduler_->Drain(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_THAT(device_.sizes(), ::testing::ElementsAre(1u));
}

TEST_F(ServiceTest, DrainFinishesCallsInFlight) {
  auto running = std::async(std::launch::async, [&] {
    v1::RunReply reply;
    return Run(Identity(MakeTensor({1}, "x")), reply);
  });
  device_.AwaitBatches(1);
  EXPECT_TRUE(ProbeHealth(server_->address(), std::chrono::seconds(10)).ok());
  auto drained =
      std::async(std::launch::async, [&] { return server_->Drain(std::chrono::seconds(60)); });
  while (ProbeHealth(server_->address(), std::chrono::seconds(10)).ok()) std::this_thread::yield();
  device_.Open();
  EXPECT_TRUE(running.get().ok());
  EXPECT_TRUE(drained.get());
}

TEST_F(ServiceTest, CatalogueListsEveryOperation) {
  grpc::ClientContext context;
  v1::Catalogue catalogue;
  ASSERT_TRUE(v1::Server::NewStub(channel_)->GetCatalogue(&context, {}, &catalogue).ok());
  int elementwise = 0, filters = 0, reductions = 0, rearrangements = 0, images = 0;
  for (const auto& entry : catalogue.operations()) {
    elementwise += entry.kind() == "elementwise";
    filters += entry.kind() == "filter";
    reductions += entry.kind() == "reduce";
    rearrangements += entry.kind() == "rearrange";
    images += entry.kind() == "image";
  }
  // As many as the wire has names.
  EXPECT_EQ(elementwise, v1::ElementwiseOp_ARRAYSIZE - 1);
  EXPECT_EQ(filters, v1::Filter::descriptor()->oneof_decl(0)->field_count());
  EXPECT_EQ(reductions, v1::ReduceOp_ARRAYSIZE - 1);
  EXPECT_EQ(rearrangements, v1::Rearrange::descriptor()->oneof_decl(0)->field_count());
  EXPECT_EQ(images, v1::Image::descriptor()->oneof_decl(0)->field_count());
  const int creations = v1::Creation::descriptor()->oneof_decl(0)->field_count();
  const int networks = v1::Network::descriptor()->oneof_decl(0)->field_count();
  const int signals = v1::Signal::descriptor()->oneof_decl(0)->field_count();
  // And matmul, sort, cumsum, cumprod, take, take_along_axis.
  EXPECT_EQ(catalogue.operations_size(), elementwise + filters + reductions + rearrangements +
                                             images + creations + networks + signals + 6);
}

TEST_F(ServiceTest, PortInUseIsAnError) {
  v1::ServerInfo info;
  info.add_devices();
  auto second = RpcServer::Start(server_->address(), *scheduler_, device_, {}, info);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(server_->address()));
}

}  // namespace
}  // namespace gpucall
