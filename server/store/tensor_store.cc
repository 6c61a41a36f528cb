#include "server/store/tensor_store.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace gpucall {
namespace {

absl::Status NoTensor(const Handle& handle) {
  return absl::NotFoundError(absl::StrCat("handle: there is no tensor ", handle.ToString()));
}

absl::Status NoSession(const Handle& session) {
  return absl::NotFoundError(absl::StrCat("session: there is no session ", session.ToString()));
}

TensorStore::Info InfoOf(const Handle& handle, const StoredTensor& tensor, bool readable,
                         const std::optional<Handle>& session, TensorStore::Time expires) {
  return {handle, tensor.type, readable, session, expires};
}

}  // namespace

TensorStore::Entry* TensorStore::FindEntry(absl::string_view tenant, const Handle& handle) {
  const auto entries = tenants_.find(tenant);
  if (entries == tenants_.end()) return nullptr;
  const auto found = entries->second.find(handle);
  return found == entries->second.end() ? nullptr : &found->second;
}

TensorStore::Session* TensorStore::FindSession(absl::string_view tenant, const Handle& session) {
  const auto found = sessions_.find(session);
  return found == sessions_.end() || found->second.tenant != tenant ? nullptr : &found->second;
}

absl::StatusOr<Charge> TensorStore::Reserve(const Caller& caller, int64_t size_bytes) {
  if (caller.session) {
    MutexLock lock(mutex_);
    if (FindSession(caller.tenant, *caller.session) == nullptr) return NoSession(*caller.session);
  }
  return quota_->Take(caller.tenant, {size_bytes, 0});
}

absl::StatusOr<Handle> TensorStore::Add(const Caller& caller, StoredTensor tensor, Time now) {
  Entry entry;
  entry.tensor = std::move(tensor);
  return Insert(caller, std::move(entry), now);
}

absl::StatusOr<Handle> TensorStore::Create(const Caller& caller, StoredTensor tensor, Time now) {
  Entry entry;
  entry.tensor = std::move(tensor);
  const int64_t size_bytes = entry.tensor.buffer->size_bytes();
  if (size_bytes > 0) entry.parts = std::make_unique<WrittenParts>(size_bytes);
  return Insert(caller, std::move(entry), now);
}

absl::StatusOr<Handle> TensorStore::Insert(const Caller& caller, Entry entry, Time now) {
  GPUCALL_ASSIGN_OR_RETURN(entry.charge, quota_->Take(caller.tenant, {0, 1}));
  entry.session = caller.session;
  const Handle handle = Handle::Random();
  MutexLock lock(mutex_);
  if (caller.session) {
    Session* const session = FindSession(caller.tenant, *caller.session);
    if (session == nullptr) return NoSession(*caller.session);
    session->tensors.insert(handle);
  } else {
    entry.expires = now + limits_.time_to_live;
    by_expiry_.emplace(std::pair(entry.expires, handle), caller.tenant);
  }
  tenants_[caller.tenant].emplace(handle, std::move(entry));
  return handle;
}

void TensorStore::Renew(absl::string_view tenant, const Handle& handle, Entry& entry, Time now) {
  if (entry.session) return;
  by_expiry_.erase({entry.expires, handle});
  entry.expires = now + limits_.time_to_live;
  by_expiry_.emplace(std::pair(entry.expires, handle), tenant);
}

absl::StatusOr<StoredTensor> TensorStore::Find(absl::string_view tenant, const Handle& handle,
                                               Time now) {
  MutexLock lock(mutex_);
  Entry* const entry = FindEntry(tenant, handle);
  if (entry == nullptr) return NoTensor(handle);
  if (entry->parts != nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("handle: not all bytes of tensor ", handle.ToString(), " have been written"));
  }
  Renew(tenant, handle, *entry, now);
  return entry->tensor;
}

absl::Status TensorStore::KeepAlive(absl::string_view tenant, const Handle& handle, Time now) {
  MutexLock lock(mutex_);
  Entry* const entry = FindEntry(tenant, handle);
  if (entry == nullptr) return NoTensor(handle);
  Renew(tenant, handle, *entry, now);
  return absl::OkStatus();
}

absl::StatusOr<TensorStore::Info> TensorStore::Stat(absl::string_view tenant,
                                                    const Handle& handle) {
  MutexLock lock(mutex_);
  const Entry* const entry = FindEntry(tenant, handle);
  if (entry == nullptr) return NoTensor(handle);
  return InfoOf(handle, entry->tensor, entry->parts == nullptr, entry->session, entry->expires);
}

std::vector<TensorStore::Info> TensorStore::List(absl::string_view tenant,
                                                 const std::optional<Handle>& after, size_t count) {
  std::vector<Info> infos;
  MutexLock lock(mutex_);
  const auto entries = tenants_.find(tenant);
  if (entries == tenants_.end()) return infos;
  auto it = after ? entries->second.upper_bound(*after) : entries->second.begin();
  for (; it != entries->second.end() && infos.size() < count; ++it) {
    const auto& [handle, entry] = *it;
    infos.push_back(
        InfoOf(handle, entry.tensor, entry.parts == nullptr, entry.session, entry.expires));
  }
  return infos;
}

void TensorStore::Remove(absl::string_view tenant, const Handle& handle, Garbage& garbage) {
  const auto entries = tenants_.find(tenant);
  const auto found = entries->second.find(handle);
  Entry& entry = found->second;
  if (!entry.session) {
    by_expiry_.erase({entry.expires, handle});
  } else if (Session* const session = FindSession(tenant, *entry.session)) {
    session->tensors.erase(handle);
  }
  garbage.push_back(std::move(entry));
  entries->second.erase(found);
  if (entries->second.empty()) tenants_.erase(entries);
}

absl::Status TensorStore::Free(absl::string_view tenant, const Handle& handle) {
  Garbage garbage;
  MutexLock lock(mutex_);
  if (FindEntry(tenant, handle) == nullptr) return NoTensor(handle);
  Remove(tenant, handle, garbage);
  return absl::OkStatus();
}

absl::StatusOr<TensorStore::Writing> TensorStore::BeginWrite(absl::string_view tenant,
                                                             const Handle& handle, uint64_t offset,
                                                             std::optional<uint64_t> size_bytes) {
  MutexLock lock(mutex_);
  Entry* const entry = FindEntry(tenant, handle);
  if (entry == nullptr) return NoTensor(handle);
  if (entry->parts == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("write: all bytes of tensor ", handle.ToString(), " have come already"));
  }
  const auto all = static_cast<uint64_t>(entry->tensor.buffer->size_bytes());
  const uint64_t taken = size_bytes.value_or(all - std::min(offset, all));
  GPUCALL_RETURN_IF_ERROR(entry->parts->Take(offset, taken));
  return Writing{handle, entry->tensor.buffer, static_cast<int64_t>(offset),
                 static_cast<int64_t>(taken)};
}

absl::Status TensorStore::EndWrite(absl::string_view tenant, const Writing& writing,
                                   Outcome outcome, Time now) {
  MutexLock lock(mutex_);
  Entry* const entry = FindEntry(tenant, writing.handle);
  if (entry == nullptr) return NoTensor(writing.handle);
  Renew(tenant, writing.handle, *entry, now);
  if (outcome == Outcome::kGivenUp) {
    entry->parts->GiveUp(writing.offset);
    return absl::OkStatus();
  }
  entry->parts->Finish(writing.offset);
  if (entry->parts->complete()) entry->parts.reset();
  return absl::OkStatus();
}

Handle TensorStore::OpenSession(absl::string_view tenant) {
  const Handle id = Handle::Random();
  MutexLock lock(mutex_);
  sessions_[id].tenant = std::string(tenant);
  return id;
}

absl::Status TensorStore::ResumeSession(absl::string_view tenant, const Handle& id) {
  MutexLock lock(mutex_);
  Session* const session = FindSession(tenant, id);
  if (session == nullptr) return NoSession(id);
  lost_sessions_.erase({session->expires, id});
  session->expires = Time::max();
  ++session->streams;
  return absl::OkStatus();
}

void TensorStore::LoseStream(absl::string_view tenant, const Handle& id, Time now) {
  MutexLock lock(mutex_);
  Session* const session = FindSession(tenant, id);
  if (session == nullptr || --session->streams > 0) return;
  if (session->tensors.empty()) {
    sessions_.erase(id);
    return;
  }
  session->expires = now + limits_.session_grace;
  lost_sessions_.emplace(session->expires, id);
}

void TensorStore::RemoveSession(const Handle& id, Garbage& garbage) {
  const auto found = sessions_.find(id);
  lost_sessions_.erase({found->second.expires, id});
  const Session session = std::move(found->second);
  sessions_.erase(found);
  for (const Handle& handle : session.tensors) Remove(session.tenant, handle, garbage);
}

absl::Status TensorStore::EndSession(absl::string_view tenant, const Handle& id) {
  Garbage garbage;
  MutexLock lock(mutex_);
  if (FindSession(tenant, id) == nullptr) return NoSession(id);
  RemoveSession(id, garbage);
  return absl::OkStatus();
}

size_t TensorStore::ReapTensors(Time now, Garbage& garbage) {
  std::vector<std::pair<Handle, std::string>> expired;
  for (const auto& [key, tenant] : by_expiry_) {
    if (key.first > now) break;
    expired.emplace_back(key.second, tenant);
  }
  size_t count = 0;
  for (const auto& [handle, tenant] : expired) {
    Entry& entry = *FindEntry(tenant, handle);
    if (entry.parts != nullptr && entry.parts->writers() > 0) {
      Renew(tenant, handle, entry, now);
      continue;
    }
    Remove(tenant, handle, garbage);
    ++count;
  }
  return count;
}

size_t TensorStore::Reap(Time now) {
  Garbage garbage;
  MutexLock lock(mutex_);
  size_t count = ReapTensors(now, garbage);
  while (!lost_sessions_.empty() && lost_sessions_.begin()->first <= now) {
    const Handle id = lost_sessions_.begin()->second;
    count += sessions_.find(id)->second.tensors.size();
    RemoveSession(id, garbage);
  }
  return count;
}

TensorStore::Statistics TensorStore::statistics() const {
  const Quota::Usage held = quota_->total();
  Statistics statistics;
  statistics.size_bytes = held.size_bytes;
  MutexLock lock(mutex_);
  for (const auto& [tenant, entries] : tenants_) {
    statistics.tensors += static_cast<int64_t>(entries.size());
  }
  statistics.tenants = static_cast<int64_t>(tenants_.size());
  statistics.sessions = static_cast<int64_t>(sessions_.size());
  return statistics;
}

}  // namespace gpucall
