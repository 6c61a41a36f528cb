#include "kernels/cuda/elementwise_unrolling.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "kernels/elementwise_rules.h"

namespace gpucall::cuda {
namespace {

constexpr int kGroupBytes = 16;    // of the widest input or output that a thread moves at once
constexpr int kMaxLoads = 8;       // groups of all inputs that a thread has in flight
constexpr int kMaxElements = 16;   // that a thread computes
constexpr int kMaxUnrolled = 256;  // cost of what a thread's code may unroll to

struct FunctionRow {
  std::string_view function;
  ElementwiseTakes::Kinds takes;
  ElementwiseResult result;
};
constexpr FunctionRow kFunctions[] = {
#define GPUCALL_ELEMENTWISE(Function, name, arity, takes, rule, result, description) \
  {#Function, ElementwiseTakes::takes, ElementwiseResult::result},
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
};

// Costs are in units of a cheap instruction, of those that a thread's code has for one element.
constexpr int kStridedReadCost = 10;  // for each dimension

int FunctionCost(std::string_view function) {
  constexpr std::string_view kCheap[] = {"Copysign", "NextAfter", "LeakyRelu"};
  constexpr std::string_view kShort[] = {"Exp",         "Log",       "Sqrt", "Tanh",      "Sigmoid",
                                         "Divide",      "Exp2",      "Log2", "Silu",      "Erf",
                                         "FloorDivide", "Remainder", "Fmod", "Reciprocal"};
  if (std::ranges::find(kCheap, function) != std::end(kCheap)) return 1;
  if (std::ranges::find(kShort, function) != std::end(kShort)) return 12;
  if (function == "Power") return 32;
  const auto* row = std::ranges::find(kFunctions, function, &FunctionRow::function);
  const bool mathematics =
      row != std::end(kFunctions) && row->result == ElementwiseResult::kSame &&
      (row->takes == ElementwiseTakes::kF || row->takes == ElementwiseTakes::kFC);
  return mathematics ? 24 : 1;
}

int Cost(const ElementwiseKernel::Instruction& instruction) {
  const int cost = FunctionCost(instruction.function);
  if (cost > 1 && IsComplex(instruction.type)) return 16 * cost;
  return ElementBytes(instruction.type) > 4 ? 2 * cost : cost;
}

}  // namespace

Unrolling ChooseUnrolling(const ElementwiseKernel& kernel) {
  int bytes = 1;
  int full_inputs = 0;
  int64_t cost = 1;
  for (const auto& input : kernel.inputs) {
    if (input.mode == ReadMode::kStrided) cost += kStridedReadCost * kernel.rank;
    if (input.mode != ReadMode::kFull) continue;
    bytes = std::max(bytes, ElementBytes(input.type));
    ++full_inputs;
  }
  for (const uint16_t output : kernel.outputs) {
    bytes = std::max(bytes, ElementBytes(RegisterType(kernel, output)));
  }
  for (const auto& instruction : kernel.instructions) cost += Cost(instruction);
  Unrolling unrolling;
  unrolling.width = kGroupBytes / bytes;
  unrolling.vectors = std::min(std::max(kMaxLoads / std::max(full_inputs, 1), 1),
                               std::max(kMaxElements / unrolling.width, 1));
  const auto too_long = [&] { return cost * unrolling.width * unrolling.vectors > kMaxUnrolled; };
  while (unrolling.vectors > 1 && too_long()) unrolling.vectors /= 2;
  while (unrolling.width > 1 && too_long()) unrolling.width /= 2;
  return unrolling;
}

}  // namespace gpucall::cuda
