// Where the elements of a call's inputs are that are not in its request.
#ifndef GPUCALL_SERVER_SERVICE_TENSOR_SOURCES_H_
#define GPUCALL_SERVER_SERVICE_TENSOR_SOURCES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpucall/v1/tensor.pb.h"
#include "server/base/host_bytes.h"
#include "server/store/tensor_store.h"

namespace gpucall {

// What one caller may use.
class TensorSources {
 public:
  virtual ~TensorSources() = default;

  // The tensor of a handle. Errors are those of Handle::FromBytes and TensorStore::Find.
  virtual absl::StatusOr<StoredTensor> FindResident(absl::string_view handle) = 0;

  // `size_bytes` in shared memory. Errors are those of SegmentTable::Find and Segment::At.
  virtual absl::StatusOr<HostBytes> FindRegion(const v1::Region& region, int64_t size_bytes) = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_TENSOR_SOURCES_H_
