// Where the values of a batch lie in device memory. Arithmetic only: no CUDA, no allocation.
//
// One block of memory holds three regions, each contiguous so that a copy moves it whole:
//   upload    the inputs that steps read, then tables that steps reserve
//   work      intermediate values, then scratch memory that steps share, one after another
//   download  the outputs that steps write, then a fault word (int32_t) for each execution, then,
//             where a step takes by indices, a cuda::IndexFault for each
// A value of all executions lies together: those of one group at a constant stride, so that library
// calls can run over them. Values in buffers (resident inputs, kept outputs) lie elsewhere: an
// execution that has some is a group of its own.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_LAYOUT_H_
#define GPUCALL_SERVER_DEVICE_CUDA_LAYOUT_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/device/device.h"

namespace gpucall {

class BatchLayout {
 public:
  // Executions whose values all have the same shapes: `members` of the batch, by index.
  struct Group {
    const Plan* plan;
    std::vector<uint32_t> members;
  };
  struct Slots {
    int64_t offset;  // of the group's first member, from the start of the block
    int64_t stride;  // bytes to the next member
  };

  // Groups are in the order of their first members. REQUIRES: equal plan signatures; the outputs of
  // executions hold the buffers of those to keep.
  explicit BatchLayout(absl::Span<const Execution> batch);

  absl::Span<const Group> groups() const { return groups_; }

  // Where the block is. Call once nothing more is reserved, before SlotsOf.
  void SetMemory(const std::byte* memory) { memory_ = memory; }
  // A reshape lies where its root does. REQUIRES: the value is read or written by a step. Of a
  // buffer: the distance to it.
  Slots SlotsOf(uint32_t alias, size_t group) const;
  // True for inputs that steps read, and for values that steps write.
  bool IsOnDevice(uint32_t value) const { return regions_[value] != Region::kNone; }
  // The buffer that holds the value, a root, of a group's only member, else null.
  const DeviceBuffer* BufferOf(uint32_t value, size_t group) const {
    return buffers_[value * groups_.size() + group];
  }

  // Space for a table, and its offset.
  int64_t ReserveTable(int64_t size_bytes);
  void RequireScratch(int64_t size_bytes) { scratch_bytes_ = std::max(scratch_bytes_, size_bytes); }

  int64_t upload_bytes() const { return upload_bytes_; }
  int64_t scratch_offset() const;
  int64_t download_offset() const;
  int64_t download_bytes() const { return faults_ + fault_bytes_; }
  int64_t faults_offset() const { return download_offset() + faults_; }  // aligned to 4
  int64_t fault_bytes() const { return fault_bytes_; }                   // of both kinds
  bool has_index_faults() const { return index_faults_ > 0; }
  int64_t index_faults_offset() const { return faults_offset() + index_faults_; }  // aligned to 16
  int64_t total_bytes() const { return download_offset() + download_bytes(); }

 private:
  enum class Region : uint8_t { kNone, kUpload, kWork, kDownload };

  void FindGroups(absl::Span<const Execution> batch);
  void FindBuffers(absl::Span<const Execution> batch);
  void FindRegions(const Plan& plan);
  void Place(Region region, int64_t& size_bytes);
  int64_t OffsetOf(Region region) const;

  std::vector<Group> groups_;
  const std::byte* memory_ = nullptr;
  std::vector<const DeviceBuffer*> buffers_;  // by value and group
  std::vector<Region> regions_;               // by value
  std::vector<Slots> slots_;  // by value and group, offsets from the start of the region
  int64_t upload_bytes_ = 0, work_bytes_ = 0, scratch_bytes_ = 0, faults_ = 0, fault_bytes_ = 0;
  int64_t index_faults_ = 0;  // from the first fault word
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_LAYOUT_H_
