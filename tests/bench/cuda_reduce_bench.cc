// Measures reductions on a GPU: device time, from device memory, against reading as much.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/reduce_source.h"
#include "server/device/cuda_kernel_cache.h"
#include "server/program/axes.h"
#include "tests/bench/cuda_timing.h"

namespace gpucall {
namespace {

constexpr int64_t kBytes = int64_t{256} << 20;

class Reduction {
 public:
  Reduction(KernelCache& kernels, std::string_view function, cuda::ElementType type,
            const std::vector<int64_t>& shape, const std::vector<bool>& along)
      : shape_(shape), elements_(function == "Softmax" || function == "LayerNorm") {
    absl::InlinedVector<bool, kMaxRank> bits(along.begin(), along.end());
    const Lines lines = LinesAlong(shape_, bits);
    row_ = cuda::MakeReduceRow(
        {lines.starts.sizes, lines.starts.strides, lines.elements.sizes, lines.elements.strides},
        type);
    auto loaded = kernels.Get(cuda::ReduceKernel{function, type});
    Check(loaded.ok(), loaded.status().ToString().c_str());
    loaded_ = *std::move(loaded);
    const size_t partials =
        static_cast<size_t>(std::max<int64_t>(cuda::ReducePartialBytes(row_), 8));
    void* data = nullptr;
    CHECK_CUDA(cudaMalloc(&data, partials));
    partials_.reset(data);
    CHECK_CUDA(cudaMalloc(&data, static_cast<size_t>(elements_ ? kBytes : row_.line_count * 8)));
    out_.reset(data);
    row_.partials = partials_.get();
    row_.out = out_.get();
  }

  void Launch(const void* x) {
    row_.x = x;
    using Step = cuda::ReducePass;
    Pass(cuda::ReduceBlockCount(row_), Step::kAccumulate);
    if (row_.segment_count == 1) return;
    Pass(cuda::ReduceMergeBlockCount(row_), Step::kMerge);
    if (elements_) Pass(cuda::ReduceBlockCount(row_), Step::kApply);
  }

 private:
  void Pass(int64_t blocks, cuda::ReducePass pass) {
    const void* table = nullptr;
    int row_count = 1;
    double parameter = 0;
    void* arguments[] = {&row_, &table, &row_count, &pass, &parameter};
    CHECK_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(loaded_->kernel),
                                dim3(static_cast<unsigned>(blocks)), dim3(cuda::kReduceThreads),
                                arguments, 0, nullptr));
  }

  std::vector<int64_t> shape_;
  const bool elements_;
  cuda::ReduceRow row_;
  KernelPointer loaded_;
  CudaGlobalMemory partials_, out_;
};

struct Case {
  const char* name;
  std::vector<int64_t> shape;
  std::vector<bool> along;
};

void Bench(int compute_capability) {
  KernelCache kernels(compute_capability, KernelDiskCache({}));
  const Buffers x(2, kBytes, true), y(2, kBytes, true);
  const auto copy = MediansMs({[&](int i) {
    CHECK_CUDA(cudaMemcpyAsync(y[i], x[i], kBytes, cudaMemcpyDeviceToDevice, nullptr));
  }});
  const double copy_rate = 2.0 * kBytes / copy[0] / 1e6;
  std::printf("copy of 256 MiB: %.4f ms, %.0f GB/s\n", copy[0], copy_rate);
  const Case cases[] = {
      {"all", {kBytes / 4}, {true}},
      {"rows of 8192", {8192, 8192}, {false, true}},
      {"columns of 8192", {8192, 8192}, {true, false}},
      {"rows of 1024", {65536, 1024}, {false, true}},
      {"rows of 1001", {67043, 1001}, {false, true}},
      {"rows of 64", {1 << 20, 64}, {false, true}},
      {"rows of 3", {kBytes / 12, 3}, {false, true}},
      {"channels of an image", {8192, 2730, 3}, {true, true, false}},
      {"middle of 256 x 512 x 512", {256, 512, 512}, {false, true, false}},
      {"ends of 256 x 512 x 512", {256, 512, 512}, {true, false, true}},
      {"columns of 1 << 20", {1 << 20, 64}, {true, false}},
  };
  for (const char* function : {"Sum", "Mean", "Max", "ArgMax", "Var", "Softmax", "LayerNorm"}) {
    for (const Case& c : cases) {
      Reduction reduction(kernels, function, cuda::ElementType::kFloat32, c.shape, c.along);
      const bool elements =
          !std::strcmp(function, "Softmax") || !std::strcmp(function, "LayerNorm");
      int64_t bytes = elements ? 8 : 4;
      for (const int64_t size : c.shape) bytes *= size;
      const auto ms = MediansMs({[&](int i) { reduction.Launch(x[i]); }});
      const double rate = static_cast<double>(bytes) / ms[0] / 1e6;
      std::printf("%-7s float32 %-26s %8.4f ms %6.0f GB/s  of copy's %.2f\n", function, c.name,
                  ms[0], rate, rate / copy_rate);
    }
  }
  for (const auto& [type, name] : {std::pair(cuda::ElementType::kUint8, "uint8"),
                                   std::pair(cuda::ElementType::kInt32, "int32"),
                                   std::pair(cuda::ElementType::kFloat64, "float64")}) {
    const int64_t count = kBytes / cuda::ElementBytes(type);
    for (const auto& [shape, along] :
         {std::pair(std::vector<int64_t>{count}, std::vector<bool>{true}),
          std::pair(std::vector<int64_t>{count / 8192, 8192}, std::vector<bool>{true, false})}) {
      Reduction reduction(kernels, "Sum", type, shape, along);
      const auto ms = MediansMs({[&](int i) { reduction.Launch(x[i]); }});
      const double rate = static_cast<double>(kBytes) / ms[0] / 1e6;
      std::printf("Sum %s %s %8.4f ms %6.0f GB/s  of copy's %.2f\n", name,
                  shape.size() == 1 ? "all" : "columns", ms[0], rate, rate / copy_rate);
    }
  }
}

}  // namespace
}  // namespace gpucall

int main() {
  cudaDeviceProp properties = {};
  gpucall::CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, compute capability %d.%d\n", properties.name, properties.major,
              properties.minor);
  gpucall::Bench(10 * properties.major + properties.minor);
}
