// Recurrences along lines: IIR and FIR filters.
#ifndef GPUCALL_KERNELS_CPU_RECURRENCE_H_
#define GPUCALL_KERNELS_CPU_RECURRENCE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpucall::cpu {

// Lines of `count` elements: element e of line (o, i), o below outer and i below inner, is number
// (o * count + e) * inner + i, of x and of y. State k, below `order`, of section s is number
// ((s * outer + o) * order + k) * inner + i of states.
struct Recurrence {
  int64_t outer, count, inner;
  int64_t sections, order;
  std::span<const double> b, a;  // order + 1 for each section; a[0] of each is 1
  enum class Type : uint8_t { kFloat32, kFloat64 } type;  // of x and results
};

// Each section in turn makes y[n] = b[0] x[n] + z[0], and then states z[k] = z[k+1] + b[k+1] x[n] -
// a[k+1] y[n] (transposed direct form II), in float64; results are rounded to their type. `zi`:
// states before the first element, float64; null: zeros. `y`: the signal, `states`: those after
// the last element; null: not wanted. Nothing needs alignment but results. Uses several threads for
// many lines.
void Recur(const Recurrence& recurrence, const std::byte* x, const std::byte* zi, std::byte* y,
           std::byte* states);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_RECURRENCE_H_
