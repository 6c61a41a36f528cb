#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/device/cpu_block_program.h"
#include "server/device/cpu_step.h"

namespace gpucall {

// So many elements that all buffers stay in the first-level cache.
int64_t BlockProgram::BlockCount() const {
  constexpr int64_t kCacheBytes = 32 << 10;
  constexpr int64_t kLeast = 256, kMost = 16384, kMultiple = 64;
  if (buffer_count_ == 0) return kMost;
  const int64_t fitting = kCacheBytes / (buffer_count_ * static_cast<int64_t>(WidestElement()));
  return std::clamp(fitting / kMultiple * kMultiple, kLeast, kMost);
}

std::byte* BlockProgram::At(uint16_t place, int64_t start) const {
  const Place& at = places_[place];
  if (at.buffer >= 0) return buffers_ + static_cast<size_t>(at.buffer) * buffer_bytes_;
  return at.tensor + static_cast<size_t>(start) * sizes_[place];
}

absl::Status BlockProgram::Fault(const Action& action, int64_t start, size_t index) const {
  int64_t exponent;
  cpu::FindCastLoop(ElementTypeOf(action.dtype), cpu::ElementType::kInt64)(
      At(action.operands[0], start) + index * ElementSize(action.dtype), &exponent, 1);
  return absl::InvalidArgumentError(
      absl::StrCat("power: integer exponents must not be negative, got ", exponent));
}

absl::Status BlockProgram::RunBlock(absl::Span<const Action> actions, int64_t start, size_t count) {
  for (const Action& action : actions) {
    std::byte* result = At(action.result, start);
    switch (action.kind) {
      case Action::Kind::kGather:
        readers_[action.reader].Read(start, static_cast<int64_t>(count), result);
        break;
      case Action::Kind::kConvert:
        action.convert(At(action.operands[0], start), result, count);
        break;
      case Action::Kind::kScan: {
        const size_t index = action.scan(At(action.operands[0], start), count);
        if (index < count) return Fault(action, start, index);
        break;
      }
      case Action::Kind::kCompute: {
        const void* operands[3];
        for (size_t i = 0; i < action.operand_count; ++i) {
          operands[i] = At(action.operands[i], start);
        }
        action.compute(operands, result, count);
        break;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status BlockProgram::Run(CpuMemory& memory) {
  const int64_t count = ElementCount(step_.shape);
  const int64_t block = std::min(BlockCount(), count);
  buffer_bytes_ = static_cast<size_t>(block) * WidestElement();
  GPUCALL_ASSIGN_OR_RETURN(buffers_,
                           memory.Allocate(static_cast<size_t>(buffer_count_) * buffer_bytes_));
  GPUCALL_RETURN_IF_ERROR(RunBlock(once_, 0, static_cast<size_t>(block)));
  for (int64_t start = 0; start < count; start += block) {
    const auto size = static_cast<size_t>(std::min(block, count - start));
    GPUCALL_RETURN_IF_ERROR(RunBlock(actions_, start, size));
  }
  return absl::OkStatus();
}

absl::Status RunOnCpu(const ElementwiseStep& step, const CpuValues& values, CpuMemory& memory) {
  if (ElementCount(step.shape) == 0) return absl::OkStatus();
  return BlockProgram(step, values).Run(memory);
}

}  // namespace gpucall
