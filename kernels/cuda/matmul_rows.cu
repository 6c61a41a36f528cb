#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/matmul_rows.h"

namespace gpucall::cuda {
namespace {

constexpr int kThreads = 256;
constexpr long long kMaxBlocks = 1 << 16;

template <class T>
struct SumOf {
  using Type = float;
};
template <>
struct SumOf<double> {
  using Type = double;
};

__device__ float Load(__half x) { return __half2float(x); }
__device__ float Load(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ float Load(float x) { return x; }
__device__ double Load(double x) { return x; }
__device__ void Store(float x, __half& to) { to = __float2half_rn(x); }
__device__ void Store(float x, __nv_bfloat16& to) { to = __float2bfloat16_rn(x); }
__device__ void Store(float x, float& to) { to = x; }
__device__ void Store(double x, double& to) { to = x; }

// A thread for each number, in turns.
template <class T>
__global__ void __launch_bounds__(kThreads) Add(MatMulRows rows) {
  using Sum = typename SumOf<T>::Type;
  auto* const c = static_cast<T*>(rows.c);
  const auto* const addend = static_cast<const T*>(rows.addend);
  const auto* const bias = static_cast<const T*>(rows.bias);
  const auto beta = static_cast<Sum>(rows.beta);
  const long long total = rows.count * rows.m * rows.n * rows.parts;
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < total;
       i += step) {
    const long long part = i % rows.parts, element = i / rows.parts;
    const long long column = element % rows.n, row = element / rows.n % rows.m;
    const long long product = element / rows.n / rows.m;
    T& target = c[(product * rows.stride_c + row * rows.n + column) * rows.parts + part];
    Sum sum = rows.sums != nullptr ? static_cast<Sum>(rows.sums[i]) : Load(target);
    if (addend != nullptr) {
      const long long at = product * rows.stride_addend + row * rows.addend_row_stride +
                           column * rows.addend_column_stride;
      sum += beta * Load(addend[at * rows.parts + part]);
    }
    if (bias != nullptr) {
      sum += Load(bias[(product * rows.stride_bias + column) * rows.parts + part]);
    }
    if (rows.relu && sum < 0) sum = 0;  // NaN stays
    Store(sum, target);
  }
}

}  // namespace

cudaError_t LaunchMatMulRows(const MatMulRows& rows, cudaStream_t stream) {
  const long long total = rows.count * rows.m * rows.n * rows.parts;
  if (total == 0) return cudaSuccess;
  const auto blocks =
      static_cast<unsigned>(std::min(kMaxBlocks, (total + kThreads - 1) / kThreads));
  switch (rows.type) {
    case RowsType::kFloat16:
      Add<__half><<<blocks, kThreads, 0, stream>>>(rows);
      break;
    case RowsType::kBfloat16:
      Add<__nv_bfloat16><<<blocks, kThreads, 0, stream>>>(rows);
      break;
    case RowsType::kFloat32:
      Add<float><<<blocks, kThreads, 0, stream>>>(rows);
      break;
    case RowsType::kFloat64:
      Add<double><<<blocks, kThreads, 0, stream>>>(rows);
      break;
  }
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
