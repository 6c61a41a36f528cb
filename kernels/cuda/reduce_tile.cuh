// What generated reduction kernels are made of: text for NVRTC (reduce_source.cc), after
// reduce_functions.h and reduce_row.h. The order in which accumulators are merged depends on a
// row's shape alone.
namespace gpucall::cuda {

template <class T>
struct Stored {
  using Type = T;
};
template <>
struct Stored<bool> {
  using Type = unsigned char;
};
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Group {
  T at[kWidth];
};

// Quotient and rest of numbers that are not negative, mostly below 2^32.
struct Division {
  long long quotient, rest;
};
__device__ __noinline__ Division Divide(long long value, long long by) {
  if (((value | by) >> 32) == 0) {
    const unsigned v = static_cast<unsigned>(value), b = static_cast<unsigned>(by);
    return {v / b, v % b};
  }
  return {value / by, value % by};
}

// Not inlined, as NVRTC would take seconds.
__device__ __noinline__ long long OffsetOf(const long long* sizes, const long long* strides,
                                           long long index) {
  long long offset = 0;
#pragma unroll 1
  for (int d = 0; d < kReduceRank; ++d) {
    if (sizes[d] == 1) continue;
    const Division at = Divide(index, sizes[d]);
    offset += at.rest * strides[d];
    index = at.quotient;
  }
  return offset;
}

// The last row that starts at or before this block. All threads of a warp take part.
__device__ inline const ReduceRow& FindRow(const ReduceRow* table, int row_count, bool merges) {
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

template <class Function>
struct Reducer {
  using T = typename Function::Element;
  using S = typename Stored<T>::Type;
  using A = typename Function::Accumulator;
  static constexpr int kWidth = sizeof(T) >= 4 ? 16 / sizeof(T) : 4;
  static constexpr int kAhead = 4;  // groups that a thread reads before it uses them
  static_assert(sizeof(A) <= 32 && kWidth <= 4);

  Function function;
  const ReduceRow& row;
  long long block;  // of the row

  __device__ static A ShuffleDown(const A& a, int delta) {
    constexpr int kWords = (sizeof(A) + 3) / 4;
    unsigned words[kWords] = {};
    memcpy(words, &a, sizeof(A));
#pragma unroll
    for (int w = 0; w < kWords; ++w) words[w] = __shfl_down_sync(0xffffffffu, words[w], delta);
    A result;
    memcpy(&result, words, sizeof(A));
    return result;
  }

  // Not inlined, as the others that loops do not spend their time in: NVRTC is quicker.
  __device__ __noinline__ static A Merged(Function function, A a, A b) {
    function.Merge(a, b);
    return a;
  }

  // Merges the accumulators of each team into its first thread's. All threads of the block call it.
  __device__ __noinline__ A MergeTeam(A a, int team) const {
    for (int delta = min(team, 32) / 2; delta > 0; delta /= 2) {
      a = Merged(function, a, ShuffleDown(a, delta));
    }
    if (team <= 32) return a;
    __shared__ __align__(16) unsigned char storage[kReduceThreads / 32 * sizeof(A)];
    A* const shared = reinterpret_cast<A*>(storage);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < kReduceThreads / 32; ++w) a = Merged(function, a, shared[w]);
    }
    return a;
  }

  __device__ void AddGroup(A (&a)[kWidth], const Group<S, kWidth>& group, long long index) const {
#pragma unroll
    for (int k = 0; k < kWidth; ++k) function.Add(a[k], T(group.at[k]), index + k);
  }

  // This thread's part of `count` elements that lie together, numbered from `index`.
  __device__ A AddRun(const S* x, long long count, long long index, int lane) const {
    A a[kWidth];
    constexpr unsigned long long kBytes = sizeof(Group<S, kWidth>);
    const auto past = reinterpret_cast<unsigned long long>(x) % kBytes;
    const long long head = min(count, static_cast<long long>((kBytes - past) % kBytes / sizeof(S)));
    const int team = row.team;
    const auto* groups = reinterpret_cast<const Group<S, kWidth>*>(x + head);
    const long long group_count = (count - head) / kWidth;
    for (long long i = lane; i < group_count; i += kAhead * team) {
      Group<S, kWidth> read[kAhead];
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (i + u * team < group_count) read[u] = groups[i + u * team];
      }
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (i + u * team < group_count) {
          AddGroup(a, read[u], index + head + (i + u * team) * kWidth);
        }
      }
    }
    // What lies before and after the groups.
    const long long grouped = group_count * kWidth;
#pragma unroll 1
    for (long long i = lane; i < count - grouped; i += team) {
      const long long at = i < head ? i : i + grouped;
      function.Add(a[0], T(x[at]), index + at);
    }
#pragma unroll
    for (int k = 1; k < kWidth; ++k) a[0] = Merged(function, a[0], a[k]);
    return a[0];
  }

  __device__ A AddScattered(const S* x, long long first, long long end, int lane) const {
    A a;
#pragma unroll 1
    for (long long i = first + lane; i < end; i += row.team) {
      function.Add(a, T(x[OffsetOf(row.element_sizes, row.element_strides, i)]), i);
    }
    return a;
  }

  __device__ __noinline__ void Write(long long line, long long segment, const A& a) const {
    if (row.segment_count == 1) {
      static_cast<typename Function::Output*>(row.out)[line] =
          function.Result(a, row.element_count);
    } else {
      static_cast<A*>(row.partials)[line * row.segment_count + segment] = a;
    }
  }

  __device__ void ByTeams() const {
    const int lane = static_cast<int>(threadIdx.x) % row.team;
    const long long item = block * (kReduceThreads / row.team) + threadIdx.x / row.team;
    const bool works = item < row.line_count * row.segment_count;
    A a;
    Division at = {0, 0};
    if (works) {
      at = Divide(item, row.segment_count);
      const S* const x =
          static_cast<const S*>(row.x) + OffsetOf(row.start_sizes, row.start_strides, at.quotient);
      if (row.form == ReduceForm::kScattered) {
        const long long first = at.rest * row.segment_size;
        a = AddScattered(x, first, min(first + row.segment_size, row.element_count), lane);
      } else {
        const long long run = row.element_sizes[0];
        const Division part = Divide(at.rest, (run + row.segment_size - 1) / row.segment_size);
        const long long first = part.rest * row.segment_size;
        const long long index = part.quotient * run + first;
        a = AddRun(x + OffsetOf(row.element_sizes, row.element_strides, index),
                   min(row.segment_size, run - first), index, lane);
      }
    }
    a = MergeTeam(a, row.team);
    if (works && lane == 0) Write(at.quotient, at.rest, a);
  }

  // Merges the accumulators of the threads of one column, `across` apart, into the topmost one's.
  __device__ __noinline__ A MergeColumn(const A& a) const {
    __shared__ __align__(16) unsigned char storage[kReduceThreads * sizeof(A)];
    A* const shared = reinterpret_cast<A*>(storage);
    shared[threadIdx.x] = a;
    for (int half = kReduceThreads / 2; half >= row.across; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) {
        shared[threadIdx.x] = Merged(function, shared[threadIdx.x], shared[threadIdx.x + half]);
      }
    }
    __syncthreads();
    const A result = shared[threadIdx.x];
    __syncthreads();
    return result;
  }

  template <int kLines>
  __device__ void ByRows() const {
    const long long lines = row.start_sizes[0];  // side by side
    const long long tiles = (lines + row.across * kLines - 1) / (row.across * kLines);
    const Division by_tile = Divide(block, tiles);
    const Division at = Divide(by_tile.quotient, row.segment_count);
    const int down = kReduceThreads / row.across, y = threadIdx.x / row.across;
    const long long column = (by_tile.rest * row.across + threadIdx.x % row.across) * kLines;
    const bool inside = column < lines;
    const long long line = at.quotient * lines + column;
    const long long first = at.rest * row.segment_size;
    const long long end = inside ? min(first + row.segment_size, row.element_count) : 0;
    A a[kLines];
    const S* const x = static_cast<const S*>(row.x) +
                       OffsetOf(row.start_sizes, row.start_strides, inside ? line : 0);
    const bool even = row.element_sizes[0] == row.element_count;
    const long long stride = row.element_strides[0];
    const auto read = [&](long long i) {
      const long long offset =
          even ? i * stride : OffsetOf(row.element_sizes, row.element_strides, i);
      return *reinterpret_cast<const Group<S, kLines>*>(x + offset);
    };
    const auto add = [&](const Group<S, kLines>& group, long long i) {
#pragma unroll
      for (int k = 0; k < kLines; ++k) function.Add(a[k], T(group.at[k]), i);
    };
    for (long long i = first + y; i < end; i += kAhead * down) {
      Group<S, kLines> groups[kAhead];
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (i + u * down < end) groups[u] = read(i + u * down);
      }
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (i + u * down < end) add(groups[u], i + u * down);
      }
    }
#pragma unroll
    for (int k = 0; k < kLines; ++k) {
      const A merged = MergeColumn(a[k]);
      if (inside && y == 0) Write(line + k, at.rest, merged);
    }
  }

  // A block takes the partials of one line.
  __device__ void MergePartials() const {
    const A* const partials = static_cast<const A*>(row.partials) + block * row.segment_count;
    A a;
    for (long long i = threadIdx.x; i < row.segment_count; i += kReduceThreads) {
      a = Merged(function, a, partials[i]);
    }
    a = MergeTeam(a, kReduceThreads);
    if (threadIdx.x != 0) return;
    static_cast<typename Function::Output*>(row.out)[block] = function.Result(a, row.element_count);
  }
};

template <class Function>
__device__ void Reduce(const ReduceRow& row, bool merges, double parameter) {
  Function function = {};
  function.parameter = parameter;
  const Reducer<Function> reducer = {
      function, row, blockIdx.x - (merges ? row.first_merge_block : row.first_block)};
  if (merges) {
    reducer.MergePartials();
  } else if (row.form != ReduceForm::kRows) {
    reducer.ByTeams();
  } else if (row.width > 1) {
    reducer.template ByRows<Reducer<Function>::kWidth>();
  } else {
    reducer.template ByRows<1>();
  }
}

}  // namespace gpucall::cuda
