// How a warp of a march reads its strip and stores results.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_STRIP_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_STRIP_CUH_

#include "kernels/cuda/filter_common.cuh"

namespace gpucall::cuda {

constexpr int RoundUpTo4(int count) { return (count + 3) / 4 * 4; }

// Where a warp marches.
template <class In>
struct March {
  const In* input;    // of the image
  long long stride;   // elements of a row
  long long rows;     // of the image
  long long row;      // first to read; may lie outside
  int row_count;      // to read
  long long element;  // first of the strip, in a row
  Border border;
  In cval;

  // Row number `i` of those to read; null for the constant.
  __device__ const In* RowAt(int i) const {
    long long at = row + i;
    if (at < 0 || at >= rows) at = BorderIndex(at, rows, border);
    return at < 0 ? nullptr : input + at * stride;
  }
};

__device__ inline void LoadQuad(const float* from, float4& quad) {
  quad = __ldg(reinterpret_cast<const float4*>(from));
}
__device__ inline void LoadQuad(const uint8_t* from, uint32_t& quad) {
  quad = __ldg(reinterpret_cast<const unsigned*>(from));
}
__device__ inline void ToFloats(const float4& quad, float* out) {
  out[0] = quad.x, out[1] = quad.y, out[2] = quad.z, out[3] = quad.w;
}
__device__ inline void ToFloats(uint32_t quad, float* out) {
  // 2^23 + byte, minus 2^23: faster than conversions, which few units do.
  constexpr uint32_t kExponent = 0x4b000000u;
  constexpr float kBias = 8388608.0f;
  out[0] = __uint_as_float(__byte_perm(quad, kExponent, 0x7440)) - kBias;
  out[1] = __uint_as_float(__byte_perm(quad, kExponent, 0x7441)) - kBias;
  out[2] = __uint_as_float(__byte_perm(quad, kExponent, 0x7442)) - kBias;
  out[3] = __uint_as_float(__byte_perm(quad, kExponent, 0x7443)) - kBias;
}

// The first of a quad.
__device__ inline void LoadElement(const float* from, float4& quad) {
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(quad.x) : "l"(__cvta_generic_to_global(from)));
}
__device__ inline void LoadElement(const uint8_t* from, uint32_t& quad) {
  asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(quad) : "l"(__cvta_generic_to_global(from)));
}

// Stores at whole quads. The compiler makes narrow stores of these where it does not know the
// address space, hence the assembly.
template <int kRun>
__device__ void StoreRun(float* to, const float (&results)[kRun]) {
#pragma unroll
  for (int i = 0; i < kRun; i += 4) {
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to + i)),
                 "f"(results[i]), "f"(results[i + 1]), "f"(results[i + 2]), "f"(results[i + 3]));
  }
}
// Rounds half to even, saturates; NaN gives 0.
__device__ inline uint32_t PackBytes(const float* results) {
  uint32_t high, bytes;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(high)
      : "r"(__float2int_rn(results[3])), "r"(__float2int_rn(results[2])), "r"(0));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(bytes)
      : "r"(__float2int_rn(results[1])), "r"(__float2int_rn(results[0])), "r"(high));
  return bytes;
}
template <int kRun>
__device__ void StoreRun(uint8_t* to, const float (&results)[kRun]) {
  const size_t address = __cvta_generic_to_global(to);
  if constexpr (kRun == 8) {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(address), "r"(PackBytes(results)),
                 "r"(PackBytes(results + 4)));
  } else {
    static_assert(kRun == 4);
    asm volatile("st.global.b32 [%0], %1;" ::"l"(address), "r"(PackBytes(results)));
  }
}

// What readers of both kinds know of a strip: the elements kBefore before each lane's run of kRun to
// kAfter after it. A lane loads whole quads ahead. Where the strip reaches past the border, or rows
// do not start at whole quads, these only bring the row into the first-level cache: the elements
// then go one by one, as Words, to shared memory.
template <class In, int kRun, int kBefore, int kAfter, class Word>
class Strip {
  static constexpr int kPad = RoundUpTo4(kBefore);

 public:
  static constexpr int kQuads = (kPad + kRun + RoundUpTo4(kAfter)) / 4;
  static constexpr int kFirst = kPad - kBefore;  // the window's, in what is read
  using Element = Word;
  static constexpr int kLoads = (31 * kRun + 4 * kQuads + 31) / 32;
  struct Shared {  // of a warp
    March<In> march;  // for what is rare: it need not stay in registers
    alignas(16) Word words[32 * kLoads];
    long long offsets[32 * kLoads];  // in the row; -1 for the constant
  };

 protected:
  using Quad = std::conditional_t<std::is_same_v<In, float>, float4, uint32_t>;

  // `inside`: all rows to read are rows of the image.
  __device__ Strip(const March<In>& march, int channels, const void* output, bool inside,
                   Shared& shared, int lane)
      : shared_(shared),
        lane_(lane),
        plain_(inside),
        stores_(march.element + lane * kRun < march.stride) {
    if (lane == 0) shared.march = march;
    __syncwarp();
    const auto addresses =
        reinterpret_cast<uintptr_t>(march.input) | reinterpret_cast<uintptr_t>(output);
    whole_ = addresses % 16 == 0 && march.stride % kRun == 0 && march.stride >= 4 * kQuads;
    const long long left = march.element - kPad;
    staged_ = !whole_ || left < 0 || left + 31 * kRun + 4 * kQuads > march.stride ||
              (!inside && march.border == Border::kConstant);
    if (!staged_) return;
#pragma unroll 1
    for (int at = lane; at < 32 * kLoads; at += 32) {
      const long long element = left + at;
      const int channel = static_cast<int>((element % channels + channels) % channels);
      const long long column =
          BorderIndex((element - channel) / channels, march.stride / channels, march.border);
      shared.offsets[at] = column < 0 ? -1 : column * channels + channel;
    }
    __syncwarp();
  }

  // Where to load of the row `i` below the first.
  __device__ const In* From(int i) const {
    const March<In>& march = shared_.march;
    const In* const row = march.RowAt(i);
    const long long run = march.element + lane_ * kRun;
    const long long at =
        whole_ ? min(run - kPad, march.stride - 4 * kQuads) : min(run, march.stride - 1);
    return (row == nullptr ? march.input : row) + max(0LL, at);
  }
  __device__ void LoadQuads(const In* from, Quad (&quads)[kQuads]) const {
    if (whole_) {
#pragma unroll
      for (int q = 0; q < kQuads; ++q) LoadQuad(from + 4 * q, quads[q]);
    } else {
      LoadElement(from, quads[0]);
    }
  }
  // Of a row that is staged; null for one of the constant.
  __device__ In ElementAt(const In* row, int at) const {
    const long long offset = shared_.offsets[at];
    return row == nullptr || offset < 0 ? shared_.march.cval : __ldg(row + offset);
  }
  // Calls put(element, word) for those of the lanes' runs that lie in the image.
  template <class Put>
  __device__ void PutEach(const Word (&results)[kRun], Put put) const {
    __syncwarp();
#pragma unroll
    for (int e = 0; e < kRun; ++e) shared_.words[lane_ * kRun + e] = results[e];
    __syncwarp();
    const March<In>& march = shared_.march;
#pragma unroll 1
    for (int at = lane_; at < 32 * kRun && march.element + at < march.stride; at += 32) {
      put(at, shared_.words[at]);
    }
  }

  Shared& shared_;
  const int lane_;
  const bool plain_, stores_;
  bool whole_, staged_;
};

// For floats.
template <class In, int kRun, int kBefore, int kAfter>
class QuadReader : public Strip<In, kRun, kBefore, kAfter, float> {
  using Base = Strip<In, kRun, kBefore, kAfter, float>;

 public:
  using Base::kQuads;
  using Shared = typename Base::Shared;
  struct Raw {
    typename Base::Quad quads[kQuads];
  };

  __device__ QuadReader(const March<In>& march, int channels, const void* output, Shared& shared,
                        int lane)
      : Base(march, channels, output, march.row >= 0 && march.row + march.row_count <= march.rows,
             shared, lane),
        next_(this->From(0)) {}

  // Row number `i`, of the last one where there is none. REQUIRES: calls are for 0, 1...
  __device__ void Load(const March<In>& march, int i, Raw& raw) {
    this->LoadQuads(next_, raw.quads);
    if (i + 1 >= march.row_count) return;
    next_ = this->plain_ ? next_ + march.stride : this->From(i + 1);
  }
  __device__ void Window(const Raw& raw, int i,
                         float (&window)[4 * kQuads]) const {
    if (!this->staged_) {
#pragma unroll
      for (int q = 0; q < kQuads; ++q) ToFloats(raw.quads[q], window + 4 * q);
      return;
    }
    const In* const row = this->shared_.march.RowAt(i);
    auto& words = this->shared_.words;
    __syncwarp();
#pragma unroll 3
    for (int k = 0; k < Base::kLoads; ++k) {
      const int at = this->lane_ + 32 * k;
      words[at] = static_cast<float>(this->ElementAt(row, at));
    }
    __syncwarp();
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      ToFloats(reinterpret_cast<const float4*>(words + this->lane_ * kRun)[q], window + 4 * q);
    }
  }
  // To the lane's run of the output.
  template <class Out>
  __device__ void Store(const March<In>&, Out* run, const float (&results)[kRun], int) const {
    if (!this->whole_) {
      Out* const first = run - this->lane_ * kRun;
      this->PutEach(results, [&](int at, float word) { first[at] = ConvertResult<Out>(word); });
    } else if (this->stores_) {
      StoreRun(run, results);
    }
  }

 private:
  const In* next_;
};

// The same of two rows at once, one `apart` rows below the other, for integer work on pairs: an
// element is that of the upper row in the low half of a word, that of the lower row in the high
// half.
template <int kRun, int kBefore, int kAfter>
class PairReader : public Strip<uint8_t, kRun, kBefore, kAfter, uint32_t> {
  using Base = Strip<uint8_t, kRun, kBefore, kAfter, uint32_t>;

 public:
  using Base::kQuads;
  using Shared = typename Base::Shared;
  struct Raw {
    uint32_t upper[kQuads], lower[kQuads];
  };

  // `march.row_count` is that of the upper rows; `results` the rows of the image from the first
  // result on.
  __device__ PairReader(const March<uint8_t>& march, int channels, const void* output, int apart,
                        long long results, Shared& shared, int lane)
      : Base(march, channels, output,
             march.row >= 0 && march.row + apart + march.row_count <= march.rows, shared, lane),
        apart_(apart),
        results_(static_cast<int>(min(results, 2LL * apart))),
        upper_(this->From(0)),
        lower_(this->From(apart)) {}

  __device__ void Load(const March<uint8_t>& march, int i, Raw& raw) {
    this->LoadQuads(upper_, raw.upper);
    this->LoadQuads(lower_, raw.lower);
    if (i + 1 >= march.row_count) return;
    upper_ = this->plain_ ? upper_ + march.stride : this->From(i + 1);
    lower_ = this->plain_ ? lower_ + march.stride : this->From(apart_ + i + 1);
  }
  __device__ void Window(const Raw& raw, int i,
                         uint32_t (&window)[4 * kQuads]) const {
    if (this->staged_) {
      Stage(i, window);
      return;
    }
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
    if (!this->whole_) {
      this->PutEach(results, [&](int at, uint32_t word) {
        const int element = at - this->lane_ * kRun;
        if (i < results_) run[element] = static_cast<uint8_t>(word);
        if (i + apart_ < results_) below[element] = static_cast<uint8_t>(word >> 16);
      });
      return;
    }
    if (!this->stores_) return;
#pragma unroll
    for (int e = 0; e < kRun; e += 4) {
      const uint32_t left = __byte_perm(results[e], results[e + 1], 0x6240);
      const uint32_t right = __byte_perm(results[e + 2], results[e + 3], 0x6240);
      const size_t to = __cvta_generic_to_global(run + e);
      const size_t to_below = __cvta_generic_to_global(below + e);
      if (i < results_) {
        asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(__byte_perm(left, right, 0x5410)));
      }
      if (i + apart_ < results_) {
        asm volatile("st.global.b32 [%0], %1;" ::"l"(to_below),
                     "r"(__byte_perm(left, right, 0x7632)));
      }
    }
  }

 private:
  __device__ void Stage(int i, uint32_t (&window)[4 * kQuads]) const {
    const uint8_t* const upper = this->shared_.march.RowAt(i);
    const uint8_t* const lower = this->shared_.march.RowAt(i + apart_);
    auto& words = this->shared_.words;
    __syncwarp();
#pragma unroll 3
    for (int k = 0; k < Base::kLoads; ++k) {
      const int at = this->lane_ + 32 * k;
      words[at] = this->ElementAt(upper, at) | this->ElementAt(lower, at) << 16;
    }
    __syncwarp();
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      const uint4 quad = reinterpret_cast<const uint4*>(words + this->lane_ * kRun)[q];
      window[4 * q] = quad.x, window[4 * q + 1] = quad.y;
      window[4 * q + 2] = quad.z, window[4 * q + 3] = quad.w;
    }
  }

  const int apart_, results_;
  const uint8_t *upper_, *lower_;
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_STRIP_CUH_
