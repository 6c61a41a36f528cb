// How much of the device each tenant holds.
#ifndef GPUCALL_SERVER_STORE_QUOTA_H_
#define GPUCALL_SERVER_STORE_QUOTA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"

namespace gpucall {

class Quota;

// What a tenant has been charged, given back when this is destroyed. Move-only.
class Charge {
 public:
  Charge() = default;
  Charge(Charge&& other) noexcept { *this = std::move(other); }
  Charge& operator=(Charge&& other) noexcept {
    std::swap(quota_, other.quota_);
    std::swap(tenant_, other.tenant_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(tensors_, other.tensors_);
    return *this;
  }
  ~Charge();

  int64_t size_bytes() const { return size_bytes_; }

 private:
  friend class Quota;
  std::shared_ptr<Quota> quota_;
  std::string tenant_;
  int64_t size_bytes_ = 0, tensors_ = 0;
};

// Thread-safe. Charges keep it alive.
class Quota : public std::enable_shared_from_this<Quota> {
 public:
  struct Usage {
    int64_t size_bytes = 0, tensors = 0;
  };

  // `limits` of each tenant; `total_bytes` of all together.
  static std::shared_ptr<Quota> Make(const Usage& limits, int64_t total_bytes) {
    return std::shared_ptr<Quota>(new Quota(limits, total_bytes));
  }

  // RESOURCE_EXHAUSTED, with the numbers: more than the tenant may have, or all together.
  absl::StatusOr<Charge> Take(absl::string_view tenant, const Usage& wanted);

  // Of one tenant, and of all.
  Usage usage(absl::string_view tenant) const;
  Usage total() const;
  size_t tenants() const;  // that hold something

 private:
  friend class Charge;
  Quota(const Usage& limits, int64_t total_bytes) : limits_(limits), total_bytes_(total_bytes) {}
  void GiveBack(const Charge& charge);

  const Usage limits_;
  const int64_t total_bytes_;
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, Usage> used_ ABSL_GUARDED_BY(mutex_);
  Usage total_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_QUOTA_H_
