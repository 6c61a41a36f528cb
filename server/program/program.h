// Programs: what a caller asks for, as plain data. Nothing here is checked yet (plan.h does that).
#ifndef GPUCALL_SERVER_PROGRAM_PROGRAM_H_
#define GPUCALL_SERVER_PROGRAM_PROGRAM_H_

#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/base/dtype.h"

namespace gpucall {

inline constexpr int kMaxOperations = 4096;
inline constexpr int kMaxProgramValues = 64;  // inputs, and outputs

// One for each row of kernels/elementwise_ops.def, in its order.
enum class ElementwiseOp : uint8_t {
#define GPUCALL_ELEMENTWISE(Function, ...) k##Function,
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
};

// As a caller gives them: negative ones count from the last.
using Axes = absl::InlinedVector<int64_t, 8>;

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

enum class FilterKind : uint8_t {
  kGaussian,
  kBox,
  kSobel,
  kLaplacian,
  kMedian,
  kCorrelate,
  kConvolve,
  kMinimum,
  kMaximum,
  kRank,
  kPercentile,
  kGreyErosion,
  kGreyDilation,
  kPrewitt,
  kScharr,
  // Several operations each, see composite.h.
  kGreyOpening,
  kGreyClosing,
  kMorphologicalGradient,
  kWhiteTophat,
  kBlackTophat,
  kGaussianLaplace,
  kGaussianGradientMagnitude
};
enum class BorderMode : uint8_t {
  kNearest,
  kReflect,
  kMirror,
  kWrap,
  kConstant
};  // scipy.ndimage's

struct FilterAttributes {
  FilterKind kind = FilterKind::kGaussian;
  BorderMode mode = BorderMode::kReflect;
  double cval = 0;
  DType output_dtype = DType::kUnspecified;  // unspecified: the filter's default
  // Those that the kind uses; pairs are (rows, columns).
  std::array<double, 2> sigma = {0, 0};
  double truncate = 4;
  std::array<int, 2> order = {0, 0};  // of a Gaussian's derivative
  std::array<int64_t, 2> size = {1, 1};
  std::array<int64_t, 2> origin = {0, 0};
  int64_t rank = 0;
  double percentile = 0;
  int axis = 1;  // 0: down the rows, 1: along the columns
  bool operator==(const FilterAttributes&) const = default;
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
  kRoll
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
  std::optional<Axes> axes = {};  // one for concatenate and stack
  Sizes sizes = {};               // the shape of reshape and broadcast_to, repetitions, shifts
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

struct Operation {
  // CastAttributes stand for kCast.
  std::variant<ElementwiseOp, CastAttributes, MatMulAttributes, FilterAttributes, ReduceAttributes,
               RearrangeAttributes, SortAttributes, ScanAttributes, TakeAttributes,
               NetworkAttributes>
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
