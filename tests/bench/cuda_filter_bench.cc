// Filters on a GPU beside a device-to-device copy of as many bytes: see cuda_kernels_bench.cc. With
// arguments: only rows whose name holds one of them.
#include <string>
#include <utility>

#include "kernels/cuda/filter.h"
#include "kernels/cuda/image.h"
#include "tests/bench/cuda_timing.h"

namespace gpucall {
namespace {

std::vector<std::string> wanted;

bool IsWanted(const std::string& name) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& part) {
           return name.find(part) != std::string::npos;
         });
}

struct ImageCase {
  const char* name;
  long long rows, columns;
  cuda::PixelType pixel;
  int images = 1, channels = 1;
  bool floats() const { return pixel == cuda::PixelType::kFloat32; }
  int64_t image_bytes() const { return rows * columns * channels * (floats() ? 4 : 1); }
  int64_t size_bytes() const { return images * image_bytes(); }
};

cuda::FilterShape ShapeOf(const ImageCase& image, int side) {
  const cuda::FilterWindow window = {side, side, side / 2, side / 2, cuda::Border::kReflect, 0};
  return {window,     image.pixel,   image.pixel, image.channels,
          image.rows, image.columns, image.images};
}

cuda::FilterBatch BatchOf(const ImageCase& image, int side, cuda::FilterTile tile) {
  cuda::FilterBatch batch;
  batch.tile = tile;
  batch.only.rows = image.rows;
  batch.only.columns = image.columns;
  batch.image_count = image.images;
  batch.block_count = image.images * cuda::FilterBlockCount(tile, image.rows, image.columns);
  batch.channels = image.channels;
  batch.input = batch.output = image.pixel;
  batch.window = ShapeOf(image, side).window;
  return batch;
}

// For each pair of buffers, the images of a batch in device memory.
class Tables {
 public:
  const cuda::FilterImage* Of(const ImageCase& image, const cuda::FilterBatch& batch, void* in,
                              void* out) {
    for (const auto& [input, table] : tables_) {
      if (input == in) return static_cast<const cuda::FilterImage*>(table.get());
    }
    std::vector<cuda::FilterImage> images(static_cast<size_t>(image.images), batch.only);
    for (int64_t i = 0; i < image.images; ++i) {
      cuda::FilterImage& one = images[static_cast<size_t>(i)];
      one.input = static_cast<std::byte*>(in) + i * image.image_bytes();
      one.output = static_cast<std::byte*>(out) + i * image.image_bytes();
      one.first_block = i * (batch.block_count / image.images);
    }
    void* data = nullptr;
    const size_t size_bytes = images.size() * sizeof(images[0]);
    CHECK_CUDA(cudaMalloc(&data, size_bytes));
    CHECK_CUDA(cudaMemcpy(data, images.data(), size_bytes, cudaMemcpyHostToDevice));
    tables_.emplace_back(in, CudaGlobalMemory(data));
    return static_cast<const cuda::FilterImage*>(data);
  }

 private:
  std::vector<std::pair<void*, CudaGlobalMemory>> tables_;
};

void CompareFilter(const ImageCase& image, const std::string& filter, cuda::FilterBatch batch,
                   const std::function<cudaError_t(const cuda::FilterBatch&)>& launch) {
  const std::string name = filter + ", " + image.name;
  if (!IsWanted(name)) return;
  Tables tables;
  CompareWithCopy(name.c_str(), image.size_bytes(), image.size_bytes(), image.floats(),
                  [&](void* in, void*, void* out) {
                    batch.only.input = in;
                    batch.only.output = out;
                    if (image.images > 1) batch.table = tables.Of(image, batch, in, out);
                    CHECK_CUDA(launch(batch));
                  });
}

void BenchSeparable(const ImageCase& image, const std::string& name, int side) {
  cuda::SeparableWeights weights = {};
  const bool box = name.starts_with("box");
  for (int i = 0; i < side; ++i) {
    weights.rows[i] = weights.columns[i] =
        (box ? 1.0f : static_cast<float>(1 + i % 3)) / static_cast<float>(side);
  }
  const cuda::FilterTile tile = cuda::SeparableTile(ShapeOf(image, side), weights);
  CompareFilter(image, name, BatchOf(image, side, tile), [&](const cuda::FilterBatch& batch) {
    return cuda::LaunchSeparable(batch, weights, nullptr);
  });
}

void BenchDense(const ImageCase& image, const std::string& name, int side) {
  cuda::FilterBatch batch = BatchOf(image, side, cuda::DenseTile(ShapeOf(image, side)));
  std::vector<double> weights(static_cast<size_t>(cuda::DenseWeightCount(batch.window)), 0.01);
  weights[0] = 0;
  void* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, weights.size() * sizeof(double)));
  const CudaGlobalMemory memory(data);
  CHECK_CUDA(
      cudaMemcpy(data, weights.data(), weights.size() * sizeof(double), cudaMemcpyHostToDevice));
  batch.only.dense_weights = static_cast<double*>(data);
  CompareFilter(image, name, batch, [&](const cuda::FilterBatch& b) {
    return cuda::LaunchDense(b, cuda::DenseSums::kFloat32, nullptr);
  });
}

void BenchMinimum(const ImageCase& image, const std::string& name, int side) {
  const cuda::FilterTile tile = cuda::ExtremeTile(ShapeOf(image, side));
  CompareFilter(image, name, BatchOf(image, side, tile), [&](const cuda::FilterBatch& b) {
    return cuda::LaunchExtreme(b, cuda::Extreme::kMinimum, nullptr);
  });
}

void BenchMedian(const ImageCase& image, const std::string& name, int side) {
  const cuda::FilterTile tile = cuda::RankTile(ShapeOf(image, side), side * side / 2);
  CompareFilter(image, name, BatchOf(image, side, tile), [&](const cuda::FilterBatch& b) {
    return cuda::LaunchRank(b, side * side / 2, nullptr);
  });
}

void BenchFilters(const ImageCase& image) {
  const auto of = [](const char* filter, int side) {
    const std::string of_side = std::to_string(side);
    return std::string(filter).append(" ").append(of_side).append("x").append(of_side);
  };
  BenchSeparable(image, "sobel", 3);
  BenchSeparable(image, of("gaussian", 5), 5);
  BenchSeparable(image, "gaussian sigma 2.5", 21);
  for (const int side : {9, 65}) BenchSeparable(image, of("box", side), side);
  for (const int side : {3, 7}) BenchDense(image, of("dense", side), side);
  for (const int side : {3, 5, 15}) BenchMinimum(image, of("minimum", side), side);
  for (const int side : {3, 5, 7}) BenchMedian(image, of("median", side), side);
  if (image.floats()) return;
  for (const int side : {15, 31, 63}) BenchMedian(image, of("median", side), side);
}

// Of diameter 9: weights of distances, of uint8 then those of differences.
void BenchBilateral(const ImageCase& image) {
  const std::string name = std::string("bilateral 9, ") + image.name;
  if (!IsWanted(name)) return;
  constexpr int kRadius = 4;
  std::vector<double> table;
  for (int i = -kRadius; i <= kRadius; ++i) {
    for (int j = -kRadius; j <= kRadius; ++j) {
      const int squared = i * i + j * j;
      table.push_back(squared > kRadius * kRadius ? 0 : std::exp(-squared / 32.0));
    }
  }
  for (int i = 0; i < 256; ++i) table.push_back(std::exp(-i * i / 1800.0));
  void* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, table.size() * sizeof(double)));
  const CudaGlobalMemory memory(data);
  CHECK_CUDA(cudaMemcpy(data, table.data(), table.size() * sizeof(double), cudaMemcpyHostToDevice));
  image::Arguments a;
  a.table = static_cast<double*>(data);
  a.in = a.out_sizes = {1, image.rows, image.columns, 1};
  a.option = kRadius;
  a.border = image::Border::kMirror;
  a.numbers[0] = -1 / 1800.0;
  const auto element = image.floats() ? image::Element::kFloat32 : image::Element::kUint8;
  CompareWithCopy(name.c_str(), image.size_bytes(), image.size_bytes(), image.floats(),
                  [&](void* in, void*, void* out) {
                    a.x = in;
                    a.out = out;
                    CHECK_CUDA(cuda::LaunchBilateral(a, element, nullptr));
                  });
}

}  // namespace
}  // namespace gpucall

int main(int argument_count, char** arguments) {
  using gpucall::cuda::PixelType;
  gpucall::wanted.assign(arguments + 1, arguments + argument_count);
  cudaDeviceProp properties = {};
  gpucall::CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, compute capability %d.%d\n", properties.name, properties.major,
              properties.minor);
  for (const gpucall::ImageCase& image :
       {gpucall::ImageCase{"8192x8192 float32", 8192, 8192, PixelType::kFloat32},
        gpucall::ImageCase{"2160x3840 uint8", 2160, 3840, PixelType::kUint8}}) {
    gpucall::BenchFilters(image);
    gpucall::BenchBilateral(image);
  }
  for (const auto pixel : {PixelType::kUint8, PixelType::kFloat32}) {
    const char* const name =
        pixel == PixelType::kUint8 ? "64 of 512x512x3 uint8" : "64 of 512x512x3 float32";
    const gpucall::ImageCase batch = {name, 512, 512, pixel, 64, 3};
    gpucall::BenchSeparable(batch, "gaussian 5x5", 5);
    gpucall::BenchSeparable(batch, "gaussian sigma 2.5", 21);
  }
}
