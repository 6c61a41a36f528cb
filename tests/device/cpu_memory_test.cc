#include "server/device/cpu_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

// An allocation that fails is part of the contract, for sanitizers too.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace gpucall {
namespace {

std::byte* Take(CpuMemory& memory, size_t size_bytes) {
  auto data = memory.Allocate(size_bytes);
  EXPECT_TRUE(data.ok()) << data.status();
  std::memset(*data, 0x5a, size_bytes);
  return *data;
}

TEST(CpuMemory, IsAlignedAndDoesNotOverlap) {
  CpuMemory memory;
  std::byte* before = Take(memory, 0);
  for (size_t size : {1, 63, 64, 65, 100000, 3, 5000000, 1}) {
    std::byte* data = Take(memory, size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % CpuMemory::kAlignment, 0u);
    std::memset(data, 1, size);
    EXPECT_TRUE(before >= data + size || before <= data);
    before = data;
  }
}

TEST(CpuMemory, RewindTakesBackWhatCameAfter) {
  CpuMemory memory;
  std::byte* kept = Take(memory, 100);
  const CpuMemory::Mark mark = memory.mark();
  std::byte* first = Take(memory, 1000);
  Take(memory, 10 << 20);
  memory.Rewind(mark);
  EXPECT_EQ(Take(memory, 500), first);
  EXPECT_EQ(kept[99], std::byte{0x5a});
}

TEST(CpuMemory, BatchesOfOneSizeFindTheSameMemory) {
  CpuMemory memory;
  for (int i = 0; i < 3; ++i) Take(memory, 1 << 20);
  memory.Reset();
  std::byte* first = Take(memory, 3 << 20);
  for (int batch = 0; batch < 3 * CpuMemory::kBatchesKept; ++batch) {
    memory.Reset();
    EXPECT_EQ(Take(memory, 3 << 20), first) << batch;
  }
}

TEST(CpuMemory, GivesBackWhatIsLongUnused) {
  CpuMemory memory;
  std::byte* large = Take(memory, 64 << 20);
  memory.Reset();
  EXPECT_EQ(Take(memory, 64 << 20), large) << "kept for the next batch";
  for (int batch = 0; batch < 3 * CpuMemory::kBatchesKept; ++batch) {
    memory.Reset();
    Take(memory, 1000);
  }
  EXPECT_LT(memory.held_bytes(), size_t{16} << 20);
}

TEST(CpuMemory, SaysWhenThereIsNoMore) {
  CpuMemory memory;
  EXPECT_EQ(memory.Allocate(size_t{1} << 60).status().code(), absl::StatusCode::kResourceExhausted);
  Take(memory, 100);
}

}  // namespace
}  // namespace gpucall
