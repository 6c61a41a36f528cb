// Operations along one axis, from the wire.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_LINES_H_
#define GPUCALL_SERVER_SERVICE_DECODE_LINES_H_

#include "absl/status/statusor.h"
#include "gpucall/v1/scan.pb.h"
#include "gpucall/v1/sort.pb.h"
#include "gpucall/v1/take.pb.h"
#include "server/program/program.h"

namespace gpucall {

// Errors: see decode.h.
SortAttributes DecodeSort(const v1::Sort& sort);
absl::StatusOr<ScanAttributes> DecodeScan(const v1::Scan& scan);
TakeAttributes DecodeTake(const v1::Take& take);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_LINES_H_
