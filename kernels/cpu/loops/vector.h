// Vectors of the level's width, by the compilers' vector extension. Copies are the level's own
// (loops/tables.h), hence the anonymous namespace.
#ifndef GPUCALL_KERNELS_CPU_LOOPS_VECTOR_H_
#define GPUCALL_KERNELS_CPU_LOOPS_VECTOR_H_

#include "kernels/cpu/loops/tables.h"

#ifndef GPUCALL_VECTOR_BYTES
#define GPUCALL_VECTOR_BYTES 16
#endif

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(GPUCALL_VECTOR_BYTES)));
};
template <class T>
using Vector = typename VectorOf<T>::Type;

template <class T>
inline constexpr size_t kLanes = GPUCALL_VECTOR_BYTES / sizeof(T);

// From and to any address.
template <class T>
inline Vector<T> LoadVector(const T* source) {
  Vector<T> vector;
  __builtin_memcpy(&vector, source, sizeof(vector));
  return vector;
}
template <class T>
inline void StoreVector(const Vector<T>& vector, T* target) {
  __builtin_memcpy(target, &vector, sizeof(vector));
}

}  // namespace
}  // namespace gpucall::cpu::GPUCALL_LEVEL

#endif  // GPUCALL_KERNELS_CPU_LOOPS_VECTOR_H_
