#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vectorize.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

void MoveDown(const uint8_t* entering, const uint8_t* leaving, uint32_t* sums, size_t count) {
  GPUCALL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) sums[i] += uint32_t{entering[i]} - uint32_t{leaving[i]};
}

// Sums of 1, 2, 4, 8... columns; those that the binary digits of column_count name are added up.
void SumAlong(const uint32_t* columns, size_t column_count, size_t step, uint32_t* scratch,
              uint32_t* out, size_t count) {
  const uint32_t* sums = columns;  // sums[i] is of `size` columns
  size_t length = count + (column_count - 1) * step;
  size_t left = column_count, done = 0;
  for (size_t i = 0; i < count; ++i) out[i] = 0;
  for (size_t size = 1;; size *= 2) {
    if ((left & size) != 0) {
      const uint32_t* addend = sums + done * step;
      for (size_t i = 0; i < count; ++i) out[i] += addend[i];
      done += size;
      left -= size;
      if (left == 0) return;
    }
    length -= size * step;
    const uint32_t* further = sums + size * step;
    GPUCALL_INDEPENDENT  // what is read lies ahead of what is written
        for (size_t i = 0; i < length; ++i) scratch[i] = sums[i] + further[i];
    sums = scratch;
  }
}

template <class Real>
void Scale(const uint32_t* sums, Real factor, Real* out, size_t count) {
  GPUCALL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<Real>(sums[i]) * factor;
}

}  // namespace

const BoxTable kBoxes = {.move_down = MoveDown,
                         .sum_along = SumAlong,
                         .scale_float32 = Scale<float>,
                         .scale_float64 = Scale<double>};

}  // namespace gpucall::cpu::GPUCALL_LEVEL
