// Who makes a call.
#ifndef GPUCALL_SERVER_SERVICE_CALLER_H_
#define GPUCALL_SERVER_SERVICE_CALLER_H_

#include <grpcpp/server_context.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/service/tensor_sources.h"
#include "server/store/segment_table.h"
#include "server/store/tensor_store.h"

namespace gpucall {

// The authenticated principal, else the address that the call comes from, without its port: all
// callers over Unix sockets are one.
std::string TenantOf(const grpc::CallbackServerContext& context);

// The tenant with a session; `session` empty: none. INVALID_ARGUMENT: not a session's id.
absl::StatusOr<Caller> CallerOf(std::string tenant, absl::string_view session);

// A tenant's resident tensors, and all shared memory: who knows a segment's id may use it.
class ResidentSources final : public TensorSources {
 public:
  ResidentSources(TensorStore& store, const SegmentTable& segments, std::string tenant)
      : store_(store), segments_(segments), tenant_(std::move(tenant)) {}

  absl::StatusOr<StoredTensor> FindResident(absl::string_view handle) override;
  absl::StatusOr<HostBytes> FindRegion(const v1::Region& region, int64_t size_bytes) override;

 private:
  TensorStore& store_;
  const SegmentTable& segments_;
  const std::string tenant_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_CALLER_H_
