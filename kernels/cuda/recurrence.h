// Recurrences along lines in device memory: IIR and FIR filters.
#ifndef GPUCALL_KERNELS_CUDA_RECURRENCE_H_
#define GPUCALL_KERNELS_CUDA_RECURRENCE_H_

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

namespace gpucall::cuda {

// Lines of `count` elements: element e of line (o, i), o below outer and i below inner, is number
// (o * count + e) * inner + i, of x and of y. State k, below `order`, of section s is number
// ((s * outer + o) * order + k) * inner + i of states.
struct Recurrence {
  enum class Type : int { kFloat32, kFloat64 } type;  // of x and results
  const void* x;
  const double* zi;  // states before the first element; null: zeros
  // The signal, and the states after the last element; null: not wanted.
  void* y;
  void* states;
  long long outer, count, inner;
  int sections, order;
  const double* coefficients;  // b of all sections, then a; order + 1 of each; a[0] is 1
  const double* power;         // of RecurrencePower, where lines are divided, else null
  double* scratch;             // of RecurrenceScratchBytes
};

// Long lines are divided into spans that run side by side: each from zero, and again from the state
// that those before it leave. Of filters of up to four sections or of order 8 whose state does not
// grow over a span; longer ones are slow on few lines. Results' bits depend on the shape and the
// filter alone.
bool RecurrenceDivides(const Recurrence& of);  // for its shape, if the filter allows it
// What a span does to a state, for `power`; empty: lines of this filter are not divided.
// Coefficients as above, in host memory.
std::vector<double> RecurrencePower(int sections, int order, std::span<const double> coefficients);
long long RecurrenceScratchBytes(const Recurrence& of);  // of one that is divided

// Each section in turn makes y[n] = b[0] x[n] + z[0], and then states z[k] = z[k+1] + b[k+1] x[n] -
// a[k+1] y[n], in float64; results are rounded to their type. REQUIRES: order below 4096, up to
// four sections, one where the order is not 2.
cudaError_t LaunchRecurrence(const Recurrence& of, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_RECURRENCE_H_
