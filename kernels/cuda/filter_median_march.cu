#include "kernels/cuda/filter_median_march.cuh"

namespace gpucall::cuda {
namespace {

template <class T>
cudaError_t LaunchMedianSide(const FilterBatch& batch, cudaStream_t stream) {
  if (batch.window.rows == 3) return LaunchMarch<1>(MedianMarch<T, 3>, batch, stream);
  if (batch.window.rows == 5) return LaunchMarch<1>(MedianMarch<T, 5>, batch, stream);
  return LaunchMedian7<T>(batch, stream);
}

}  // namespace

bool MedianMarches(const FilterShape& shape) {
  const FilterWindow& window = shape.window;
  return shape.channels == 1 && shape.input == shape.output && window.rows == window.columns &&
         (window.rows == 3 || window.rows == 5 || window.rows == 7) &&
         window.columns_before == window.columns / 2;
}

FilterTile MedianMarchTile(const FilterShape& shape) {
  return MarchTile(shape, kMedianRun, MedianBlocks(shape.window.rows));
}

cudaError_t LaunchMedianMarch(const FilterBatch& batch, cudaStream_t stream) {
  return batch.input == PixelType::kFloat32 ? LaunchMedianSide<float>(batch, stream)
                                            : LaunchMedianSide<uint8_t>(batch, stream);
}

}  // namespace gpucall::cuda
