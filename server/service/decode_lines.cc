#include "server/service/decode_lines.h"

#include "absl/strings/str_cat.h"

namespace gpucall {

SortAttributes DecodeSort(const v1::Sort& sort) {
  SortAttributes attributes = {.descending = sort.descending(), .indices = sort.indices()};
  if (sort.has_axis()) attributes.axis = sort.axis();
  if (sort.has_count()) attributes.count = sort.count();
  return attributes;
}

absl::StatusOr<ScanAttributes> DecodeScan(const v1::Scan& scan) {
  ScanAttributes attributes;
  switch (scan.op()) {
    case v1::SCAN_OP_CUMSUM:
      attributes.op = ScanOp::kCumSum;
      break;
    case v1::SCAN_OP_CUMPROD:
      attributes.op = ScanOp::kCumProd;
      break;
    case v1::SCAN_OP_UNSPECIFIED:
      return absl::InvalidArgumentError("op: is not set");
    default:
      return absl::UnimplementedError(absl::StrCat("op: scan operation number ",
                                                   static_cast<int>(scan.op()),
                                                   " is not offered by this server"));
  }
  if (scan.has_axis()) attributes.axis = scan.axis();
  return attributes;
}

TakeAttributes DecodeTake(const v1::Take& take) {
  TakeAttributes attributes = {.along = take.along()};
  if (take.has_axis()) attributes.axis = take.axis();
  return attributes;
}

}  // namespace gpucall
