// A Plan is a checked Program for given input types: every value's dtype and shape, and the steps a
// device runs. Plain data, immutable once made; shared by threads freely.
#ifndef GPUCALL_SERVER_PROGRAM_PLAN_H_
#define GPUCALL_SERVER_PROGRAM_PLAN_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/axes.h"
#include "server/program/program.h"

namespace gpucall {

// How an input of an elementwise step is read while the step walks its own shape.
enum class Broadcast : uint8_t {
  kFull,     // same shape: element i for element i
  kScalar,   // one element
  kStrided,  // broadcast along some dimensions
};

// Elementwise operations that share one shape: one pass over memory. Registers are numbered: 0 ..
// inputs.size()-1 hold the inputs, instruction k writes register inputs.size() + k.
struct ElementwiseStep {
  static constexpr size_t kMaxInputs = 16;
  static constexpr size_t kMaxInstructions = 64;
  struct Instruction {
    ElementwiseOp op;
    // Operands are converted to it first, but for conditions (to bool) and what kCast casts.
    DType computed_in;
    DType result;
    std::array<uint16_t, 3> operands;  // registers; as many as the operation's arity
    bool operator==(const Instruction&) const = default;
  };
  struct Output {
    uint32_t value;
    uint16_t register_index;
  };
  Shape shape;
  std::vector<uint32_t> inputs;       // values, each listed once
  std::vector<Broadcast> broadcasts;  // one for each input
  std::vector<Instruction> instructions;
  std::vector<Output> outputs;  // values needed after the step
  bool may_fault = false;       // an instruction must check its operands (integer power)
};

// output[..., m, n] = alpha * a[..., m, k] b[..., k, n] + beta * c + bias, after transposes; relu
// of it where activation is kRelu, which no other is. Dtypes of a and b are equal, or both are
// integers; those of c and bias are the output's.
struct MatMulStep {
  static constexpr uint32_t kNone = ~0u;
  uint32_t a, b, output;
  uint32_t c = kNone, bias = kNone;  // bias has n elements
  MatMulAttributes attributes;
  int64_t m, n, k;                // k may be 0: the sums are zeros
  Shape batch, a_batch, b_batch;  // of the products, of the matrices of a and of b
  absl::InlinedVector<int64_t, kMaxRank + 2> c_strides;  // in elements, along batch, m and n
};

// A 2-D filter over `channels` interleaved planes of rows x columns, of each of several images, one
// after another; lowered to what kernels do.
struct FilterStep {
  enum class Form : uint8_t {
    kSeparable,  // row_weights down the rows, then column_weights along the columns (correlation)
    kDense,      // correlation with the tensor `kernel`, flipped on both axes where `flip`; with
                 // `dense_weights` (row-major, never flipped) where there is no such tensor
    kRank,       // the element of rank `rank` of the window, from 0; NaN comes last
    kMinimum,    // the same of rank 0
    kMaximum,    // the same of the last rank
  };
  static constexpr uint32_t kNoKernel = ~0u;

  uint32_t image, output;
  uint32_t kernel = kNoKernel;
  Form form;
  BorderMode mode;
  double cval;
  int64_t images, rows, columns, channels;
  std::array<int64_t, 2> size;  // of the window (rows, columns), each >= 1
  // Window element (i, j) for output (y, x) is image (y + i - before[0], x + j - before[1]).
  // Already as the kernel is applied: for `flip`, element (i, j) has weight
  // kernel[size[0]-1-i][size[1]-1-j].
  std::array<int64_t, 2> before;
  bool flip = false;
  int64_t rank = 0;
  std::vector<double> row_weights, column_weights;  // kSeparable: size[0], size[1] of them
  std::vector<double> dense_weights;                // kDense without `kernel`: size[0] * size[1]
};

// An operation along lines of x. Output element i is of the line that starts at element i of
// lines.starts.
struct ReduceStep {
  uint32_t x, output;
  ReduceOp op;
  double parameter;
  uint8_t along;  // bit d: dimension d of x is along the lines
  Lines lines;
};

// Elements copied to where the output has them: every one of its elements is in one part.
struct RearrangeStep {
  static constexpr uint32_t kFill = ~0u;
  // For all coordinates, output element output_offset + coordinates * output_strides is input
  // element input_offset + coordinates * input_strides. Outermost first, not empty.
  struct Part {
    uint32_t input;  // a value, or kFill: the fill value
    int64_t input_offset, output_offset;
    absl::InlinedVector<int64_t, 2 * kMaxRank> sizes, input_strides, output_strides;
  };
  uint32_t output;
  std::vector<Part> parts;
  std::array<std::byte, 16> fill = {};  // an element of the output's dtype
  std::string attributes;               // equal for equal attributes
};

// The first `kept` elements of each line in order, or their int64 indices in it.
struct SortStep {
  uint32_t x, output;
  AxisLines lines;
  int64_t kept;
  bool descending, gives_indices;
  std::string attributes;  // axis and count; equal for equal ones
};

// Element e of each line is the sum or product of elements 0 .. e.
struct ScanStep {
  uint32_t x, output;
  ScanOp op;
  AxisLines lines;
  std::optional<int64_t> axis;  // as in ScanAttributes
};

// For all coordinates below `sizes`, in order, the next element of the output is that of x at
// coordinates * x_strides + i * stride, where i is that of the indices at coordinates *
// index_strides; negative ones count from `size`. Outermost first.
struct TakeStep {
  uint32_t x, indices, output;
  int64_t size, stride;  // of x's axis
  absl::InlinedVector<int64_t, kMaxRank> sizes, x_strides, index_strides;
  std::optional<int64_t> axis;  // as in TakeAttributes
  bool along;
};

// Elements made from their index alone.
struct CreationStep {
  uint32_t output;
  CreationKind kind;  // not kFull, which is a rearrangement of nothing
  // As creation::Recipe in kernels/creation_functions.h has them.
  int bits = 0;
  double first = 0, second = 0, step = 0;
  int64_t integer_first = 0, integer_step = 0;
  uint64_t range = 0, seed = 0;
};

// One kernel over images, each rows x columns x channels (kernels/image.h says what each form does
// and what `option`, `numbers` and `table` are to it).
struct ImageStep {
  enum class Form : uint8_t {
    kConvertColour,
    kThreshold,
    kAboveMean,
    kLookUp,
    kSharpen,
    kNormalise,
    kHistogram,
    kOtsuValue,
    kEqualiseTable,
    kResample,
    kWarp,
    kSmooth,
    kBilateral,
    kCannyMap,
    kHysteresis
  };
  struct Sizes {
    int64_t images = 1, rows = 1, columns = 1, channels = 1;
  };
  static constexpr uint32_t kNone = ~0u;

  uint32_t x, output;
  uint32_t second = kNone;  // another value that it reads
  Form form = Form::kConvertColour;
  Sizes in, out;
  int option = 0;
  BorderMode mode = BorderMode::kConstant;
  std::array<double, 8> numbers = {};
  std::vector<double> table;
  std::string attributes;  // equal for equal attributes
};

struct LineFilterStep {
  uint32_t x, output;
  LineFilterAttributes attributes;
  AxisLines lines;
};

struct WindowFilterStep {
  static constexpr uint32_t kNoWeights = ~0u;
  uint32_t x, output;
  uint32_t weights = kNoWeights;  // float64, of sums
  WindowFilterAttributes attributes;
};

// A convolution or pool. Element (image, channel, y, x) of the output is of the elements at
// y * stride + i * dilation - before of the input's rows, likewise of its columns, for i below
// `size`. Convolutions: out_channels / groups channels each read channels / groups of their group.
struct NetworkStep {
  static constexpr uint32_t kNone = ~0u;
  uint32_t x, output;
  uint32_t weights = kNone, bias = kNone;
  NetworkKind kind;
  ImageLayout layout;
  int64_t images, channels, rows, columns;      // of x
  int64_t out_channels, out_rows, out_columns;  // of the output
  int64_t groups;
  std::array<int64_t, 2> size, stride, dilation, before, after;
  bool count_padding;
};

// Sections of a recurrence along lines, one after another: y[n] = b[0] x[n] + ... - a[1] y[n-1] -
// ..., in float64. State k of a section is element (section * outer + o) * order * inner + k *
// inner + i of line (o, i).
struct SignalStep {
  static constexpr uint32_t kNone = ~0u;
  uint32_t x;               // float32 or float64; lines are of parts of complex numbers
  uint32_t zi = kNone;      // float64
  uint32_t output = kNone;  // y
  uint32_t states = kNone;  // after the last element
  int64_t sections, order;
  std::vector<double> b, a;  // order + 1 of each section; a[0] is 1
  int64_t outer, count, inner;
  int64_t axis;
};

using Step = std::variant<ElementwiseStep, MatMulStep, FilterStep, ReduceStep, RearrangeStep,
                          SortStep, ScanStep, TakeStep, CreationStep, ImageStep, LineFilterStep,
                          WindowFilterStep, NetworkStep, SignalStep>;

struct Plan {
  uint32_t input_count = 0;
  std::vector<TensorType>
      values;  // of every value of the Program; only those a step writes or reads exist
  // By value, the one whose elements it has: itself, or what it is a reshape of.
  std::vector<uint32_t> roots;
  std::vector<Step> steps;
  std::vector<uint32_t> outputs;  // values; may repeat, and may be inputs
  // Tasks whose plans have equal signatures may run in one batch: same steps, attributes and
  // dtypes, any shapes.
  std::string signature;
  int64_t input_bytes = 0, output_bytes = 0;
  int64_t total_bytes = 0;  // of all values that exist: what a device must hold

  // How many outputs have the elements of `root`.
  int64_t OutputsOf(uint32_t root) const {
    return std::ranges::count_if(outputs, [&](uint32_t value) { return roots[value] == root; });
  }
};

// Checks `program` for inputs of the given types and makes its Plan.
// REQUIRES: input types were accepted by CheckedSizeBytes.
// INVALID_ARGUMENT: see docs/api.md; UNIMPLEMENTED: a dtype the operation does not take;
// RESOURCE_EXHAUSTED: a value larger than `max_tensor_bytes`, or all of them more than 64 times
// that.
absl::StatusOr<Plan> MakePlan(const Program& program, absl::Span<const TensorType> inputs,
                              int64_t max_tensor_bytes);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_PLAN_H_
