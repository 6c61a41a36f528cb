#include "client/cpp/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "client/cpp/channel.h"
#include "gpucall/v1/compute.grpc.pb.h"
#include "tests/client/proto_matcher.h"

namespace gpucall {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Message>
Message Parse(grpc::ByteBuffer bytes) {
  Message message;
  EXPECT_TRUE(grpc::SerializationTraits<Message>::Deserialize(&bytes, &message).ok());
  return message;
}
grpc::ByteBuffer BytesOf(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}
absl::Status DecodeStatus(const v1::RunReply& reply) {
  return DecodeReply(BytesOf(reply.SerializeAsString()), nullptr).status();
}

TEST(Wire, ElementwiseOperationsHaveTheirOwnNumbers) {
  EXPECT_EQ(ToWire(ElementwiseOp::kAdd), v1::ELEMENTWISE_OP_ADD);
  EXPECT_EQ(ToWire(ElementwiseOp::kMultiplyAdd), v1::ELEMENTWISE_OP_MULTIPLY_ADD);
  std::set<int> numbers;
#define GPUCALL_ELEMENTWISE(Function, ...) numbers.insert(ToWire(ElementwiseOp::k##Function));
#include "gpucall/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
  std::set<int> expected;
  for (int i = 0; i < v1::ElementwiseOp_descriptor()->value_count(); ++i) {
    expected.insert(v1::ElementwiseOp_descriptor()->value(i)->number());
  }
  expected.erase(v1::ELEMENTWISE_OP_UNSPECIFIED);
  EXPECT_EQ(numbers, expected);
}

TEST(Wire, DTypeNumbersAreTheWires) {
  ASSERT_EQ(v1::DType_descriptor()->value_count(), kDTypeCount);
  for (int i = 0; i < kDTypeCount; ++i) {
    EXPECT_EQ(v1::DType_Name(static_cast<v1::DType>(i)),
              "DTYPE_" + absl::AsciiStrToUpper(DTypeName(static_cast<DType>(i))));
  }
}

TEST(Wire, Filters) {
  EXPECT_TRUE(
      EqualsText(ToWire(GaussianOptions{.sigma = {1, 3}, .border = {.mode = BorderMode::kMirror}}),
                 "gaussian { sigma: 1 sigma: 3 truncate: 4 } "
                 "border { mode: BORDER_MODE_MIRROR }"));
  EXPECT_TRUE(EqualsText(ToWire(BoxOptions{.size = {3, 5},
                                           .origin = {0, -1},
                                           .border = {.mode = BorderMode::kConstant, .cval = 7},
                                           .output_dtype = DType::kFloat32}),
                         "box { size: 3 size: 5 origin: 0 origin: -1 } "
                         "border { mode: BORDER_MODE_CONSTANT cval: 7 } "
                         "output_dtype: DTYPE_FLOAT32"));
  EXPECT_TRUE(EqualsText(ToWire(SobelOptions{.axis = 0, .border = {.mode = BorderMode::kWrap}}),
                         "sobel { axis: 0 } border { mode: BORDER_MODE_WRAP }"));
  EXPECT_TRUE(EqualsText(ToWire(LaplacianOptions{.border = {.mode = BorderMode::kNearest}}),
                         "laplacian {} border { mode: BORDER_MODE_NEAREST }"));
  EXPECT_TRUE(EqualsText(ToWire(MedianOptions{.size = 5}),
                         "median { size: 5 origin: 0 } "
                         "border { mode: BORDER_MODE_REFLECT }"));
  EXPECT_TRUE(EqualsText(ToWire(CorrelateOptions{.origin = {1, 2}}),
                         "correlate { origin: 1 origin: 2 } border { mode: BORDER_MODE_REFLECT }"));
  EXPECT_TRUE(EqualsText(ToWire(ConvolveOptions{.origin = 1}),
                         "convolve { origin: 1 } border { mode: BORDER_MODE_REFLECT }"));
}

TEST(Wire, FiltersOverAxes) {
  EXPECT_TRUE(EqualsText(
      ToWire(GaussianOptions{.sigma = {1, 2, 3}, .order = {0, 1, 2}, .axes = {{0, 2, -1}}}),
      "gaussian { sigma: 1 sigma: 2 sigma: 3 truncate: 4 order: 0 order: 1 order: 2 } "
      "border { mode: BORDER_MODE_REFLECT } axes { axis: 0 axis: 2 axis: -1 }"));
  EXPECT_TRUE(EqualsText(
      ToWire(MedianOptions{.axes = {{1}}, .footprint = Footprint{{3}, {1, 0, 1}}}),
      R"(median { size: 3 origin: 0 } border { mode: BORDER_MODE_REFLECT } axes { axis: 1 }
         footprint { shape: 3 elements: "\001\000\001" })"));
  EXPECT_TRUE(EqualsText(ToWire(Correlate1dOptions{.weights = {1, 2}, .axis = 0, .origin = -1}),
                         "correlate1d { weights: 1 weights: 2 axis: 0 origin: -1 } "
                         "border { mode: BORDER_MODE_REFLECT }"));
  EXPECT_TRUE(
      EqualsText(ToWire(Convolve1dOptions{.weights = {1}}),
                 "convolve1d { weights: 1 axis: -1 } border { mode: BORDER_MODE_REFLECT }"));
  EXPECT_TRUE(EqualsText(ToWire(BinaryMorphologyOptions{
                             .op = BinaryOp::kOpening, .iterations = 2, .border_value = true}),
                         "binary_opening { iterations: 2 origin: 0 border_value: true }"));
}

TEST(Wire, ProgramNumbersValuesInOrder) {
  Program program(3);
  const Program::Value product =
      program.MatMul(program.input(0), program.input(1), {.transpose_b = true});
  const Program::Value sum = program.Add(product, program.input(2));
  const Program::Value relu = program.Relu(sum);
  const Program::Value chosen = program.Where(relu, sum, product);
  const Program::Value blurred = program.Filter(chosen, BoxOptions{});
  program.Output(program.Filter(blurred, program.input(1), CorrelateOptions{}));
  program.Output(sum);
  EXPECT_TRUE(EqualsText(ToWire(program), R"(
    operations { matmul { transpose_b: true } inputs: 0 inputs: 1 }
    operations { elementwise: ELEMENTWISE_OP_ADD inputs: 3 inputs: 2 }
    operations { elementwise: ELEMENTWISE_OP_RELU inputs: 4 }
    operations { elementwise: ELEMENTWISE_OP_WHERE inputs: 5 inputs: 4 inputs: 3 }
    operations {
      filter { box { size: [3] origin: [0] } border { mode: BORDER_MODE_REFLECT } }
      inputs: 6
    }
    operations {
      filter { correlate { origin: [0] } border { mode: BORDER_MODE_REFLECT } }
      inputs: 7 inputs: 1
    }
    outputs: 8 outputs: 4)"));
}

// Sizes around those where lengths take another byte, and where the writer's buffer ends.
TEST(Wire, EncodeWritesTensorsOfEverySize) {
  for (int size : {0, 1, 15, 16, 17, 113, 127, 128, 16383, 16384, 65535, 65536, 3 << 20}) {
    std::string bytes(size, '\0');
    for (int i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
    const TensorRef tensor(DType::kUint8, {size}, bytes);
    const TensorRef empty(DType::kFloat64, {0, 4}, "");
    const absl::StatusOr<grpc::ByteBuffer> encoded =
        EncodeUnary(EncodeElementwise(ElementwiseOp::kAdd, {tensor, empty}), WantReceipt::kNo);
    ASSERT_TRUE(encoded.ok()) << encoded.status();
    const auto request = Parse<v1::ElementwiseRequest>(*encoded);
    ASSERT_EQ(request.inputs_size(), 2) << size;
    EXPECT_EQ(request.op(), v1::ELEMENTWISE_OP_ADD);
    EXPECT_EQ(request.inputs(0).dtype(), v1::DTYPE_UINT8);
    EXPECT_THAT(request.inputs(0).shape(), ElementsAre(size));
    EXPECT_TRUE(request.inputs(0).data() == bytes) << size;
    EXPECT_TRUE(EqualsText(request.inputs(1), "dtype: DTYPE_FLOAT64 shape: [0, 4] data: ''"));
    EXPECT_TRUE(request.inputs(1).has_data());
  }
}

TEST(Wire, EncodeRefusesWhatNoMessageHolds) {
  // Never read: the size alone decides.
  const TensorRef huge(DType::kUint8, {1},
                       absl::string_view(reinterpret_cast<const char*>(16), size_t{1} << 31));
  const absl::Status status = EncodeUnary(EncodeRun(Program(1), {huge}), WantReceipt::kNo).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("2147483"));
}

TEST(Wire, RequestsAskForAReceipt) {
  const TensorRef tensor(DType::kUint8, {2}, "ab");
  const EncodedRequest request = EncodeMatMul({tensor, tensor}, {.transpose_a = true});
  EXPECT_FALSE(Parse<v1::MatMulRequest>(*EncodeUnary(request, WantReceipt::kNo)).has_options());
  EXPECT_TRUE(EqualsText(Parse<v1::MatMulRequest>(*EncodeUnary(request, WantReceipt::kYes)),
                         "a { dtype: DTYPE_UINT8 shape: 2 data: 'ab' } "
                         "b { dtype: DTYPE_UINT8 shape: 2 data: 'ab' } "
                         "attributes { transpose_a: true } options { want_receipt: true }"));
}

TEST(Wire, LargeElementsAreReferredToAndTheirOwnerIsKeptSoLong) {
  const std::string bytes(100'000, 'x');
  EncodedRequest request =
      EncodeFilter({TensorRef(DType::kUint8, {100, 1000}, bytes)}, BoxOptions{});
  request.owner = std::make_shared<int>();
  std::optional<grpc::ByteBuffer> message = *EncodeUnary(request, WantReceipt::kNo);
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(message->Dump(&slices).ok());
  EXPECT_EQ(static_cast<const void*>(slices.back().begin()), bytes.data());
  EXPECT_EQ(request.owner.use_count(), 2);
  slices.clear();
  EXPECT_EQ(request.owner.use_count(), 2);
  message.reset();
  EXPECT_EQ(request.owner.use_count(), 1);
}

TEST(Wire, OwnedRequestsHaveCopies) {
  std::string bytes(100'000, 'x');
  const EncodedRequest request =
      WithCopies(EncodeRun(Program(1), {TensorRef(DType::kUint8, {100'000}, bytes)}));
  bytes.assign(bytes.size(), 'y');
  EXPECT_EQ(request.inputs[0].bytes(), std::string(100'000, 'x'));
  EXPECT_THAT(request.inputs[0].shape(), ElementsAre(100'000));
}

TEST(Wire, VerbsAreProgramsOfOneOperation) {
  const TensorRef x(DType::kUint8, {1}, "a");
  EXPECT_TRUE(EqualsText(EncodeElementwise(ElementwiseOp::kWhere, {x, x, x}).program,
                         "operations { elementwise: ELEMENTWISE_OP_WHERE inputs: [0, 1, 2] }"));
  EXPECT_TRUE(EqualsText(EncodeMatMul({x, x}, {.transpose_b = true}).program,
                         "operations { matmul { transpose_b: true } inputs: [0, 1] }"));
  EXPECT_TRUE(EqualsText(EncodeFilter({x, x}, CorrelateOptions{}).program,
                         "operations { filter { correlate { origin: [0] } "
                         "border { mode: BORDER_MODE_REFLECT } } inputs: [0, 1] }"));
  EXPECT_TRUE(EqualsText(EncodeSort(x, {.axis = 2, .descending = true, .count = 5}).program,
                         "operations { sort { axis: 2 descending: true count: 5 } inputs: 0 }"));
  EXPECT_TRUE(EqualsText(EncodeSort(x, {.axis = std::nullopt, .indices = true}).program,
                         "operations { sort { indices: true } inputs: 0 }"));
  EXPECT_TRUE(EqualsText(Parse<v1::SortRequest>(*EncodeUnary(EncodeSort(x, {}), WantReceipt::kNo)),
                         "x { dtype: DTYPE_UINT8 shape: 1 data: 'a' } sort { axis: -1 }"));
  EXPECT_TRUE(EqualsText(EncodeTake(x, x, {.axis = 1, .along = true}).program,
                         "operations { take { axis: 1 along: true } inputs: [0, 1] }"));
  EXPECT_TRUE(EqualsText(Parse<v1::TakeRequest>(*EncodeUnary(
                             EncodeTake(x, x, {.axis = std::nullopt}), WantReceipt::kNo)),
                         "x { dtype: DTYPE_UINT8 shape: 1 data: 'a' } "
                         "indices { dtype: DTYPE_UINT8 shape: 1 data: 'a' } take {}"));
  const MatMulOptions options = {.output_dtype = DType::kInt32,
                                 .precision = MatMulPrecision::kTf32,
                                 .alpha = 0.5,
                                 .bias = true,
                                 .activation = Activation::kGelu};
  EXPECT_TRUE(EqualsText(
      Parse<v1::MatMulRequest>(*EncodeUnary(EncodeMatMul({x, x, x}, options), WantReceipt::kNo)),
      "a { dtype: DTYPE_UINT8 shape: 1 data: 'a' } "
      "b { dtype: DTYPE_UINT8 shape: 1 data: 'a' } "
      "attributes { output_dtype: DTYPE_INT32 precision: MATMUL_PRECISION_TF32 "
      "alpha: 0.5 bias: true activation: ACTIVATION_GELU } "
      "bias { dtype: DTYPE_UINT8 shape: 1 data: 'a' }"));
  EXPECT_TRUE(EqualsText(
      EncodeNetwork({x, x}, Conv2dOptions{.stride = {2, 3}, .padding = {.top = 1}}).program,
      "operations { network { conv2d { steps { stride: [2, 3] padding: [1, 0, 0, 0] "
      "dilation: 1 } groups: 1 } layout: IMAGE_LAYOUT_NCHW } inputs: [0, 1] }"));
  EXPECT_TRUE(EqualsText(
      EncodeNetwork({x}, PoolOptions{.kind = PoolKind::kAverage, .layout = ImageLayout::kNhwc})
          .program,
      "operations { network { avg_pool2d { size: 2 steps { stride: 2 "
      "padding: [0, 0, 0, 0] dilation: 1 } } layout: IMAGE_LAYOUT_NHWC } inputs: 0 }"));
  EXPECT_TRUE(EqualsText(EncodeScan(x, {.op = ScanOp::kCumProd, .axis = 1}).program,
                         "operations { scan { op: SCAN_OP_CUMPROD axis: 1 } inputs: 0 }"));
  EXPECT_TRUE(EqualsText(
      Parse<v1::ScanRequest>(*EncodeUnary(EncodeScan(x, {.axis = std::nullopt}), WantReceipt::kNo)),
      "x { dtype: DTYPE_UINT8 shape: 1 data: 'a' } scan { op: SCAN_OP_CUMSUM }"));
}

TEST(Wire, DecodeTakesRepliesOfVerbsAndPrograms) {
  v1::ComputeReply verb;
  verb.mutable_output()->set_dtype(v1::DTYPE_FLOAT32);
  verb.mutable_output()->add_shape(1);
  verb.mutable_output()->set_data("abcd");
  verb.mutable_receipt()->set_queue_ns(1500);
  verb.mutable_receipt()->set_batch_size(7);
  verb.mutable_receipt()->set_device("cuda:0");
  Receipt receipt;
  const Client::Reply outputs = DecodeReply(BytesOf(verb.SerializeAsString()), &receipt);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_EQ(outputs->front().bytes(), "abcd");
  EXPECT_EQ(receipt.queue, absl::Nanoseconds(1500));
  EXPECT_EQ(receipt.batch_size, 7u);
  EXPECT_EQ(receipt.device, "cuda:0");

  v1::RunReply program;
  *program.add_outputs() = verb.output();
  *program.add_outputs() = verb.output();
  EXPECT_EQ(DecodeReply(BytesOf(program.SerializeAsString()), nullptr)->size(), 2u);
}

// As it comes from the network: cut anywhere.
TEST(Wire, DecodeTakesRepliesInAnySlices) {
  v1::RunReply reply;
  for (const char* data : {"abcdefgh", "12345678"}) {
    v1::Tensor& output = *reply.add_outputs();
    output.set_dtype(v1::DTYPE_FLOAT32);
    output.add_shape(2);
    output.set_data(data);
  }
  reply.mutable_receipt()->set_queue_ns(1500);
  const std::string bytes = reply.SerializeAsString();
  for (size_t size : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, bytes.size()}) {
    std::vector<grpc::Slice> slices(1);  // an empty one too
    for (size_t at = 0; at < bytes.size(); at += size) slices.emplace_back(bytes.substr(at, size));
    Receipt receipt;
    const Client::Reply outputs =
        DecodeReply(grpc::ByteBuffer(slices.data(), slices.size()), &receipt);
    ASSERT_TRUE(outputs.ok()) << size << ": " << outputs.status();
    EXPECT_EQ(outputs->at(0).bytes(), "abcdefgh");
    EXPECT_EQ(outputs->at(1).bytes(), "12345678");
    EXPECT_EQ(receipt.queue, absl::Nanoseconds(1500));
  }
  // Cut short, it is never a reply with all its outputs.
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Client::Reply outputs = DecodeReply(BytesOf(bytes.substr(0, size)), nullptr);
    EXPECT_TRUE(!outputs.ok() || outputs->size() < 2 || size >= bytes.size() - 5) << size;
  }
}

TEST(Wire, DecodeRefusesRepliesThatMakeNoSense) {
  EXPECT_EQ(DecodeReply(BytesOf("\x0a\xff"), nullptr).status().code(), absl::StatusCode::kInternal);
  v1::RunReply reply;
  v1::Tensor& output = *reply.add_outputs();
  output.set_dtype(static_cast<v1::DType>(99));
  EXPECT_EQ(DecodeStatus(reply).code(), absl::StatusCode::kInternal);
  EXPECT_THAT(DecodeStatus(reply).message(), HasSubstr("99"));
  output.set_dtype(v1::DTYPE_FLOAT32);
  output.add_shape(2);
  output.set_data("1234567");
  EXPECT_EQ(DecodeStatus(reply).code(), absl::StatusCode::kInternal);
  EXPECT_THAT(DecodeStatus(reply).message(), HasSubstr("needs 8 bytes of elements, got 7"));
  output.set_shape(0, int64_t{1} << 60);  // which nobody allocates
  EXPECT_THAT(DecodeStatus(reply).message(), HasSubstr("4611686018427387904 bytes"));
  output.set_shape(0, -1);
  EXPECT_EQ(DecodeStatus(reply).code(), absl::StatusCode::kInternal);
}

TEST(Channel, HostsHaveADefaultPort) {
  EXPECT_EQ(FullTarget("gpu"), "gpu:7625");
  EXPECT_EQ(FullTarget("10.0.0.1"), "10.0.0.1:7625");
  EXPECT_EQ(FullTarget("[::1]"), "[::1]:7625");
  for (const char* target :
       {"gpu:1", "[::1]:1", "unix:/tmp/s", "dns:///gpu:1", "ipv4:10.0.0.1:1"}) {
    EXPECT_EQ(FullTarget(target), target);
  }
}

TEST(Channel, KnowsThisHost) {
  for (const char* target :
       {"localhost", "localhost:7625", "127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "unix:/tmp/s",
        "unix:///tmp/s", "dns:///localhost:1", "dns:localhost:1", "ipv4:127.0.0.1:1",
        "ipv6:[::1]:1", "dns://8.8.8.8/localhost:1"}) {
    EXPECT_TRUE(IsThisHost(target)) << target;
  }
  for (const char* target : {"gpu.example:7625", "localhost.example:1", "10.127.0.1:1",
                             "dns:///gpu:1", "ipv4:10.0.0.1:1", "[::12]:1", "unixserver:1"}) {
    EXPECT_FALSE(IsThisHost(target)) << target;
  }
}

}  // namespace
}  // namespace gpucall
