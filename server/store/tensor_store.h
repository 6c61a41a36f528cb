// Tensors that outlive the call that made them.
#ifndef GPUCALL_SERVER_STORE_TENSOR_STORE_H_
#define GPUCALL_SERVER_STORE_TENSOR_STORE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/base/tensor_type.h"
#include "server/device/buffer.h"
#include "server/store/handle.h"
#include "server/store/quota.h"
#include "server/store/written_parts.h"

namespace gpucall {

// Who calls, and the session that what they keep belongs to.
struct Caller {
  std::string tenant;
  std::optional<Handle> session = std::nullopt;
};

// Elements that may be read. Whoever holds it keeps them, also when the tensor is freed.
struct StoredTensor {
  TensorType type;
  BufferPointer buffer;
};

// Thread-safe. Never blocks; memory is freed outside the lock. There is no clock inside: `now` is
// the time of each call. A tenant's tensors and sessions do not exist for others: NOT_FOUND, with
// the same message.
class TensorStore {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    Quota::Usage tenant = {int64_t{1} << 40, 100'000};
    int64_t total_bytes = int64_t{1} << 40;  // of all tenants
    std::chrono::seconds time_to_live{600};  // of tensors without a session, unused
    std::chrono::seconds session_grace{30};  // of sessions that have lost their stream
  };
  struct Info {
    Handle handle;
    TensorType type;
    bool readable = false;
    std::optional<Handle> session;
    Time expires;  // Time::max() while a session holds it
  };
  struct Statistics {
    int64_t tensors = 0, sessions = 0, tenants = 0;
    int64_t size_bytes = 0;  // charged to tenants: also of freed tensors that calls still use
  };

  explicit TensorStore(const Limits& limits)
      : limits_(limits), quota_(Quota::Make(limits.tenant, limits.total_bytes)) {}

  const Limits& limits() const { return limits_; }

  // Bytes for a tensor to come. RESOURCE_EXHAUSTED: past the quota. NOT_FOUND: no such session.
  absl::StatusOr<Charge> Reserve(const Caller& caller, int64_t size_bytes);
  // Keeps a tensor. `buffer` comes from Hold. Errors as Reserve's.
  absl::StatusOr<Handle> Add(const Caller& caller, StoredTensor tensor, Time now);
  // The same for one whose bytes are to come: see BeginWrite.
  absl::StatusOr<Handle> Create(const Caller& caller, StoredTensor tensor, Time now);

  // Renews the tensor's time to live. FAILED_PRECONDITION: it is not readable yet.
  absl::StatusOr<StoredTensor> Find(absl::string_view tenant, const Handle& handle, Time now);
  absl::Status KeepAlive(absl::string_view tenant, const Handle& handle, Time now);
  absl::StatusOr<Info> Stat(absl::string_view tenant, const Handle& handle);
  // In the order of handles, those after `after`; at most `count`.
  std::vector<Info> List(absl::string_view tenant, const std::optional<Handle>& after,
                         size_t count);
  absl::Status Free(absl::string_view tenant, const Handle& handle);

  // Takes part of a tensor that Create made, for one writer, who calls EndWrite; size_bytes absent:
  // all to the end. Errors: WrittenParts::Take's; FAILED_PRECONDITION: all bytes have come.
  struct Writing {
    Handle handle;
    BufferPointer buffer;
    int64_t offset, size_bytes;
  };
  absl::StatusOr<Writing> BeginWrite(absl::string_view tenant, const Handle& handle,
                                     uint64_t offset, std::optional<uint64_t> size_bytes);
  // All of the part has come, or not. NOT_FOUND: the tensor was freed meanwhile.
  enum class Outcome { kWritten, kGivenUp };
  absl::Status EndWrite(absl::string_view tenant, const Writing& writing, Outcome outcome,
                        Time now);

  // A session with one stream.
  Handle OpenSession(absl::string_view tenant);
  // One stream more. NOT_FOUND: it is over.
  absl::Status ResumeSession(absl::string_view tenant, const Handle& session);
  // A stream of the session has gone. With the last one, the grace time begins; a session that
  // holds nothing is over at once.
  void LoseStream(absl::string_view tenant, const Handle& session, Time now);
  // Frees all that the session holds.
  absl::Status EndSession(absl::string_view tenant, const Handle& session);

  // Frees what has expired at `now`; the number of tensors.
  size_t Reap(Time now);

  Statistics statistics() const;

 private:
  struct Entry {
    StoredTensor tensor;
    std::optional<Handle> session;
    Time expires = Time::max();
    Charge charge;                        // one tensor
    std::unique_ptr<WrittenParts> parts;  // null: readable
  };
  struct Session {
    std::string tenant;
    int streams = 1;
    Time expires = Time::max();
    std::set<Handle> tensors;
  };
  using Entries = std::map<Handle, Entry>;
  // What an operation has removed, to be destroyed after the lock is released.
  using Garbage = std::vector<Entry>;

  absl::StatusOr<Handle> Insert(const Caller& caller, Entry entry, Time now);
  // Null where the tenant has no such tensor or session.
  Entry* FindEntry(absl::string_view tenant, const Handle& handle)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Session* FindSession(absl::string_view tenant, const Handle& session)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Renew(absl::string_view tenant, const Handle& handle, Entry& entry, Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // REQUIRES: it is there.
  void Remove(absl::string_view tenant, const Handle& handle, Garbage& garbage)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveSession(const Handle& session, Garbage& garbage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t ReapTensors(Time now, Garbage& garbage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Limits limits_;
  const std::shared_ptr<Quota> quota_;
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, Entries> tenants_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Handle, Session> sessions_ ABSL_GUARDED_BY(mutex_);
  // Of tensors that no session holds, the tenant of each; and of sessions that have no stream.
  std::map<std::pair<Time, Handle>, std::string> by_expiry_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<Time, Handle>> lost_sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_TENSOR_STORE_H_
