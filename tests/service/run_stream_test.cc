// Compute.RunStream against the CPU device.
#include <grpcpp/grpcpp.h>
#include <zlib.h>

#include <functional>
#include <numeric>
#include <thread>

#include "gmock/gmock.h"
#include "gpucall/v1/compute.grpc.pb.h"
#include "gtest/gtest.h"
#include "server/device/cpu_device.h"
#include "server/service/rpc_server.h"

namespace gpucall {
namespace {

using ::testing::HasSubstr;
using Stream = grpc::ClientReaderWriter<v1::RunStreamRequest, v1::RunStreamReply>;

class RunStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    v1::ServerInfo info;
    info.add_devices()->set_id("cpu");
    server_ = *RpcServer::Start("127.0.0.1:0", *scheduler_, *device_, {}, info);
    stub_ = v1::Compute::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  }
  void TearDown() override { EXPECT_TRUE(server_->Drain(std::chrono::seconds(30))); }

  // inputs[0] + inputs[1], float32 of `count` elements, both streamed.
  static v1::RunStreamRequest AddOf(int64_t count) {
    v1::RunStreamRequest request;
    v1::RunStreamStart& start = *request.mutable_start();
    v1::Operation& add = *start.mutable_program()->add_operations();
    add.set_elementwise(v1::ELEMENTWISE_OP_ADD);
    for (uint32_t i = 0; i < 2; ++i) {
      add.add_inputs(i);
      v1::Tensor& tensor = *start.add_inputs();
      tensor.set_dtype(v1::DTYPE_FLOAT32);
      tensor.add_shape(count);
      tensor.mutable_streamed();
    }
    return request;
  }

  static v1::RunStreamRequest ChunkOf(uint32_t tensor, uint64_t offset, std::string data) {
    v1::RunStreamRequest request;
    request.mutable_chunk()->set_tensor(tensor);
    request.mutable_chunk()->set_offset(offset);
    request.mutable_chunk()->set_data(std::move(data));
    return request;
  }

  // Sends the messages, closes, and reads to the end.
  grpc::Status Call(const std::vector<v1::RunStreamRequest>& requests,
                    std::vector<v1::RunStreamReply>& replies) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    const auto stream = stub_->RunStream(&context);
    for (const v1::RunStreamRequest& request : requests) {
      if (!stream->Write(request)) break;
    }
    stream->WritesDone();
    replies.clear();
    for (v1::RunStreamReply reply; stream->Read(&reply);) replies.push_back(reply);
    return stream->Finish();
  }

  void ExpectError(const std::vector<v1::RunStreamRequest>& requests, grpc::StatusCode code,
                   const std::string& part) {
    std::vector<v1::RunStreamReply> replies;
    const grpc::Status status = Call(requests, replies);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(part));
    EXPECT_TRUE(replies.empty());
    // The server goes on.
    const std::string four(4, '\0');
    EXPECT_TRUE(Call({AddOf(1), ChunkOf(0, 0, four), ChunkOf(1, 0, four)}, replies).ok());
  }

  static std::string BytesOf(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
  }

  std::unique_ptr<Device> device_ = MakeCpuDevice();
  std::unique_ptr<BatchScheduler> scheduler_ = *BatchScheduler::Make(*device_, 1, {});
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<v1::Compute::Stub> stub_;
};

TEST_F(RunStreamTest, AddsTensorsOfAnySize) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{1000}, (size_t{3} << 20) + 17}) {
    std::vector<float> a(count), b(count, 0.5f), sums(count);
    std::iota(a.begin(), a.end(), 0.0f);
    for (size_t i = 0; i < count; ++i) sums[i] = a[i] + b[i];
    const std::string bytes[] = {BytesOf(a), BytesOf(b)};
    std::vector<v1::RunStreamRequest> requests = {AddOf(static_cast<int64_t>(count))};
    requests[0].mutable_start()->set_checksums(true);
    requests[0].mutable_start()->mutable_options()->set_want_receipt(true);
    for (size_t at = 0; at < bytes[0].size(); at += 700'001) {  // the two alternate
      for (uint32_t tensor : {0u, 1u}) {
        const std::string data = bytes[tensor].substr(at, 700'001);
        requests.push_back(ChunkOf(tensor, at, data));
        requests.back().mutable_chunk()->set_crc32(static_cast<uint32_t>(
            crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size())));
      }
    }
    std::vector<v1::RunStreamReply> replies;
    const grpc::Status status = Call(requests, replies);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_TRUE(replies.at(0).has_result());
    EXPECT_EQ(replies[0].result().outputs(0).shape(0), static_cast<int64_t>(count));
    EXPECT_TRUE(replies[0].result().outputs(0).has_streamed());
    EXPECT_EQ(replies.back().result().receipt().device(), "cpu");
    replies.pop_back();
    std::string result;
    for (size_t i = 1; i < replies.size(); ++i) {
      const v1::Chunk& chunk = replies[i].chunk();
      EXPECT_EQ(chunk.tensor(), 0u);
      EXPECT_EQ(chunk.offset(), result.size());
      EXPECT_EQ(chunk.crc32(), crc32_z(0, reinterpret_cast<const Bytef*>(chunk.data().data()),
                                       chunk.data().size()));
      result += chunk.data();
    }
    EXPECT_EQ(result, BytesOf(sums));
  }
}

TEST_F(RunStreamTest, InlineAndStreamedInputsMix) {
  v1::RunStreamRequest start = AddOf(2);
  start.mutable_start()->mutable_inputs(1)->set_data(BytesOf({10, 20}));
  std::vector<v1::RunStreamReply> replies;
  ASSERT_TRUE(Call({start, ChunkOf(0, 0, BytesOf({1, 2}))}, replies).ok());
  EXPECT_EQ(replies.at(1).chunk().data(), BytesOf({11, 22}));
  EXPECT_FALSE(replies[1].chunk().has_crc32());
  EXPECT_FALSE(replies[0].result().has_receipt());
}

// A reshape to the shape that a tensor has, beside what could be cut into blocks of elements.
TEST_F(RunStreamTest, ReshapesOfStreamedInputs) {
  for (const size_t count : {size_t{0}, size_t{1}, (size_t{3} << 20) + 17}) {
    v1::RunStreamRequest start = AddOf(static_cast<int64_t>(count));
    v1::Program& program = *start.mutable_start()->mutable_program();
    for (const uint32_t value : {0u, 2u}) {
      v1::Operation& reshape = *program.add_operations();
      reshape.mutable_rearrange()->mutable_reshape()->add_shape(static_cast<int64_t>(count));
      reshape.add_inputs(value);
    }
    for (const uint32_t output : {3, 4, 1, 2}) program.add_outputs(output);
    std::vector<float> a(count), b(count, 0.5f), sums(count);
    std::iota(a.begin(), a.end(), 0.0f);
    for (size_t i = 0; i < count; ++i) sums[i] = a[i] + b[i];
    std::vector<v1::RunStreamRequest> requests = {start};
    for (const auto& [tensor, bytes] : {std::pair(1u, BytesOf(b)), std::pair(0u, BytesOf(a))}) {
      for (size_t at = 0; at < bytes.size(); at += 900'001) {
        requests.push_back(ChunkOf(tensor, at, bytes.substr(at, 900'001)));
      }
    }
    std::vector<v1::RunStreamReply> replies;
    const grpc::Status status = Call(requests, replies);
    ASSERT_TRUE(status.ok()) << status.error_message();
    std::string results[4];
    for (size_t i = 1; i < replies.size(); ++i) {
      const v1::Chunk& chunk = replies[i].chunk();
      ASSERT_LT(chunk.tensor(), 4u);
      EXPECT_EQ(chunk.offset(), results[chunk.tensor()].size());
      results[chunk.tensor()] += chunk.data();
    }
    EXPECT_EQ(results[0], BytesOf(a));
    EXPECT_EQ(results[1], BytesOf(sums));
    EXPECT_EQ(results[2], BytesOf(b));
    EXPECT_EQ(results[3], BytesOf(sums));
  }
}

TEST_F(RunStreamTest, ChunksAreChecked) {
  const std::string eight(8, 'x');
  ExpectError({AddOf(4), ChunkOf(0, 8, eight)}, grpc::INVALID_ARGUMENT,
              "chunk of inputs[0]: offset is 8, the next is 0");
  ExpectError({AddOf(4), ChunkOf(0, 0, eight), ChunkOf(0, 0, eight)}, grpc::INVALID_ARGUMENT,
              "offset is 0, the next is 8");
  ExpectError({AddOf(3), ChunkOf(1, 0, eight), ChunkOf(1, 8, eight)}, grpc::INVALID_ARGUMENT,
              "data has 8 bytes at offset 8, 4 are left of 12");
  ExpectError({AddOf(4), ChunkOf(2, 0, eight)}, grpc::INVALID_ARGUMENT, "tensor is 2");
  ExpectError({AddOf(4), ChunkOf(0, ~uint64_t{0} - 3, eight)}, grpc::INVALID_ARGUMENT,
              "offset is 18446744073709551612");
  ExpectError({AddOf(4), ChunkOf(0, 0, "")}, grpc::INVALID_ARGUMENT, "data has 0 bytes");
  ExpectError({AddOf(1 << 23), ChunkOf(0, 0, std::string(16'777'217, 'x'))}, grpc::INVALID_ARGUMENT,
              "data has 16777217 bytes, allowed are 1 to 16777216");
  v1::RunStreamRequest wrong = ChunkOf(0, 0, eight);
  wrong.mutable_chunk()->set_crc32(1);
  ExpectError({AddOf(4), wrong}, grpc::DATA_LOSS, "crc32 is 2794607817, not 1");
}

TEST_F(RunStreamTest, TheOrderOfMessagesIsChecked) {
  ExpectError({}, grpc::INVALID_ARGUMENT, "start is missing");
  ExpectError({ChunkOf(0, 0, "abcd")}, grpc::INVALID_ARGUMENT, "start must be the first");
  ExpectError({AddOf(1), AddOf(1)}, grpc::INVALID_ARGUMENT, "start must be the first");
  ExpectError({AddOf(1), ChunkOf(0, 0, "abcd"), ChunkOf(1, 0, "ab")}, grpc::INVALID_ARGUMENT,
              "inputs[1]: the stream ended after 2 of 4 bytes");
  ExpectError({v1::RunStreamRequest()}, grpc::INVALID_ARGUMENT, "part is not set");
  v1::RunStreamRequest start = AddOf(1);
  start.mutable_start()->mutable_inputs(0)->set_shape(0, -1);
  ExpectError({start}, grpc::INVALID_ARGUMENT, "negative dimension -1");
  start.mutable_start()->mutable_inputs(0)->set_shape(0, int64_t{1} << 45);
  ExpectError({start}, grpc::RESOURCE_EXHAUSTED, "");
}

// At every point of the call the client goes away.
TEST_F(RunStreamTest, CancelledCallsLeaveNothing) {
  const std::string mebibyte(1 << 20, 'x');
  for (int stage = 0; stage < 60; ++stage) {
    grpc::ClientContext context;
    const auto stream = stub_->RunStream(&context);
    const int messages = stage % 10;
    if (messages > 0) stream->Write(AddOf(1 << 20));
    for (int i = 0; i < std::min(messages - 1, 4); ++i) {
      stream->Write(ChunkOf(0, uint64_t(i) << 20, mebibyte));
    }
    for (int i = 0; i < messages - 5; ++i) {
      stream->Write(ChunkOf(1, uint64_t(i) << 20, mebibyte));
    }
    if (messages == 9) stream->WritesDone();
    v1::RunStreamReply reply;
    if (messages == 9 && stage > 30) stream->Read(&reply);
    context.TryCancel();
    stream->Finish();
  }
  std::vector<v1::RunStreamReply> replies;
  EXPECT_TRUE(Call({AddOf(1), ChunkOf(0, 0, "abcd"), ChunkOf(1, 0, "abcd")}, replies).ok());
}

// Each gets its own sums.
TEST_F(RunStreamTest, ManyStreamsAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      const std::vector<float> values(500'000, static_cast<float>(caller));
      const std::string bytes = BytesOf(values);
      std::vector<v1::RunStreamReply> replies;
      ASSERT_TRUE(Call({AddOf(500'000), ChunkOf(1, 0, bytes), ChunkOf(0, 0, bytes)}, replies).ok());
      std::string result;
      for (size_t i = 1; i < replies.size(); ++i) result += replies[i].chunk().data();
      if (result == BytesOf(std::vector<float>(500'000, 2.0f * caller))) ++right;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 8);
}

}  // namespace
}  // namespace gpucall
