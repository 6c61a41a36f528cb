// From attributes of scans to lines.
#ifndef GPUCALL_SERVER_PROGRAM_SCAN_H_
#define GPUCALL_SERVER_PROGRAM_SCAN_H_

#include "absl/status/statusor.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

struct ScanLowering {
  ScanStep step;  // value numbers not set
  TensorType output;
};

// INVALID_ARGUMENT: axis; UNIMPLEMENTED: dtype. Both name the argument, the value and what is
// allowed.
absl::StatusOr<ScanLowering> LowerScan(const ScanAttributes& attributes, const TensorType& x);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_SCAN_H_
