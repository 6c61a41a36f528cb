// What the kinds of filters are, and the dtypes they give.
#ifndef GPUCALL_SERVER_PROGRAM_FILTER_KINDS_H_
#define GPUCALL_SERVER_PROGRAM_FILTER_KINDS_H_

#include "absl/status/statusor.h"
#include "server/program/filter_attributes.h"

namespace gpucall {

bool IsBinary(FilterKind kind);
bool IsGaussian(FilterKind kind);         // with sigmas
bool IsDerivativeAlong(FilterKind kind);  // sobel and the like: of one axis
bool OrdersElements(FilterKind kind);     // may have a footprint
// Whose windows are looked at whole, not axis by axis.
bool HasWholeWindow(FilterKind kind, bool has_footprint);

// The dtype of the result for a real image. UNIMPLEMENTED naming the dtype and what is offered.
absl::StatusOr<DType> NdOutputDType(const NdFilterAttributes& attributes, DType image);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_FILTER_KINDS_H_
