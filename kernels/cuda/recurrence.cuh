// Recurrences whose states are in registers: a thread for each line, or span of one.
#ifndef GPUCALL_KERNELS_CUDA_RECURRENCE_CUH_
#define GPUCALL_KERNELS_CUDA_RECURRENCE_CUH_

#include <cuda_runtime.h>

#include "kernels/cuda/recurrence.h"
#include "kernels/cuda/recurrence_form.h"

namespace gpucall::cuda {

inline constexpr int kWarp = 32;

// kWhole lines; spans from zero, whose states go to scratch; spans from the states there.
enum class Pass : int { kWhole, kSpanStates, kSpanSignal };

__host__ __device__ inline long long SpansOf(const Recurrence& r) {
  return (r.count + kSpan - 1) / kSpan;
}
__host__ __device__ inline long long LinesOf(const Recurrence& r) { return r.outer * r.inner; }
__device__ inline long long StateNumber(const Recurrence& r, long long line, int section, int k) {
  const long long o = line / r.inner, i = line % r.inner;
  return ((section * r.outer + o) * r.order + k) * r.inner + i;
}

// Up to kSections of up to order kOrder; what is past the filter's own takes no part.
template <int kSections, int kOrder>
class Cascade {
 public:
  static constexpr int kStates = kSections * kOrder;

  __device__ explicit Cascade(const Recurrence& r) : sections_(r.sections), order_(r.order) {
    const double* const a = r.coefficients + r.sections * (r.order + 1);
#pragma unroll
    for (int s = 0; s < kSections; ++s) {
#pragma unroll
      for (int k = 0; k <= kOrder; ++k) {
        const bool used = s < r.sections && k <= r.order;
        b_[s][k] = used ? r.coefficients[s * (r.order + 1) + k] : 0;
        a_[s][k] = used ? a[s * (r.order + 1) + k] : 0;
      }
    }
  }

  // visit(its place in z, section, k) for each of the filter's states.
  template <class Visit>
  __device__ void ForEachState(Visit visit) const {
#pragma unroll
    for (int s = 0; s < kSections; ++s) {
#pragma unroll
      for (int k = 0; k < kOrder; ++k) {
        if (s < sections_ && k < order_) visit(s * kOrder + k, s, k);
      }
    }
  }

  __device__ double Step(double x, double (&z)[kStates]) const {
#pragma unroll
    for (int s = 0; s < kSections; ++s) {
      if (s >= sections_) break;
      const double y = fma(b_[s][0], x, z[s * kOrder]);
#pragma unroll
      for (int k = 0; k < kOrder; ++k) {
        const double next = k + 1 < kOrder ? z[s * kOrder + (k + 1) % kOrder] : 0;
        z[s * kOrder + k] = k < order_ ? fma(-a_[s][k + 1], y, fma(b_[s][k + 1], x, next)) : 0;
      }
      x = y;
    }
    return x;
  }

 private:
  int sections_, order_;
  double b_[kSections][kOrder + 1], a_[kSections][kOrder + 1];
};

// Where a thread's elements are: `length` of them, from `base` on, `inner` apart.
struct SpanPlace {
  long long line, base, length;
};
__device__ inline SpanPlace PlaceOf(const Recurrence& r, Pass pass, long long row, long long rows) {
  if (row >= rows) return {0, 0, 0};
  const long long line = row % LinesOf(r), first = row / LinesOf(r) * kSpan;
  const long long length = pass == Pass::kWhole ? r.count : min(r.count - first, 1LL * kSpan);
  return {line, (line / r.inner * r.count + first) * r.inner + line % r.inner, length};
}

// Lines whose elements follow each other: 32 by 32 elements pass through shared memory, so that
// threads read and write side by side.
template <class T, class Filter>
__device__ void RunTiles(const Filter& filter, const T* x, T* y, const SpanPlace& place,
                         long long limit, double (&z)[Filter::kStates]) {
  __shared__ T tile[kWarp][kWarp + 1];
  const int lane = threadIdx.x;
  T next[kWarp];
  const auto fetch = [&](long long e) {
#pragma unroll
    for (int j = 0; j < kWarp; ++j) {
      const long long base = __shfl_sync(~0u, place.base, j);
      next[j] = e + lane < __shfl_sync(~0u, place.length, j) ? x[base + e + lane] : T(0);
    }
  };
  fetch(0);
  for (long long e = 0; e < limit; e += kWarp) {
#pragma unroll
    for (int j = 0; j < kWarp; ++j) tile[j][lane] = next[j];
    __syncwarp();
    if (e + kWarp < limit) fetch(e + kWarp);
    const int count = static_cast<int>(max(0LL, min(1LL * kWarp, place.length - e)));
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
      tile[lane][i] = static_cast<T>(filter.Step(static_cast<double>(tile[lane][i]), z));
    }
    __syncwarp();
    if (y != nullptr) {
#pragma unroll 8
      for (int j = 0; j < kWarp; ++j) {
        const long long base = __shfl_sync(~0u, place.base, j);
        if (e + lane < __shfl_sync(~0u, place.length, j)) y[base + e + lane] = tile[j][lane];
      }
    }
    __syncwarp();
  }
}

template <class T, class Filter>
__device__ void RunApart(const Filter& filter, const T* x, T* y, const SpanPlace& place,
                         long long inner, double (&z)[Filter::kStates]) {
  constexpr int kAhead = 8;
  T next[kAhead];
  const auto fetch = [&](long long e) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      next[i] = e + i < place.length ? x[place.base + (e + i) * inner] : T(0);
    }
  };
  fetch(0);
  for (long long e = 0; e < place.length; e += kAhead) {
    T now[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) now[i] = next[i];
    fetch(e + kAhead);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (e + i >= place.length) break;
      const T result = static_cast<T>(filter.Step(static_cast<double>(now[i]), z));
      if (y != nullptr) y[place.base + (e + i) * inner] = result;
    }
  }
}

template <class T, int kSections, int kOrder, bool kTiled>
__global__ void __launch_bounds__(kWarp) RecurrenceKernel(Recurrence r, Pass pass, long long rows) {
  using Filter = Cascade<kSections, kOrder>;
  const long long row = static_cast<long long>(blockIdx.x) * kWarp + threadIdx.x;
  // Of a line's spans the last leaves the state that is asked for.
  const long long first = rows - LinesOf(r);
  if (pass == Pass::kSpanSignal && r.y == nullptr && (row / kWarp + 1) * kWarp <= first) return;
  const SpanPlace place = PlaceOf(r, pass, row, rows);
  const Filter filter(r);
  double z[Filter::kStates] = {};
  if (row < rows && pass == Pass::kWhole && r.zi != nullptr) {
    filter.ForEachState(
        [&](int at, int s, int k) { z[at] = r.zi[StateNumber(r, place.line, s, k)]; });
  }
  if (row < rows && pass == Pass::kSpanSignal) {
#pragma unroll
    for (int at = 0; at < Filter::kStates; ++at) z[at] = r.scratch[at * rows + row];
  }
  T* const y = pass == Pass::kSpanStates ? nullptr : static_cast<T*>(r.y);
  if constexpr (kTiled) {
    const long long limit = pass == Pass::kWhole ? r.count : min(r.count, 1LL * kSpan);
    RunTiles(filter, static_cast<const T*>(r.x), y, place, limit, z);
  } else {
    RunApart(filter, static_cast<const T*>(r.x), y, place, r.inner, z);
  }
  if (row >= rows) return;
  if (pass == Pass::kSpanStates) {
#pragma unroll
    for (int at = 0; at < Filter::kStates; ++at) r.scratch[at * rows + row] = z[at];
  } else if (r.states != nullptr && row >= first) {
    filter.ForEachState([&](int at, int s, int k) {
      static_cast<T*>(r.states)[StateNumber(r, place.line, s, k)] = static_cast<T>(z[at]);
    });
  }
}

template <class T, int kSections, int kOrder>
cudaError_t LaunchPass(const Recurrence& r, Pass pass, cudaStream_t stream) {
  const long long rows = LinesOf(r) * (pass == Pass::kWhole ? 1 : SpansOf(r));
  const auto blocks = static_cast<unsigned>((rows + kWarp - 1) / kWarp);
  if (r.inner == 1) {
    RecurrenceKernel<T, kSections, kOrder, true><<<blocks, kWarp, 0, stream>>>(r, pass, rows);
  } else {
    RecurrenceKernel<T, kSections, kOrder, false><<<blocks, kWarp, 0, stream>>>(r, pass, rows);
  }
  return cudaGetLastError();
}

template <class T>
cudaError_t LaunchFormPass(const Recurrence& r, Pass pass, cudaStream_t stream) {
  const RecurrenceForm form = FormOf(r.sections, r.order);
  if (form.sections == 4) return LaunchPass<T, 4, 2>(r, pass, stream);
  if (form.sections == 2) return LaunchPass<T, 2, 2>(r, pass, stream);
  if (form.order == 2) return LaunchPass<T, 1, 2>(r, pass, stream);
  if (form.order == 4) return LaunchPass<T, 1, 4>(r, pass, stream);
  return LaunchPass<T, 1, 8>(r, pass, stream);
}

// One source for each type.
cudaError_t LaunchFloat32Pass(const Recurrence& r, Pass pass, cudaStream_t stream);
cudaError_t LaunchFloat64Pass(const Recurrence& r, Pass pass, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_RECURRENCE_CUH_
