// The Tensors service against the CPU device: many callers at once, and callers that go.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
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
    const auto channel =
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
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
