#include "kernels/cuda/filter_separable_march.cuh"

namespace gpucall::cuda {

bool SeparableMarches(const FilterShape& shape) {
  const FilterWindow& window = shape.window;
  const bool converts_down =
      shape.input == PixelType::kFloat32 && shape.output == PixelType::kUint8;
  const int limit = shape.channels == 1 ? kMaxMarchTaps : kMaxChannelMarchTaps;
  return MarchesChannels(shape.channels) && !converts_down && window.rows == window.columns &&
         window.columns % 2 == 1 && window.columns > 1 && window.columns <= limit &&
         window.columns_before == window.columns / 2;
}

FilterTile SeparableMarchTile(const FilterShape& shape) {
  const int taps = shape.window.rows, channels = shape.channels;
  if (shape.input == PixelType::kFloat32) {
    const int run = MarchRun<float>(taps);
    return MarchTile(shape, run, MarchBlocks<float>(taps, channels, run, taps));
  }
  const int run = MarchRun<uint8_t>(taps);
  return MarchTile(shape, run, MarchBlocks<uint8_t>(taps, channels, run, taps));
}

cudaError_t LaunchSeparableMarch(const FilterBatch& batch, const SeparableWeights& weights,
                                 cudaStream_t stream) {
  if (batch.channels == 3) return LaunchSeparableChannels<3>(batch, weights, stream);
  if (batch.channels == 4) return LaunchSeparableChannels<4>(batch, weights, stream);
  return LaunchSeparableChannels<1>(batch, weights, stream);
}

}  // namespace gpucall::cuda
