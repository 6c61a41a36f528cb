// From attributes of operations on images to what kernels do.
#ifndef GPUCALL_SERVER_PROGRAM_IMAGE_H_
#define GPUCALL_SERVER_PROGRAM_IMAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

inline constexpr int64_t kMaxImageSide = 1 << 20;  // of a result that is given a size
inline constexpr int64_t kMaxAdaptiveSide = 255;
inline constexpr int64_t kMaxBilateralDiameter = 255;
inline constexpr int64_t kMaxBins = 1 << 16;

// What the operation reads beside the image, and that, together.
size_t OperandCount(ImageKind kind);

// Equal for equal attributes.
std::string TextOf(const ImageAttributes& attributes);

struct ImageLowering {
  // Value numbers and table not set; of an operation made of several (image_composite.h) unused.
  ImageStep step;
  TensorType output;
};

// `operands`: the image, and what parts of composite operations read beside it; as many as
// OperandCount. INVALID_ARGUMENT: shape, channels, attributes; UNIMPLEMENTED: dtype. Both name the
// argument, the value and what is allowed.
absl::StatusOr<ImageLowering> LowerImage(const ImageAttributes& attributes,
                                         absl::Span<const TensorType* const> operands);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_IMAGE_H_
