// A device for tests of what lies above devices.
#ifndef GPUCALL_TESTS_TESTING_GATED_DEVICE_H_
#define GPUCALL_TESTS_TESTING_GATED_DEVICE_H_

#include <memory>
#include <vector>

#include "server/base/mutex.h"
#include "server/device/cpu_device.h"
#include "server/device/device.h"

namespace gpucall {

// Its lanes wait at a gate, remember the sizes of their batches, and give each task its inputs back
// as outputs.
class GatedDevice final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }

  absl::StatusOr<std::unique_ptr<Lane>> MakeLane() override {
    return std::make_unique<GatedLane>(*this);
  }

  absl::StatusOr<BufferPointer> Allocate(int64_t size_bytes) override {
    return memory_->Allocate(size_bytes);
  }
  absl::StatusOr<std::unique_ptr<Copier>> MakeCopier() override { return memory_->MakeCopier(); }

  absl::StatusOr<std::shared_ptr<const void>> LockHostMemory(std::byte* data,
                                                             int64_t size_bytes) override {
    return memory_->LockHostMemory(data, size_bytes);
  }

  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  // Returns once a lane has begun its `count`-th batch.
  void AwaitBatches(size_t count) {
    MutexLock lock(mutex_);
    while (sizes_.size() < count) changed_.Wait(mutex_);
  }
  std::vector<size_t> sizes() {
    MutexLock lock(mutex_);
    return sizes_;
  }
  size_t largest_fitting_batch = 1000;  // larger ones are RESOURCE_EXHAUSTED

 private:
  class GatedLane final : public Lane {
   public:
    explicit GatedLane(GatedDevice& device) : device_(device) {}
    absl::Status Execute(absl::Span<Execution> batch, BatchTiming&) override {
      MutexLock lock(device_.mutex_);
      device_.sizes_.push_back(batch.size());
      device_.changed_.NotifyAll();
      while (!device_.open_) device_.changed_.Wait(device_.mutex_);
      if (batch.size() > device_.largest_fitting_batch)
        return absl::ResourceExhaustedError("too much");
      for (Execution& execution : batch)
        execution.outputs = {execution.inputs.begin(), execution.inputs.end()};
      return absl::OkStatus();
    }

   private:
    GatedDevice& device_;
  };

  const std::unique_ptr<Device> memory_ = MakeCpuDevice();
  const DeviceInfo info_{.id = "gated", .name = "a gate"};
  Mutex mutex_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<size_t> sizes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpucall

#endif  // GPUCALL_TESTS_TESTING_GATED_DEVICE_H_
