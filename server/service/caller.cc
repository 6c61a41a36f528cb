#include "server/service/caller.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace gpucall {

std::string TenantOf(const grpc::CallbackServerContext& context) {
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  if (auth != nullptr && auth->IsPeerAuthenticated()) {
    std::string principal = "principal:";
    for (const grpc::string_ref& part : auth->GetPeerIdentity()) {
      absl::StrAppend(&principal, absl::string_view(part.data(), part.size()), "\n");
    }
    return principal;
  }
  const std::string peer = context.peer();  // "ipv4:192.0.2.1:1234", "ipv6:%5B::1%5D:1234", "unix:"
  return absl::StartsWith(peer, "ipv") ? peer.substr(0, peer.rfind(':')) : peer;
}

absl::StatusOr<Caller> CallerOf(std::string tenant, absl::string_view session) {
  Caller caller = {std::move(tenant)};
  if (!session.empty()) {
    GPUCALL_ASSIGN_OR_RETURN(caller.session, Handle::FromBytes("session", session));
  }
  return caller;
}

absl::StatusOr<StoredTensor> ResidentSources::FindResident(absl::string_view bytes) {
  GPUCALL_ASSIGN_OR_RETURN(const Handle handle, Handle::FromBytes("handle", bytes));
  return store_.Find(tenant_, handle, std::chrono::steady_clock::now());
}

absl::StatusOr<HostBytes> ResidentSources::FindRegion(const v1::Region& region,
                                                      int64_t size_bytes) {
  GPUCALL_ASSIGN_OR_RETURN(std::shared_ptr<const Segment> segment,
                           segments_.Find(region.segment()));
  GPUCALL_ASSIGN_OR_RETURN(std::byte* const data,
                           segment->At(region.offset(), static_cast<uint64_t>(size_bytes)));
  const bool is_pinned = segment->is_pinned();
  HostBytes bytes;
  bytes.Add({data, size_bytes, std::move(segment), is_pinned});
  return bytes;
}

}  // namespace gpucall
