#include <cuda_runtime.h>

#include <cstdint>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "kernels/cuda/scan.h"

namespace gpucall::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr long long kSpan = 1024;
constexpr int kAhead = 4;  // elements that a thread reads before it takes in the first

constexpr long long DivideUp(long long a, long long b) { return (a + b - 1) / b; }

__host__ __device__ long long SpansOf(const ScanRow& row) { return DivideUp(row.count, kSpan); }

struct Sum {
  template <class A>
  __device__ static A Start() {
    return A(0);
  }
  template <class A>
  __device__ A operator()(A a, A b) const {
    return a + b;
  }
};
template <>
__device__ double Sum::Start<double>() {
  return -0.0;  // leaves -0 as it is
}
struct Prod {
  template <class A>
  __device__ static A Start() {
    return A(1);
  }
  template <class A>
  __device__ A operator()(A a, A b) const {
    return a * b;
  }
};

struct Truth {
  unsigned char byte;
  __device__ explicit operator unsigned long long() const { return byte != 0; }
};

// What elements of T are accumulated in, and what results are.
template <class T>
struct Types {
  using Accumulator = unsigned long long;
  using Output = unsigned long long;
};
template <>
struct Types<float> {
  using Accumulator = double;
  using Output = float;
};
template <>
struct Types<double> {
  using Accumulator = double;
  using Output = double;
};

// The last row whose `first` is not past `number`.
__device__ const ScanRow& FindRow(const ScanRow* rows, int row_count, long long ScanRow::*first,
                                  long long number) {
  int low = 0;
  for (int size = row_count; size > 1;) {
    const int half = size / 2;
    const bool begun = rows[low + half].*first <= number;
    low += begun ? half : 0;
    size = begun ? size - half : half;
  }
  return rows[low];
}

__device__ long long WarpNumber() {
  return static_cast<long long>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
}
__device__ int LaneNumber() { return static_cast<int>(threadIdx.x % kWarp); }

// One warp's work: a span of a line whose elements lie together, or the same span of up to 32 lines
// side by side, each thread's own.
template <class T, class Op>
class Span {
 public:
  using A = typename Types<T>::Accumulator;
  using Output = typename Types<T>::Output;
  using Scan = cub::WarpScan<A>;
  using Reduce = cub::WarpReduce<A>;

  __device__ Span(const ScanRow& row, long long warp)
      : row_(row), x_(static_cast<const T*>(row.x)), out_(static_cast<Output*>(row.out)) {
    const long long spans = SpansOf(row);
    const bool together = row.inner == 1;
    const long long groups = together ? row.lines : DivideUp(row.lines, kWarp);
    span_ = warp / groups;
    line_ = together ? warp % groups : warp % groups * kWarp + LaneNumber();
    first_ = (line_ / row.inner * row.count + span_ * kSpan) * row.inner + line_ % row.inner;
    count_ = span_ + 1 < spans ? kSpan : row.count - span_ * kSpan;
  }

  __device__ void GiveTotal(typename Reduce::TempStorage& storage) const {
    A total = Op::template Start<A>();
    if (row_.inner == 1) {
      for (long long e = LaneNumber(); e < count_; e += kWarp) total = op_(total, Element(e));
      total = Reduce(storage).Reduce(total, op_);
      if (LaneNumber() == 0) Total() = total;
    } else if (line_ < row_.lines) {
      for (long long e = 0; e < count_; ++e) total = op_(total, Element(e));
      Total() = total;
    }
  }

  __device__ void GiveResults(typename Scan::TempStorage& storage) const {
    if (row_.inner == 1) return GiveLine(storage);
    if (line_ >= row_.lines) return;
    A so_far = Before();
    for (long long e = 0; e < count_; e += kAhead) {
      A read[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (e + k < count_) read[k] = Element(e + k);
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (e + k >= count_) break;
        so_far = op_(so_far, read[k]);
        Result(e + k) = static_cast<Output>(so_far);
      }
    }
  }

 private:
  __device__ A Element(long long e) const { return static_cast<A>(x_[first_ + e * row_.inner]); }
  __device__ Output& Result(long long e) const { return out_[first_ + e * row_.inner]; }
  __device__ A& Total() const { return static_cast<A*>(row_.totals)[span_ * row_.lines + line_]; }
  // Of all spans before, once they are merged.
  __device__ A Before() const { return row_.count > kSpan ? Total() : Op::template Start<A>(); }

  __device__ void GiveLine(typename Scan::TempStorage& storage) const {
    A so_far = Before();
    for (long long start = 0; start < count_; start += kWarp * kAhead) {
      A read[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const long long e = start + k * kWarp + LaneNumber();
        read[k] = e < count_ ? Element(e) : Op::template Start<A>();
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const long long e = start + k * kWarp + LaneNumber();
        A to_here, total;
        Scan(storage).InclusiveScan(read[k], to_here, op_, total);
        __syncwarp();
        if (e < count_) Result(e) = static_cast<Output>(op_(so_far, to_here));
        so_far = op_(so_far, total);
      }
    }
  }

  const ScanRow& row_;
  const T* const x_;
  Output* const out_;
  const Op op_ = {};
  long long line_, span_;
  long long first_, count_;  // number of the first element; elements
};

template <class T, class Op>
__global__ void __launch_bounds__(kThreads)
    GiveTotals(const ScanRow* rows, int row_count, long long warps) {
  using Reduce = typename Span<T, Op>::Reduce;
  __shared__ typename Reduce::TempStorage storage[kWarps];
  const long long warp = WarpNumber();
  if (warp >= warps) return;
  const ScanRow& row = FindRow(rows, row_count, &ScanRow::first_warp, warp);
  if (row.count <= kSpan) return;
  Span<T, Op>(row, warp - row.first_warp).GiveTotal(storage[threadIdx.x / kWarp]);
}

// Of each line's totals, the one of all spans before; a warp for each line.
template <class A, class Op>
__global__ void __launch_bounds__(kThreads)
    MergeTotals(const ScanRow* rows, int row_count, long long merged_lines) {
  using Scan = cub::WarpScan<A>;
  __shared__ typename Scan::TempStorage storage[kWarps];
  const long long warp = WarpNumber();
  if (warp >= merged_lines) return;
  const ScanRow& row = FindRow(rows, row_count, &ScanRow::first_merged, warp);
  const long long spans = SpansOf(row);
  A* const totals = static_cast<A*>(row.totals) + (warp - row.first_merged);
  const Op op = {};
  A so_far = Op::template Start<A>();
  for (long long start = 0; start < spans; start += kWarp) {
    const long long span = start + LaneNumber();
    const A read = span < spans ? totals[span * row.lines] : Op::template Start<A>();
    A before, total;
    Scan(storage[threadIdx.x / kWarp])
        .ExclusiveScan(read, before, Op::template Start<A>(), op, total);
    __syncwarp();
    if (span < spans) totals[span * row.lines] = op(so_far, before);
    so_far = op(so_far, total);
  }
}

template <class T, class Op>
__global__ void __launch_bounds__(kThreads)
    GiveResults(const ScanRow* rows, int row_count, long long warps) {
  using Scan = typename Span<T, Op>::Scan;
  __shared__ typename Scan::TempStorage storage[kWarps];
  const long long warp = WarpNumber();
  if (warp >= warps) return;
  const ScanRow& row = FindRow(rows, row_count, &ScanRow::first_warp, warp);
  Span<T, Op>(row, warp - row.first_warp).GiveResults(storage[threadIdx.x / kWarp]);
}

template <class T, class Op>
cudaError_t Launch(const ScanRow* rows, int row_count, long long warps, long long merged_lines,
                   cudaStream_t stream) {
  const auto blocks = [](long long count) {
    return static_cast<unsigned>(DivideUp(count, kWarps));
  };
  if (merged_lines > 0) {
    using A = typename Types<T>::Accumulator;
    GiveTotals<T, Op><<<blocks(warps), kThreads, 0, stream>>>(rows, row_count, warps);
    MergeTotals<A, Op>
        <<<blocks(merged_lines), kThreads, 0, stream>>>(rows, row_count, merged_lines);
  }
  GiveResults<T, Op><<<blocks(warps), kThreads, 0, stream>>>(rows, row_count, warps);
  return cudaGetLastError();
}

template <class Op>
cudaError_t Launch(const ScanKind& kind, const ScanRow* rows, int row_count, long long warps,
                   long long merged_lines, cudaStream_t stream) {
  const auto launch = [&]<class T>(T) {
    return Launch<T, Op>(rows, row_count, warps, merged_lines, stream);
  };
  const int bytes = kind.bytes;
  switch (kind.numbers) {
    case Numbers::kBool:
      return launch(Truth());
    case Numbers::kUnsigned:
      if (bytes == 1) return launch(uint8_t());
      if (bytes == 2) return launch(uint16_t());
      return bytes == 4 ? launch(uint32_t()) : launch(uint64_t());
    case Numbers::kSigned:
      if (bytes == 1) return launch(int8_t());
      if (bytes == 2) return launch(int16_t());
      return bytes == 4 ? launch(int32_t()) : launch(int64_t());
    case Numbers::kFloat:
      break;
  }
  return bytes == 4 ? launch(float()) : launch(double());
}

}  // namespace

long long ScanWarps(const ScanRow& row) {
  return SpansOf(row) * (row.inner == 1 ? row.lines : DivideUp(row.lines, kWarp));
}

long long ScanMergedLines(const ScanRow& row) { return SpansOf(row) > 1 ? row.lines : 0; }

long long ScanTotalsBytes(const ScanRow& row) {
  return ScanMergedLines(row) * SpansOf(row) * static_cast<long long>(sizeof(double));
}

cudaError_t LaunchScan(const ScanKind& kind, const ScanRow* rows, int row_count, long long warps,
                       long long merged_lines, cudaStream_t stream) {
  if (warps == 0) return cudaSuccess;
  if (kind.op == ScanOp::kSum) {
    return Launch<Sum>(kind, rows, row_count, warps, merged_lines, stream);
  }
  return Launch<Prod>(kind, rows, row_count, warps, merged_lines, stream);
}

}  // namespace gpucall::cuda
