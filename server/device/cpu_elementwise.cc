#include "server/device/cpu_elementwise.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "kernels/cpu/elementwise.h"
#include "server/base/status_macros.h"
#include "server/device/cpu_broadcast.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

constexpr size_t kMaxRegisters = ElementwiseStep::kMaxInputs + ElementwiseStep::kMaxInstructions;
constexpr size_t kDTypes = cpu::kElementTypeCount;

// Where the elements of a register are while a block runs: in a tensor, or in a buffer of a block.
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

// Turns a step into actions on blocks. Buffers are reused after the last use of what they hold.
class BlockProgram {
 public:
  BlockProgram(const ElementwiseStep& step, const CpuValues& values);
  absl::Status Run(CpuMemory& memory);

 private:
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

BlockProgram::BlockProgram(const ElementwiseStep& step, const CpuValues& values)
    : step_(step), values_(values) {
  AddInputs();
  FindLastUses();
  for (size_t k = 0; k < step.instructions.size(); ++k) AddInstruction(static_cast<int>(k));
}

uint16_t BlockProgram::AddPlace(Place place, DType dtype) {
  places_.push_back(place);
  sizes_.push_back(ElementSize(dtype));
  return static_cast<uint16_t>(places_.size() - 1);
}

int BlockProgram::TakeBuffer() {
  if (free_buffers_.empty()) return buffer_count_++;
  const int buffer = free_buffers_.back();
  free_buffers_.pop_back();
  return buffer;
}

void BlockProgram::AddInputs() {
  for (size_t i = 0; i < step_.inputs.size(); ++i) {
    const TensorType& type = values_.type(step_.inputs[i]);
    const std::byte* data = values_.data(step_.inputs[i]);
    Register& target = registers_[i];
    target.dtype = type.dtype;
    target.converted.fill(-1);
    if (step_.broadcasts[i] == Broadcast::kFull) {
      target.place = AddPlace({.tensor = const_cast<std::byte*>(data)}, type.dtype);  // only read
      continue;
    }
    target.place = AddPlace({.buffer = TakeBuffer()}, type.dtype);
    target.constant = step_.broadcasts[i] == Broadcast::kScalar;
    readers_.emplace_back(data, ElementSize(type.dtype), type.shape, step_.shape);
    Action gather = {.kind = Action::Kind::kGather};
    gather.reader = static_cast<uint16_t>(readers_.size() - 1);
    gather.result = target.place;
    (target.constant ? once_ : actions_).push_back(gather);
  }
}

void BlockProgram::FindLastUses() {
  for (size_t k = 0; k < step_.instructions.size(); ++k) {
    const ElementwiseStep::Instruction& instruction = step_.instructions[k];
    const int arity = RowOf(instruction.op).inputs;
    registers_[step_.inputs.size() + k].last_use = static_cast<int>(k);
    for (int i = 0; i < arity; ++i) {
      registers_[instruction.operands[i]].last_use = static_cast<int>(k);
    }
  }
}

// The place of a register's elements as `dtype`, converted where they are of another.
uint16_t BlockProgram::Operand(uint16_t register_index, DType dtype) {
  Register& source = registers_[register_index];
  if (source.dtype == dtype) return source.place;
  int16_t& converted = source.converted[static_cast<size_t>(ElementTypeOf(dtype))];
  if (converted < 0) {
    // A constant is converted once: its buffer must be one that no block writes.
    const int buffer = source.constant ? buffer_count_++ : TakeBuffer();
    converted = static_cast<int16_t>(AddPlace({.buffer = buffer}, dtype));
    Action action = {.kind = Action::Kind::kConvert};
    action.convert = cpu::FindCastLoop(ElementTypeOf(source.dtype), ElementTypeOf(dtype));
    action.operands[0] = source.place;
    action.result = static_cast<uint16_t>(converted);
    (source.constant ? once_ : actions_).push_back(action);
  }
  return static_cast<uint16_t>(converted);
}

// Results that are output values go straight to their tensors: a register is at most one value.
uint16_t BlockProgram::Result(int k, uint16_t register_index) {
  const DType dtype = step_.instructions[static_cast<size_t>(k)].result;
  for (const ElementwiseStep::Output& output : step_.outputs) {
    if (output.register_index == register_index) {
      return AddPlace({.tensor = values_.target(output.value)}, dtype);
    }
  }
  return AddPlace({.buffer = TakeBuffer()}, dtype);
}

void BlockProgram::Release(int k, uint16_t register_index) {
  Register& used = registers_[register_index];
  if (used.last_use != k || used.constant) return;
  used.last_use = -1;  // an operand may be named twice
  if (places_[used.place].buffer >= 0) free_buffers_.push_back(places_[used.place].buffer);
  for (int16_t place : used.converted) {
    if (place >= 0) free_buffers_.push_back(places_[static_cast<size_t>(place)].buffer);
  }
}

void BlockProgram::AddInstruction(int k) {
  const ElementwiseStep::Instruction& instruction = step_.instructions[static_cast<size_t>(k)];
  const auto register_index = static_cast<uint16_t>(step_.inputs.size() + static_cast<size_t>(k));
  const int arity = RowOf(instruction.op).inputs;
  Register& result = registers_[register_index];
  result.dtype = instruction.result;
  result.converted.fill(-1);
  if (instruction.op == ElementwiseOp::kCast) {
    AddCast(registers_[instruction.operands[0]], Result(k, register_index), result);
  } else {
    AddCompute(k, register_index);
  }
  for (int i = 0; i < arity; ++i) Release(k, instruction.operands[i]);
  Release(k, register_index);
}

void BlockProgram::AddCast(const Register& source, uint16_t place, Register& result) {
  Action action = {.kind = Action::Kind::kConvert};
  action.convert = cpu::FindCastLoop(ElementTypeOf(source.dtype), ElementTypeOf(result.dtype));
  action.operands[0] = source.place;
  result.place = action.result = place;
  actions_.push_back(action);
}

void BlockProgram::AddCompute(int k, uint16_t register_index) {
  const ElementwiseStep::Instruction& instruction = step_.instructions[static_cast<size_t>(k)];
  const auto row = static_cast<size_t>(instruction.op);
  DType computed_in = instruction.computed_in;
  Action action = {.kind = Action::Kind::kCompute};
  action.compute = cpu::FindElementwiseLoop(row, ElementTypeOf(computed_in));
  const bool by_float = action.compute == nullptr;  // float16, bfloat16: rounded afterwards
  if (by_float) {
    computed_in = DType::kFloat32;
    action.compute = cpu::FindElementwiseLoop(row, ElementTypeOf(computed_in));
  }
  action.operand_count = static_cast<uint8_t>(RowOf(instruction.op).inputs);
  for (size_t i = 0; i < action.operand_count; ++i) {
    action.operands[i] = Operand(instruction.operands[i],
                                 IsCondition(instruction.op, i) ? DType::kBool : computed_in);
  }
  if (MayFault(instruction.op, computed_in)) {
    Action scan = {.kind = Action::Kind::kScan};
    scan.scan = cpu::FindPowerFaultScan(ElementTypeOf(computed_in));
    scan.operands[0] = action.operands[1];
    scan.dtype = computed_in;
    actions_.push_back(scan);
  }
  Register& result = registers_[register_index];
  // Before the operands' buffers are free: the loop's output must not overlap operands of another
  // size.
  if (by_float && IsFloating(result.dtype)) {
    const Register exact = {.place = AddPlace({.buffer = TakeBuffer()}, computed_in),
                            .dtype = computed_in,
                            .converted = {}};
    action.result = exact.place;
    actions_.push_back(action);
    AddCast(exact, Result(k, register_index), result);
    free_buffers_.push_back(places_[exact.place].buffer);
  } else {
    result.place = action.result = Result(k, register_index);
    actions_.push_back(action);
  }
}

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

}  // namespace

absl::Status RunElementwise(const ElementwiseStep& step, const CpuValues& values,
                            CpuMemory& memory) {
  if (ElementCount(step.shape) == 0) return absl::OkStatus();
  return BlockProgram(step, values).Run(memory);
}

}  // namespace gpucall
