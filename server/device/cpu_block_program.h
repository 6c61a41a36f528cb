// Elementwise steps on the CPU: block by block, so that what instructions hand each other stays in
// the first-level cache.
#ifndef GPUCALL_SERVER_DEVICE_CPU_BLOCK_PROGRAM_H_
#define GPUCALL_SERVER_DEVICE_CPU_BLOCK_PROGRAM_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/cpu/elementwise.h"
#include "server/device/cpu_broadcast.h"
#include "server/device/cpu_memory.h"
#include "server/device/cpu_values.h"
#include "server/program/plan.h"

namespace gpucall {

// Turns a step into actions on blocks (cpu_block_program.cc), and runs them (cpu_elementwise.cc).
// Buffers are reused after the last use of what they hold. Refers to what it is made of.
class BlockProgram {
 public:
  BlockProgram(const ElementwiseStep& step, const CpuValues& values);
  // Errors: see RunElementwise.
  absl::Status Run(CpuMemory& memory);

 private:
  static constexpr size_t kMaxRegisters =
      ElementwiseStep::kMaxInputs + ElementwiseStep::kMaxInstructions;
  static constexpr size_t kDTypes = cpu::kElementTypeCount;

  // Where the elements of a register are while a block runs: in a tensor, or in a buffer of a
  // block.
  struct Place {
    std::byte* tensor = nullptr;
    int buffer = -1;
  };

  struct Action {
    enum class Kind : uint8_t { kGather, kConvert, kScan, kCompute };
    Kind kind;
    uint16_t reader = 0;  // kGather
    cpu::CastLoop convert = nullptr;
    cpu::FaultScan scan = nullptr;
    cpu::ElementwiseLoop compute = nullptr;
    std::array<uint16_t, 3> operands = {};  // places
    uint8_t operand_count = 0;
    uint16_t result = 0;                // place
    DType dtype = DType::kUnspecified;  // kScan: of the operand
  };

  struct Register {
    uint16_t place;
    DType dtype;
    int last_use = -1;                       // the instruction
    bool constant = false;                   // the same in all blocks
    std::array<int16_t, kDTypes> converted;  // places, -1: none yet
  };

  uint16_t AddPlace(Place place, DType dtype);
  int TakeBuffer();
  void AddInputs();
  void FindLastUses();
  void AddInstruction(int k);
  uint16_t Operand(uint16_t register_index, DType dtype);
  void AddCast(const Register& source, uint16_t place, Register& result);
  void AddCompute(int k, uint16_t register_index);
  uint16_t Result(int k, uint16_t register_index);
  void Release(int k, uint16_t register_index);
  size_t WidestElement() const { return *std::max_element(sizes_.begin(), sizes_.end()); }
  int64_t BlockCount() const;
  std::byte* At(uint16_t place, int64_t start) const;
  absl::Status RunBlock(absl::Span<const Action> actions, int64_t start, size_t count);
  absl::Status Fault(const Action& action, int64_t start, size_t index) const;

  const ElementwiseStep& step_;
  const CpuValues& values_;
  std::array<Register, kMaxRegisters> registers_;
  absl::InlinedVector<Place, 8> places_;
  absl::InlinedVector<size_t, 8> sizes_;  // of the elements at places_
  absl::InlinedVector<BroadcastReader, 2> readers_;
  absl::InlinedVector<Action, 4> once_, actions_;  // before the first block; for each
  absl::InlinedVector<int, 8> free_buffers_;
  int buffer_count_ = 0;
  std::byte* buffers_ = nullptr;
  size_t buffer_bytes_ = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_BLOCK_PROGRAM_H_
