#include "tests/bench/methods.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpucall/v1/compute.grpc.pb.h"
#include "tests/bench/echo_server.h"

namespace gpucall {
namespace {

grpc::ByteBuffer BytesOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// Seeded, between -1 and 1.
std::vector<float> Numbers(int seed, int count) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = uniform(random);
  return numbers;
}
std::vector<float> First(int count) { return Numbers(1, count); }
std::vector<float> Second(int count) { return Numbers(2, count); }

void SetTensor(std::initializer_list<int64_t> shape, const std::vector<float>& elements,
               v1::Tensor& tensor) {
  tensor.set_dtype(v1::DTYPE_FLOAT32);
  tensor.mutable_shape()->Add(shape.begin(), shape.end());
  tensor.set_data(elements.data(), elements.size() * sizeof(float));
}

// The reply of one call, compared with `expected`.
absl::Status Check(const ServerProcess& server, const Method& method,
                   const std::vector<float>& expected, double tolerance) {
  absl::StatusOr<grpc::ByteBuffer> bytes =
      CallOnce(MakeConnection(server.address()), method.name, method.request);
  if (!bytes.ok()) return bytes.status();
  v1::ComputeReply reply;
  if (!grpc::SerializationTraits<v1::ComputeReply>::Deserialize(&*bytes, &reply).ok() ||
      reply.output().data().size() != expected.size() * sizeof(float)) {
    return absl::InternalError(absl::StrCat(method.name, ": the reply has another size"));
  }
  std::vector<float> got(expected.size());
  reply.output().data().copy(reinterpret_cast<char*>(got.data()), got.size() * sizeof(float));
  for (size_t i = 0; i < got.size(); ++i) {
    if (!(std::abs(got[i] - expected[i]) <= tolerance)) {
      return absl::InternalError(
          absl::StrCat(method.name, ": element ", i, " is ", got[i], ", right is ", expected[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBytes(const ServerProcess& server, const Method& method,
                        const std::string& expected) {
  const absl::StatusOr<grpc::ByteBuffer> bytes =
      CallOnce(MakeConnection(server.address()), method.name, method.request);
  if (!bytes.ok()) return bytes.status();
  grpc::Slice slice;
  if (!bytes->DumpToSingleSlice(&slice).ok() ||
      std::string(slice.begin(), slice.end()) != expected) {
    return absl::InternalError(absl::StrCat(method.name, ": the reply is not the right one"));
  }
  return absl::OkStatus();
}

}  // namespace

Method AddMethod(int count) {
  v1::ElementwiseRequest request;
  request.set_op(v1::ELEMENTWISE_OP_ADD);
  SetTensor({count}, First(count), *request.add_inputs());
  SetTensor({count}, Second(count), *request.add_inputs());
  return {.name = "/gpucall.v1.Compute/Elementwise",
          .request = BytesOf(request.SerializeAsString()),
          .receipt_request = std::nullopt};
}

Method MatMulMethod(int size) {
  v1::MatMulRequest request;
  SetTensor({size, size}, First(size * size), *request.mutable_a());
  SetTensor({size, size}, Second(size * size), *request.mutable_b());
  Method method{.name = "/gpucall.v1.Compute/MatMul",
                .request = BytesOf(request.SerializeAsString()),
                .receipt_request = std::nullopt};
  request.mutable_options()->set_want_receipt(true);
  method.receipt_request = BytesOf(request.SerializeAsString());
  return method;
}

Method EmptyMethod() {
  return {.name = "/grpc.health.v1.Health/Check",
          .request = BytesOf(""),
          .receipt_request = std::nullopt};
}

Method EchoMethod(int size_bytes) {
  return {.name = kEchoMethod,
          .request = BytesOf(std::string(size_bytes, 'x')),
          .receipt_request = std::nullopt};
}

absl::Status CheckAdd(const ServerProcess& server, int count) {
  std::vector<float> sum = First(count);
  const std::vector<float> second = Second(count);
  for (int i = 0; i < count; ++i) sum[i] += second[i];
  return Check(server, AddMethod(count), sum, 0);
}

absl::Status CheckMatMul(const ServerProcess& server, int size) {
  const std::vector<float> a = First(size * size), b = Second(size * size);
  std::vector<float> product(a.size());
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      double sum = 0;
      for (int k = 0; k < size; ++k) sum += double{a[row * size + k]} * b[k * size + column];
      product[row * size + column] = static_cast<float>(sum);
    }
  }
  // float32 sums of `size` products below 1.
  return Check(server, MatMulMethod(size), product, size * 1e-6);
}

absl::Status CheckEmpty(const ServerProcess& server) {
  return CheckBytes(server, EmptyMethod(), "\x08\x01");  // status: SERVING
}

absl::Status CheckEcho(const ServerProcess& server, int size_bytes) {
  return CheckBytes(server, EchoMethod(size_bytes), std::string(size_bytes, 'x'));
}

}  // namespace gpucall
