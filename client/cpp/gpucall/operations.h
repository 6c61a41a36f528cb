// The operations a server can run, and their options. proto/gpucall/v1/operation.proto says what
// each computes.
#ifndef GPUCALL_OPERATIONS_H_
#define GPUCALL_OPERATIONS_H_

#include <cstdint>
#include <optional>

#include "gpucall/dtype.h"
#include "gpucall/filters.h"

namespace gpucall {
inline namespace client {

// One for each row of elementwise_ops.def, in its order: kAdd, kWhere, kMultiplyAdd... kCast takes
// a dtype too, and so a function of its own everywhere.
enum class ElementwiseOp : uint8_t {
#define GPUCALL_ELEMENTWISE(Function, ...) k##Function,
#include "gpucall/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
};

// Each element as another dtype: floats to integers are cut off and saturate, integers wrap.
struct CastOptions {
  DType dtype = DType::kUnspecified;
};

// How float32 and complex64 products are computed. A device may compute more exactly.
enum class MatMulPrecision : uint8_t { kHighest, kTf32, kBf16 };
enum class Activation : uint8_t { kNone, kRelu, kGelu, kGeluTanh };
// activation(alpha * a b + beta * c + bias), of operands (a, b), then c, then bias, where there
// are.
struct MatMulOptions {
  bool transpose_a = false;  // swap the last two dimensions of a first
  bool transpose_b = false;
  // kUnspecified: the operands'. Of integers any integer dtype; of float16 and bfloat16 float32.
  DType output_dtype = DType::kUnspecified;
  MatMulPrecision precision = MatMulPrecision::kHighest;
  double alpha = 1, beta = 1;
  bool addend = false;  // there is a c, which broadcasts to the result
  bool bias = false;    // an element for each column of the result
  Activation activation = Activation::kNone;
};

// Equal elements stay as they were; NaN counts as larger than all numbers.
struct SortOptions {
  std::optional<int64_t> axis = -1;   // negative: counted from the last; none: the flattened array
  bool descending = false;            // the largest first
  bool indices = false;               // int64 indices along the axis in place of elements
  std::optional<int64_t> count = {};  // only the first so many in the order
};

// Of integers and bools 64 bits wide, wrapping; floats are accumulated in float64.
enum class ScanOp : uint8_t { kCumSum, kCumProd };
struct ScanOptions {
  ScanOp op = ScanOp::kCumSum;
  std::optional<int64_t> axis = -1;  // negative: counted from the last; none: the flattened array
};

// Of indices, int32 or int64; negative ones count from the last.
struct TakeOptions {
  std::optional<int64_t> axis = -1;  // negative: counted from the last; none: the flattened array
  // false: x's axis becomes the dimensions of the indices, as in numpy.take. true: indices have as
  // many dimensions as x, and each its own place, as in numpy.take_along_axis.
  bool along = false;
};

// The order of dimensions: images x channels x rows x columns, or images x rows x columns x
// channels.
enum class ImageLayout : uint8_t { kNchw, kNhwc };
// Elements around an image.
struct Padding {
  int64_t top = 0, left = 0, bottom = 0, right = 0;
};
// Cross-correlation of (x, weights) or (x, weights, bias); weights are out channels x channels /
// groups x rows x columns.
struct Conv2dOptions {
  PerAxis<int64_t> stride = 1;
  Padding padding = {};
  PerAxis<int64_t> dilation = 1;
  int64_t groups = 1;
  ImageLayout layout = ImageLayout::kNchw;
};
enum class PoolKind : uint8_t { kMax, kAverage };
struct PoolOptions {
  PoolKind kind = PoolKind::kMax;
  PerAxis<int64_t> size = 2;  // of the window
  PerAxis<int64_t> stride = 2;
  Padding padding = {};
  PerAxis<int64_t> dilation = 1;
  bool ceil_mode = false;      // a last window that passes the padded image gives an element too
  bool count_padding = false;  // of averages: as zeros
  ImageLayout layout = ImageLayout::kNchw;
};
using NetworkOptions = std::variant<Conv2dOptions, PoolOptions>;

struct TopKOptions {
  int64_t axis = -1;    // negative: counted from the last
  bool largest = true;  // NaN is the largest; false: the smallest
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_OPERATIONS_H_
