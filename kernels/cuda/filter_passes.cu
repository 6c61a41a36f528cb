// Separable filters with windows of any size: one pass along the columns to memory, one down the
// rows from there, in float64.
#include "kernels/cuda/filter_common.cuh"

namespace gpucall::cuda {
namespace {

constexpr unsigned kMaxBlocks = 1 << 16;

// Sums along the columns of every element.
template <class In>
__global__ void __launch_bounds__(kFilterThreads)
    ColumnPass(const __grid_constant__ FilterBatch batch, const double* weights, double* sums) {
  const FilterImage& image = batch.only;
  const FilterWindow& window = batch.window;
  const long long stride = image.columns * batch.channels, count = image.rows * stride;
  const In cval = static_cast<In>(window.cval);
  for (long long e = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; e < count;
       e += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long row = e / stride;
    const long long first = e % stride / batch.channels - window.columns_before;
    const In* const data =
        static_cast<const In*>(image.input) + row * stride + e % stride % batch.channels;
    double sum = 0;
    for (int j = 0; j < window.columns; ++j) {
      const long long column = BorderIndex(first + j, image.columns, window.border);
      sum += weights[j] * static_cast<double>(column < 0 ? cval : data[column * batch.channels]);
    }
    sums[e] = sum;
  }
}

template <class Out>
__global__ void __launch_bounds__(kFilterThreads)
    RowPass(const __grid_constant__ FilterBatch batch, const double* weights, double outside_row,
            const double* sums) {
  const FilterImage& image = batch.only;
  const FilterWindow& window = batch.window;
  const long long stride = image.columns * batch.channels, count = image.rows * stride;
  for (long long e = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; e < count;
       e += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long first = e / stride - window.rows_before;
    double sum = 0;
    for (int i = 0; i < window.rows; ++i) {
      const long long row = BorderIndex(first + i, image.rows, window.border);
      sum += weights[i] * (row < 0 ? outside_row : sums[row * stride + e % stride]);
    }
    static_cast<Out*>(image.output)[e] = ConvertResult<Out>(sum);
  }
}

}  // namespace

cudaError_t LaunchSeparablePasses(const FilterBatch& batch, const double* row_weights,
                                  const double* column_weights, double outside_row, double* scratch,
                                  cudaStream_t stream) {
  const long long count = batch.only.rows * batch.only.columns * batch.channels;
  const long long needed = (count + kFilterThreads - 1) / kFilterThreads;
  const dim3 blocks(needed < kMaxBlocks ? static_cast<unsigned>(needed) : kMaxBlocks);
  const auto column_pass =
      batch.input == PixelType::kUint8 ? ColumnPass<uint8_t> : ColumnPass<float>;
  const auto row_pass = batch.output == PixelType::kUint8 ? RowPass<uint8_t> : RowPass<float>;
  const cudaError_t error =
      LaunchBlocks(column_pass, blocks, 0, stream, batch, column_weights, scratch);
  if (error != cudaSuccess) return error;
  return LaunchBlocks(row_pass, blocks, 0, stream, batch, row_weights, outside_row,
                      static_cast<const double*>(scratch));
}

}  // namespace gpucall::cuda
