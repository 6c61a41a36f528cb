// Elementwise CUDA kernels beside a device-to-device copy of as many bytes, measured in turns in
// the same run. Each figure is the median of 11 rounds of repeated launches, over enough buffers
// that the second-level cache does not hold them.
#include <string>
#include <utility>

#include "kernels/cuda/elementwise_row.h"
#include "server/device/cuda_kernel_cache.h"
#include "tests/bench/cuda_timing.h"

namespace gpucall {
namespace {

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

}  // namespace
}  // namespace gpucall

int main() {
  cudaDeviceProp properties = {};
  gpucall::CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, compute capability %d.%d\n", properties.name, properties.major,
              properties.minor);
  gpucall::BenchElementwise(10 * properties.major + properties.minor);
}
