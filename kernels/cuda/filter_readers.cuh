// The readers of strips: of one row at a time, and of two.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_READERS_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_READERS_CUH_

#include "kernels/cuda/filter_strip.cuh"

namespace gpucall::cuda {

// For floats.
template <Place kPlace, class In, int kRun, int kBefore, int kAfter>
class QuadReader : public Strip<kPlace, In, kRun, kBefore, kAfter, float> {
  using Base = Strip<kPlace, In, kRun, kBefore, kAfter, float>;

 public:
  using Base::kQuads;
  struct Raw {
    typename Base::Quad quads[kQuads];
  };

  __device__ QuadReader(const March<In>& march, int channels, const void* output,
                        typename Base::Shared& shared, int lane)
      : Base(march, channels, output, march.row_count, shared, lane), next_(this->From(march, 0)) {}

  // Row number `i`, of the last one where there is none. REQUIRES: calls are for 0, 1...
  __device__ void Load(const March<In>& march, int i, Raw& raw) {
    this->LoadQuads(next_, raw.quads);
    if (i + 1 < march.row_count) {
      next_ = Base::kAnywhere ? this->From(march, i + 1) : next_ + march.stride;
    }
  }
  __device__ void Window(Raw& raw, int i, float (&window)[4 * kQuads]) const {
    this->Stage(i, raw.quads);
#pragma unroll
    for (int q = 0; q < kQuads; ++q) ToFloats(raw.quads[q], window + 4 * q);
  }
  __device__ void Store(const March<In>& march, RunOutput run, const float (&results)[kRun],
                        int i) const {
    if (std::is_same_v<In, uint8_t> && run.element_bytes == 1) {
      Store(march, reinterpret_cast<uint8_t*>(run.at), results, i);
    } else {
      Store(march, reinterpret_cast<float*>(run.at), results, i);
    }
  }
  // To the lane's run of the output.
  template <class Out>
  __device__ void Store(const March<In>&, Out* run, const float (&results)[kRun], int) const {
    if (!this->IsWhole()) {
      Out* const first = run - this->lane_ * kRun;
      this->PutEach(results, [&](int at, float result) { first[at] = ConvertResult<Out>(result); });
    } else if (this->IsStored()) {
      StoreRun(run, results);
    }
  }

 private:
  const In* next_;
};

// The same of two rows at once, one `apart` rows below the other, for integer work on pairs: an
// element is that of the upper row in the low half of a word, that of the lower row in the high
// half.
template <Place kPlace, int kRun, int kBefore, int kAfter>
class PairReader : public Strip<kPlace, uint8_t, kRun, kBefore, kAfter, uint32_t> {
  using Base = Strip<kPlace, uint8_t, kRun, kBefore, kAfter, uint32_t>;

 public:
  using Base::kQuads;
  struct Raw {
    uint32_t upper[kQuads], lower[kQuads];
  };

  // `march.row_count` is that of the upper rows; `results` the rows of the image from the first
  // result on, for kInside at least twice `apart`.
  __device__ PairReader(const March<uint8_t>& march, int channels, const void* output, int apart,
                        long long results, typename Base::Shared& shared, int lane)
      : Base(march, channels, output, apart + march.row_count, shared, lane),
        apart_(apart),
        results_(static_cast<int>(min(results, 2LL * apart))),
        upper_(this->From(march, 0)),
        lower_(this->From(march, apart)) {}

  __device__ void Load(const March<uint8_t>& march, int i, Raw& raw) {
    this->LoadQuads(upper_, raw.upper);
    this->LoadQuads(lower_, raw.lower);
    if (i + 1 >= march.row_count) return;
    upper_ = Base::kAnywhere ? this->From(march, i + 1) : upper_ + march.stride;
    lower_ = Base::kAnywhere ? this->From(march, apart_ + i + 1) : lower_ + march.stride;
  }
  __device__ void Window(Raw& raw, int i, uint32_t (&window)[4 * kQuads]) const {
    this->Stage(i, raw.upper);
    this->Stage(i + apart_, raw.lower);
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      // Bytes 0 and 2, 1 and 3, as halves.
      const uint32_t upper_even = __byte_perm(raw.upper[q], 0, 0x4240);
      const uint32_t lower_even = __byte_perm(raw.lower[q], 0, 0x4240);
      const uint32_t upper_odd = __byte_perm(raw.upper[q], 0, 0x4341);
      const uint32_t lower_odd = __byte_perm(raw.lower[q], 0, 0x4341);
      window[4 * q] = __byte_perm(upper_even, lower_even, 0x5410);
      window[4 * q + 1] = __byte_perm(upper_odd, lower_odd, 0x5410);
      window[4 * q + 2] = __byte_perm(upper_even, lower_even, 0x7632);
      window[4 * q + 3] = __byte_perm(upper_odd, lower_odd, 0x7632);
    }
  }
  // To the lane's run of the output and the one `apart` rows below. `i` counts from the first.
  __device__ void Store(const March<uint8_t>& march, uint8_t* run, const uint32_t (&results)[kRun],
                        int i) const {
    uint8_t* const below = run + apart_ * march.stride;
    if (!this->IsWhole()) {
      this->PutEach(results, [&](int at, uint32_t pair) {
        const int element = at - this->lane_ * kRun;
        if (i < results_) run[element] = static_cast<uint8_t>(pair);
        if (i + apart_ < results_) below[element] = static_cast<uint8_t>(pair >> 16);
      });
      return;
    }
    if (!this->IsStored()) return;
#pragma unroll
    for (int e = 0; e < kRun; e += 4) {
      const uint32_t left = __byte_perm(results[e], results[e + 1], 0x6240);
      const uint32_t right = __byte_perm(results[e + 2], results[e + 3], 0x6240);
      const size_t to = __cvta_generic_to_global(run + e);
      const size_t to_below = __cvta_generic_to_global(below + e);
      if (!Base::kAnywhere || i < results_) {
        asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(__byte_perm(left, right, 0x5410)));
      }
      if (!Base::kAnywhere || i + apart_ < results_) {
        asm volatile("st.global.b32 [%0], %1;" ::"l"(to_below),
                     "r"(__byte_perm(left, right, 0x7632)));
      }
    }
  }

 private:
  const int apart_, results_;
  const uint8_t *upper_, *lower_;
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_READERS_CUH_
