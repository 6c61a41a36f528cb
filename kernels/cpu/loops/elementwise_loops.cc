#include <math.h>

#include <type_traits>
#include <utility>

#include "kernels/cpu/loops/float_math.h"
#include "kernels/cpu/loops/half.h"
#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vectorize.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

// Here, so that this level's copies of its functions are its own.
#define GPUCALL_FN
#include "kernels/elementwise_types.h"
// The functions are of those types.
#include "kernels/elementwise_functions.h"

using gpucall::elementwise::Bfloat16;
using gpucall::elementwise::Complex;
using gpucall::elementwise::Float16;

enum class Types { kSame, kReal, kDivide, kSelect, kPower };
enum class Bools { kTake, kRefuse, kPromote };

template <class T>
constexpr bool IsComputedIn(Types types, Bools bools) {
  if (std::is_floating_point_v<T>) return true;
  if (!std::is_integral_v<T>) return false;
  if (types == Types::kReal || types == Types::kDivide) return false;
  return !std::is_same_v<T, bool> || bools == Bools::kTake;
}

// Operands... are the operands' types, T the result's.
template <class Function, class T, class... Operands>
struct Loop {
  template <size_t... I>
  static void RunIndexed(const void* const* operands, Element<T>* out, size_t count,
                         std::index_sequence<I...>) {
    const void* const data[] = {operands[I]...};
    GPUCALL_INDEPENDENT
    for (size_t i = 0; i < count; ++i) {
      out[i].value = Function::Apply(
          static_cast<Operands>(static_cast<const Element<Operands>*>(data[I])[i].value)...);
    }
  }
  static void Run(const void* const* operands, void* out, size_t count) {
    RunIndexed(operands, static_cast<Element<T>*>(out), count,
               std::index_sequence_for<Operands...>{});
  }
};

template <class Function, class T, Types types, Bools bools, int arity>
constexpr ElementwiseLoop LoopOf() {
  if constexpr (!IsComputedIn<T>(types, bools)) {
    return nullptr;
  } else if constexpr (types == Types::kSelect) {
    return Loop<Function, T, bool, T, T>::Run;
  } else if constexpr (arity == 1) {
    return Loop<Function, T, T>::Run;
  } else if constexpr (arity == 2) {
    return Loop<Function, T, T, T>::Run;
  } else {
    return Loop<Function, T, T, T, T>::Run;
  }
}

#define GPUCALL_ELEMENTWISE(Function, name, arity, types, bools, description) \
  struct Function##Of {                                                       \
    template <class... Operands>                                              \
    static auto Apply(Operands... operands) {                                 \
      return gpucall::elementwise::Function(operands...);                     \
    }                                                                         \
  };
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE

template <class T>
size_t FindPowerFault(const void* exponents, size_t count) {
  const auto* elements = static_cast<const Element<T>*>(exponents);
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    any |= gpucall::elementwise::PowerFaults(static_cast<T>(elements[i].value));
  }
  if (!any) return count;
  size_t i = 0;
  while (!gpucall::elementwise::PowerFaults(static_cast<T>(elements[i].value))) ++i;
  return i;
}

}  // namespace

#define GPUCALL_LOOP(Function, arity, types, bools, T) \
  LoopOf<Function##Of, T, Types::types, Bools::bools, arity>()
// Entries in the order of kernels/dtypes.def.
#define GPUCALL_ELEMENTWISE(Function, name, arity, types, bools, description) \
  {GPUCALL_LOOP(Function, arity, types, bools, bool),                         \
   GPUCALL_LOOP(Function, arity, types, bools, unsigned char),                \
   GPUCALL_LOOP(Function, arity, types, bools, unsigned short),               \
   GPUCALL_LOOP(Function, arity, types, bools, unsigned),                     \
   GPUCALL_LOOP(Function, arity, types, bools, unsigned long long),           \
   GPUCALL_LOOP(Function, arity, types, bools, signed char),                  \
   GPUCALL_LOOP(Function, arity, types, bools, short),                        \
   GPUCALL_LOOP(Function, arity, types, bools, int),                          \
   GPUCALL_LOOP(Function, arity, types, bools, long long),                    \
   nullptr,                                                                   \
   nullptr,                                                                   \
   GPUCALL_LOOP(Function, arity, types, bools, float),                        \
   GPUCALL_LOOP(Function, arity, types, bools, double),                       \
   nullptr,                                                                   \
   nullptr},
const ElementwiseTable kElementwise = {
    .loops =
        {
#include "kernels/elementwise_ops.def"
        },
    .power_faults = {nullptr, nullptr, nullptr, nullptr, nullptr, FindPowerFault<signed char>,
                     FindPowerFault<short>, FindPowerFault<int>, FindPowerFault<long long>, nullptr,
                     nullptr, nullptr, nullptr, nullptr, nullptr},
};
#undef GPUCALL_ELEMENTWISE

}  // namespace gpucall::cpu::GPUCALL_LEVEL
