// What the loops under reductions do. Accumulators are arrays of a type that the loops of one
// operation and element type share; elements need no alignment.
#ifndef GPUCALL_KERNELS_CPU_LOOPS_REDUCE_LOOPS_H_
#define GPUCALL_KERNELS_CPU_LOOPS_REDUCE_LOOPS_H_

#include <cstddef>
#include <cstdint>

namespace gpucall::cpu {

inline constexpr size_t kMaxAccumulatorBytes = 32;

struct ReduceLoops {
  size_t accumulator_bytes, output_bytes;
  // Makes `width` accumulators that know of no elements.
  void (*clear)(void* accumulators, size_t width);
  // Takes x[0], x[stride], ... of a line, `count` of them, numbered from `index`, into one
  // accumulator. Pairwise.
  void (*add_run)(double parameter, const void* x, int64_t stride, size_t count, int64_t index,
                  void* accumulator);
  // Takes x[i], element number `index` of line i, into accumulator i, for i < width.
  void (*add_row)(double parameter, const void* x, size_t width, int64_t index, void* accumulators);
  void (*merge)(double parameter, const void* from, size_t width, void* accumulators);
  // out[i] = the result of accumulator i, whose line has `count` elements.
  void (*results)(double parameter, const void* accumulators, size_t width, int64_t count,
                  void* out);
  // out[i * stride] = what becomes of x[i * stride], of the accumulator's line, for i < count. Null
  // where a line becomes one element.
  void (*apply)(double parameter, const void* accumulator, const void* x, int64_t stride,
                size_t count, void* out);
};

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_LOOPS_REDUCE_LOOPS_H_
