#include "server/device/cpu_block_program.h"

#include "server/program/catalogue.h"

namespace gpucall {

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

}  // namespace gpucall
