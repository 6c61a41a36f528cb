// From attributes of operations on images to what kernels do.
#ifndef GPUCALL_SERVER_PROGRAM_IMAGE_H_
#define GPUCALL_SERVER_PROGRAM_IMAGE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

struct ImageLowering {
  ImageStep step;  // value numbers not set; of an operation made of several (composite.h) unused
  TensorType output;
};

// `operands`: the image, and what parts of composite operations read beside it.
// INVALID_ARGUMENT: shape, channels, attributes; UNIMPLEMENTED: dtype; RESOURCE_EXHAUSTED: more
// table than a device takes. All name the argument, the value and what is allowed.
absl::StatusOr<ImageLowering> LowerImage(const ImageAttributes& attributes,
                                         absl::Span<const TensorType* const> operands);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_IMAGE_H_
