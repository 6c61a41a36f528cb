#include "kernels/cuda/filter_dense_march.cuh"

namespace gpucall::cuda {

bool DenseMarches(const FilterShape& shape) {
  const FilterWindow& window = shape.window;
  const bool converts_down =
      shape.input == PixelType::kFloat32 && shape.output == PixelType::kUint8;
  return MarchesChannels(shape.channels) && !converts_down && window.rows == window.columns &&
         window.rows % 2 == 1 && window.rows > 1 && window.rows <= (shape.channels == 1 ? 11 : 7) &&
         window.columns_before == window.columns / 2;
}

FilterTile DenseMarchTile(const FilterShape& shape) {
  const int side = shape.window.rows, channels = shape.channels;
  if (shape.input == PixelType::kFloat32) {
    return MarchTile(shape, DenseRun<float>(side), DenseBlocks<float>(side, channels));
  }
  return MarchTile(shape, DenseRun<uint8_t>(side), DenseBlocks<uint8_t>(side, channels));
}

cudaError_t LaunchDenseMarch(const FilterBatch& batch, cudaStream_t stream) {
  if (batch.channels == 3) return LaunchDenseChannels<3>(batch, stream);
  if (batch.channels == 4) return LaunchDenseChannels<4>(batch, stream);
  return LaunchDenseChannels<1>(batch, stream);
}

}  // namespace gpucall::cuda
