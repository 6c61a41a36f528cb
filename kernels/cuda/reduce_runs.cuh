// Generated reduction kernels whose threads read lines along: text for NVRTC (reduce_source.cc),
// after reduce_team.cuh.
namespace gpucall::cuda {

// Elements that lie together, shared out among a team: whole groups, and those before and after.
template <class F, bool kBlock, int kAhead>
struct Along : Reducer<F> {
  using Base = Reducer<F>;
  using Base::function;
  using Base::kWidth;
  using typename Base::A;
  using typename Base::O;
  using typename Base::S;
  using typename Base::T;
  using Groups = Group<S, kWidth>;

  static constexpr int kBlocksAtOnce = kAhead > 8 ? 2 : Base::kApplies && sizeof(A) > 16 ? 3 : 4;

  // Of the team's number of threads.
  __device__ static int TeamBits(const ReduceRow& row) {
    return kBlock ? 8 : kAhead > kFewGroups ? 5 : row.team_bits;
  }

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

  // Groups lane, lane + team, ... ; in place of those that there are not, the last. All are asked
  // for before any is used: a condition would hold the next back.
  __device__ static void Read(const S* x, const Cut& cut, int lane, int team,
                              Groups (&read)[kAhead]) {
    if (cut.groups == 0) return;
    const Groups* const from = reinterpret_cast<const Groups*>(x + cut.head);
#pragma unroll
    for (int u = 0; u < kAhead; ++u) read[u] = from[min(lane + u * team, cut.groups - 1)];
  }
  __device__ void TakeRead(A& a, const Groups (&read)[kAhead], const Cut& cut, int lane, int team,
                           long long index) const {
    index += cut.head;
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const int group = lane + u * team;
      if (group >= cut.groups) break;
      const Groups now = Later(read[u]);
      T elements[kWidth];
#pragma unroll
      for (int k = 0; k < kWidth; ++k) elements[k] = T(now.at[k]);
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
                              const Cut& cut, int lane, int team) const {
    Group<O, kWidth>* const to = reinterpret_cast<Group<O, kWidth>*>(out + cut.head) + lane;
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (lane + u * team >= cut.groups) break;
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
struct Runs : Along<F, kBlock, kAhead> {
  using Base = Along<F, kBlock, kAhead>;
  using Base::function;
  using Base::kApplies;
  using Base::row;
  using typename Base::A;
  using typename Base::S;
  static constexpr bool kHasSegments = true;
  static constexpr int kBlocksAtOnce = 3;

  // Of runs first .. end - 1 of a line, which is at `start`, pieces part, part + row.parts, ... :
  // segments take turns, so that blocks read memory side by side. A piece is what a team reads at
  // once.
  struct Segment {
    long long line, start;
    int number, first, end, part;
  };
  __device__ Segment SegmentOf(long long item) const {
    Segment s = {};
    if (item >= row.line_count * row.segment_count) return s;
    if (row.run_count == 1) {
      const Division at =
          row.segment_count == 1 ? Division{item, 0} : Divide(item, row.segment_count);
      s.line = at.quotient;
      s.number = s.part = static_cast<int>(at.rest);
      s.end = 1;
    } else {
      const Division at = Divide(item, row.line_count);
      s.line = at.rest;
      s.number = static_cast<int>(at.quotient);
      const Division part = Divide(s.number, row.parts);
      s.part = static_cast<int>(part.rest);
      s.first = static_cast<int>(part.quotient * row.runs_a_segment);
      s.end = static_cast<int>(min(s.first + row.runs_a_segment, row.run_count));
    }
    s.start = Base::StartOf(s.line);
    return s;
  }
  __device__ long long OffsetOfRun(const Segment& s, int run) const {
    if (row.run_count == 1) return s.start;
    return s.start + OffsetOf(row.element_sizes + 1, row.element_strides + 1, kReduceRank - 1, run);
  }
  // Calls with each piece's offset, number of elements, and first index.
  template <class Call>
  __device__ void ForPieces(const Segment& s, int team, Call call) const {
    const long long length = row.element_sizes[0];
    const int most = kAhead * Base::kWidth * team;
    const long long step = row.parts * most;
#pragma unroll 1
    for (int run = s.first; run < s.end; ++run) {
      const long long offset = OffsetOfRun(s, run);
#pragma unroll 1
      for (long long i = static_cast<long long>(s.part) * most; i < length; i += step) {
        call(offset + i, static_cast<int>(min(length - i, static_cast<long long>(most))),
             run * length + i);
      }
    }
  }

  __device__ void Run(bool applies) const {
    const int bits = Base::TeamBits(row), team = 1 << bits;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % team;
    const long long item = (this->block << (8 - bits)) + (thread >> bits);
    const Segment s = SegmentOf(item);
    const bool any = s.first < s.end;
    A a;
    if (!applies) {
      if (kBegins<F> && any) {
        a = Begin<F>(Base::x(OffsetOfRun(s, s.first)) +
                     static_cast<long long>(s.part) * (kAhead * Base::kWidth * team));
      }
      ForPieces(s, team, [&](long long offset, int count, long long index) {
        const S* const x = Base::x(offset);
        const auto cut = Base::CutOf(x, count);
        const S loose = Base::ReadLoose(x, cut, lane);
        typename Base::Groups read[kAhead];
        Base::Read(x, cut, lane, team, read);
        Base::TakeRead(a, read, cut, lane, team, index);
        Base::TakeLoose(a, loose, x, cut, lane, team, index);
      });
      Base::template MergeTeam<kBlock>(a, team);
      if (any && lane == 0) Base::Write(s.line, s.number, a);
    } else if (any) {
      a = Base::Partial(s.line, 0);
    }
    if constexpr (kApplies) {
      if (!any || (!applies && row.segment_count > 1)) return;
      const auto line = function.Prepare(a);
      ForPieces(s, team, [&](long long offset, int count, long long) {
        const S* const x = Base::x(offset);
        const auto cut = Base::CutOf(x, count);
        typename Base::Groups read[kAhead];
        Base::Read(x, cut, lane, team, read);
        Base::WriteGroups(line, read, Base::out(offset), cut, lane, team);
        Base::WriteLoose(line, x, Base::out(offset), cut, lane, team);
      });
    }
  }
};

// kHeldTeams, kHeldBlocks.
template <class F, bool kBlock, int kAhead>
struct HeldRuns : Along<F, kBlock, kAhead> {
  using Base = Along<F, kBlock, kAhead>;
  using Base::function;
  using Base::kApplies;
  using Base::row;
  using typename Base::A;
  using typename Base::S;
  static constexpr bool kHasSegments = false;

  __device__ void Run(bool) const {
    const int bits = Base::TeamBits(row), team = 1 << bits;
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
    if constexpr (kApplies) {
      const auto prepared = function.Prepare(a);
      Base::WriteGroups(prepared, read, Base::out(offset), cut, lane, team);
      Base::WriteLoose(prepared, x, Base::out(offset), cut, lane, team);
    } else {
      if (any && lane == 0) *Base::out(line) = function.Result(a, row.element_count);
    }
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
  static constexpr int kBlocksAtOnce = 4;

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
