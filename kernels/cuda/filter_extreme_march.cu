#include "kernels/cuda/filter_extreme_march.cuh"

namespace gpucall::cuda {

bool ExtremeFits(const FilterShape& shape) {
  const FilterWindow& window = shape.window;
  const int limit = shape.channels == 1 ? kMaxExtremeTaps<1> : kMaxExtremeTaps<3>;
  return MarchesChannels(shape.channels) && shape.input == shape.output &&
         window.rows == window.columns && window.rows % 2 == 1 && window.rows > 1 &&
         window.rows <= limit && window.columns_before == window.columns / 2;
}

FilterTile ExtremeTile(const FilterShape& shape) {
  const int taps = shape.window.rows;
  return MarchTile(shape, kExtremeRun, MarchBlocks<float>(taps, shape.channels, kExtremeRun, taps));
}

cudaError_t LaunchExtreme(const FilterBatch& batch, Extreme extreme, cudaStream_t stream) {
  if (batch.channels == 3) return LaunchExtremeChannels<3>(batch, extreme, stream);
  if (batch.channels == 4) return LaunchExtremeChannels<4>(batch, extreme, stream);
  return LaunchExtremeChannels<1>(batch, extreme, stream);
}

}  // namespace gpucall::cuda
