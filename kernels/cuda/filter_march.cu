#include <algorithm>

#include "kernels/cuda/filter_march.cuh"

namespace gpucall::cuda {
namespace {

int MultiprocessorCount() {
  int device = 0, count = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) {
    return 1;
  }
  return count;
}

}  // namespace

FilterTile StripTile(const FilterShape& shape, int columns, int blocks) {
  const long long strips = (shape.columns + columns - 1) / columns * shape.images;
  const long long places = static_cast<long long>(MultiprocessorCount()) * blocks;
  const long long tiles = strips == 0 || places < strips ? 1 : places / strips;  // of a strip
  const long long rows = (shape.rows + tiles - 1) / tiles;
  return {static_cast<int>(std::clamp<long long>(rows, 32, 256)), columns};
}

FilterTile MarchTile(const FilterShape& shape, int run, int blocks) {
  // Measured on an H200: tall tiles lose more by their last turn, when few blocks are left, than
  // they save by reading fewer rows twice.
  constexpr int kLeastRows = 8, kShortWindow = 9;
  const int most_rows = shape.window.rows <= kShortWindow ? 32 : 64;
  const int columns = (shape.channels == 3 ? 3 : 2) * 32 * run / shape.channels;
  const long long strips = (shape.columns + columns - 1) / columns * shape.images;
  // Several turns even out; images of many sizes need more.
  const int turns = shape.images > 1 ? 4 : 2;
  const long long places = static_cast<long long>(MultiprocessorCount()) * blocks * turns;
  const long long tiles = strips == 0 || places < strips ? 1 : places / strips;  // of a strip
  const long long rows = (shape.rows + tiles - 1) / tiles;
  const long long even = (rows + 1) / 2 * 2;
  const long long least = even < kLeastRows ? kLeastRows : even;
  return {least < most_rows ? static_cast<int>(least) : most_rows, columns};
}

}  // namespace gpucall::cuda
