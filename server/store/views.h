// Views kept in the store.
#ifndef GPUCALL_SERVER_STORE_VIEWS_H_
#define GPUCALL_SERVER_STORE_VIEWS_H_

#include "absl/status/statusor.h"
#include "server/device/device.h"
#include "server/store/tensor_store.h"
#include "server/store/view.h"

namespace gpucall {

// Keeps a tensor on the elements of `of`. It shares them where it begins at a multiple of
// kPartAlignment; else they are copied, and charged. REQUIRES: `view` is of of.type.
// Errors: those of TensorStore::Add; RESOURCE_EXHAUSTED: no device memory.
absl::StatusOr<Handle> AddView(TensorStore& store, Device& device, const Caller& caller,
                               const StoredTensor& of, const ViewType& view, TensorStore::Time now);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_VIEWS_H_
