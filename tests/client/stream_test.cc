// Calls through RunStream against a server that follows the protocol, and one that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <atomic>
#include <future>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpucall/client.h"
#include "tests/client/fake_server.h"
#include "tests/client/proto_matcher.h"

namespace gpucall {
namespace {

using testing::HasSubstr;
using Replies = std::vector<v1::RunStreamReply>;

uint32_t Crc32(const std::string& bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// `count` float32 that are all different.
Tensor Numbers(size_t count, float first = 0) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return Tensor::From<float>(numbers);
}

// A result of outputs of uint8 vectors.
v1::RunStreamReply ResultOf(const std::vector<int64_t>& sizes) {
  v1::RunStreamReply reply;
  for (int64_t size : sizes) {
    v1::Tensor& output = *reply.mutable_result()->add_outputs();
    output.set_dtype(v1::DTYPE_UINT8);
    output.add_shape(size);
    output.mutable_streamed();
  }
  return reply;
}
v1::RunStreamReply ChunkOf(uint32_t tensor, uint64_t offset, const std::string& data) {
  v1::RunStreamReply reply;
  reply.mutable_chunk()->set_tensor(tensor);
  reply.mutable_chunk()->set_offset(offset);
  reply.mutable_chunk()->set_data(data);
  return reply;
}

class StreamTest : public testing::Test {
 protected:
  // Reads a call to its end and checks the order of its chunks; false where it is wrong.
  bool ReadAll(FakeServer::Stream& stream) {
    v1::RunStreamRequest message;
    if (!stream.Read(&message) || !message.has_start()) return false;
    start = message.start();
    inputs.assign(start.inputs_size(), "");
    chunks.clear();
    for (int i = 0; i < start.inputs_size(); ++i) inputs[i] = start.inputs(i).data();
    while (stream.Read(&message)) {
      const v1::Chunk& chunk = message.chunk();
      if (!message.has_chunk() || chunk.offset() != inputs.at(chunk.tensor()).size()) return false;
      inputs[chunk.tensor()] += chunk.data();
      chunks.push_back(chunk);
      chunks.back().clear_data();
      chunks.back().set_offset(chunk.data().size());
      crcs_right += chunk.has_crc32() && chunk.crc32() == Crc32(chunk.data());
    }
    return true;
  }

  // Sends the inputs back as the outputs, in chunks of a size of its own.
  grpc::Status Echo(FakeServer::Stream& stream) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!ReadAll(stream)) return {grpc::INVALID_ARGUMENT, "not in order"};
    v1::RunStreamReply result;
    for (const v1::Tensor& input : start.inputs()) {
      v1::Tensor& output = *result.mutable_result()->add_outputs();
      output = input;
      output.mutable_streamed();
    }
    stream.Write(result);
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (size_t at = 0; at < inputs[i].size(); at += 700'001) {
        v1::RunStreamReply chunk =
            ChunkOf(static_cast<uint32_t>(i), at, inputs[i].substr(at, 700'001));
        if (start.checksums()) chunk.mutable_chunk()->set_crc32(Crc32(chunk.chunk().data()));
        stream.Write(chunk);
      }
    }
    v1::RunStreamReply last;
    last.mutable_result()->mutable_receipt()->set_batch_size(7);
    if (start.options().want_receipt()) stream.Write(last);
    return grpc::Status::OK;
  }
  void EchoStreams() {
    server.stream_answer = [this](grpc::ServerContext&, FakeServer::Stream& stream) {
      return Echo(stream);
    };
  }

  // What a call gives whose server reads everything and answers with these.
  absl::Status ErrorOf(const Replies& replies, const CallOptions& options = {}) {
    server.stream_answer = [&](grpc::ServerContext&, FakeServer::Stream& stream) {
      if (!ReadAll(stream)) return grpc::Status(grpc::INVALID_ARGUMENT, "not in order");
      for (const v1::RunStreamReply& reply : replies) stream.Write(reply);
      return grpc::Status::OK;
    };
    const absl::Status blocking = client.Abs(large, options).status();
    const absl::Status pending =
        client.Future(Request::Elementwise(ElementwiseOp::kAbs, {large}), options).get().status();
    EXPECT_EQ(blocking, pending);
    return blocking;
  }

  FakeServer server;
  const Client client = *Connect(server.target(), {.stream_bytes = 1 << 20});
  const Tensor large = Numbers((1 << 20) + 3);  // 4 MiB and a little

  std::mutex mutex;
  v1::RunStreamStart start;
  std::vector<std::string> inputs;
  std::vector<v1::Chunk> chunks;  // without data, offset is its size
  int crcs_right = 0;
};

TEST_F(StreamTest, LargeCallsGoInChunks) {
  EchoStreams();
  const Tensor scalar = Tensor::Scalar(0.5f);
  Receipt receipt;
  const absl::StatusOr<Tensor> twice = client.Add(large, scalar, {.receipt = &receipt});
  EXPECT_EQ(twice.status().code(), absl::StatusCode::kInternal);  // two outputs, of an echo
  const Client::Reply reply = client.Call(
      Request::Elementwise(ElementwiseOp::kAdd, {large, scalar}), {.receipt = &receipt});
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->size(), 2u);
  EXPECT_TRUE(reply->at(0).bytes() == large.bytes());
  EXPECT_EQ(reply->at(0).shape(), large.shape());
  EXPECT_EQ(reply->at(1).bytes(), scalar.bytes());
  EXPECT_EQ(receipt.batch_size, 7u);
  EXPECT_TRUE(
      EqualsText(start.program(), "operations { elementwise: ELEMENTWISE_OP_ADD inputs: [0, 1] }"));
  EXPECT_TRUE(start.inputs(0).has_streamed());
  EXPECT_TRUE(start.inputs(1).has_data());
  EXPECT_TRUE(start.options().want_receipt());
  EXPECT_FALSE(start.checksums());
  ASSERT_EQ(chunks.size(), 5u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(chunks[i].offset(), 1u << 20);
  EXPECT_EQ(chunks[4].offset(), 12u);
  EXPECT_FALSE(chunks[0].has_crc32());
}

TEST_F(StreamTest, EveryKindOfCallGoesInChunks) {
  EchoStreams();
  const Tensor image = *Tensor::FromBytes(DType::kUint8, {1024, 1025}, std::string(1049600, 'x'));
  EXPECT_TRUE(client.Box(image, {.size = 5}).ok());
  EXPECT_EQ(start.program().operations(0).filter().box().size(0), 5);
  EXPECT_EQ(client.MatMul(image, image).status().code(), absl::StatusCode::kInternal);  // two
  EXPECT_TRUE(start.program().operations(0).has_matmul());
  EXPECT_EQ(inputs.at(1).size(), 1049600u);
  // In turns: 1 MiB and a little of each.
  ASSERT_EQ(chunks.size(), 4u);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(chunks[i].tensor(), i % 2);
  Program program(2);
  program.Output(program.Add(program.input(1), program.input(0)));
  const Client::Reply reply = client.Run(program, {large, image});
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->at(1).bytes() == image.bytes());
  EXPECT_EQ(start.program().outputs(0), 2u);
}

TEST_F(StreamTest, TheThresholdDecides) {
  EchoStreams();
  server.answer = [this](grpc::ServerContext&, v1::RunReply& reply) {
    *reply.add_outputs() = server.elementwise.inputs(0);
    return grpc::Status::OK;
  };
  EXPECT_TRUE(client.Abs(Numbers(1 << 18)).ok());
  EXPECT_EQ(start.inputs_size(), 0);
  EXPECT_TRUE(client.Abs(Numbers((1 << 18) + 1)).ok());
  EXPECT_EQ(start.inputs_size(), 1);
}

TEST_F(StreamTest, CallsTooLargeForTheServersMessagesGoInChunks) {
  EchoStreams();
  server.answer = [](grpc::ServerContext&, v1::RunReply&) {
    return grpc::Status(grpc::RESOURCE_EXHAUSTED,
                        "output: is 9 bytes, allowed are 8; RunStream takes larger ones");
  };
  const Tensor small = Numbers(10);
  const absl::StatusOr<Tensor> result = client.Abs(small);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->bytes(), small.bytes());
  EXPECT_TRUE(start.inputs(0).has_data());
  const Client::Reply pending =
      client.Future(Request::Elementwise(ElementwiseOp::kAbs, {small})).get();
  ASSERT_TRUE(pending.ok()) << pending.status();
  EXPECT_EQ(pending->front().bytes(), small.bytes());
  server.answer = [](grpc::ServerContext&, v1::RunReply&) {
    return grpc::Status(grpc::RESOURCE_EXHAUSTED, "too many results");
  };
  EXPECT_EQ(client.Abs(small).status(), absl::ResourceExhaustedError("too many results"));
}

TEST_F(StreamTest, ChecksumsGoBothWays) {
  EchoStreams();
  const absl::StatusOr<Tensor> result = client.Abs(large, {.checksums = true});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->bytes() == large.bytes());
  EXPECT_TRUE(start.checksums());
  EXPECT_EQ(crcs_right, 5);
  v1::RunStreamReply wrong = ChunkOf(0, 0, "abcd");
  wrong.mutable_chunk()->set_crc32(Crc32("abcd") + 1);
  const absl::Status status = ErrorOf({ResultOf({8}), wrong}, {.checksums = true});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("outputs[0] at offset 0 whose crc32 is 3984772369"));
}

TEST_F(StreamTest, WrongRepliesAreInternal) {
  const std::string four = "abcd";
  v1::RunStreamReply two = ResultOf({4}), no_place = ResultOf({4}), strange = ResultOf({4});
  v1::RunStreamReply huge = ResultOf({int64_t{1} << 62}), negative = ResultOf({-4});
  v1::RunStreamReply short_data = ResultOf({4});
  no_place.mutable_result()->mutable_outputs(0)->set_handle("1234567890123456");
  strange.mutable_result()->mutable_outputs(0)->set_dtype(static_cast<v1::DType>(77));
  short_data.mutable_result()->mutable_outputs(0)->set_data("abc");
  const std::vector<std::pair<Replies, std::string>> cases = {
      {{}, "ended before the result"},
      {{ChunkOf(0, 0, four)}, "has a chunk before the result"},
      {{v1::RunStreamReply()}, "neither a result nor a chunk"},
      {{ResultOf({4}), ResultOf({4})}, "has a second result"},
      {{ResultOf({8})}, "ended after 0 of 8 bytes of outputs[0]"},
      {{ResultOf({4, 8}), ChunkOf(0, 0, four), ChunkOf(1, 0, four)},
       "after 4 of 8 bytes of outputs[1]"},
      {{ResultOf({8}), ChunkOf(0, 4, four)}, "at offset 4, the next is 0"},
      {{ResultOf({8}), ChunkOf(0, 0, four), ChunkOf(0, 0, four)}, "at offset 0, the next is 4"},
      {{ResultOf({8}), ChunkOf(0, ~uint64_t{0} - 3, four)}, "at offset 18446744073709551612"},
      {{ResultOf({8}), ChunkOf(1, 0, four)}, "a chunk of outputs[1], there are 1"},
      {{ResultOf({8}), ChunkOf(4'000'000'000, 0, four)}, "outputs[4000000000]"},
      {{ResultOf({3}), ChunkOf(0, 0, four)}, "a chunk of 4 bytes of outputs[0], where 3 are left"},
      {{ResultOf({4}), ChunkOf(0, 0, four), ChunkOf(0, 4, "e")}, "where 0 are left"},
      {{ResultOf({4}), ChunkOf(0, 0, "")}, "a chunk of 0 bytes"},
      {{no_place}, "names no place of the elements of outputs[0]"},
      {{strange}, "dtype number 77"},
      {{short_data}, "has 3 bytes of outputs[0], not 4"},
      {{negative}, "-4"},
  };
  for (const auto& [replies, message] : cases) {
    const absl::Status status = ErrorOf(replies);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << message;
    EXPECT_THAT(status.message(), HasSubstr(message));
  }
  EXPECT_EQ(ErrorOf({huge}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(ErrorOf({ResultOf({4}), ChunkOf(0, 0, four)}).ok());
}

TEST_F(StreamTest, EmptyOutputsNeedNoChunks) { EXPECT_TRUE(ErrorOf({ResultOf({0})}).ok()); }

TEST_F(StreamTest, ErrorsOfTheServerKeepCodeAndMessage) {
  // Before it reads, and between its own chunks.
  for (bool early : {true, false}) {
    server.stream_answer = [early](grpc::ServerContext&, FakeServer::Stream& stream) {
      if (!early) {
        stream.Write(ResultOf({8}));
        stream.Write(ChunkOf(0, 0, "abcd"));
      }
      return grpc::Status(grpc::UNAVAILABLE, "server is draining");
    };
    EXPECT_EQ(client.Abs(Numbers(8 << 20)).status(), absl::UnavailableError("server is draining"));
  }
}

TEST_F(StreamTest, RepliesAreReadWhileRequestsAreSent) {
  // Writes 64 MiB before it reads: more than any buffer between them holds.
  constexpr int kChunks = 64;
  server.stream_answer = [this](grpc::ServerContext&, FakeServer::Stream& stream) {
    stream.Write(ResultOf({kChunks << 20}));
    for (int i = 0; i < kChunks; ++i) {
      stream.Write(ChunkOf(0, uint64_t(i) << 20, std::string(1 << 20, static_cast<char>(i))));
    }
    return ReadAll(stream) ? grpc::Status::OK : grpc::Status(grpc::INTERNAL, "not in order");
  };
  const Tensor input = Numbers(16 << 20);
  const absl::StatusOr<Tensor> result = client.Abs(input, {.deadline = absl::Seconds(60)});
  ASSERT_TRUE(result.ok()) << result.status();
  for (int i = 0; i < kChunks; ++i) EXPECT_EQ(result->bytes()[(i << 20) + 12345], i);
  EXPECT_TRUE(inputs.at(0) == input.bytes());
}

TEST_F(StreamTest, DeadlineAndStopEndACallThatNobodyReads) {
  server.stream_answer = [](grpc::ServerContext& context, FakeServer::Stream&) {
    while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    return grpc::Status::CANCELLED;
  };
  const Tensor input = Numbers(8 << 20);
  const absl::Time begin = absl::Now();
  EXPECT_EQ(client.Abs(input, {.deadline = absl::Milliseconds(200)}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(client.Abs(input, {.deadline = -absl::Seconds(1)}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  std::stop_source stop;
  std::future<Client::Reply> pending =
      client.Future(Request::Elementwise(ElementwiseOp::kAbs, {input}), {.stop = stop.get_token()});
  std::thread stopper([&stop] {
    absl::SleepFor(absl::Milliseconds(50));
    stop.request_stop();
  });
  EXPECT_EQ(client.Abs(input, {.stop = stop.get_token()}).status().code(),
            absl::StatusCode::kCancelled);
  stopper.join();
  EXPECT_EQ(pending.get().status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(client.Abs(input, {.stop = stop.get_token()}).status().code(),  // stopped already
            absl::StatusCode::kCancelled);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
}

TEST_F(StreamTest, StartedCallsOwnTheirElements) {
  EchoStreams();
  std::vector<std::future<Client::Reply>> pending;
  for (int i = 0; i < 8; ++i) {
    const Tensor input = Numbers(1 << 20, static_cast<float>(i));  // gone after this turn
    const Client copy = *Connect(server.target(), {.stream_bytes = 0});
    pending.push_back(copy.Future(Request::Elementwise(ElementwiseOp::kAbs, {input})));
  }
  for (int i = 0; i < 8; ++i) {
    const Client::Reply reply = pending[i].get();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_TRUE(reply->front().bytes() == Numbers(1 << 20, static_cast<float>(i)).bytes());
  }
}

TEST_F(StreamTest, ProgressCountsBothWays) {
  EchoStreams();
  std::vector<std::pair<int64_t, int64_t>> reports;
  const absl::StatusOr<Tensor> result = client.Abs(
      large, {.progress = [&](int64_t done, int64_t all) { reports.emplace_back(done, all); }});
  ASSERT_TRUE(result.ok()) << result.status();
  const auto size = static_cast<int64_t>(large.bytes().size());
  ASSERT_GE(reports.size(), 11u);  // 5 chunks there, 7 back
  for (size_t i = 1; i < reports.size(); ++i) {
    EXPECT_GE(reports[i].first, reports[i - 1].first);
    EXPECT_GE(reports[i].second, reports[i].first);
  }
  EXPECT_EQ(reports.front().second, size);
  EXPECT_EQ(reports.back(), std::make_pair(2 * size, 2 * size));
}

}  // namespace
}  // namespace gpucall
