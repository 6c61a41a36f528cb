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
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Group {
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
  static constexpr int kWidth = 16 / sizeof(S);           // elements of a group
  static constexpr int kLanes = kWidth < 4 ? kWidth : 4;  // accumulators of a thread
  static constexpr int kAhead =
      kWidth > 4 ? 2 : 8;  // groups that a thread reads before it uses them
  static_assert(sizeof(A) <= 32);
  using O = typename Function::Output;
  static constexpr bool kApplies = requires(Function f, A a, T x) { f.Apply(a, x); };

  Function function;
  const ReduceRow& row;
  long long block;  // of the row

  template <class Move>
  __device__ static A Shuffle(const A& a, Move move) {
    constexpr int kWords = (sizeof(A) + 3) / 4;
    unsigned words[kWords] = {};
    memcpy(words, &a, sizeof(A));
#pragma unroll
    for (int w = 0; w < kWords; ++w) words[w] = move(words[w]);
    A result;
    memcpy(&result, words, sizeof(A));
    return result;
  }

  // Not inlined, as the others that loops do not spend their time in: NVRTC is quicker.
  __device__ __noinline__ static A Merged(Function function, A a, A b) {
    function.Merge(a, b);
    return a;
  }

  // The accumulators of each team, merged, to all its threads. All threads of the block call it.
  __device__ __noinline__ A MergeTeam(A a, int team) const {
    for (int delta = min(team, 32) / 2; delta > 0; delta /= 2) {
      a = Merged(function, a, Shuffle(a, [&](unsigned word) {
                   return __shfl_down_sync(0xffffffffu, word, delta);
                 }));
    }
    if (team <= 32) {
      const int first = static_cast<int>(threadIdx.x) % 32 / team * team;
      return Shuffle(a, [&](unsigned word) { return __shfl_sync(0xffffffffu, word, first); });
    }
    __shared__ __align__(16) unsigned char storage[kReduceThreads / 32 * sizeof(A)];
    A* const shared = reinterpret_cast<A*>(storage);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < kReduceThreads / 32; ++w) a = Merged(function, a, shared[w]);
      shared[0] = a;
    }
    __syncthreads();
    return shared[0];
  }

  __device__ void AddGroup(A (&a)[kLanes], const Group<S, kWidth>& group, long long index) const {
#pragma unroll
    for (int k = 0; k < kWidth; ++k) function.Add(a[k % kLanes], T(group.at[k]), index + k);
  }

  // This thread's part of `count` elements that lie together, numbered from `index`.
  __device__ A AddRun(const S* x, long long count, long long index, int lane) const {
    A a[kLanes];
    constexpr unsigned long long kBytes = sizeof(Group<S, kWidth>);
    const auto past = reinterpret_cast<unsigned long long>(x) % kBytes;
    const long long head = min(count, static_cast<long long>((kBytes - past) % kBytes / sizeof(S)));
    const int team = row.team;
    const auto* groups = reinterpret_cast<const Group<S, kWidth>*>(x + head);
    const long long group_count = (count - head) / kWidth;
    for (long long i = lane; i < group_count; i += kAhead * team) {
      Group<S, kWidth> read[kAhead];
#pragma unroll
      for (int u = 0; u < kAhead; ++u) read[u] = groups[min(i + u * team, group_count - 1)];
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
    for (int k = 1; k < kLanes; ++k) a[0] = Merged(function, a[0], a[k]);
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
    if constexpr (kApplies) {
      if (row.segment_count == 1) return;
    }
    if (row.segment_count == 1) {
      static_cast<O*>(row.out)[line] = function.Result(a, row.element_count);
    } else {
      static_cast<A*>(row.partials)[line * row.segment_count + segment] = a;
    }
  }

  __device__ long long StartOf(long long line) const {
    return row.starts_even ? line * row.start_strides[0]
                           : OffsetOf(row.start_sizes, row.start_strides, line);
  }

  // What becomes of `count` elements that lie together; this thread's part.
  __device__ void ApplyRun(const A& a, long long offset, long long count, int lane) const {
    if constexpr (kApplies) {
      const S* const x = static_cast<const S*>(row.x) + offset;
      O* const out = static_cast<O*>(row.out) + offset;
      constexpr int kTogether = 4;
      const auto addresses = reinterpret_cast<unsigned long long>(x) / sizeof(S) |
                             reinterpret_cast<unsigned long long>(out) / sizeof(O);
      long long done = 0;
      if (addresses % kTogether == 0) {
        const auto* from = reinterpret_cast<const Group<S, kTogether>*>(x);
        auto* to = reinterpret_cast<Group<O, kTogether>*>(out);
        done = count / kTogether * kTogether;
#pragma unroll 2
        for (long long i = lane; i < count / kTogether; i += row.team) {
          const Group<S, kTogether> read = from[i];
          Group<O, kTogether> written;
#pragma unroll
          for (int k = 0; k < kTogether; ++k) written.at[k] = function.Apply(a, T(read.at[k]));
          to[i] = written;
        }
      }
#pragma unroll 1
      for (long long i = done + lane; i < count; i += row.team) {
        out[i] = function.Apply(a, T(x[i]));
      }
    }
  }

  __device__ void ApplyScattered(const A& a, long long start, long long first, long long end,
                                 int lane) const {
    if constexpr (kApplies) {
#pragma unroll 1
      for (long long i = first + lane; i < end; i += row.team) {
        const long long at = start + OffsetOf(row.element_sizes, row.element_strides, i);
        static_cast<O*>(row.out)[at] = function.Apply(a, T(static_cast<const S*>(row.x)[at]));
      }
    }
  }

  // A team's segment of a line.
  struct Segment {
    long long line, number, start, first, end;  // elements first .. end - 1 of the line
    bool any;
  };
  __device__ Segment FindSegment() const {
    const long long item = block * (kReduceThreads / row.team) + threadIdx.x / row.team;
    Segment s = {0, 0, 0, 0, 0, item < row.line_count * row.segment_count};
    if (!s.any) return s;
    const Division at =
        row.segment_count == 1 ? Division{item, 0} : Divide(item, row.segment_count);
    s.line = at.quotient;
    s.number = at.rest;
    s.start = StartOf(s.line);
    if (row.form == ReduceForm::kScattered) {
      s.first = at.rest * row.segment_size;
      s.end = min(s.first + row.segment_size, row.element_count);
      return s;
    }
    const long long run = row.element_sizes[0];
    const Division part = row.elements_even
                              ? Division{0, at.rest}
                              : Divide(at.rest, (run + row.segment_size - 1) / row.segment_size);
    const long long in_run = part.rest * row.segment_size;
    s.first = part.quotient * run + in_run;
    s.end = s.first + min(row.segment_size, run - in_run);
    return s;
  }

  // Where the elements of a segment of kRuns begin.
  __device__ long long OffsetOfRun(const Segment& s) const {
    return s.start + (row.elements_even
                          ? s.first
                          : OffsetOf(row.element_sizes, row.element_strides, s.first));
  }

  __device__ void ByTeams(bool applies) const {
    const int lane = static_cast<int>(threadIdx.x) % row.team;
    const Segment s = FindSegment();
    const bool scattered = row.form == ReduceForm::kScattered;
    const S* const x = static_cast<const S*>(row.x);
    A a;
    if (applies) {
      if (s.any) a = static_cast<const A*>(row.partials)[s.line * row.segment_count];
    } else {
      if (s.any && scattered) a = AddScattered(x + s.start, s.first, s.end, lane);
      if (s.any && !scattered) a = AddRun(x + OffsetOfRun(s), s.end - s.first, s.first, lane);
      a = MergeTeam(a, row.team);
      if (s.any && lane == 0) Write(s.line, s.number, a);
    }
    if (!kApplies || !s.any || (!applies && row.segment_count > 1)) return;
    if (scattered) {
      ApplyScattered(a, s.start, s.first, s.end, lane);
    } else {
      ApplyRun(a, OffsetOfRun(s), s.end - s.first, lane);
    }
  }

  // The accumulators of the threads of one column, `across` apart, merged, to all of them.
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
    const A result = shared[threadIdx.x % row.across];
    __syncthreads();
    return result;
  }

  // Elements first, first + step, ... below `end` of kLines lines.
  template <int kLines, class At>
  __device__ void AddRows(long long first, long long end, int step, At at, A (&a)[kLines]) const {
    constexpr int kRowsAhead = kLines > 4 ? 2 : 8;
    for (long long i = first; i < end; i += kRowsAhead * step) {
      Group<S, kLines> groups[kRowsAhead];
#pragma unroll
      for (int u = 0; u < kRowsAhead; ++u) {
        groups[u] = *reinterpret_cast<const Group<S, kLines>*>(at(min(i + u * step, end - 1)));
      }
#pragma unroll
      for (int u = 0; u < kRowsAhead; ++u) {
        if (i + u * step >= end) break;
#pragma unroll
        for (int k = 0; k < kLines; ++k) function.Add(a[k], T(groups[u].at[k]), i + u * step);
      }
    }
  }

  template <int kLines>
  __device__ void ApplyRows(long long first, long long end, int step, long long start,
                            const A (&a)[kLines]) const {
    if constexpr (kApplies) {
#pragma unroll 2
      for (long long i = first; i < end; i += step) {
        const long long at =
            start + (row.elements_even ? i * row.element_strides[0]
                                       : OffsetOf(row.element_sizes, row.element_strides, i));
        const auto read =
            *reinterpret_cast<const Group<S, kLines>*>(static_cast<const S*>(row.x) + at);
        Group<O, kLines> written;
#pragma unroll
        for (int k = 0; k < kLines; ++k) written.at[k] = function.Apply(a[k], T(read.at[k]));
        *reinterpret_cast<Group<O, kLines>*>(static_cast<O*>(row.out) + at) = written;
      }
    }
  }

  template <int kLines>
  __device__ void ByRows(bool applies) const {
    const long long lines = row.start_sizes[0];  // side by side
    const long long tiles = (lines + row.across * kLines - 1) / (row.across * kLines);
    const Division by_tile = Divide(block, tiles);
    const Division at = Divide(by_tile.quotient, row.segment_count);
    const int down = kReduceThreads / row.across, y = threadIdx.x / row.across;
    const long long column = (by_tile.rest * row.across + threadIdx.x % row.across) * kLines;
    const bool inside = column < lines;
    const long long line = at.quotient * lines + (inside ? column : 0);
    const long long first = at.rest * row.segment_size + y;
    const long long end = inside ? min((at.rest + 1) * row.segment_size, row.element_count) : 0;
    A a[kLines];
    const long long start = StartOf(line), stride = row.element_strides[0];
    const S* const x = static_cast<const S*>(row.x) + start;
    if (applies) {
      for (int k = 0; k < kLines; ++k) {
        a[k] = static_cast<const A*>(row.partials)[(line + k) * row.segment_count];
      }
    } else {
      if (row.elements_even) {
        AddRows<kLines>(
            first, end, down, [&](long long i) { return x + i * stride; }, a);
      } else {
#pragma unroll 1
        for (long long i = first; i < end; i += down) {
          const auto group = *reinterpret_cast<const Group<S, kLines>*>(
              x + OffsetOf(row.element_sizes, row.element_strides, i));
#pragma unroll
          for (int k = 0; k < kLines; ++k) function.Add(a[k], T(group.at[k]), i);
        }
      }
#pragma unroll
      for (int k = 0; k < kLines; ++k) {
        a[k] = MergeColumn(a[k]);
        if (inside && y == 0) Write(line + k, at.rest, a[k]);
      }
    }
    if (kApplies && (applies || row.segment_count == 1)) {
      ApplyRows<kLines>(first, end, down, start, a);
    }
  }

  // A team takes the partials of one line.
  __device__ void MergePartials() const {
    const int team = row.merge_team;
    const long long line = block * (kReduceThreads / team) + threadIdx.x / team;
    A* const partials = static_cast<A*>(row.partials) + line * row.segment_count;
    A a;
    for (long long i = threadIdx.x % team; i < row.segment_count && line < row.line_count;
         i += team) {
      a = Merged(function, a, partials[i]);
    }
    a = MergeTeam(a, team);
    if (threadIdx.x % team != 0 || line >= row.line_count) return;
    if constexpr (kApplies) {
      partials[0] = a;  // for the last launch
      return;
    }
    static_cast<O*>(row.out)[line] = function.Result(a, row.element_count);
  }
};

template <class Function>
__device__ void Reduce(const ReduceRow& row, ReducePass pass, double parameter) {
  Function function = {};
  function.parameter = parameter;
  const bool merges = pass == ReducePass::kMerge, applies = pass == ReducePass::kApply;
  const Reducer<Function> reducer = {
      function, row, blockIdx.x - (merges ? row.first_merge_block : row.first_block)};
  if (applies && row.segment_count == 1) return;  // done by the first pass
  if (merges) {
    reducer.MergePartials();
  } else if (row.form != ReduceForm::kRows) {
    reducer.ByTeams(applies);
  } else if (row.width > 1) {
    reducer.template ByRows<Reducer<Function>::kLanes>(applies);
  } else {
    reducer.template ByRows<1>(applies);
  }
}

}  // namespace gpucall::cuda
