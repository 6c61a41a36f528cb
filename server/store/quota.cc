#include "server/store/quota.h"

#include "absl/strings/str_cat.h"

namespace gpucall {

Charge::~Charge() {
  if (quota_ != nullptr) quota_->GiveBack(*this);
}

absl::StatusOr<Charge> Quota::Take(absl::string_view tenant, const Usage& wanted) {
  MutexLock lock(mutex_);
  const auto found = used_.find(tenant);
  const Usage held = found == used_.end() ? Usage() : found->second;
  if (wanted.size_bytes > limits_.size_bytes - held.size_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("quota: ", held.size_bytes, " bytes are kept for this caller, ",
                     wanted.size_bytes, " more are asked for, allowed are ", limits_.size_bytes));
  }
  if (wanted.size_bytes > total_bytes_ - total_.size_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("device memory: ", total_.size_bytes, " bytes are kept for all callers, ",
                     wanted.size_bytes, " more are asked for, allowed are ", total_bytes_));
  }
  if (wanted.tensors > limits_.tensors - held.tensors) {
    return absl::ResourceExhaustedError(absl::StrCat("quota: ", held.tensors,
                                                     " tensors are kept for this caller, allowed "
                                                     "are ",
                                                     limits_.tensors));
  }
  if (wanted.size_bytes == 0 && wanted.tensors == 0) return Charge();
  used_[tenant] = {held.size_bytes + wanted.size_bytes, held.tensors + wanted.tensors};
  total_.size_bytes += wanted.size_bytes;
  total_.tensors += wanted.tensors;
  Charge charge;
  charge.quota_ = shared_from_this();
  charge.tenant_ = std::string(tenant);
  charge.size_bytes_ = wanted.size_bytes;
  charge.tensors_ = wanted.tensors;
  return charge;
}

void Quota::GiveBack(const Charge& charge) {
  MutexLock lock(mutex_);
  const auto found = used_.find(charge.tenant_);
  found->second.size_bytes -= charge.size_bytes_;
  found->second.tensors -= charge.tensors_;
  total_.size_bytes -= charge.size_bytes_;
  total_.tensors -= charge.tensors_;
  if (found->second.size_bytes == 0 && found->second.tensors == 0) used_.erase(found);
}

Quota::Usage Quota::usage(absl::string_view tenant) const {
  MutexLock lock(mutex_);
  const auto found = used_.find(tenant);
  return found == used_.end() ? Usage() : found->second;
}

Quota::Usage Quota::total() const {
  MutexLock lock(mutex_);
  return total_;
}

size_t Quota::tenants() const {
  MutexLock lock(mutex_);
  return used_.size();
}

}  // namespace gpucall
