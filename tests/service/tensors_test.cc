// The Tensors service against the CPU device: many callers at once, and callers that go.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpucall/v1/tensors.grpc.pb.h"
#include "server/device/cpu_device.h"
#include "server/service/rpc_server.h"

namespace gpucall {
namespace {

using ::testing::HasSubstr;

class TensorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    v1::ServerInfo info;
    info.add_devices()->set_id("cpu");
    ComputeLimits limits;
    limits.residents.tenant = {.size_bytes = int64_t{64} << 20, .tensors = 1000};
    limits.residents.session_grace = std::chrono::seconds(0);
    server_ = *RpcServer::Start("127.0.0.1:0", *scheduler_, *device_, limits, info);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    const auto channel = grpc::CreateCustomChannel(server_->address(),
                                                   grpc::InsecureChannelCredentials(), arguments);
    tensors_ = v1::Tensors::NewStub(channel);
    compute_ = v1::Compute::NewStub(channel);
    statistics_ = v1::Server::NewStub(channel);
  }
  void TearDown() override { EXPECT_TRUE(server_->Drain(std::chrono::seconds(30))); }

  grpc::Status Put(const std::string& data, const std::string& session, v1::PutReply& reply) {
    v1::PutRequest request;
    request.mutable_tensor()->set_dtype(v1::DTYPE_UINT8);
    request.mutable_tensor()->add_shape(static_cast<int64_t>(data.size()));
    request.mutable_tensor()->set_data(data);
    request.mutable_options()->set_session(session);
    grpc::ClientContext context;
    return tensors_->Put(&context, request, &reply);
  }

  grpc::Status Get(const std::string& handle, std::string& data) {
    v1::GetRequest request;
    request.set_handle(handle);
    v1::GetReply reply;
    grpc::ClientContext context;
    const grpc::Status status = tensors_->Get(&context, request, &reply);
    data = reply.tensor().data();
    return status;
  }

  // handle + handle, kept.
  grpc::Status Double(const std::string& handle, v1::ComputeReply& reply) {
    v1::ElementwiseRequest request;
    request.set_op(v1::ELEMENTWISE_OP_ADD);
    request.add_inputs()->set_handle(handle);
    request.add_inputs()->set_handle(handle);
    request.mutable_options()->add_keep_outputs(0);
    grpc::ClientContext context;
    return compute_->Elementwise(&context, request, &reply);
  }

  // Outputs: the input flat, itself, its double, and that flat; those kept that `keep` names.
  grpc::Status Flatten(v1::Tensor input, const std::vector<uint32_t>& keep, v1::RunReply& reply) {
    v1::RunRequest request;
    *request.add_inputs() = std::move(input);
    const auto reshape = [&](uint32_t value) {
      v1::Operation& operation = *request.mutable_program()->add_operations();
      operation.mutable_rearrange()->mutable_reshape()->add_shape(-1);
      operation.add_inputs(value);
    };
    reshape(0);
    v1::Operation& add = *request.mutable_program()->add_operations();
    add.set_elementwise(v1::ELEMENTWISE_OP_ADD);
    add.add_inputs(0);
    add.add_inputs(0);
    reshape(2);
    for (const uint32_t output : {1, 0, 2, 3}) request.mutable_program()->add_outputs(output);
    for (const uint32_t output : keep) request.mutable_options()->add_keep_outputs(output);
    grpc::ClientContext context;
    return compute_->Run(&context, request, &reply);
  }
  // As Flatten, with the input (1000, count / 1000) streamed and every output kept.
  grpc::Status FlattenStream(const std::string& data, std::vector<std::string>& handles) {
    v1::RunStreamRequest request;
    v1::RunStreamStart& start = *request.mutable_start();
    v1::Tensor& input = *start.add_inputs();
    input.set_dtype(v1::DTYPE_UINT8);
    input.add_shape(1000);
    input.add_shape(static_cast<int64_t>(data.size()) / 1000);
    input.mutable_streamed();
    v1::Operation& reshape = *start.mutable_program()->add_operations();
    reshape.mutable_rearrange()->mutable_reshape()->add_shape(-1);
    reshape.add_inputs(0);
    for (const uint32_t output : {0, 1}) {
      start.mutable_program()->add_outputs(output);
      start.mutable_options()->add_keep_outputs(output);
    }
    grpc::ClientContext context;
    const auto stream = compute_->RunStream(&context);
    stream->Write(request);
    for (size_t at = 0; at < data.size(); at += 1 << 20) {
      request.mutable_chunk()->set_offset(at);
      request.mutable_chunk()->set_data(data.substr(at, 1 << 20));
      stream->Write(request);
    }
    stream->WritesDone();
    handles.clear();
    for (v1::RunStreamReply reply; stream->Read(&reply);) {
      for (const v1::Tensor& output : reply.result().outputs()) handles.push_back(output.handle());
    }
    return stream->Finish();
  }

  grpc::Status Free(const std::string& handle) {
    v1::FreeRequest request;
    request.add_handles(handle);
    v1::FreeReply reply;
    grpc::ClientContext context;
    return tensors_->Free(&context, request, &reply);
  }

  v1::ResidentStatistics Resident() {
    v1::Statistics reply;
    grpc::ClientContext context;
    EXPECT_TRUE(statistics_->GetStatistics(&context, {}, &reply).ok());
    return reply.resident();
  }
  void AwaitNothing() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (Resident().tensors() + Resident().size_bytes() + Resident().sessions() > 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << Resident().DebugString();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  static void OnThreads(int count, const std::function<void(int)>& act) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(act, i);
    for (std::thread& thread : threads) thread.join();
  }

  const std::unique_ptr<Device> device_ = MakeCpuDevice();
  const std::unique_ptr<BatchScheduler> scheduler_ = *BatchScheduler::Make(*device_, 2, {});
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<v1::Tensors::Stub> tensors_;
  std::unique_ptr<v1::Compute::Stub> compute_;
  std::unique_ptr<v1::Server::Stub> statistics_;
};

TEST_F(TensorsTest, ManyCallersAtOnce) {
  OnThreads(4, [&](int thread) {
    for (int i = 0; i < 25; ++i) {
      const std::string data(100 + i, static_cast<char>(thread + 1));
      v1::PutReply put;
      ASSERT_TRUE(Put(data, "", put).ok());
      v1::ComputeReply doubled;
      ASSERT_TRUE(Double(put.tensor().handle(), doubled).ok());
      EXPECT_TRUE(doubled.output().data().empty());
      ASSERT_TRUE(Free(put.tensor().handle()).ok());
      std::string got;
      ASSERT_TRUE(Get(doubled.output().handle(), got).ok());
      EXPECT_EQ(got, std::string(data.size(), static_cast<char>(2 * (thread + 1))));
      ASSERT_TRUE(Free(doubled.output().handle()).ok());
    }
  });
  AwaitNothing();
}

TEST_F(TensorsTest, FreedByOneWhileOthersUseIt) {
  for (int round = 0; round < 20; ++round) {
    v1::PutReply put;
    ASSERT_TRUE(Put(std::string(50'000, 'a'), "", put).ok());
    OnThreads(4, [&](int thread) {
      if (thread == 0) {
        EXPECT_TRUE(Free(put.tensor().handle()).ok());
        return;
      }
      std::string got;
      const grpc::Status status = Get(put.tensor().handle(), got);
      if (status.ok()) {
        EXPECT_EQ(got, std::string(50'000, 'a'));
      } else {
        EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
      }
    });
  }
  AwaitNothing();
}

TEST_F(TensorsTest, SessionsOfCallersThatGo) {
  OnThreads(4, [&](int thread) {
    for (int i = 0; i < 50; ++i) {
      grpc::ClientContext context;
      const auto stream = tensors_->OpenSession(&context, {});
      v1::Session session;
      if (i % 3 != 0) {
        ASSERT_TRUE(stream->Read(&session));
        v1::PutReply put;
        ASSERT_TRUE(Put(std::string(1000, static_cast<char>(thread)), session.id(), put).ok());
      }
      context.TryCancel();
      EXPECT_EQ(stream->Finish().error_code(), grpc::CANCELLED);
    }
  });
  AwaitNothing();
}

TEST_F(TensorsTest, WritersOfOneTensor) {
  constexpr int kParts = 4;
  constexpr int64_t kPartBytes = 1'500'000;
  v1::CreateRequest request;
  request.set_dtype(v1::DTYPE_UINT8);
  request.add_shape(kParts * kPartBytes);
  v1::ResidentTensor created;
  grpc::ClientContext create_context;
  ASSERT_TRUE(tensors_->Create(&create_context, request, &created).ok());
  OnThreads(kParts, [&](int part) {
    for (const bool half_way : {true, false}) {
      grpc::ClientContext context;
      v1::ResidentTensor reply;
      const auto writer = tensors_->Write(&context, &reply);
      v1::WriteRequest message;
      message.mutable_start()->set_handle(created.handle());
      message.mutable_start()->set_offset(static_cast<uint64_t>(part * kPartBytes));
      message.mutable_start()->set_size_bytes(kPartBytes);
      ASSERT_TRUE(writer->Write(message));
      for (int64_t at = 0; at < kPartBytes; at += 500'000) {
        message.mutable_chunk()->set_offset(static_cast<uint64_t>(part * kPartBytes + at));
        message.mutable_chunk()->set_data(std::string(500'000, static_cast<char>(part + 1)));
        if (at == 0 || !half_way) {
          EXPECT_TRUE(writer->Write(message));
        }
      }
      writer->WritesDone();
      const grpc::Status status = writer->Finish();
      if (half_way) {
        EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
        EXPECT_THAT(status.error_message(), HasSubstr("ended after 500000 of 1500000"));
      } else {
        EXPECT_TRUE(status.ok()) << status.error_message();
      }
    }
  });
  v1::ReadRequest read;
  read.set_handle(created.handle());
  grpc::ClientContext context;
  const auto reader = tensors_->Read(&context, read);
  std::string data;
  for (v1::ReadReply reply; reader->Read(&reply);) {
    EXPECT_EQ(reply.chunk().offset(), data.size());
    data += reply.chunk().data();
  }
  EXPECT_TRUE(reader->Finish().ok());
  ASSERT_EQ(data.size(), static_cast<size_t>(kParts * kPartBytes));
  for (int part = 0; part < kParts; ++part) {
    EXPECT_EQ(data[static_cast<size_t>(part * kPartBytes)], part + 1);
    EXPECT_EQ(data[static_cast<size_t>((part + 1) * kPartBytes - 1)], part + 1);
  }
  ASSERT_TRUE(Free(created.handle()).ok());
  AwaitNothing();
}

// Each kept reshape is a tensor of its own; memory that they share counts once, until all are gone.
TEST_F(TensorsTest, KeptReshapesOfAResidentTensor) {
  const std::string data(20'000'000, 'a');
  v1::PutReply put;
  ASSERT_TRUE(Put(data, "", put).ok());
  v1::Tensor input;
  input.set_handle(put.tensor().handle());
  v1::RunReply reply;
  // 64 MiB are allowed: the tensor and its double fit, but no copy of either.
  const grpc::Status status = Flatten(input, {0, 1, 2, 3}, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(Resident().tensors(), 5u);
  EXPECT_EQ(Resident().size_bytes(), 40'000'000u);
  std::vector<std::string> handles = {put.tensor().handle()};
  for (const v1::Tensor& output : reply.outputs()) handles.push_back(output.handle());
  EXPECT_EQ(std::set<std::string>(handles.begin(), handles.end()).size(), 5u);
  for (size_t i = 0; i < handles.size(); ++i) {  // in order: what is left goes on
    std::string got;
    ASSERT_TRUE(Get(handles[i], got).ok()) << i;
    EXPECT_EQ(got, i < 3 ? data : std::string(data.size(), static_cast<char>(2 * 'a'))) << i;
    ASSERT_TRUE(Free(handles[i]).ok());
    EXPECT_EQ(Get(handles[i], got).error_code(), grpc::NOT_FOUND);
    const uint64_t left = i < 2 ? 40'000'000 : i < 4 ? 20'000'000 : 0;
    EXPECT_EQ(Resident().size_bytes(), left) << i;
  }
}

TEST_F(TensorsTest, KeptReshapesOfAnInlineTensor) {
  const std::string data(30'000'000, 'b');
  v1::Tensor input;
  input.set_dtype(v1::DTYPE_UINT8);
  input.add_shape(1000);
  input.add_shape(30'000);
  input.set_data(data);
  v1::RunReply reply;
  ASSERT_TRUE(Flatten(input, {0, 1, 2, 3}, reply).ok());  // two values of 30 MB: no third would fit
  EXPECT_EQ(Resident().size_bytes(), 60'000'000u);
  v1::RunReply refused;
  EXPECT_EQ(Flatten(input, {0}, refused).error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Resident().size_bytes(), 60'000'000u);
  for (const int output : {1, 3, 2, 0}) {
    std::string got;
    ASSERT_TRUE(Get(reply.outputs(output).handle(), got).ok()) << output;
    EXPECT_EQ(got, output < 2 ? data : std::string(data.size(), static_cast<char>(2 * 'b')));
    ASSERT_TRUE(Free(reply.outputs(output).handle()).ok());
  }
  AwaitNothing();
}

// What stays of a streamed input is charged as what is put.
TEST_F(TensorsTest, KeptReshapesOfAStreamedTensor) {
  const std::string data(40'000'000, 'c');
  std::vector<std::string> handles, refused;
  ASSERT_TRUE(FlattenStream(data, handles).ok());
  ASSERT_EQ(handles.size(), 2u);
  EXPECT_EQ(Resident().size_bytes(), 40'000'000u);
  EXPECT_EQ(FlattenStream(data, refused).error_code(), grpc::RESOURCE_EXHAUSTED);
  for (const std::string& handle : handles) {
    std::string got;
    ASSERT_TRUE(Get(handle, got).ok());
    EXPECT_EQ(got, data);
    ASSERT_TRUE(Free(handle).ok());
  }
  AwaitNothing();
}

TEST_F(TensorsTest, ReadersThatGo) {
  v1::PutReply put;
  ASSERT_TRUE(Put(std::string(20'000'000, 'x'), "", put).ok());
  OnThreads(4, [&](int) {
    for (int i = 0; i < 5; ++i) {
      v1::ReadRequest request;
      request.set_handle(put.tensor().handle());
      grpc::ClientContext context;
      const auto reader = tensors_->Read(&context, request);
      v1::ReadReply reply;
      EXPECT_TRUE(reader->Read(&reply));
      context.TryCancel();
      EXPECT_EQ(reader->Finish().error_code(), grpc::CANCELLED);
    }
  });
  ASSERT_TRUE(Free(put.tensor().handle()).ok());
  AwaitNothing();
}

}  // namespace
}  // namespace gpucall
