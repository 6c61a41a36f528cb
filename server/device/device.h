// What executes batches: the seam between the scheduler and a CPU or a GPU.
// tests/contract/device_contract_test.cc holds every implementation to this page.
#ifndef GPUCALL_SERVER_DEVICE_DEVICE_H_
#define GPUCALL_SERVER_DEVICE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/device/buffer.h"
#include "server/program/plan.h"

namespace gpucall {

struct DeviceInfo {
  std::string id;    // "cpu", "cuda:0"
  std::string name;  // "NVIDIA H200"
  int64_t memory_bytes = 0;
  int default_lanes = 1;
  std::string compute_capability = "";  // "9.0"; empty for a CPU
};

// One task's part of a batch.
struct Execution {
  const Plan* plan = nullptr;
  absl::Span<const Storage> inputs;  // plan->values[i].size_bytes() each
  // Outputs, by index, to leave in buffers of the device; empty: none.
  absl::Span<const bool> keep_outputs;
  // Where outputs go, by index, of those that are not kept; empty: none. Each has room for its
  // output.
  absl::Span<const HostTarget> targets;
  // Set by Lane::Execute where status is OK. What is not kept is in host memory: pieces that have
  // no owner are valid until the next Execute on the lane.
  std::vector<Storage> outputs;
  absl::Status status;

  bool keeps(size_t output) const { return output < keep_outputs.size() && keep_outputs[output]; }
  // Null where the output has no target.
  const HostTarget* target(size_t output) const {
    const bool set = output < targets.size() && targets[output].data != nullptr;
    return set ? &targets[output] : nullptr;
  }
};

// How long a batch took, by stage. A stage the device does not have is zero.
struct BatchTiming {
  absl::Duration copy_in, compute, copy_out;
};

// One batch at a time: on a GPU a stream with its staging memory. Used by one thread at a time.
class Lane {
 public:
  virtual ~Lane() = default;

  // Runs the tasks together, and returns when outputs are readable. REQUIRES: not empty; equal plan
  // signatures. Results are bit-equal to those of a batch of one. Fills outputs and status of each
  // execution: a task that faults (INVALID_ARGUMENT: integer power) leaves the others right. Not
  // OK: the batch as a whole failed (RESOURCE_EXHAUSTED: no device memory; INTERNAL: a device
  // error) and no execution has outputs. Blocks; makes what it needs for a new signature (compiles
  // kernels) on first use.
  virtual absl::Status Execute(absl::Span<Execution> batch, BatchTiming& timing) = 0;
};

// Page-locked memory that copies to and from a device pass through.
struct PinnedMemory {
  int64_t size_bytes = 0, free_bytes = 0;
  int64_t fallbacks = 0;  // blocks of ordinary memory since the start, where it was all in use
};

// Thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  // Lanes must be destroyed before their device. RESOURCE_EXHAUSTED: no memory for a lane.
  virtual absl::StatusOr<std::unique_ptr<Lane>> MakeLane() = 0;

  // Buffers and copiers must be gone before their device. RESOURCE_EXHAUSTED: no memory for it,
  // also after giving back what is kept for later.
  virtual absl::StatusOr<BufferPointer> Allocate(int64_t size_bytes) = 0;
  virtual absl::StatusOr<std::unique_ptr<Copier>> MakeCopier() = 0;

  // Page-locks whole pages of host memory, which must stay mapped until the result is gone; null
  // where the device has no use for that. RESOURCE_EXHAUSTED: the system does not lock as much.
  virtual absl::StatusOr<std::shared_ptr<const void>> LockHostMemory(std::byte* data,
                                                                     int64_t size_bytes) = 0;
  virtual PinnedMemory pinned_memory() const { return {}; }
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_DEVICE_H_
