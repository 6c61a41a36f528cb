#include <algorithm>

#include "kernels/cuda/recurrence.cuh"

namespace gpucall::cuda {
namespace {

constexpr long long kManyLines = 8192;  // which keep a device busy undivided
constexpr long long kMaxBlocks = 1 << 20;

bool HasForm(int order) { return order <= kMaxFormOrder; }

// What each span begins with, in place of the states that it leaves when it begins with zeros. A
// warp for each line: each thread computes one of the states that the next span begins with, and
// keeps those of its own span.
template <int kStates>
__global__ void __launch_bounds__(kWarp) JoinSpans(Recurrence r, int form_order) {
  __shared__ double left[kWarp][kStates];
  const long long lines = LinesOf(r), spans = SpansOf(r), rows = lines * spans;
  const long long line = blockIdx.x;
  const int lane = threadIdx.x, own = lane % kStates;
  double power[kStates], z[kStates];
#pragma unroll
  for (int i = 0; i < kStates; ++i) {
    power[i] = r.power[own * kStates + i];
    const int s = i / form_order, k = i % form_order;
    const bool given = r.zi != nullptr && s < r.sections && k < r.order;
    z[i] = given ? r.zi[StateNumber(r, line, s, k)] : 0;
  }
  for (long long first = 0; first < spans; first += kWarp) {
    const long long row = (first + lane) * lines + line;
    const bool used = first + lane < spans;
    double mine[kStates];
#pragma unroll
    for (int i = 0; i < kStates; ++i) {
      mine[i] = 0;
      if (used) left[lane][i] = r.scratch[i * rows + row];
    }
    __syncwarp();
    const int count = static_cast<int>(min(1LL * kWarp, spans - first));
    for (int p = 0; p < count; ++p) {
      double next = left[p][own];
#pragma unroll
      for (int i = 0; i < kStates; ++i) {
        if (p == lane) mine[i] = z[i];
        next = fma(power[i], z[i], next);
      }
#pragma unroll
      for (int i = 0; i < kStates; ++i) z[i] = __shfl_sync(~0u, next, i);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kStates; ++i) {
      if (used) r.scratch[i * rows + row] = mine[i];
    }
  }
}

// One section of any order: a warp for each line, whose states are in shared memory.
template <class T>
__global__ void __launch_bounds__(kWarp) LongRecurrence(Recurrence r) {
  extern __shared__ double z[];  // order + 1; the last is 0
  const double* const b = r.coefficients;
  const double* const a = b + r.order + 1;
  const int lane = threadIdx.x;
  for (long long line = blockIdx.x; line < LinesOf(r); line += gridDim.x) {
    for (int k = lane; k <= r.order; k += kWarp) {
      const bool given = r.zi != nullptr && k < r.order;
      z[k] = given ? r.zi[StateNumber(r, line, 0, k)] : 0;
    }
    __syncwarp();
    const long long base = line / r.inner * r.count * r.inner + line % r.inner;
    for (long long e = 0; e < r.count; e += kWarp) {
      const bool used = e + lane < r.count;
      const long long at = base + (e + lane) * r.inner;
      const double mine = used ? static_cast<double>(static_cast<const T*>(r.x)[at]) : 0;
      const int count = static_cast<int>(min(1LL * kWarp, r.count - e));
      double result = 0;
      for (int i = 0; i < count; ++i) {
        const double x = __shfl_sync(~0u, mine, i);
        const double y = fma(b[0], x, z[0]);
        if (i == lane) result = y;
        __syncwarp();
        for (int first = 0; first < r.order; first += kWarp) {
          const int k = first + lane;
          double state = 0;
          if (k < r.order) state = fma(-a[k + 1], y, fma(b[k + 1], x, z[k + 1]));
          __syncwarp();
          if (k < r.order) z[k] = state;
          __syncwarp();
        }
      }
      if (used && r.y != nullptr) static_cast<T*>(r.y)[at] = static_cast<T>(result);
    }
    for (int k = lane; r.states != nullptr && k < r.order; k += kWarp) {
      static_cast<T*>(r.states)[StateNumber(r, line, 0, k)] = static_cast<T>(z[k]);
    }
    __syncwarp();
  }
}

cudaError_t LaunchPass(const Recurrence& r, Pass pass, cudaStream_t stream) {
  return r.type == Recurrence::Type::kFloat32 ? LaunchFloat32Pass(r, pass, stream)
                                              : LaunchFloat64Pass(r, pass, stream);
}

cudaError_t LaunchLong(const Recurrence& r, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(std::min(LinesOf(r), kMaxBlocks));
  const size_t bytes = static_cast<size_t>(r.order + 1) * sizeof(double);
  if (r.type == Recurrence::Type::kFloat32) {
    LongRecurrence<float><<<blocks, kWarp, bytes, stream>>>(r);
  } else {
    LongRecurrence<double><<<blocks, kWarp, bytes, stream>>>(r);
  }
  return cudaGetLastError();
}

cudaError_t LaunchJoin(const Recurrence& r, cudaStream_t stream) {
  const RecurrenceForm form = FormOf(r.sections, r.order);
  const auto lines = static_cast<unsigned>(LinesOf(r));
  switch (form.sections * form.order) {
    case 2:
      JoinSpans<2><<<lines, kWarp, 0, stream>>>(r, form.order);
      break;
    case 4:
      JoinSpans<4><<<lines, kWarp, 0, stream>>>(r, form.order);
      break;
    default:
      JoinSpans<8><<<lines, kWarp, 0, stream>>>(r, form.order);
  }
  return cudaGetLastError();
}

}  // namespace

bool RecurrenceDivides(const Recurrence& of) {
  return HasForm(of.order) && of.count >= 2 * kSpan && LinesOf(of) < kManyLines;
}

long long RecurrenceScratchBytes(const Recurrence& of) {
  const RecurrenceForm form = FormOf(of.sections, of.order);
  return LinesOf(of) * SpansOf(of) * form.sections * form.order *
         static_cast<long long>(sizeof(double));
}

cudaError_t LaunchRecurrence(const Recurrence& of, cudaStream_t stream) {
  if (LinesOf(of) == 0 || (of.states == nullptr && of.count == 0)) return cudaSuccess;
  if (!HasForm(of.order)) return LaunchLong(of, stream);
  if (of.power == nullptr) return LaunchPass(of, Pass::kWhole, stream);
  cudaError_t error = LaunchPass(of, Pass::kSpanStates, stream);
  if (error == cudaSuccess) error = LaunchJoin(of, stream);
  if (error == cudaSuccess) error = LaunchPass(of, Pass::kSpanSignal, stream);
  return error;
}

}  // namespace gpucall::cuda
