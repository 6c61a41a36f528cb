// What contract tests of resident inputs, kept outputs and targets share.
#ifndef GPUCALL_TESTS_CONTRACT_BUFFERS_H_
#define GPUCALL_TESTS_CONTRACT_BUFFERS_H_

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {

// A lane and a copier of the device under test.
class BufferTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    copier_ = *device().MakeCopier();
    lane_ = *device().MakeLane();
  }

  BufferPointer BufferOf(const Array& array) {
    BufferPointer buffer = *device().Allocate(array.type.size_bytes());
    EXPECT_EQ(copier_->Write(HostBytes(array.bytes.data(), array.type.size_bytes()), buffer, 0),
              absl::OkStatus());
    EXPECT_EQ(copier_->Finish(), absl::OkStatus());
    return buffer;
  }

  std::vector<std::byte> Read(const BufferPointer& buffer) {
    std::vector<std::byte> bytes;
    for (int64_t at = 0; at < buffer->size_bytes(); at += Copier::kBlockBytes) {
      const int64_t count = std::min(Copier::kBlockBytes, buffer->size_bytes() - at);
      EXPECT_EQ(copier_->StartRead(buffer, at, count), absl::OkStatus());
      const HostBytes block = *copier_->FinishRead();
      EXPECT_EQ(block.size_bytes(), count);
      bytes.resize(static_cast<size_t>(at + count));
      block.CopyTo(bytes.data() + at);
    }
    return bytes;
  }

  static Storage HostOf(const Array& array) {
    return {.host = HostBytes(array.bytes.data(), array.type.size_bytes())};
  }
  static std::vector<std::byte> Bytes(const Storage& storage) {
    std::vector<std::byte> bytes(static_cast<size_t>(storage.host.size_bytes()));
    storage.host.CopyTo(bytes.data());
    return bytes;
  }

  // One call's plan and storage, which Execution refers to.
  struct Work {
    Plan plan;
    std::vector<Storage> inputs;
    absl::InlinedVector<bool, 8> keep;
    Execution execution() const {
      Execution execution;
      execution.plan = &plan;
      execution.inputs = inputs;
      execution.keep_outputs = keep;
      return execution;
    }
  };
  static Work WorkOf(const Program& program, const std::vector<const Array*>& arrays,
                     std::vector<Storage> inputs, absl::InlinedVector<bool, 8> keep) {
    std::vector<TensorType> types;
    for (const Array* array : arrays) types.push_back(array->type);
    return {*MakePlan(program, types, int64_t{1} << 34), std::move(inputs), std::move(keep)};
  }

  absl::Status Execute(std::vector<Execution>& batch) {
    BatchTiming timing;
    return lane_->Execute(absl::MakeSpan(batch), timing);
  }

  std::unique_ptr<Copier> copier_;
  std::unique_ptr<Lane> lane_;
};

// Memory aligned as targets are.
class Aligned {
 public:
  explicit Aligned(size_t size_bytes) : memory_(size_bytes + 64), size_bytes_(size_bytes) {}
  std::byte* data() {
    return memory_.data() + (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64) % 64;
  }
  std::vector<std::byte> bytes() { return {data(), data() + size_bytes_}; }

 private:
  std::vector<std::byte> memory_;
  const size_t size_bytes_;
};

}  // namespace gpucall::contract

#endif  // GPUCALL_TESTS_CONTRACT_BUFFERS_H_
