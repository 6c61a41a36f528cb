// Operations on images that are made of several.
#ifndef GPUCALL_SERVER_PROGRAM_IMAGE_COMPOSITE_H_
#define GPUCALL_SERVER_PROGRAM_IMAGE_COMPOSITE_H_

#include <vector>

#include "server/base/tensor_type.h"
#include "server/program/program.h"

namespace gpucall {

// As Expand of composite.h, of an operation on the image. REQUIRES: InferType accepts it.
std::vector<Operation> ExpandImage(const Operation& operation, const TensorType& image,
                                   uint32_t next);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_IMAGE_COMPOSITE_H_
