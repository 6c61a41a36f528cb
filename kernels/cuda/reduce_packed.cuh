// Generated reduction kernels for arrays whose last dimension is a few elements, all of them one
// behind the other: text for NVRTC (reduce_source.cc), after reduce_team.cuh. A record is the
// elements of that dimension; a thread takes kWidth records at a time, which are kLength groups.
namespace gpucall::cuda {

template <class F, int kLength>
struct Packed : Reducer<F> {
  static constexpr int kBlocksAtOnce = kLength > 4 ? 2 : 3;

  using Base = Reducer<F>;
  using Base::kWidth;
  using typename Base::O;
  using typename Base::S;
  using Records = Group<S, kWidth>[kLength];
  using Results = Group<O, kWidth>[kLength];

  __device__ static void Read(const S* x, Records& read) {
#pragma unroll
    for (int g = 0; g < kLength; ++g) read[g] = reinterpret_cast<const Group<S, kWidth>*>(x)[g];
  }
  __device__ static S ElementOf(const Records& read, int record, int k) {
    const int at = record * kLength + k;
    return read[at / kWidth].at[at % kWidth];
  }
  __device__ static O& ResultOf(Results& results, int record, int k) {
    const int at = record * kLength + k;
    return results[at / kWidth].at[at % kWidth];
  }
  __device__ static void WriteAll(const Results& results, O* out) {
#pragma unroll
    for (int g = 0; g < kLength; ++g) reinterpret_cast<Group<O, kWidth>*>(out)[g] = results[g];
  }
};

// kPackedLines: lines are the records.
template <class F, int kLength>
struct PackedLines : Packed<F, kLength> {
  using Base = Packed<F, kLength>;
  using Base::function;
  using Base::kApplies;
  using Base::kWidth;
  using Base::row;
  using typename Base::A;
  using typename Base::O;
  using typename Base::T;
  static constexpr bool kHasSegments = false;

  __device__ A Whole(const T (&x)[kLength]) const {
    A a = Begin<F>(x);
    TakeIn(function, a, x, [](int k) { return static_cast<long long>(k); });
    return a;
  }

  __device__ void Run(bool) const {
    const long long first = (this->block * kReduceThreads + threadIdx.x) * kWidth;
    if (first + kWidth <= row.line_count) return RunTogether(first);
#pragma unroll 1
    for (long long line = first; line < row.line_count; ++line) {
      T x[kLength];
#pragma unroll
      for (int k = 0; k < kLength; ++k) x[k] = T(Base::x(line * kLength)[k]);
      const A a = Whole(x);
      if constexpr (kApplies) {
        const auto prepared = function.Prepare(a);
#pragma unroll
        for (int k = 0; k < kLength; ++k) {
          Base::out(line * kLength)[k] = function.Apply(prepared, x[k]);
        }
      } else {
        *Base::out(line) = function.Result(a, kLength);
      }
    }
  }

  __device__ void RunTogether(long long first) const {
    typename Base::Records read;
    Base::Read(Base::x(first * kLength), read);
    typename Base::Results results;
    Group<O, kWidth> one_each;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      T x[kLength];
#pragma unroll
      for (int k = 0; k < kLength; ++k) x[k] = T(Base::ElementOf(read, j, k));
      const A a = Whole(x);
      if constexpr (kApplies) {
        const auto line = function.Prepare(a);
#pragma unroll
        for (int k = 0; k < kLength; ++k) {
          Base::ResultOf(results, j, k) = function.Apply(line, x[k]);
        }
      } else {
        one_each.at[j] = function.Result(a, kLength);
      }
    }
    if constexpr (kApplies) {
      Base::WriteAll(results, Base::out(first * kLength));
    } else {
      *reinterpret_cast<Group<O, kWidth>*>(Base::out(first)) = one_each;
    }
  }
};

// kPackedRows: record i is elements i of kLength lines.
template <class F, int kLength>
struct PackedRows : Packed<F, kLength> {
  using Base = Packed<F, kLength>;
  using Base::function;
  using Base::kApplies;
  using Base::kWidth;
  using Base::row;
  using typename Base::A;
  using typename Base::O;
  using typename Base::S;
  using typename Base::T;
  static constexpr bool kHasSegments = true;
  static constexpr int kStep = kReduceThreads * kWidth;  // records of a block at a time

  __device__ void TakeOne(A (&a)[kLength], const S* x, long long index) const {
#pragma unroll
    for (int k = 0; k < kLength; ++k) {
      const T element[1] = {T(x[k])};
      TakeIn(function, a[k], element, [&](int) { return index; });
    }
  }

  // A segment's records: kStep at a time, from `first` on, in turns with the other segments.
  __device__ void Add(A (&a)[kLength], const S* x, long long first) const {
    const long long end = row.element_count, step = row.segment_count * kStep;
    long long i = first + threadIdx.x * kWidth;
#pragma unroll 1
    for (; i + kWidth <= end; i += step) {
      typename Base::Records read;
      Base::Read(x + i * kLength, read);
      TakeRecords(a, read, i);
    }
#pragma unroll 1
    for (; i < end; ++i) TakeOne(a, x + i * kLength, i);
  }
  __device__ void TakeRecords(A (&a)[kLength], const typename Base::Records& read,
                              long long index) const {
#pragma unroll
    for (int k = 0; k < kLength; ++k) {
      T elements[kWidth];
#pragma unroll
      for (int j = 0; j < kWidth; ++j) elements[j] = T(Base::ElementOf(read, j, k));
      TakeIn(function, a[k], elements, [&](int j) { return index + j; });
    }
  }

  __device__ void Run(bool applies) const {
    const Division at = Divide(this->block, row.segment_count);
    const long long start = at.quotient * row.element_count * kLength;
    const long long first = at.rest * kStep;
    A a[kLength];
    if (applies) {
#pragma unroll
      for (int k = 0; k < kLength; ++k) a[k] = Base::Partial(at.quotient * kLength + k, 0);
    } else {
#pragma unroll
      for (int k = 0; k < kLength; ++k) a[k] = Begin<F>(Base::x(start + first * kLength + k));
      Add(a, Base::x(start), first);
      Base::MergeColumns(a, 1);
#pragma unroll
      for (int k = 0; k < kLength; ++k) {
        if (threadIdx.x == 0) Base::Write(at.quotient * kLength + k, at.rest, a[k]);
      }
    }
    if constexpr (kApplies) {
      if (applies || row.segment_count == 1) Apply(a, start, first);
    }
  }

  __device__ void Apply(const A (&a)[kLength], long long start, long long first) const {
    typename F::Line lines[kLength];
#pragma unroll
    for (int k = 0; k < kLength; ++k) lines[k] = function.Prepare(a[k]);
    const long long end = row.element_count, step = row.segment_count * kStep;
    long long i = first + threadIdx.x * kWidth;
#pragma unroll 1
    for (; i + kWidth <= end; i += step) {
      typename Base::Records read;
      typename Base::Results results;
      Base::Read(Base::x(start + i * kLength), read);
#pragma unroll
      for (int n = 0; n < kLength * kWidth; ++n) {
        const int j = n / kLength, k = n % kLength;
        Base::ResultOf(results, j, k) = function.Apply(lines[k], T(Base::ElementOf(read, j, k)));
      }
      Base::WriteAll(results, Base::out(start + i * kLength));
    }
#pragma unroll 1
    for (long long at = i * kLength; at < end * kLength; at += kLength) {
#pragma unroll
      for (int k = 0; k < kLength; ++k) {
        Base::out(start + at)[k] = function.Apply(lines[k], T(Base::x(start + at)[k]));
      }
    }
  }
};

}  // namespace gpucall::cuda
