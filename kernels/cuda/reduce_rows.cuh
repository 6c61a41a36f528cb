// Generated reduction kernels for lines side by side: text for NVRTC (reduce_source.cc), after
// reduce_team.cuh.
namespace gpucall::cuda {

// kRows.
template <class F, int kLines>
struct Rows : Reducer<F> {
  using Base = Reducer<F>;
  using Base::function;
  using Base::kApplies;
  using Base::row;
  using typename Base::A;
  using typename Base::O;
  using typename Base::S;
  using typename Base::T;
  using Elements = Group<S, kLines>;  // of a row of the block's lines
  static constexpr bool kHasSegments = true;
  static constexpr int kBlocksAtOnce = 3;
  static constexpr int kAhead = (sizeof(Elements) < 16 ? 16 : 8) / (sizeof(A) > 16 ? 2 : 1);

  // This thread's lines line .. line + kLines - 1. Of their `count` elements, none past the last
  // line, a segment takes kAhead * down at a time, from number `first` on: segments take turns, so
  // that blocks read memory side by side. This thread's are `down` apart, from its y on.
  struct Tile {
    long long line, segment, start, first, step, count;
    int across, down, y;
  };
  __device__ Tile FindTile() const {
    const long long lines = row.start_sizes[0];  // side by side
    Tile t;
    t.across = 1 << row.across_bits;
    t.down = kReduceThreads >> row.across_bits;
    const long long tiles = (lines + t.across * kLines - 1) / (t.across * kLines);
    const Division by_tile = Divide(this->block, tiles);
    const Division at = Divide(by_tile.quotient, row.segment_count);
    const int thread = static_cast<int>(threadIdx.x);
    const long long column = ((by_tile.rest << row.across_bits) + thread % t.across) * kLines;
    const bool inside = column < lines;
    t.line = at.quotient * lines + (inside ? column : 0);
    t.segment = at.rest;
    t.start = Base::StartOf(t.line);
    t.y = thread >> row.across_bits;
    t.first = at.rest * kAhead * t.down;
    t.step = row.segment_count * kAhead * t.down;
    t.count = inside ? row.element_count : 0;
    return t;
  }

  __device__ long long OffsetOfRow(long long i) const {
    return row.elements_even ? i * row.element_strides[0]
                             : OffsetOf(row.element_sizes, row.element_strides, kReduceRank, i);
  }
  __device__ static const Elements& ElementsAt(const S* x) {
    return *reinterpret_cast<const Elements*>(x);
  }
  __device__ void TakeOne(A (&a)[kLines], const Elements& read, long long index) const {
#pragma unroll
    for (int k = 0; k < kLines; ++k) {
      const T element[1] = {T(read.at[k])};
      TakeIn(function, a[k], element, [&](int) { return index; });
    }
  }

  // Some elements of each line.
  template <int kCount, class At>
  __device__ void TakeHeld(A (&a)[kLines], const Elements (&read)[kCount], At at) const {
#pragma unroll
    for (int k = 0; k < kLines; ++k) {
      T elements[kCount];
#pragma unroll
      for (int u = 0; u < kCount; ++u) elements[u] = T(read[u].at[k]);
      TakeIn(function, a[k], elements, at);
    }
  }

  __device__ void Add(A (&a)[kLines], const Tile& t) const {
    if constexpr (kBegins<F>) {
      const S* const x = Base::x(t.start + OffsetOfRow(t.first));
#pragma unroll
      for (int k = 0; k < kLines; ++k) a[k] = Begin<F>(x + k);
    }
    const bool even = row.elements_even != 0;
    const long long stride = row.element_strides[0], apart = t.down * stride;
#pragma unroll 1
    for (long long first = t.first; first < t.count; first += t.step) {
      const long long i = first + t.y;
      if (even && i + (kAhead - 1) * t.down < t.count) {
        const S* const x = Base::x(t.start + i * stride);
        Elements read[kAhead];
#pragma unroll
        for (int u = 0; u < kAhead; ++u) read[u] = ElementsAt(x + u * apart);
        TakeHeld(a, read, [&](int u) { return i + u * t.down; });
      } else {
        const long long end = min(first + kAhead * t.down, t.count);
#pragma unroll 1
        for (long long at = i; at < end; at += t.down) {
          TakeOne(a, ElementsAt(Base::x(t.start + OffsetOfRow(at))), at);
        }
      }
    }
  }

  __device__ void Run(bool applies) const {
    const Tile t = FindTile();
    A a[kLines];
    if (applies) {
#pragma unroll
      for (int k = 0; k < kLines; ++k) a[k] = Base::Partial(t.line + k, 0);
    } else {
      Add(a, t);
      Base::MergeColumns(a, t.across);
      if (t.y == 0 && t.count > 0) {
#pragma unroll
        for (int k = 0; k < kLines; ++k) Base::Write(t.line + k, t.segment, a[k]);
      }
    }
    if constexpr (kApplies) {
      if (applies || row.segment_count == 1) Apply(a, t);
    }
  }

  __device__ void Apply(const A (&a)[kLines], const Tile& t) const {
    typename F::Line lines[kLines];
#pragma unroll
    for (int k = 0; k < kLines; ++k) lines[k] = function.Prepare(a[k]);
    const bool even = row.elements_even != 0;
    const long long stride = row.element_strides[0], apart = t.down * stride;
#pragma unroll 1
    for (long long first = t.first; first < t.count; first += t.step) {
      const long long i = first + t.y;
      if (even && i + (kAhead - 1) * t.down < t.count) {
        const long long offset = t.start + i * stride;
#pragma unroll 1
        for (int v = 0; v < kAhead; v += 4) {
          Elements read[4];
#pragma unroll
          for (int u = 0; u < 4; ++u) read[u] = ElementsAt(Base::x(offset + (v + u) * apart));
#pragma unroll
          for (int u = 0; u < 4; ++u) WriteRow(lines, read[u], offset + (v + u) * apart);
        }
      } else {
        const long long end = min(first + kAhead * t.down, t.count);
#pragma unroll 1
        for (long long at = i; at < end; at += t.down) {
          const long long offset = t.start + OffsetOfRow(at);
          WriteRow(lines, ElementsAt(Base::x(offset)), offset);
        }
      }
    }
  }
  template <class Line>
  __device__ void WriteRow(const Line (&lines)[kLines], const Elements& read,
                           long long offset) const {
    Group<O, kLines> written;
#pragma unroll
    for (int k = 0; k < kLines; ++k) written.at[k] = function.Apply(lines[k], T(read.at[k]));
    *reinterpret_cast<Group<O, kLines>*>(Base::out(offset)) = written;
  }
};

// kHeldRows: a thread holds kHeld elements of each of its lines, or one less.
template <class F, int kCode, int kLines = kCode / 16, int kHeld = kCode % 16>
struct HeldRows : Rows<F, kLines> {
  using Base = Rows<F, kLines>;
  using Base::function;
  using Base::row;
  using typename Base::A;
  static constexpr bool kHasSegments = false;

  __device__ void Run(bool) const {
    const auto t = Base::FindTile();
    const long long step = t.down * row.element_strides[0];
    const long long offset = t.start + t.y * row.element_strides[0];
    const long long last = t.y + (kHeld - 1) * t.down;
    typename Base::Elements held[kHeld];
#pragma unroll
    for (int u = 0; u < kHeld; ++u) {
      const bool there = u < kHeld - 1 || last < row.element_count;
      held[u] = Base::ElementsAt(Base::x(there ? offset + u * step : t.start));
    }
    A a[kLines];
    if constexpr (kBegins<F>) {
#pragma unroll
      for (int k = 0; k < kLines; ++k) a[k] = Begin<F>(Base::x(t.start + k));
    }
    if constexpr (kHeld > 1) {
      typename Base::Elements all[kHeld - 1];
#pragma unroll
      for (int u = 0; u < kHeld - 1; ++u) all[u] = held[u];
      if (t.count > 0) Base::TakeHeld(a, all, [&](int u) { return t.y + u * t.down; });
    }
    if (last < t.count) Base::TakeOne(a, held[kHeld - 1], last);
    typename F::Line lines[kLines];
    Base::MergeColumns(
        a, t.across, [&](const A& merged) { return function.Prepare(merged); }, lines);
#pragma unroll
    for (int u = 0; u < kHeld; ++u) {
      if (t.y + u * t.down < t.count) Base::WriteRow(lines, held[u], offset + u * step);
    }
  }
};

}  // namespace gpucall::cuda
