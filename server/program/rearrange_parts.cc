#include "server/program/rearrange_parts.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace gpucall {

Shape DenseStrides(absl::Span<const int64_t> shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

void AppendDimension(int64_t size, int64_t input_stride, int64_t output_stride,
                     RearrangeStep::Part& part) {
  if (size == 1) return;
  if (!part.sizes.empty() && part.input_strides.back() == size * input_stride &&
      part.output_strides.back() == size * output_stride) {
    part.sizes.back() *= size;
    part.input_strides.back() = input_stride;
    part.output_strides.back() = output_stride;
    return;
  }
  part.sizes.push_back(size);
  part.input_strides.push_back(input_stride);
  part.output_strides.push_back(output_stride);
}

namespace {

void Append(const Stretch& stretch, int64_t input_stride, int64_t output_stride,
            RearrangeStep::Part& part) {
  part.input_offset += stretch.input * input_stride;
  part.output_offset += stretch.output * output_stride;
  AppendDimension(stretch.size, stretch.step * input_stride, output_stride, part);
}

Stretch Whole(absl::Span<const Stretch> stretches) {
  Stretch whole = {.size = 0, .output = stretches[0].output};
  for (const Stretch& stretch : stretches) whole.size += stretch.size;
  return whole;
}

// The dimensions of the output so far, filled.
RearrangeStep::Part AsFilled(const RearrangeStep::Part& part) {
  RearrangeStep::Part filled = {RearrangeStep::kFill, 0, part.output_offset, {}, {}, {}};
  for (size_t d = 0; d < part.sizes.size(); ++d) {
    AppendDimension(part.sizes[d], 0, part.output_strides[d], filled);
  }
  return filled;
}

}  // namespace

std::vector<RearrangeStep::Part> PartsOf(uint32_t input,
                                         absl::Span<const std::vector<Stretch>> dimensions,
                                         absl::Span<const int64_t> input_strides,
                                         absl::Span<const int64_t> output_strides,
                                         int64_t output_offset) {
  std::vector<RearrangeStep::Part> parts = {{input, 0, output_offset, {}, {}, {}}};
  for (size_t d = 0; d < dimensions.size(); ++d) {
    std::vector<RearrangeStep::Part> longer;
    for (const RearrangeStep::Part& part : parts) {
      if (part.input == RearrangeStep::kFill) {
        longer.push_back(part);
        Append(Whole(dimensions[d]), 0, output_strides[d], longer.back());
        continue;
      }
      for (const Stretch& stretch : dimensions[d]) {
        longer.push_back(part);
        if (stretch.filled) longer.back() = AsFilled(part);
        Append(stretch, stretch.filled ? 0 : input_strides[d], output_strides[d], longer.back());
      }
    }
    parts = std::move(longer);
  }
  parts.erase(std::remove_if(parts.begin(), parts.end(),
                             [](const auto& part) { return absl::c_linear_search(part.sizes, 0); }),
              parts.end());
  return parts;
}

namespace {

template <typename... Parts>
absl::Status Invalid(absl::string_view name, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", parts...));
}

}  // namespace

absl::StatusOr<Stretch> StretchOf(absl::string_view name, const RearrangeAttributes::Range& range,
                                  int64_t size, size_t d) {
  const auto from_end = [&](int64_t at) { return at < 0 ? at + size : at; };
  if (range.drop) {
    const int64_t at = range.start.value_or(0);
    if (at < -size || at >= size) {
      return Invalid(name, "index ", at, " of dimension ", d, ", of size ", size, ", allowed are ",
                     -size, " to ", size - 1);
    }
    return Stretch{.size = 1, .input = from_end(at)};
  }
  const int64_t step = range.step.value_or(1);
  if (step == 0 || step == std::numeric_limits<int64_t>::min()) {
    return Invalid(name, "step of dimension ", d, " is ", step, ", allowed is any other than 0");
  }
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto bound = [&](std::optional<int64_t> at, int64_t absent) {
    return at.has_value() ? std::clamp(from_end(*at), low, high) : absent;
  };
  const int64_t start = bound(range.start, step > 0 ? low : high);
  const int64_t stop = bound(range.stop, step > 0 ? high : low);
  const int64_t length = step > 0 ? stop - start : start - stop, by = std::abs(step);
  if (length <= 0) return Stretch{.size = 0};
  // A step past the end is as good as one to the end, and does not overflow.
  const int64_t count = (length - 1) / by + 1;
  return Stretch{.size = count, .input = start, .step = count == 1 ? 1 : step};
}

}  // namespace gpucall
