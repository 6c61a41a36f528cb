// How a warp of a march reads its strip and stores results.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_STRIP_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_STRIP_CUH_

#include "kernels/cuda/filter_quads.cuh"

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
};
inline constexpr int kMaxMarchRows = 160;  // to read

// Where a lane's results go: floats or, rounded and saturated, bytes.
struct RunOutput {
  char* at;
  int element_bytes;

  __device__ RunOutput(const FilterImage& image, PixelType type, long long element)
      : element_bytes(type == PixelType::kUint8 ? 1 : 4) {
    at = static_cast<char*>(image.output) + element * element_bytes;
  }
  __device__ void operator+=(long long elements) { at += elements * element_bytes; }
};

// Rows that are read ahead by readers for any place, whose code is to be short: most of the time of
// a small image goes by until it is there.
inline constexpr int kSlowDepth = 1;

// A warp's shared memory.
template <class In, class Word, int kRun, int kLoads>
struct StripShared {
  March<In> march;  // need not stay in registers
  alignas(16) In elements[32 * kLoads];
  Word results[32 * kRun];
  // -1 for the constant.
  long long offsets[32 * kLoads];              // of elements, in a row
  long long rows[kMaxMarchRows + kSlowDepth];  // where those to read start
};

// Where a strip lies. kInside: it and its rows are parts of the image, and rows start at whole
// quads.
enum class Place { kInside, kAnywhere };

// What readers of both kinds know of a strip: the elements kBefore before each lane's run of kRun
// to kAfter after it. A lane loads whole quads, ahead. Where the strip reaches past the border, or
// rows do not start at whole quads, elements then come one by one by way of shared memory instead,
// and the quads only bring the row into the first-level cache.
template <Place kPlace, class In, int kRun, int kBefore, int kAfter, class Word>
class Strip {
 protected:
  static constexpr int kPad = RoundUpTo4(kBefore);
  static constexpr bool kAnywhere = kPlace == Place::kAnywhere;
  using Quad = std::conditional_t<std::is_same_v<In, float>, float4, uint32_t>;

 public:
  static constexpr int kQuads = (kPad + kRun + RoundUpTo4(kAfter)) / 4;
  static constexpr int kFirst = kPad - kBefore;  // the window's, in what is read
  static constexpr int kLoads = (31 * kRun + 4 * kQuads + 31) / 32;
  using Element = Word;
  using Shared = StripShared<In, Word, kRun, kLoads>;

  // Whether kInside will do.
  static __device__ bool IsInside(const March<In>& march, const void* output) {
    return IsWhole(march, output) && IsBetween(march) && march.row >= 0 &&
           march.row + march.row_count <= march.rows;
  }

 protected:
  // `read_rows`: from march.row on.
  __device__ Strip(const March<In>& march, int channels, const void* output, int read_rows,
                   Shared& shared, int lane)
      : shared_(shared), lane_(lane) {
    if (!kAnywhere) return;
    if (lane == 0) shared.march = march;
    const bool inside = march.row >= 0 && march.row + read_rows <= march.rows;
    whole_ = IsWhole(march, output);
    stores_ = march.element + lane * kRun < march.stride;
    staged_ = !whole_ || !IsBetween(march) || (!inside && march.border == Border::kConstant);
    const long long first = march.element + lane * kRun - kPad;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      const long long element = first + 4 * q;
      if (whole_ && element >= 0 && element < march.stride) loaded_ |= 1u << q;
    }
    // A lane's window lies outside on one side only.
    outside_ = kPad + static_cast<int>(first < 0 ? first : max(first - march.stride, -4096LL));
#pragma unroll 1
    for (int i = lane; i < read_rows + kSlowDepth; i += 32) {
      const long long row = BorderIndex(march.row + i, march.rows, march.border);
      shared.rows[i] = row < 0 ? -1 : row * march.stride;
    }
    __syncwarp();
    if (!staged_) return;
#pragma unroll 1
    for (int at = lane; at < 32 * kLoads; at += 32) {
      const long long element = whole_ ? OutsideAt(at, march.stride) : march.element - kPad + at;
      // Of an element before the first too.
      const long long column = (element + 4096 * channels) / channels - 4096;
      const long long read = BorderIndex(column, march.stride / channels, march.border);
      shared.offsets[at] = read < 0 ? -1 : element + (read - column) * channels;
    }
    __syncwarp();
  }

  // Where the lane's quads are in the row `i` below the first.
  __device__ const In* From(const March<In>& march, int i) const {
    const In* const run = march.input + march.element + lane_ * kRun - kPad;
    return run + (kAnywhere ? max(0LL, shared_.rows[i]) : (march.row + i) * march.stride);
  }
  __device__ void LoadQuads(const In* from, Quad (&quads)[kQuads]) const {
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      if (!kAnywhere || (loaded_ >> q & 1) != 0) LoadQuad(from + 4 * q, quads[q]);
    }
  }
  // Puts what was not loaded of row number `i` in its place.
  __device__ void Stage(int i, Quad (&quads)[kQuads]) const {
    if (!kAnywhere || !staged_) return;
    const long long row = shared_.rows[i];
    const bool partly = whole_ && row >= 0;
    const int count = partly ? kOutside : 32 * kLoads;
    __syncwarp();
#pragma unroll 1
    for (int at = lane_; at < count; at += 32) {
      const long long offset = shared_.offsets[at];
      shared_.elements[at] =
          row < 0 || offset < 0 ? shared_.march.cval : __ldg(shared_.march.input + row + offset);
    }
    __syncwarp();
    const int first = partly ? outside_ : lane_ * kRun;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      if (partly && (loaded_ >> q & 1) != 0) continue;
      const int from = partly ? min(first + 4 * q, 2 * kPad) : first + 4 * q;
      quads[q] = *reinterpret_cast<const Quad*>(shared_.elements + from);
    }
  }
  // Calls put(element, result) for those of the lanes' runs that lie in the image.
  template <class Put>
  __device__ void PutEach(const Word (&results)[kRun], Put put) const {
    __syncwarp();
#pragma unroll
    for (int e = 0; e < kRun; ++e) shared_.results[lane_ * kRun + e] = results[e];
    __syncwarp();
    const March<In>& march = shared_.march;
#pragma unroll 1
    for (int at = lane_; at < 32 * kRun && march.element + at < march.stride; at += 32) {
      put(at, shared_.results[at]);
    }
  }
  __device__ bool IsStored() const { return !kAnywhere || stores_; }
  __device__ bool IsWhole() const { return !kAnywhere || whole_; }

  Shared& shared_;
  const int lane_;

 private:
  // Where quads lie in the image or outside as wholes, only what lies beside it is staged: kPad
  // elements before it, then kPad after it, and a quad more that counts for nothing.
  static constexpr int kOutside = 2 * kPad + 4;
  static_assert(kOutside <= 32 * kLoads);
  static __device__ long long OutsideAt(int at, long long stride) {
    return at < kPad ? at - kPad : stride + at - kPad;
  }

  // Quads can be loaded of every row, and runs stored.
  static __device__ bool IsWhole(const March<In>& march, const void* output) {
    const auto addresses =
        reinterpret_cast<uintptr_t>(march.input) | reinterpret_cast<uintptr_t>(output);
    return addresses % 16 == 0 && march.stride % kRun == 0 && march.stride >= 4 * kQuads;
  }
  static __device__ bool IsBetween(const March<In>& march) {
    return march.element >= kPad && march.element - kPad + 31 * kRun + 4 * kQuads <= march.stride;
  }

  bool whole_ = true, staged_ = false, stores_ = true;
  unsigned loaded_ = 0;  // quads: bits
  int outside_ = 0;      // where the lane's first quad would be among what is staged
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_STRIP_CUH_
