// Filters that march: each warp goes down a strip of the image row by row, each lane over a run of
// neighbouring elements. Rows are read once from memory; what a lane needs of its neighbours comes
// from the first-level cache, and what later rows need stays in registers.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_MARCH_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_MARCH_CUH_

#include "kernels/cuda/filter_common.cuh"

namespace gpucall::cuda {

constexpr int RoundUpTo4(int count) { return (count + 3) / 4 * 4; }

// Warps of a block, side by side: of whole pixels.
template <int kChannels>
inline constexpr int kMarchWarps = kChannels == 3 ? 3 : 2;
constexpr bool MarchesChannels(int channels) {
  return channels == 1 || channels == 3 || channels == 4;
}

// Elements of a lane's run, for kernels that keep `rows` runs in registers.
template <class In>
constexpr int MarchRun(int rows) {
  return std::is_same_v<In, uint8_t> && rows <= 5 ? 8 : 4;
}

// Rows that are read ahead.
template <class In>
constexpr int MarchDepth(int taps, int channels) {
  if (std::is_same_v<In, uint8_t>) return taps <= 5 ? 6 : 4;
  return taps * channels <= 9 ? 3 : 2;
}

// Blocks on a multiprocessor that leave each lane `registers`.
constexpr int BlocksOf(int registers, int channels) {
  const int blocks = 65536 / (32 * (channels == 3 ? 3 : 2)) / registers;
  return blocks < 1 ? 1 : blocks > 12 ? 12 : blocks;
}
// Of kernels that keep `rows` runs and `other` registers more.
template <class In>
constexpr int MarchBlocks(int taps, int channels, int run, int rows, int other = 0) {
  const int window = run + 2 * RoundUpTo4(taps / 2 * channels);
  const bool bytes = std::is_same_v<In, uint8_t>;
  const int ahead = MarchDepth<In>(taps, channels) * (bytes ? window / 4 : window);
  constexpr int kAddresses = 36;
  return BlocksOf(rows * run + ahead + (bytes ? window : 0) + other + kAddresses, channels);
}

// Tiles for `blocks` on each multiprocessor at a time: as many as there is room for, or a small
// multiple, since the first rows of each are read twice. An even number of rows.
FilterTile MarchTile(const FilterShape& shape, int run, int blocks);

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

// Reads the elements kBefore before a lane's run to kAfter after it, by whole quads. For strips
// whose rows and elements lie inside of the image, of rows that start at whole quads.
template <class In, int kRun, int kBefore, int kAfter>
class QuadReader {
 public:
  static constexpr int kQuads = (RoundUpTo4(kBefore) + kRun + RoundUpTo4(kAfter)) / 4;
  static constexpr int kFirst = RoundUpTo4(kBefore) - kBefore;  // the window's, in what is read
  using Element = float;
  struct Raw {
    std::conditional_t<std::is_same_v<In, float>, float4, uint32_t> quads[kQuads];
  };

  __device__ QuadReader(const March<In>& march, int, float*, int lane)
      : next_(march.RowAt(0) + march.element + lane * kRun - RoundUpTo4(kBefore)),
        step_(march.stride),
        left_(march.row_count),
        first_(march.element + lane * kRun) {}

  // Of the next row; of the last one where there is none.
  __device__ void Load(const March<In>&, int, Raw& raw) {
#pragma unroll
    for (int q = 0; q < kQuads; ++q) LoadQuad(next_ + 4 * q, raw.quads[q]);
    if (--left_ > 0) next_ += step_;
  }
  __device__ void Window(const Raw& raw, int, float (&window)[4 * kQuads]) const {
#pragma unroll
    for (int q = 0; q < kQuads; ++q) ToFloats(raw.quads[q], window + 4 * q);
  }
  template <class Out>
  __device__ void Store(Out* row, const float (&results)[kRun], int) const {
    StoreRun(row + first_, results);
  }

 private:
  const In* next_;
  const long long step_;
  int left_;
  const long long first_;
};

// The same of two rows at once, one `apart` rows below the other, for integer work on pairs: an
// element is that of the upper row in the low half of a word, that of the lower row in the high
// half.
template <int kRun, int kBefore, int kAfter>
class PairReader {
  using Single = QuadReader<uint8_t, kRun, kBefore, kAfter>;

 public:
  static constexpr int kQuads = Single::kQuads, kFirst = Single::kFirst;
  using Element = uint32_t;
  struct Raw {
    uint32_t upper[kQuads], lower[kQuads];
  };

  // `march.row_count` is that of the upper rows.
  __device__ PairReader(const March<uint8_t>& march, int apart, int lane)
      : next_(march.RowAt(0) + march.element + lane * kRun - RoundUpTo4(kBefore)),
        step_(march.stride),
        apart_(apart * march.stride),
        left_(march.row_count),
        first_(march.element + lane * kRun) {}

  __device__ void Load(const March<uint8_t>&, int, Raw& raw) {
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      LoadQuad(next_ + 4 * q, raw.upper[q]);
      LoadQuad(next_ + apart_ + 4 * q, raw.lower[q]);
    }
    if (--left_ > 0) next_ += step_;
  }
  __device__ void Window(const Raw& raw, int, uint32_t (&window)[4 * kQuads]) const {
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
  __device__ void Store(uint8_t* row, const uint32_t (&results)[kRun], int) const {
#pragma unroll
    for (int e = 0; e < kRun; e += 4) {
      const uint32_t left = __byte_perm(results[e], results[e + 1], 0x6240);
      const uint32_t right = __byte_perm(results[e + 2], results[e + 3], 0x6240);
      const size_t to = __cvta_generic_to_global(row + first_ + e);
      asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(__byte_perm(left, right, 0x5410)));
      asm volatile("st.global.b32 [%0], %1;" ::"l"(to + apart_),
                   "r"(__byte_perm(left, right, 0x7632)));
    }
  }

 private:
  const uint8_t* next_;
  const long long step_, apart_;
  int left_;
  const long long first_;
};

// What a QuadReader does, for any strip, through shared memory.
template <class In, int kRun, int kBefore, int kAfter>
class StagedReader {
  using Quads = QuadReader<In, kRun, kBefore, kAfter>;
  static constexpr int kCount = 32 * kRun + 4 * Quads::kQuads - kRun;  // elements a warp reads
  static constexpr int kLoads = (kCount + 31) / 32;

 public:
  static constexpr int kQuads = Quads::kQuads, kFirst = Quads::kFirst;
  static constexpr int kFloats = 2 * 32 * kLoads;  // of shared memory, for a warp
  using Element = float;
  struct Raw {
    In elements[kLoads];
  };

  __device__ StagedReader(const March<In>& march, int channels, float* buffers, int lane)
      : buffers_(buffers),
        lane_(lane),
        count_(static_cast<int>(min(march.stride - march.element, 32LL * kRun))),
        first_(march.element) {
    const long long columns = march.stride / channels;
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const long long element = march.element - RoundUpTo4(kBefore) + lane + 32 * k;
      const int channel = static_cast<int>((element % channels + channels) % channels);
      const long long inside = BorderIndex((element - channel) / channels, columns, march.border);
      offsets_[k] = inside < 0 ? -1 : inside * channels + channel;
    }
  }
  __device__ void Load(const March<In>& march, int i, Raw& raw) const {
    const In* const row = i < march.row_count ? march.RowAt(i) : nullptr;
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      raw.elements[k] = march.cval;
      if (row != nullptr && offsets_[k] >= 0) raw.elements[k] = __ldg(row + offsets_[k]);
    }
  }
  // Row number `i`: buffers take turns, so that a row is read before its buffer is filled again.
  __device__ void Window(const Raw& raw, int i, float (&window)[4 * kQuads]) const {
    float* const buffer = buffers_ + i % 2 * (32 * kLoads);
#pragma unroll
    for (int k = 0; k < kLoads; ++k) buffer[lane_ + 32 * k] = static_cast<float>(raw.elements[k]);
    __syncwarp();
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      ToFloats(reinterpret_cast<const float4*>(buffer + lane_ * kRun)[q], window + 4 * q);
    }
  }
  template <class Out>
  __device__ void Store(Out* row, const float (&results)[kRun], int i) const {
    float* const buffer = buffers_ + i % 2 * (32 * kLoads);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < kRun; ++e) buffer[lane_ * kRun + e] = results[e];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kRun; ++k) {
      const int at = lane_ + 32 * k;
      if (at < count_) row[first_ + at] = ConvertResult<Out>(buffer[at]);
    }
  }

 private:
  float* const buffers_;
  const int lane_, count_;
  const long long first_;
  long long offsets_[kLoads];
};

// Calls use(whole, window, results) for each row to read; `whole` once the window is, from row
// number `lag` on. Then stores what it leaves in `results`, from the row of `output` on. Rows are
// read kDepth ahead.
template <int kDepth, int kRun, class In, class Out, class Reader, class Use>
__device__ void MarchRows(const March<In>& march, Reader reader, int lag, Out* output, Use use) {
  typename Reader::Raw raw[kDepth];
#pragma unroll
  for (int d = 0; d < kDepth; ++d) reader.Load(march, d, raw[d]);
  for (int top = 0; top < march.row_count; top += kDepth) {
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      const int i = top + d;
      typename Reader::Element window[4 * Reader::kQuads];
      reader.Window(raw[d], i, window);
      typename Reader::Element results[kRun];
      use(i >= lag, window, results);
      // After the row's last use: sooner, and it would be copied, which waits for the load.
      reader.Load(march, i + kDepth, raw[d]);
      if (i >= lag && i < march.row_count) {
        reader.Store(output, results, i);
        output += march.stride;
      }
    }
  }
}

// The warp's part of its block's tile.
template <class In, int kChannels, int kRun>
__device__ March<In> MakeMarch(const FilterBatch& batch, const FilterImage& image,
                               TileOrigin origin) {
  const int lag = batch.window.rows - 1;
  March<In> march;
  march.input = static_cast<const In*>(image.input);
  march.stride = image.columns * kChannels;
  march.rows = image.rows;
  march.row = origin.row - batch.window.rows_before;
  march.row_count =
      static_cast<int>(min(image.rows - origin.row, static_cast<long long>(batch.tile.rows))) + lag;
  march.element = origin.column * kChannels + static_cast<int>(threadIdx.x / 32) * 32 * kRun;
  march.border = batch.window.border;
  march.cval = static_cast<In>(batch.window.cval);
  return march;
}

// Whether a QuadReader will do, and StoreRun at `output`.
template <int kRun, int kBeside, class In>
__device__ bool IsInside(const March<In>& march, const void* output) {
  const auto addresses =
      reinterpret_cast<uintptr_t>(march.input) | reinterpret_cast<uintptr_t>(output);
  return march.element >= RoundUpTo4(kBeside) &&
         march.element + 32 * kRun + RoundUpTo4(kBeside) <= march.stride && march.row >= 0 &&
         march.row + march.row_count <= march.rows && march.stride % kRun == 0 &&
         addresses % 16 == 0;
}

// For a PairReader, whose rows are half a tile apart.
template <class In>
__device__ bool IsWholeTile(const March<In>& march, const FilterBatch& batch) {
  return march.row_count == batch.tile.rows + batch.window.rows - 1;
}
template <class In>
__device__ March<In> UpperHalf(March<In> march, const FilterBatch& batch) {
  march.row_count -= batch.tile.rows / 2;
  return march;
}

template <int kChannels, class... Parameters, class... Arguments>
cudaError_t LaunchMarch(void (*kernel)(FilterBatch, Parameters...), const FilterBatch& batch,
                        cudaStream_t stream, const Arguments&... arguments) {
  if (batch.block_count == 0) return cudaSuccess;
  kernel<<<static_cast<unsigned>(batch.block_count), 32 * kMarchWarps<kChannels>, 0, stream>>>(
      batch, arguments...);
  return cudaGetLastError();
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_MARCH_CUH_
