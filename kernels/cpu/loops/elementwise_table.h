// Makes a type's column of elementwise loops (loops/tables.h): each elementwise_*.cc beside this is
// the columns of a few types. Copies are the level's own, hence the anonymous namespace.
#ifndef GPUCALL_KERNELS_CPU_LOOPS_ELEMENTWISE_TABLE_H_
#define GPUCALL_KERNELS_CPU_LOOPS_ELEMENTWISE_TABLE_H_

#include <math.h>

#include <utility>

#include "kernels/cpu/loops/float_math.h"
#include "kernels/cpu/loops/half.h"
#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vectorize.h"
#include "kernels/elementwise_rules.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

// Here, so that this level's copies of its functions are its own; each needs those before it.
#define GPUCALL_FN
#include "kernels/elementwise_types.h"
//
#include "kernels/elementwise_functions.h"
//
#include "kernels/elementwise_math.h"
//
#include "kernels/elementwise_complex.h"
//
#include "kernels/elementwise_complex_math.h"
#undef GPUCALL_FN

using namespace gpucall::elementwise;

template <class T>
constexpr bool IsComputedIn(ElementwiseTakes::Kinds takes) {
  if (kIsBool<T>) return (takes & ElementwiseTakes::kB) != 0;
  if (kIsInteger<T>) return (takes & ElementwiseTakes::kI) != 0;
  if (kIsReal<T>) return (takes & ElementwiseTakes::kF) != 0;
  return kIsComplex<T> && (takes & (ElementwiseTakes::kFC & ~ElementwiseTakes::kF)) != 0;
}

// Operands... are the operands' types.
template <class Function, class... Operands>
struct Loop {
  template <size_t... I>
  static void RunIndexed(const void* const* operands, void* out, size_t count,
                         std::index_sequence<I...>) {
    using Result = decltype(Function::Apply(std::declval<Operands>()...));
    const void* const data[] = {operands[I]...};
    auto* target = static_cast<Element<Result>*>(out);
    GPUCALL_INDEPENDENT
    for (size_t i = 0; i < count; ++i) {
      target[i].value = Function::Apply(
          static_cast<Operands>(static_cast<const Element<Operands>*>(data[I])[i].value)...);
    }
  }
  static void Run(const void* const* operands, void* out, size_t count) {
    RunIndexed(operands, out, count, std::index_sequence_for<Operands...>{});
  }
};

template <class Function, class T, int arity>
constexpr ElementwiseLoop LoopOfArity() {
  if constexpr (arity == 1) return Loop<Function, T>::Run;
  if constexpr (arity == 2) return Loop<Function, T, T>::Run;
  if constexpr (arity == 3) return Loop<Function, T, T, T>::Run;
}

// What a choice between elements moves: any type of T's size.
template <size_t size_bytes>
struct Bits {
  using Type = unsigned char;
};
template <>
struct Bits<2> {
  using Type = unsigned short;
};
template <>
struct Bits<4> {
  using Type = unsigned;
};
template <>
struct Bits<8> {
  using Type = unsigned long long;
};
template <>
struct Bits<16> {
  using Type = Complex<double>;
};

template <class Function, class T, ElementwiseTakes::Kinds takes, ElementwiseRule rule, int arity>
constexpr ElementwiseLoop LoopOf() {
  if constexpr (rule == ElementwiseRule::kCast) {
    return nullptr;  // loops/cast_loops.cc
  } else if constexpr (rule == ElementwiseRule::kSelect) {
    using Moved = typename Bits<sizeof(T)>::Type;
    return Loop<Function, bool, Moved, Moved>::Run;
  } else if constexpr (kIsHalf<T> && rule == ElementwiseRule::kNeighbour) {
    return LoopOfArity<Function, T, arity>();
  } else if constexpr (IsComputedIn<T>(takes)) {
    return LoopOfArity<Function, T, arity>();
  } else {
    return nullptr;
  }
}

#define GPUCALL_ELEMENTWISE(Function, name, arity, takes, rule, result, description) \
  struct Function##Of {                                                              \
    template <class... Operands>                                                     \
    static auto Apply(Operands... operands) {                                        \
      return gpucall::elementwise::Function(operands...);                            \
    }                                                                                \
  };
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE

#define GPUCALL_ELEMENTWISE(Function, name, arity, takes, rule, result, description) \
  LoopOf<Function##Of, T, ElementwiseTakes::takes, ElementwiseRule::rule, arity>(),
template <class T>
constexpr ElementwiseColumn ColumnOf() {
  return {
#include "kernels/elementwise_ops.def"
  };
}
#undef GPUCALL_ELEMENTWISE

}  // namespace
}  // namespace gpucall::cpu::GPUCALL_LEVEL

#endif  // GPUCALL_KERNELS_CPU_LOOPS_ELEMENTWISE_TABLE_H_
