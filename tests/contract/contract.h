// What contract tests share: arrays, Programs of them, and the device under test.
#ifndef GPUCALL_TESTS_CONTRACT_CONTRACT_H_
#define GPUCALL_TESTS_CONTRACT_CONTRACT_H_

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/device/device.h"
#include "server/program/program.h"

namespace gpucall::contract {

// A dense tensor that owns its elements.
struct Array {
  TensorType type;
  std::vector<std::byte> bytes;

  int64_t count() const { return type.count(); }
  // Element `index`, exactly; of a bool, 0 or 1.
  std::complex<long double> number(int64_t index) const;
  // Its real part, rounded.
  double at(int64_t index) const;
  template <class T>
  T get(int64_t index) const {
    T value;
    std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
    return value;
  }
};

template <class T>
Array ArrayOf(Shape shape, const std::vector<T>& elements) {
  Array array = {{DTypeOf<T>(), shape}, std::vector<std::byte>(elements.size() * sizeof(T))};
  std::byte* target = array.bytes.data();
  for (T element : elements) {
    std::memcpy(target, &element, sizeof(T));
    target += sizeof(T);
  }
  return array;
}

// Its elements zero.
Array Empty(DType dtype, const Shape& shape);
// Numbers of all sorts: for floats also NaN, infinities, zeros of both signs and subnormals; for
// complex dtypes both parts from -3 to 3.
Array MixedArray(DType dtype, const Shape& shape, unsigned seed);
// Numbers from `low` to `high`.
Array UniformArray(DType dtype, const Shape& shape, double low, double high, unsigned seed);

// Bit-equal, but for NaN, which equals any NaN.
testing::AssertionResult SameElements(const Array& got, const Array& wanted);

// A Program of one operation on `input_count` inputs.
Program ProgramOf(const decltype(Operation::attributes)& attributes, uint32_t input_count);

// Values are numbered as in Program, so Add returns the number of the operation's value.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(uint32_t input_count) { program_.input_count = input_count; }
  uint32_t Add(const decltype(Operation::attributes)& attributes,
               absl::InlinedVector<uint32_t, 3> inputs);
  Program Returning(std::vector<uint32_t> outputs);

 private:
  Program program_;
};

struct Call {
  Program program;
  std::vector<Array> inputs;
};
using Results = absl::StatusOr<std::vector<Array>>;

// The device whose name is compiled in (GPUCALL_CONTRACT_DEVICE: cpu or cuda).
class DeviceTest : public testing::Test {
 public:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;

  // Runs the calls as one batch of a lane; each call's inputs begin at an odd address.
  static absl::StatusOr<std::vector<Results>> RunBatch(Lane& lane, const std::vector<Call>& calls);
  std::vector<Results> RunBatch(const std::vector<Call>& calls);
  // A batch of one, which must succeed.
  std::vector<Array> Run(const Call& call);
  // As Run, for a Program of one operation.
  Array Run(const decltype(Operation::attributes)& attributes, std::vector<Array> inputs);

  static Device& device() { return *device_; }

 private:
  static std::unique_ptr<Device> device_;
  static std::unique_ptr<Lane> lane_;
  static absl::Status absent_;
};

}  // namespace gpucall::contract

#endif  // GPUCALL_TESTS_CONTRACT_CONTRACT_H_
