// Generated reduction kernels whose threads read lines along: text for NVRTC (reduce_source.cc),
// after reduce_team.cuh.
namespace gpucall::cuda {

// Elements that lie together, shared out among a team: whole groups, and those before and after.
template <class F, int kAhead>
struct Along : Reducer<F> {
  using Base = Reducer<F>;
  using Base::function;
  using Base::kWidth;
  using typename Base::A;
  using typename Base::O;
  using typename Base::S;
  using typename Base::T;
  using Groups = Group<S, kWidth>;

  // Of a run: groups from `head` on.
  struct Cut {
    int head, groups, count;
  };
  __device__ static Cut CutOf(const S* x, int count) {
    const int past = static_cast<int>(reinterpret_cast<unsigned long long>(x) % 16);
    const int head = min(count, static_cast<int>((16 - past) % 16 / sizeof(S)));
    return {head, (count - head) / kWidth, count};
  }
  __device__ static int LooseOf(const Cut& cut, int i) {
    return i < cut.head ? i : i + cut.groups * kWidth;
  }

  // Groups first, first + team, ... that there are.
  __device__ static void Read(const S* x, const Cut& cut, int first, int team,
                              Groups (&read)[kAhead]) {
    const Groups* const from = reinterpret_cast<const Groups*>(x + cut.head) + first;
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (first + u * team < cut.groups) read[u] = from[u * team];
    }
  }
  __device__ void TakeRead(A& a, const Groups (&read)[kAhead], const Cut& cut, int first, int team,
                           long long index) const {
    index += cut.head;
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const int group = first + u * team;
      if (group >= cut.groups) break;
      T elements[kWidth];
#pragma unroll
      for (int k = 0; k < kWidth; ++k) elements[k] = T(read[u].at[k]);
      TakeIn(function, a, elements, [&](int k) { return index + group * kWidth + k; });
    }
  }
  // Those before and after the groups: a thread's first is read ahead, as all are mostly.
  __device__ static S ReadLoose(const S* x, const Cut& cut, int lane) {
    return lane < cut.count - cut.groups * kWidth ? x[LooseOf(cut, lane)] : S();
  }
  __device__ void TakeLoose(A& a, S read, const S* x, const Cut& cut, int lane, int team,
                            long long index) const {
#pragma unroll 1
    for (int i = lane; i < cut.count - cut.groups * kWidth; i += team) {
      const int at = LooseOf(cut, i);
      const T element[1] = {T(i == lane ? read : x[at])};
      TakeIn(function, a, element, [&](int) { return index + at; });
    }
  }

  template <class Line>
  __device__ void WriteGroups(const Line& line, const Groups (&read)[kAhead], O* out,
                              const Cut& cut, int first, int team) const {
    Group<O, kWidth>* const to = reinterpret_cast<Group<O, kWidth>*>(out + cut.head) + first;
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (first + u * team >= cut.groups) break;
      Group<O, kWidth> written;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) written.at[k] = function.Apply(line, T(read[u].at[k]));
      to[u * team] = written;
    }
  }
  template <class Line>
  __device__ void WriteLoose(const Line& line, const S* x, O* out, const Cut& cut, int lane,
                             int team) const {
#pragma unroll 1
    for (int i = lane; i < cut.count - cut.groups * kWidth; i += team) {
      const int at = LooseOf(cut, i);
      out[at] = function.Apply(line, T(x[at]));
    }
  }
};

// kTeams, kBlocks.
template <class F, bool kBlock, int kAhead>
struct Runs : Along<F, kAhead> {
  using Base = Along<F, kAhead>;
  using Base::function;
  using Base::kApplies;
  using Base::row;
  using typename Base::A;
  using typename Base::S;
  static constexpr bool kHasSegments = true;

  // Runs first .. end - 1 of a line, and of each `count` elements from number `in_run`.
  struct Segment {
    long long line, number, start, first, end, in_run;
    int count;
  };
  __device__ Segment SegmentOf(long long item) const {
    Segment s = {};
    if (item >= row.line_count * row.segment_count) return s;
    const Division at =
        row.segment_count == 1 ? Division{item, 0} : Divide(item, row.segment_count);
    s.line = at.quotient;
    s.number = at.rest;
    s.start = Base::StartOf(s.line);
    const Division part = row.run_count == 1 ? Division{0, at.rest}
                          : row.parts == 1   ? Division{at.rest, 0}
                                             : Divide(at.rest, row.parts);
    s.first = part.quotient * row.runs_a_segment;
    s.end = min(s.first + row.runs_a_segment, row.run_count);
    s.in_run = part.rest * row.segment_size;
    s.count = static_cast<int>(min(row.segment_size, row.element_sizes[0] - s.in_run));
    return s;
  }
  __device__ long long OffsetOfRun(const Segment& s, long long run) const {
    return s.start + s.in_run +
           (row.run_count == 1
                ? 0
                : OffsetOf(row.element_sizes + 1, row.element_strides + 1, kReduceRank - 1, run));
  }

  __device__ void Add(A& a, const S* x, int count, int lane, int team, long long index) const {
    const auto cut = Base::CutOf(x, count);
    const S loose = Base::ReadLoose(x, cut, lane);
#pragma unroll 1
    for (int i = lane; i < cut.groups; i += kAhead * team) {
      typename Base::Groups read[kAhead];
      Base::Read(x, cut, i, team, read);
      Base::TakeRead(a, read, cut, i, team, index);
    }
    Base::TakeLoose(a, loose, x, cut, lane, team, index);
  }

  __device__ void Run(bool applies) const {
    const int bits = kBlock ? 8 : row.team_bits, team = 1 << bits;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % team;
    const Segment s = SegmentOf((this->block << (8 - bits)) + (thread >> bits));
    A a;
    if (!applies) {
      if (s.first < s.end) a = Begin<F>(Base::x(OffsetOfRun(s, s.first)));
#pragma unroll 1
      for (long long run = s.first; run < s.end; ++run) {
        Add(a, Base::x(OffsetOfRun(s, run)), s.count, lane, team,
            run * row.element_sizes[0] + s.in_run);
      }
      Base::template MergeTeam<kBlock>(a, team);
      if (s.first < s.end && lane == 0) Base::Write(s.line, s.number, a);
    } else if (s.first < s.end) {
      a = Base::Partial(s.line, 0);
    }
    if constexpr (kApplies) {
      if (!applies && row.segment_count > 1) return;
      Apply(s, function.Prepare(a), lane, team);
    }
  }

  template <class Line>
  __device__ void Apply(const Segment& s, const Line& line, int lane, int team) const {
#pragma unroll 1
    for (long long run = s.first; run < s.end; ++run) {
      const long long offset = OffsetOfRun(s, run);
      const S* const x = Base::x(offset);
      const auto cut = Base::CutOf(x, s.count);
#pragma unroll 1
      for (int i = lane; i < cut.groups; i += kAhead * team) {
        typename Base::Groups read[kAhead];
        Base::Read(x, cut, i, team, read);
        Base::WriteGroups(line, read, Base::out(offset), cut, i, team);
      }
      Base::WriteLoose(line, x, Base::out(offset), cut, lane, team);
    }
  }
};

// kHeldTeams, kHeldBlocks.
template <class F, bool kBlock, int kAhead>
struct HeldRuns : Along<F, kAhead> {
  using Base = Along<F, kAhead>;
  using Base::function;
  using Base::row;
  using typename Base::A;
  using typename Base::S;
  static constexpr bool kHasSegments = false;

  __device__ void Run(bool) const {
    const int bits = kBlock ? 8 : row.team_bits, team = 1 << bits;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % team;
    const long long line = (this->block << (8 - bits)) + (thread >> bits);
    const bool any = line < row.line_count;
    const long long offset = any ? Base::StartOf(line) : 0;
    const S* const x = Base::x(offset);
    const auto cut = Base::CutOf(x, any ? static_cast<int>(row.element_count) : 0);
    typename Base::Groups read[kAhead];
    Base::Read(x, cut, lane, team, read);
    const S loose = Base::ReadLoose(x, cut, lane);
    A a = Begin<F>(x);
    Base::TakeRead(a, read, cut, lane, team, 0);
    Base::TakeLoose(a, loose, x, cut, lane, team, 0);
    Base::template MergeTeam<kBlock>(a, team);
    const auto prepared = function.Prepare(a);
    Base::WriteGroups(prepared, read, Base::out(offset), cut, lane, team);
    Base::WriteLoose(prepared, x, Base::out(offset), cut, lane, team);
  }
};

// kScattered; the width is always 1. Teams are up to 32 threads, or the block.
template <class F, int>
struct Scattered : Reducer<F> {
  using Base = Reducer<F>;
  using Base::function;
  using Base::kApplies;
  using Base::row;
  using typename Base::A;
  using typename Base::S;
  using typename Base::T;
  static constexpr bool kHasSegments = true;

  __device__ long long ElementOf(long long start, long long i) const {
    return start + OffsetOf(row.element_sizes, row.element_strides, kReduceRank, i);
  }

  __device__ void Run(bool applies) const {
    const int team = 1 << row.team_bits, thread = static_cast<int>(threadIdx.x);
    const long long item = (this->block << (8 - row.team_bits)) + (thread >> row.team_bits);
    const bool any = item < row.line_count * row.segment_count;
    const Division at = any ? Divide(item, row.segment_count) : Division{0, 0};
    const long long start = Base::StartOf(at.quotient);
    const long long first = at.rest * row.segment_size + thread % team;
    const long long end = any ? min((at.rest + 1) * row.segment_size, row.element_count) : 0;
    A a;
    if (!applies) {
#pragma unroll 1
      for (long long i = first; i < end; i += team) {
        function.Add(a, T(*Base::x(ElementOf(start, i))), i);
      }
      Base::template MergeTeam<true>(a, team);
      if (any && thread % team == 0) Base::Write(at.quotient, at.rest, a);
    } else if (any) {
      a = Base::Partial(at.quotient, 0);
    }
    if constexpr (kApplies) {
      if (!applies && row.segment_count > 1) return;
      const auto line = function.Prepare(a);
#pragma unroll 1
      for (long long i = first; i < end; i += team) {
        const long long offset = ElementOf(start, i);
        *Base::out(offset) = function.Apply(line, T(*Base::x(offset)));
      }
    }
  }
};

}  // namespace gpucall::cuda
