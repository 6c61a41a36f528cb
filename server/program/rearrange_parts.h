// Parts of a rearrangement, put together dimension by dimension.
#ifndef GPUCALL_SERVER_PROGRAM_REARRANGE_PARTS_H_
#define GPUCALL_SERVER_PROGRAM_REARRANGE_PARTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/shape.h"
#include "server/program/plan.h"

namespace gpucall {

// Strides of a dense tensor, in elements.
Shape DenseStrides(absl::Span<const int64_t> shape);

// A stretch of one dimension of the output: `size` elements from `output` on are those of the input
// from `input` on, `step` apart; or, where it is filled, the fill value.
struct Stretch {
  int64_t size, output = 0, input = 0, step = 1;
  bool filled = false;
};

// Python's slice(start, stop, step), or index, of the `size` elements of dimension `d`.
// INVALID_ARGUMENT naming the operation, the value and what is allowed.
absl::StatusOr<Stretch> StretchOf(absl::string_view name, const RearrangeAttributes::Range& range,
                                  int64_t size, size_t d);

// The parts of a box of the output, which begins at `output_offset`: one for each choice of a
// stretch in every dimension, those of no elements left out. A part with a filled stretch is
// filled, and has all of the dimensions after that: REQUIRES, where there is a filled one, that
// stretches follow each other. Strides are by dimension.
std::vector<RearrangeStep::Part> PartsOf(uint32_t input,
                                         absl::Span<const std::vector<Stretch>> dimensions,
                                         absl::Span<const int64_t> input_strides,
                                         absl::Span<const int64_t> output_strides,
                                         int64_t output_offset);

// Adds an inner dimension, merged with the one before where both sides pass through evenly.
void AppendDimension(int64_t size, int64_t input_stride, int64_t output_stride,
                     RearrangeStep::Part& part);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_REARRANGE_PARTS_H_
