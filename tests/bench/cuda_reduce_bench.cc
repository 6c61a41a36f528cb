// Measures reductions on a GPU: device time, from device memory, against reading as much.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cuda/reduce_cut.h"
#include "server/device/cuda_kernel_cache.h"
#include "server/program/axes.h"
#include "tests/bench/cuda_timing.h"

namespace gpucall {
namespace {

constexpr int64_t kBytes = int64_t{256} << 20;

bool GivesElements(std::string_view function) {
  return function == "Softmax" || function == "LayerNorm";
}

struct Problem {
  std::string_view function;
  cuda::ElementType type;
  std::vector<int64_t> shape;
  std::vector<bool> along;

  cuda::ReduceRow Row() const {
    absl::InlinedVector<bool, kMaxRank> bits(along.begin(), along.end());
    const Lines lines = LinesAlong(shape, bits);
    return cuda::MakeReduceRow(
        {lines.starts.sizes, lines.starts.strides, lines.elements.sizes, lines.elements.strides},
        type,
        GivesElements(function) ? cuda::ReduceResults::kOfElements : cuda::ReduceResults::kOfLines);
  }
  KernelPointer Kernel(KernelCache& kernels) const {
    const cuda::ReduceRow row = Row();
    auto loaded = kernels.Get(cuda::ReduceKernel{function, type, row.form, row.width});
    Check(loaded.ok(), loaded.status().ToString().c_str());
    return *std::move(loaded);
  }
};

class Reduction {
 public:
  Reduction(KernelCache& kernels, const Problem& problem)
      : elements_(GivesElements(problem.function)),
        row_(problem.Row()),
        loaded_(problem.Kernel(kernels)) {
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
struct Named {
  std::string name;
  Problem problem;
};

std::vector<Named> Problems() {
  const Case cases[] = {
      {"all", {kBytes / 4}, {true}},
      {"rows of 8192", {8192, 8192}, {false, true}},
      {"columns of 8192", {8192, 8192}, {true, false}},
      {"rows of 1024", {65536, 1024}, {false, true}},
      {"rows of 1001", {67000, 1001}, {false, true}},
      {"rows of 64", {1 << 20, 64}, {false, true}},
      {"rows of 3", {kBytes / 12, 3}, {false, true}},
      {"channels of an image", {8192, 2730, 3}, {true, true, false}},
      {"middle of 256 x 512 x 512", {256, 512, 512}, {false, true, false}},
      {"ends of 256 x 512 x 512", {256, 512, 512}, {true, false, true}},
      {"columns of 1 << 20", {1 << 20, 64}, {true, false}},
  };
  std::vector<Named> problems;
  for (const char* function : {"Sum", "Mean", "Max", "ArgMax", "Var", "Softmax", "LayerNorm"}) {
    for (const Case& c : cases) {
      problems.push_back({std::string("float32 ") + c.name,
                          {function, cuda::ElementType::kFloat32, c.shape, c.along}});
    }
  }
  for (const auto& [type, name] : {std::pair(cuda::ElementType::kUint8, "uint8"),
                                   std::pair(cuda::ElementType::kInt32, "int32"),
                                   std::pair(cuda::ElementType::kFloat64, "float64")}) {
    const int64_t count = kBytes / cuda::ElementBytes(type);
    problems.push_back({std::string(name) + " all", {"Sum", type, {count}, {true}}});
    problems.push_back(
        {std::string(name) + " columns", {"Sum", type, {count / 8192, 8192}, {true, false}}});
  }
  return problems;
}

// Kernels take NVRTC long: every core compiles some.
void CompileAll(KernelCache& kernels, const std::vector<Named>& problems) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::thread::hardware_concurrency(); ++t) {
    threads.emplace_back([&] {
      for (size_t i = next++; i < problems.size(); i = next++) problems[i].problem.Kernel(kernels);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void Bench(int compute_capability) {
  KernelCache kernels(compute_capability, KernelDiskCache({}));
  const Buffers x(2, kBytes, true), y(2, kBytes, true);
  const auto copy = MediansMs({[&](int i) {
    CHECK_CUDA(cudaMemcpyAsync(y[i], x[i], kBytes, cudaMemcpyDeviceToDevice, nullptr));
  }});
  const double copy_rate = 2.0 * kBytes / copy[0] / 1e6;
  std::printf("copy of 256 MiB: %.4f ms, %.0f GB/s\n", copy[0], copy_rate);
  const std::vector<Named> problems = Problems();
  CompileAll(kernels, problems);
  for (const auto& [name, problem] : problems) {
    Reduction reduction(kernels, problem);
    int64_t bytes = cuda::ElementBytes(problem.type) * (GivesElements(problem.function) ? 2 : 1);
    for (const int64_t size : problem.shape) bytes *= size;
    const auto ms = MediansMs({[&](int i) { reduction.Launch(x[i]); }});
    const double rate = static_cast<double>(bytes) / ms[0] / 1e6;
    std::printf("%-9s %-34s %8.4f ms %6.0f GB/s  of copy's %.2f\n",
                std::string(problem.function).c_str(), name.c_str(), ms[0], rate, rate / copy_rate);
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
