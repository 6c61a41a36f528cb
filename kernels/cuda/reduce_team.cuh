// What all forms of generated reduction kernels share: text for NVRTC (reduce_source.cc), after
// reduce_row.h and reduce_groups.cuh. The order in which accumulators are merged depends on a row's
// shape alone.
namespace gpucall::cuda {

// Quotient and rest of numbers that are not negative, mostly below 2^32.
struct Division {
  long long quotient, rest;
};
__device__ __noinline__ Division Divide(long long value, long long by) {
  if (((value | by) >> 32) == 0) {
    const unsigned v = static_cast<unsigned>(value), b = static_cast<unsigned>(by);
    return {v / b, v % b};
  }
  const auto quotient =
      static_cast<unsigned long long>(value) / static_cast<unsigned long long>(by);
  return {static_cast<long long>(quotient), value - static_cast<long long>(quotient) * by};
}

// Not inlined, as NVRTC would take seconds.
__device__ __noinline__ long long OffsetOf(const long long* sizes, const long long* strides,
                                           int rank, long long index) {
  long long offset = 0;
#pragma unroll 1
  for (int d = 0; d < rank; ++d) {
    if (sizes[d] == 1) continue;
    const Division at = Divide(index, sizes[d]);
    offset += at.rest * strides[d];
    index = at.quotient;
  }
  return offset;
}

// The last row that starts at or before this block. All threads of a warp take part.
__device__ __noinline__ const ReduceRow& FindRow(const ReduceRow* table, int row_count,
                                                 bool merges) {
  int low = 0;
  for (int size = row_count; size > 1;) {
    const int step = (size + 31) / 32;
    const int at = static_cast<int>(threadIdx.x % 32) * step;
    const ReduceRow& row = table[low + min(at, size - 1)];
    const long long first = merges ? row.first_merge_block : row.first_block;
    const bool begun = at < size && first <= blockIdx.x;
    const int skipped = (__popc(__ballot_sync(0xffffffffu, begun)) - 1) * step;
    low += skipped;
    size = min(step, size - skipped);
  }
  return table[low];
}

// Tells the compiler that a pointer is to global memory.
template <class T>
__device__ inline T* InGlobal(T* pointer) {
  __builtin_assume(__isGlobal(pointer));
  return pointer;
}

template <class F>
struct Reducer {
  using Function = F;
  using T = typename Function::Element;
  using S = typename Stored<T>::Type;
  using A = typename Function::Accumulator;
  using O = typename Function::Output;
  static constexpr int kWidth = 16 / sizeof(S);  // elements of a group
  static constexpr bool kApplies = requires(Function f, A a) { f.Prepare(a); };
  static_assert(sizeof(A) <= 32);

  Function function;
  const ReduceRow& row;
  long long block;  // of the row
  // The row's, here as it may lie where what is written could change it.
  const S* first_x;
  O* first_out;

  __device__ static A OfOtherLane(const A& a, int distance) {
    constexpr int kWords = (sizeof(A) + 3) / 4;
    unsigned words[kWords] = {};
    memcpy(words, &a, sizeof(A));
#pragma unroll
    for (int w = 0; w < kWords; ++w) words[w] = __shfl_xor_sync(0xffffffffu, words[w], distance);
    A result;
    memcpy(&result, words, sizeof(A));
    return result;
  }

  // The accumulators of each team, merged, to all its threads; a team is 1 to 32 threads, or the
  // block. All threads of the block call it.
  template <bool kBlock>
  __device__ void MergeTeam(A& a, int team) const {
#pragma unroll 1
    for (int step = min(team, 32) / 2; step > 0; step /= 2) {
      function.Merge(a, OfOtherLane(a, step));
    }
    if constexpr (kBlock) {
      if (team <= 32) return;
      __shared__ __align__(16) unsigned char storage[kReduceThreads / 32 * sizeof(A)];
      A* const shared = reinterpret_cast<A*>(storage);
      if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = a;
      __syncthreads();
      a = shared[0];
#pragma unroll 1
      for (int w = 1; w < kReduceThreads / 32; ++w) function.Merge(a, shared[w]);
    }
  }

  // The accumulators of threads `across` apart, merged, to all of them; of each column what `make`
  // makes of its accumulator, which is no larger.
  template <int kLines, class Make, class Made>
  __device__ void MergeColumns(const A (&a)[kLines], int across, Make make,
                               Made (&made)[kLines]) const {
    static_assert(sizeof(Made) <= sizeof(A));
    constexpr int kAtOnce = kLines * sizeof(A) <= 128 ? kLines : 128 / sizeof(A);
    __shared__ __align__(16) unsigned char storage[kAtOnce * kReduceThreads * sizeof(A)];
    A* const shared = reinterpret_cast<A*>(storage);
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int first = 0; first < kLines; first += kAtOnce) {
#pragma unroll
      for (int k = 0; k < kAtOnce && first + k < kLines; ++k) {
        shared[k * kReduceThreads + thread] = a[first + k];
      }
#pragma unroll 1
      for (int half = kReduceThreads / 2; half >= across; half /= 2) {
        __syncthreads();
#pragma unroll 1
        for (int i = thread; i < kAtOnce * half; i += kReduceThreads) {
          A* const at = &shared[i / half * kReduceThreads + i % half];
          function.Merge(*at, at[half]);
        }
      }
      __syncthreads();
#pragma unroll 1
      for (int i = thread; i < kAtOnce * across; i += kReduceThreads) {
        A* const at = &shared[i / across * kReduceThreads + i % across];
        const Made result = make(*at);
        memcpy(at, &result, sizeof(Made));
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kAtOnce && first + k < kLines; ++k) {
        memcpy(&made[first + k], &shared[k * kReduceThreads + thread % across], sizeof(Made));
      }
      if (first + kAtOnce < kLines) __syncthreads();
    }
  }
  template <int kLines>
  __device__ void MergeColumns(A (&a)[kLines], int across) const {
    MergeColumns(
        a, across, [](const A& merged) { return merged; }, a);
  }

  __device__ long long StartOf(long long line) const {
    return row.starts_even ? line * row.start_strides[0]
                           : OffsetOf(row.start_sizes, row.start_strides, kReduceRank, line);
  }
  __device__ const S* x(long long offset) const { return first_x + offset; }
  __device__ O* out(long long offset) const { return first_out + offset; }
  __device__ A& Partial(long long line, long long segment) const {
    return static_cast<A*>(InGlobal(row.partials))[segment * row.line_count + line];
  }

  __device__ void Write(long long line, long long segment, const A& a) const {
    if (row.segment_count > 1) {
      Partial(line, segment) = a;
    } else if constexpr (!kApplies) {
      *out(line) = function.Result(a, row.element_count);
    }
  }

  // A block takes the partials of lines side by side.
  __device__ void MergePartials() const {
    constexpr int kTogether = sizeof(A) > 8 ? 2 : 8;
    const int across = 1 << row.merge_bits, down = kReduceThreads >> row.merge_bits;
    const long long line = (block << row.merge_bits) + threadIdx.x % across;
    const long long lines = row.line_count;
    const A* const partials = static_cast<const A*>(InGlobal(row.partials)) + min(line, lines - 1);
    const int count = static_cast<int>(row.segment_count);
    A a[1];
#pragma unroll 1
    for (int i = threadIdx.x >> row.merge_bits; i < count; i += kTogether * down) {
      A read[kTogether];
#pragma unroll
      for (int u = 0; u < kTogether; ++u) read[u] = partials[min(i + u * down, count - 1) * lines];
#pragma unroll
      for (int u = 0; u < kTogether; ++u) {
        if (i + u * down < count) function.Merge(a[0], read[u]);
      }
    }
    MergeColumns(a, across);
    if (threadIdx.x >= across || line >= lines) return;
    if constexpr (kApplies) {
      Partial(line, 0) = a[0];  // for the last launch
    } else {
      *out(line) = function.Result(a[0], row.element_count);
    }
  }
};

// A form has Run(applies), kHasSegments (whether it may have several), and kBlocksAtOnce: of a
// multiprocessor, so that enough loads are in flight.
template <class Form>
__device__ void Reduce(const ReduceRow& row, ReducePass pass, double parameter) {
  typename Form::Function function = {};
  function.parameter = parameter;
  const bool merges = pass == ReducePass::kMerge;
  const Form form = {{function, row,
                      blockIdx.x - (merges ? row.first_merge_block : row.first_block),
                      static_cast<const typename Form::S*>(InGlobal(row.x)),
                      static_cast<typename Form::O*>(InGlobal(row.out))}};
  if constexpr (Form::kHasSegments) {
    if (merges) return form.MergePartials();
    if constexpr (Form::kApplies) {
      if (pass == ReducePass::kApply) {
        if (row.segment_count > 1) form.Run(true);  // else it is done
        return;
      }
    }
  }
  form.Run(false);
}

}  // namespace gpucall::cuda
