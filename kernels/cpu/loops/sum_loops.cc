#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vector.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

// `vectors` vectors of sums, held in registers over all taps.
template <class Real, size_t vectors>
inline void SumBlock(const Real* const* rows, const Tap<Real>* taps, size_t tap_count, size_t start,
                     Real* out) {
  Vector<Real> sums[vectors] = {};
  for (size_t t = 0; t < tap_count; ++t) {
    const Real* source = rows[taps[t].row] + taps[t].offset + start;
    for (size_t v = 0; v < vectors; ++v) {
      sums[v] += LoadVector(source + v * kLanes<Real>) * taps[t].weight;
    }
  }
  for (size_t v = 0; v < vectors; ++v) StoreVector(sums[v], out + start + v * kLanes<Real>);
}

template <class Real>
void Sum(const Real* const* rows, const Tap<Real>* taps, size_t tap_count, Real* out,
         size_t count) {
  size_t i = 0;
  for (; i + 8 * kLanes<Real> <= count; i += 8 * kLanes<Real>) {
    SumBlock<Real, 8>(rows, taps, tap_count, i, out);
  }
  for (; i + 2 * kLanes<Real> <= count; i += 2 * kLanes<Real>) {
    SumBlock<Real, 2>(rows, taps, tap_count, i, out);
  }
  for (; i < count; i += kLanes<Real>) SumBlock<Real, 1>(rows, taps, tap_count, i, out);
}

}  // namespace

const SumTable kSums = {.sum_float32 = Sum<float>, .sum_float64 = Sum<double>};

}  // namespace gpucall::cpu::GPUCALL_LEVEL
