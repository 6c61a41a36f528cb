// Programs: what a caller asks for, as plain data. Nothing here is checked yet (plan.h does that).
#ifndef GPUCALL_SERVER_PROGRAM_PROGRAM_H_
#define GPUCALL_SERVER_PROGRAM_PROGRAM_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/base/dtype.h"
#include "server/program/border.h"
#include "server/program/filter_attributes.h"
#include "server/program/image_attributes.h"

namespace gpucall {

inline constexpr int kMaxOperations = 4096;
inline constexpr int kMaxProgramValues = 64;  // inputs, and outputs

// One for each row of kernels/elementwise_ops.def, in its order.
enum class ElementwiseOp : uint8_t {
#define GPUCALL_ELEMENTWISE(Function, ...) k##Function,
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
};

// kCast of ElementwiseOp.
struct CastAttributes {
  DType dtype = DType::kUnspecified;
  bool operator==(const CastAttributes&) const = default;
};

enum class MatMulPrecision : uint8_t { kHighest, kTf32, kBf16 };
enum class Activation : uint8_t { kNone, kRelu, kGelu, kGeluTanh };

// activation(alpha * a b + beta * c + bias)
struct MatMulAttributes {
  bool transpose_a = false;
  bool transpose_b = false;
  DType output_dtype = DType::kUnspecified;  // unspecified: the operands'
  MatMulPrecision precision = MatMulPrecision::kHighest;
  double alpha = 1, beta = 1;
  bool addend = false;  // there is a c
  bool bias = false;
  Activation activation = Activation::kNone;
  bool operator==(const MatMulAttributes&) const = default;
};

// One for each row of kernels/reduce_ops.def, in its order.
enum class ReduceOp : uint8_t {
#define GPUCALL_REDUCE(Function, name, result, size, empty, description) k##Function,
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
};

struct ReduceAttributes {
  ReduceOp op = ReduceOp::kSum;
  std::optional<Axes> axes = {};  // none: all
  bool keepdims = false;
  // var, std, standardise: the correction; norm: the order; layer_norm: epsilon
  double parameter = 0;
  bool operator==(const ReduceAttributes&) const = default;
};

enum class RearrangeKind : uint8_t {
  kReshape,
  kTranspose,
  kConcatenate,
  kStack,
  kSlice,
  kPad,
  kFlip,
  kTile,
  kBroadcastTo,
  kRoll,
  kExpandDims,
  kSqueeze,
  kMoveAxis,
  kRepeat,
  kUnstack
};

struct RearrangeAttributes {
  struct Range {
    std::optional<int64_t> start = {}, stop = {}, step = {};
    bool drop = false;
    bool operator==(const Range&) const = default;
  };
  using Sizes = absl::InlinedVector<int64_t, 8>;

  RearrangeKind kind = RearrangeKind::kReshape;
  // Those that the kind uses.
  std::optional<Axes> axes = {};  // one for concatenate, stack, repeat and unstack
  // The shape of reshape and broadcast_to; repetitions, shifts, repeats; destinations of moveaxis;
  // index and count of unstack.
  Sizes sizes = {};
  Sizes before = {}, after = {};
  std::vector<Range> ranges = {};
  double value = 0;
  bool operator==(const RearrangeAttributes&) const = default;
};

struct SortAttributes {
  std::optional<int64_t> axis = {};  // none: of the flattened array
  bool descending = false;
  bool indices = false;               // along the axis, in place of elements
  std::optional<int64_t> count = {};  // of the order only so many; none: all
  bool operator==(const SortAttributes&) const = default;
};

// One for each row of the catalogue's scans, in its order.
enum class ScanOp : uint8_t { kCumSum, kCumProd };

struct ScanAttributes {
  ScanOp op = ScanOp::kCumSum;
  std::optional<int64_t> axis = {};  // none: of the flattened array
  bool operator==(const ScanAttributes&) const = default;
};

struct TakeAttributes {
  std::optional<int64_t> axis = {};  // none: of the flattened array
  bool along = false;                // numpy.take_along_axis
  bool operator==(const TakeAttributes&) const = default;
};

enum class CreationKind : uint8_t {
  kFull,
  kArange,
  kRandomUniform,
  kRandomNormal,
  kRandomIntegers
};

// As creation.proto has them; those that the kind uses.
struct CreationAttributes {
  CreationKind kind = CreationKind::kFull;
  DType dtype = DType::kUnspecified;
  absl::InlinedVector<int64_t, 8> shape = {};
  std::string value = {};      // one element
  double first = 0, step = 0;  // start and step, low and high, mean and standard deviation
  int64_t integer_first = 0, integer_step = 0;  // start and step of integers; low
  uint64_t range = 0, seed = 0;
  int bits = 0;  // significant ones of uniform numbers; 0: those of the dtype
  bool operator==(const CreationAttributes&) const = default;
};

enum class NetworkKind : uint8_t { kConv2d, kMaxPool2d, kAvgPool2d };
enum class ImageLayout : uint8_t { kNchw, kNhwc };

struct NetworkAttributes {
  NetworkKind kind = NetworkKind::kConv2d;
  ImageLayout layout = ImageLayout::kNchw;
  // (rows, columns); the window's size is of pools, whose stride 0 stands for it.
  std::array<int64_t, 2> size = {1, 1}, stride = {1, 1}, dilation = {1, 1};
  std::array<int64_t, 2> before = {0, 0}, after = {0, 0};  // padding
  int64_t groups = 1;
  bool ceil_mode = false;
  bool count_padding = false;
  bool operator==(const NetworkAttributes&) const = default;
};

enum class SignalKind : uint8_t { kLfilter, kSosfilt };

struct SignalAttributes {
  SignalKind kind = SignalKind::kLfilter;
  int64_t axis = -1;
  std::vector<double> b = {}, a = {};  // of lfilter
  std::vector<double> sections = {};   // of sosfilt, six numbers each
  bool final_state = false;            // in place of the signal
  bool operator==(const SignalAttributes&) const = default;
};

struct Operation {
  // CastAttributes stand for kCast. Line and window filters are what others expand to.
  std::variant<ElementwiseOp, CastAttributes, MatMulAttributes, FilterAttributes, ReduceAttributes,
               RearrangeAttributes, SortAttributes, ScanAttributes, TakeAttributes,
               CreationAttributes, ImageAttributes, NdFilterAttributes, LineFilterAttributes,
               WindowFilterAttributes, NetworkAttributes, SignalAttributes>
      attributes;
  absl::InlinedVector<uint32_t, 3> inputs;
};

// Values 0 .. input_count-1 are the inputs; operation k makes value input_count + k.
struct Program {
  uint32_t input_count = 0;
  std::vector<Operation> operations;
  std::vector<uint32_t> outputs;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_PROGRAM_H_
