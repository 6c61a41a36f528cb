#include "kernels/cuda/filter_median_march.cuh"

namespace gpucall::cuda {

bool MedianMarches(const FilterShape& shape) {
  const FilterWindow& window = shape.window;
  return shape.channels == 1 && shape.input == shape.output && window.rows == window.columns &&
         (window.rows == 3 || window.rows == 5) && window.columns_before == window.columns / 2;
}

FilterTile MedianMarchTile(const FilterShape& shape) {
  return MarchTile(shape, kMedianRun, MedianBlocks(shape.window.rows));
}

cudaError_t LaunchMedianMarch(const FilterBatch& batch, cudaStream_t stream) {
  const bool three = batch.window.rows == 3;
  if (batch.input == PixelType::kFloat32) {
    return three ? LaunchMarch<1>(MedianMarch<float, float, 3>, batch, stream)
                 : LaunchMarch<1>(MedianMarch<float, float, 5>, batch, stream);
  }
  return three ? LaunchMarch<1>(MedianMarch<uint8_t, uint8_t, 3>, batch, stream)
               : LaunchMarch<1>(MedianMarch<uint8_t, uint8_t, 5>, batch, stream);
}

}  // namespace gpucall::cuda
