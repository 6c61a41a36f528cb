// Extremes of windows of any size: one pass along the columns to memory, one down the rows from
// there.
#include "kernels/cuda/filter_rank.cuh"

namespace gpucall::cuda {
namespace {

constexpr unsigned kMaxBlocks = 1 << 16;

template <Extreme kExtreme, class Key>
__device__ Key Choose(Key a, Key b) {
  return kExtreme == Extreme::kMinimum ? min(a, b) : max(a, b);
}

// Extremes along the columns of every element.
template <class In, Extreme kExtreme>
__global__ void __launch_bounds__(kFilterThreads)
    ColumnPass(const __grid_constant__ FilterBatch batch, In* extremes) {
  const FilterImage& image = batch.only;
  const FilterWindow& window = batch.window;
  const long long stride = image.columns * batch.channels, count = image.rows * stride;
  const In cval = static_cast<In>(window.cval);
  for (long long e = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; e < count;
       e += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long first = e % stride / batch.channels - window.columns_before;
    const In* const data =
        static_cast<const In*>(image.input) + e / stride * stride + e % stride % batch.channels;
    const auto read = [&](int j) {
      const long long column = BorderIndex(first + j, image.columns, window.border);
      return KeyOf(column < 0 ? cval : data[column * batch.channels]);
    };
    auto found = read(0);
    for (int j = 1; j < window.columns; ++j) found = Choose<kExtreme>(found, read(j));
    extremes[e] = ElementOf(found);
  }
}

template <class In, class Out, Extreme kExtreme>
__global__ void __launch_bounds__(kFilterThreads)
    RowPass(const __grid_constant__ FilterBatch batch, const In* extremes) {
  const FilterImage& image = batch.only;
  const FilterWindow& window = batch.window;
  const long long stride = image.columns * batch.channels, count = image.rows * stride;
  const In cval = static_cast<In>(window.cval);
  for (long long e = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; e < count;
       e += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long first = e / stride - window.rows_before;
    const auto read = [&](int i) {
      const long long row = BorderIndex(first + i, image.rows, window.border);
      return KeyOf(row < 0 ? cval : extremes[row * stride + e % stride]);
    };
    auto found = read(0);
    for (int i = 1; i < window.rows; ++i) found = Choose<kExtreme>(found, read(i));
    static_cast<Out*>(image.output)[e] = ResultOf<Out>(found);
  }
}

template <class In, class Out, Extreme kExtreme>
cudaError_t LaunchPasses(const FilterBatch& batch, void* scratch, cudaStream_t stream) {
  const long long count = batch.only.rows * batch.only.columns * batch.channels;
  const long long needed = (count + kFilterThreads - 1) / kFilterThreads;
  const dim3 blocks(needed < kMaxBlocks ? static_cast<unsigned>(needed) : kMaxBlocks);
  auto* const extremes = static_cast<In*>(scratch);
  const cudaError_t error =
      LaunchBlocks(ColumnPass<In, kExtreme>, blocks, 0, stream, batch, extremes);
  if (error != cudaSuccess) return error;
  return LaunchBlocks(RowPass<In, Out, kExtreme>, blocks, 0, stream, batch,
                      static_cast<const In*>(extremes));
}

}  // namespace

cudaError_t LaunchExtremePasses(const FilterBatch& batch, Extreme extreme, void* scratch,
                                cudaStream_t stream) {
  return WithPixelTypes(batch, [&]<class In, class Out>(In, Out) {
    return extreme == Extreme::kMinimum
               ? LaunchPasses<In, Out, Extreme::kMinimum>(batch, scratch, stream)
               : LaunchPasses<In, Out, Extreme::kMaximum>(batch, scratch, stream);
  });
}

}  // namespace gpucall::cuda
