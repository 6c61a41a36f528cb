// The CPU device beside what it is measured against: memcpy for elementwise steps, cblas for
// products. One lane, one thread (OpenBLAS as it is set). bytes_per_second counts bytes read and
// written.
#include <benchmark/benchmark.h>
#include <cblas.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "server/device/blas_core.h"
#include "server/device/cpu_device.h"
#include "server/program/plan.h"

namespace gpucall {
namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 34;
constexpr size_t kLargeBytes = 64 << 20;

template <class T>
void Fill(std::vector<uint8_t>& memory) {
  for (size_t i = 0; i < memory.size() / sizeof(T); ++i) {
    const T element = static_cast<T>(1 + i % 61);
    std::memcpy(memory.data() + i * sizeof(T), &element, sizeof(T));
  }
}

// A Program with inputs of small numbers.
class Job {
 public:
  Job(const Program& program, std::vector<TensorType> inputs)
      : plan_(*MakePlan(program, inputs, kMaxTensorBytes)), lane_(*device_->MakeLane()) {
    for (const TensorType& type : inputs) {
      memory_.emplace_back(static_cast<size_t>(type.size_bytes()));
      if (type.dtype == DType::kUint8) Fill<uint8_t>(memory_.back());
      if (type.dtype == DType::kFloat32) Fill<float>(memory_.back());
      if (type.dtype == DType::kFloat64) Fill<double>(memory_.back());
      inputs_.push_back({.host = HostBytes(memory_.back().data(), type.size_bytes())});
    }
  }
  void Run(benchmark::State& state) {
    Execution execution;
    execution.plan = &plan_;
    execution.inputs = inputs_;
    BatchTiming timing;
    for (auto _ : state) {
      if (!lane_->Execute({&execution, 1}, timing).ok()) state.SkipWithError("Execute failed");
    }
    state.SetBytesProcessed(state.iterations() * (plan_.input_bytes + plan_.output_bytes));
  }

 private:
  std::unique_ptr<Device> device_ = MakeCpuDevice();
  Plan plan_;
  std::unique_ptr<Lane> lane_;
  std::vector<std::vector<uint8_t>> memory_;
  std::vector<Storage> inputs_;
};

Program Chain(const std::vector<Operation>& operations, uint32_t input_count) {
  return {input_count, operations, {input_count + static_cast<uint32_t>(operations.size()) - 1}};
}

void BM_Memcpy(benchmark::State& state) {
  const size_t size = static_cast<size_t>(state.range(0)) / 2;  // reads as much as it writes
  const std::vector<char> from(size, 1);
  std::vector<char> to(size, 2);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), size);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(2 * size));
}
BENCHMARK(BM_Memcpy)->Arg(3 * kLargeBytes);

void BM_Add(benchmark::State& state) {
  const TensorType type = {DType::kFloat32, {state.range(0)}};
  Job(Chain({{ElementwiseOp::kAdd, {0, 1}}}, 2), {type, type}).Run(state);
}
BENCHMARK(BM_Add)->Arg(kLargeBytes / 4)->Arg(256);

void BM_Chain(benchmark::State& state) {
  const TensorType type = {DType::kFloat32, {state.range(0)}};
  const Program program = Chain({{ElementwiseOp::kMultiply, {0, 1}},
                                 {ElementwiseOp::kAdd, {2, 0}},
                                 {ElementwiseOp::kMaximum, {3, 1}},
                                 {ElementwiseOp::kSubtract, {4, 0}}},
                                2);
  Job(program, {type, type}).Run(state);
}
BENCHMARK(BM_Chain)->Arg(kLargeBytes / 4);

void BM_Function(benchmark::State& state) {
  const TensorType type = {static_cast<DType>(state.range(1)), {1 << 20}};
  Job(Chain({{static_cast<ElementwiseOp>(state.range(0)), {0}}}, 1), {type}).Run(state);
}
BENCHMARK(BM_Function)
    ->ArgNames({"op", "dtype"})
    ->ArgsProduct({{static_cast<int>(ElementwiseOp::kExp), static_cast<int>(ElementwiseOp::kLog),
                    static_cast<int>(ElementwiseOp::kTanh),
                    static_cast<int>(ElementwiseOp::kSigmoid)},
                   {static_cast<int>(DType::kFloat32), static_cast<int>(DType::kFloat64)}});

void BM_MatMul(benchmark::State& state) {
  const TensorType type = {DType::kFloat32, {state.range(0), state.range(0)}};
  Job(Chain({{MatMulAttributes{}, {0, 1}}}, 2), {type, type}).Run(state);
}
BENCHMARK(BM_MatMul)->Arg(64)->Arg(1024)->UseRealTime();

void BM_Cblas(benchmark::State& state) {
  const auto n = static_cast<blasint>(state.range(0));
  const std::vector<float> a(static_cast<size_t>(n) * n, 0.5f), b(a.size(), 0.25f);
  std::vector<float> c(a.size());
  for (auto _ : state) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0,
                c.data(), n);
  }
}
BENCHMARK(BM_Cblas)->Arg(64)->Arg(1024)->UseRealTime();

void BM_Filter(benchmark::State& state, FilterAttributes attributes, DType dtype) {
  std::vector<TensorType> inputs = {{dtype, {2160, 3840}}};
  Operation operation = {attributes, {0}};
  if (attributes.kind == FilterKind::kCorrelate) {
    inputs.push_back({DType::kUint8, {7, 7}});
    operation.inputs.push_back(1);
  }
  Job(Chain({operation}, static_cast<uint32_t>(inputs.size())), inputs).Run(state);
}
#define GPUCALL_FILTER(name, ...)                                                              \
  BENCHMARK_CAPTURE(BM_Filter, name##_uint8, FilterAttributes{__VA_ARGS__}, DType::kUint8)     \
      ->Unit(benchmark::kMillisecond);                                                         \
  BENCHMARK_CAPTURE(BM_Filter, name##_float32, FilterAttributes{__VA_ARGS__}, DType::kFloat32) \
      ->Unit(benchmark::kMillisecond)
GPUCALL_FILTER(gaussian_2_5, .kind = FilterKind::kGaussian, .sigma = {2.5, 2.5});
GPUCALL_FILTER(box_15, .kind = FilterKind::kBox, .size = {15, 15});
GPUCALL_FILTER(sobel, .kind = FilterKind::kSobel);
GPUCALL_FILTER(median_3, .kind = FilterKind::kMedian, .size = {3, 3});
GPUCALL_FILTER(median_5, .kind = FilterKind::kMedian, .size = {5, 5});
GPUCALL_FILTER(median_7, .kind = FilterKind::kMedian, .size = {7, 7});
GPUCALL_FILTER(median_31, .kind = FilterKind::kMedian, .size = {31, 31});
GPUCALL_FILTER(correlate_7, .kind = FilterKind::kCorrelate);

}  // namespace
}  // namespace gpucall

int main(int argc, char** argv) {
  gpucall::RestartWithBlasCore(argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
