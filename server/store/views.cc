#include "server/store/views.h"

#include <memory>
#include <utility>

#include "server/base/status_macros.h"
#include "server/store/held_buffer.h"

namespace gpucall {

absl::StatusOr<Handle> AddView(TensorStore& store, Device& device, const Caller& caller,
                               const StoredTensor& of, const ViewType& view,
                               TensorStore::Time now) {
  const int64_t size_bytes = view.type.size_bytes();
  const BufferPointer part = PartOf(of.buffer, size_bytes == 0 ? 0 : view.offset_bytes, size_bytes);
  if (size_bytes == 0 || view.offset_bytes % kPartAlignment == 0) {
    return store.Add(caller, {view.type, part}, now);
  }
  GPUCALL_ASSIGN_OR_RETURN(Charge charge, store.Reserve(caller, size_bytes));
  GPUCALL_ASSIGN_OR_RETURN(BufferPointer copy, device.Allocate(size_bytes));
  GPUCALL_ASSIGN_OR_RETURN(const std::unique_ptr<Copier> copier, device.MakeCopier());
  GPUCALL_RETURN_IF_ERROR(copier->Copy(part, copy));
  return store.Add(caller, {view.type, Hold(std::move(copy), std::move(charge))}, now);
}

}  // namespace gpucall
