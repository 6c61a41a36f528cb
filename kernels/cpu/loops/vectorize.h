// What loops need from the compiler: unaligned elements, and a promise of independent iterations.
#ifndef GPUCALL_KERNELS_CPU_LOOPS_VECTORIZE_H_
#define GPUCALL_KERNELS_CPU_LOOPS_VECTORIZE_H_

#include <cstddef>

// Before a loop: element i of the output depends on elements i only, so exact overlap of output and
// operand is no obstacle to vector code.
#ifdef __clang__
#define GPUCALL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define GPUCALL_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace gpucall::cpu {

// How an element lies in memory: a bool is any byte.
template <class T>
struct Stored {
  using Type = T;
};
template <>
struct Stored<bool> {
  using Type = unsigned char;
};

template <class T>
struct [[gnu::packed, gnu::may_alias]] Element {
  using Type = T;
  typename Stored<T>::Type value;
};

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_LOOPS_VECTORIZE_H_
