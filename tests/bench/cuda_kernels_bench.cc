// CUDA kernels beside a device-to-device copy of as many bytes, measured in turns in the same run.
// Each figure is the median of 11 rounds of repeated launches, over enough buffers that the
// second-level cache does not hold them.
#include <string>
#include <utility>

#include "kernels/cuda/elementwise_row.h"
#include "kernels/cuda/filter.h"
#include "server/device/cuda_kernel_cache.h"
#include "tests/bench/cuda_timing.h"

namespace gpucall {
namespace {

// ---- Elementwise

using cuda::ElementType;
using cuda::ReadMode;

class Elementwise {
 public:
  Elementwise(KernelCache& kernels, cuda::ElementwiseKernel kernel) : kernel_(std::move(kernel)) {
    auto loaded = kernels.Get(kernel_);
    Check(loaded.ok(), loaded.status().ToString().c_str());
    loaded_ = *std::move(loaded);
    words_.resize(static_cast<size_t>(cuda::ElementwiseRowWords(kernel_)));
  }
  void Launch(int64_t count, const std::vector<void*>& inputs, void* output,
              const std::vector<int64_t>& sizes = {}, const std::vector<int64_t>& strides = {}) {
    std::vector<uint64_t> addresses;
    for (void* input : inputs) addresses.push_back(reinterpret_cast<uint64_t>(input));
    const uint64_t out = reinterpret_cast<uint64_t>(output);
    const int64_t blocks = cuda::WriteElementwiseRow(kernel_,
                                                     {.count = count,
                                                      .inputs = addresses,
                                                      .outputs = {&out, 1},
                                                      .fault = 0,
                                                      .sizes = sizes,
                                                      .strides = strides},
                                                     0, words_);
    void* table = nullptr;
    int row_count = 1;
    void* arguments[] = {words_.data(), &table, &row_count};
    CHECK_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(loaded_->kernel),
                                dim3(static_cast<unsigned>(blocks)),
                                dim3(cuda::kElementwiseThreads), arguments, 0, nullptr));
  }

 private:
  cuda::ElementwiseKernel kernel_;
  KernelPointer loaded_;
  std::vector<uint64_t> words_;
};

void BenchElementwise(int compute_capability) {
  KernelCache kernels(compute_capability, KernelDiskCache({}));
  constexpr int64_t kBytes = int64_t{256} << 20, kCount = kBytes / 4;
  const ElementType type = ElementType::kFloat32;
  const cuda::ElementwiseKernel::Input full = {type, ReadMode::kFull};
  Elementwise add(
      kernels,
      {.inputs = {full, full}, .instructions = {{"Add", type, type, {0, 1}, 2}}, .outputs = {2}});
  CompareWithCopy("add, 256 MiB float32", 2 * kBytes, kBytes, true,
                  [&](void* a, void* b, void* out) {
                    add.Launch(kCount, {a, b}, out);
                  });
  Elementwise chain(kernels, {.inputs = {full, full},
                              .instructions = {{"Multiply", type, type, {0, 1}, 2},
                                               {"Add", type, type, {2, 1}, 2},
                                               {"Relu", type, type, {3}, 1},
                                               {"Subtract", type, type, {4, 0}, 2}},
                              .outputs = {5}});
  CompareWithCopy("chain of 4, 256 MiB float32", 2 * kBytes, kBytes, true,
                  [&](void* a, void* b, void* out) {
                    chain.Launch(kCount, {a, b}, out);
                  });
  Elementwise exp(
      kernels, {.inputs = {full}, .instructions = {{"Exp", type, type, {0}, 1}}, .outputs = {1}});
  CompareWithCopy("exp, 256 MiB float32", kBytes, kBytes, true,
                  [&](void* a, void*, void* out) { exp.Launch(kCount, {a}, out); });
  Elementwise bias(kernels, {.inputs = {full, {type, ReadMode::kStrided}},
                             .instructions = {{"Add", type, type, {0, 1}, 2}},
                             .outputs = {2},
                             .rank = 2});
  CompareWithCopy("add a row of 1024, 256 MiB float32", kBytes, kBytes, true,
                  [&](void* a, void* b, void* out) {
                    bias.Launch(kCount, {a, b}, out, {kCount / 1024, 1024}, {0, 1});
                  });
  const ElementType byte = ElementType::kUint8;
  Elementwise add8(kernels, {.inputs = {{byte, ReadMode::kFull}, {byte, ReadMode::kFull}},
                             .instructions = {{"Add", byte, byte, {0, 1}, 2}},
                             .outputs = {2}});
  CompareWithCopy("add, 256 MiB uint8", 2 * kBytes, kBytes, false,
                  [&](void* a, void* b, void* out) {
                    add8.Launch(kBytes, {a, b}, out);
                  });
  const ElementType half = ElementType::kFloat16;
  Elementwise add16(kernels, {.inputs = {{half, ReadMode::kFull}, {half, ReadMode::kFull}},
                              .instructions = {{"Add", half, half, {0, 1}, 2}},
                              .outputs = {2}});
  CompareWithCopy("add, 256 MiB float16", 2 * kBytes, kBytes, false,
                  [&](void* a, void* b, void* out) {
                    add16.Launch(kBytes / 2, {a, b}, out);
                  });
}

// ---- Filters

struct ImageCase {
  const char* name;
  long long rows, columns;
  cuda::PixelType pixel;
  int64_t size_bytes() const { return rows * columns * (pixel == cuda::PixelType::kUint8 ? 1 : 4); }
};

cuda::FilterShape ShapeOf(const ImageCase& image, int side) {
  const cuda::FilterWindow window = {side, side, side / 2, side / 2, cuda::Border::kReflect, 0};
  return {window, image.pixel, image.pixel, 1, image.rows, image.columns};
}

cuda::FilterBatch BatchOf(const ImageCase& image, int side, cuda::FilterTile tile) {
  cuda::FilterBatch batch;
  batch.tile = tile;
  batch.only.rows = image.rows;
  batch.only.columns = image.columns;
  batch.image_count = 1;
  batch.block_count = cuda::FilterBlockCount(tile, image.rows, image.columns);
  batch.input = batch.output = image.pixel;
  batch.window = ShapeOf(image, side).window;
  return batch;
}

void CompareFilter(const ImageCase& image, const std::string& filter, cuda::FilterBatch batch,
                   const std::function<cudaError_t(const cuda::FilterBatch&)>& launch) {
  CompareWithCopy((filter + ", " + image.name).c_str(), image.size_bytes(), image.size_bytes(),
                  image.pixel == cuda::PixelType::kFloat32, [&](void* in, void*, void* out) {
                    batch.only.input = in;
                    batch.only.output = out;
                    CHECK_CUDA(launch(batch));
                  });
}

void BenchFilters(const ImageCase& image) {
  for (const auto& [name, side] :
       {std::pair("sobel", 3), std::pair("gaussian 5x5", 5), std::pair("gaussian 21x21", 21),
        std::pair("box 9x9", 9), std::pair("box 65x65", 65)}) {
    cuda::SeparableWeights weights = {};
    std::fill_n(weights.rows, side, 1.0f / static_cast<float>(side));
    std::fill_n(weights.columns, side, 1.0f / static_cast<float>(side));
    CompareFilter(image, name, BatchOf(image, side, cuda::SeparableTile(ShapeOf(image, side))),
                  [&](const cuda::FilterBatch& batch) {
                    return cuda::LaunchSeparable(batch, weights, nullptr);
                  });
  }
  for (const int side : {3, 7}) {
    cuda::FilterBatch batch = BatchOf(image, side, cuda::DenseTile(ShapeOf(image, side)));
    std::vector<double> weights(static_cast<size_t>(cuda::DenseWeightCount(batch.window)), 0.01);
    weights[0] = 0;
    void* data = nullptr;
    CHECK_CUDA(cudaMalloc(&data, weights.size() * sizeof(double)));
    const CudaGlobalMemory memory(data);
    CHECK_CUDA(
        cudaMemcpy(data, weights.data(), weights.size() * sizeof(double), cudaMemcpyHostToDevice));
    batch.only.dense_weights = static_cast<double*>(data);
    CompareFilter(image, side == 3 ? "dense 3x3" : "dense 7x7", batch,
                  [&](const cuda::FilterBatch& b) {
                    return cuda::LaunchDense(b, cuda::DenseSums::kFloat32, nullptr);
                  });
  }
  for (const int side : {3, 5, 15}) {
    const cuda::FilterTile tile = cuda::ExtremeTile(ShapeOf(image, side));
    const std::string name = "minimum " + std::to_string(side) + "x" + std::to_string(side);
    CompareFilter(image, name, BatchOf(image, side, tile), [&](const cuda::FilterBatch& b) {
      return cuda::LaunchExtreme(b, cuda::Extreme::kMinimum, nullptr);
    });
  }
  for (const int side : {3, 5, 7}) {
    cuda::FilterBatch batch = BatchOf(image, side, {1, 1});
    const cuda::FilterTile tile = cuda::RankTile(ShapeOf(image, side), side * side / 2);
    batch.tile = tile;
    batch.block_count = cuda::FilterBlockCount(tile, image.rows, image.columns);
    const std::string name = "median " + std::to_string(side) + "x" + std::to_string(side);
    CompareFilter(image, name, batch, [&](const cuda::FilterBatch& b) {
      return cuda::LaunchRank(b, side * side / 2, nullptr);
    });
  }
}

}  // namespace
}  // namespace gpucall

int main() {
  cudaDeviceProp properties = {};
  gpucall::CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, compute capability %d.%d\n", properties.name, properties.major,
              properties.minor);
  gpucall::BenchElementwise(10 * properties.major + properties.minor);
  gpucall::BenchFilters({"8192x8192 float32", 8192, 8192, gpucall::cuda::PixelType::kFloat32});
  gpucall::BenchFilters({"2160x3840 uint8", 2160, 3840, gpucall::cuda::PixelType::kUint8});
}
