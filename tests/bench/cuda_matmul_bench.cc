// Products as the server computes them beside the fastest of cuBLASLt's first 8 heuristics for the
// same problem, and small products in one call beside one by one. Medians of 11 rounds, in turns.
#include <array>
#include <utility>
#include <vector>

#include "kernels/cuda/matmul.h"
#include "kernels/cuda/matmul_problem.h"
#include "tests/bench/cuda_timing.h"

namespace gpucall {
namespace {

using cuda::MatMulBatch;
using cuda::MatMulShape;
using Type = MatMulShape::Type;
using Precision = MatMulShape::Precision;

void CheckCublas(cublasStatus_t status, const char* what) {
  Check(status == CUBLAS_STATUS_SUCCESS, what);
}

// The library alone, with whatever algorithm is fastest, sums split or not.
class Direct {
 public:
  Direct(cublasLtHandle_t handle, const MatMulShape& shape, const MatMulBatch& batch,
         void* workspace)
      : handle_(handle), batch_(batch), workspace_(workspace), alpha_(shape, 1), beta_(shape, 0) {
    CheckCublas(problem_.Make(shape), "MatMulProblem::Make");
    CheckCublas(problem_.SetBatch(batch, batch.count), "MatMulProblem::SetBatch");
    cublasLtMatmulPreference_t made = nullptr;
    CheckCublas(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const cuda::LtPreference preference(made);
    const uint64_t size_bytes = cuda::MatMul::kWorkspaceBytes;
    CheckCublas(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                     &size_bytes, sizeof(size_bytes)),
                "cublasLtMatmulPreferenceSetAttribute");
    cublasLtMatmulAlgoGetHeuristic(handle, problem_.descriptor.get(), problem_.b.get(),
                                   problem_.a.get(), problem_.c.get(), problem_.c.get(), made,
                                   static_cast<int>(results_.size()), results_.data(), &count_);
  }
  int count() const { return count_; }  // of algorithms; 0: the library does not do it
  void Launch(int algorithm) const {
    CheckCublas(cublasLtMatmul(handle_, problem_.descriptor.get(), alpha_.data(), batch_.b,
                               problem_.b.get(), batch_.a, problem_.a.get(), beta_.data(), batch_.c,
                               problem_.c.get(), batch_.c, problem_.c.get(),
                               &results_[static_cast<size_t>(algorithm)].algo, workspace_,
                               cuda::MatMul::kWorkspaceBytes, nullptr),
                "cublasLtMatmul");
  }

 private:
  cublasLtHandle_t handle_;
  MatMulBatch batch_;
  void* workspace_;
  cuda::MatMulFactor alpha_, beta_;
  cuda::MatMulProblem problem_;
  std::array<cublasLtMatmulHeuristicResult_t, 8> results_ = {};
  int count_ = 0;
};

struct Tools {
  cublasLtHandle_t handle;
  void* workspace;
  cuda::MatMul& matmul;
};

void BenchLarge(const Tools& tools, const char* name, const MatMulShape& shape) {
  const int64_t side = shape.m, elements = side * side;
  const Buffers operands(2, elements * cuda::OperandBytes(shape), shape.type != Type::kInt8);
  const Buffers out(1, elements * cuda::ResultBytes(shape), false);
  const MatMulBatch batch = {.a = operands[0], .b = operands[1], .c = out[0]};
  const Direct direct(tools.handle, shape, batch, tools.workspace);
  MatMulBatch ours = batch;
  const Buffers scratch(1, std::max<int64_t>(tools.matmul.ScratchBytes(shape, batch), 1), false);
  ours.scratch = static_cast<std::byte*>(scratch[0]);
  ours.scratch_count = 1;
  std::vector<std::function<void(int)>> launches = {
      [&](int) { CheckCublas(tools.matmul.Run(shape, ours, nullptr), "MatMul::Run"); }};
  for (int i = 0; i < direct.count(); ++i) {
    launches.emplace_back([&direct, i](int) { direct.Launch(i); });
  }
  const std::vector<double> ms = MediansMs(launches);
  const double flops = 2.0 * static_cast<double>(elements * side);
  std::printf("%-24s %5ld %9.4f ms %8.1f TFLOP/s", name, static_cast<long>(side), ms[0],
              flops / ms[0] / 1e9);
  if (direct.count() == 0) {
    std::printf("  cuBLASLt: none\n");
    return;
  }
  const auto best = std::min_element(ms.begin() + 1, ms.end());
  std::printf("  best of cuBLASLt's %d: %9.4f ms (number %ld, the first %9.4f)  ratio %.3f\n",
              direct.count(), *best, static_cast<long>(best - ms.begin()), ms[1], *best / ms[0]);
}

void BenchSmall(const Tools& tools, int64_t side, int64_t count) {
  const int64_t stride = side * side;
  const Buffers buffers(3, stride * count * 4, true);
  const MatMulShape shape = {.type = Type::kFloat32, .m = side, .n = side, .k = side};
  const MatMulBatch one = {.a = buffers[0], .b = buffers[1], .c = buffers[2]};
  MatMulBatch all = one;
  all.stride_a = all.stride_b = all.stride_c = stride;
  all.count = count;
  const Direct direct(tools.handle, shape, all, tools.workspace);
  const auto run = [&](const MatMulBatch& batch) {
    CheckCublas(tools.matmul.Run(shape, batch, nullptr), "MatMul::Run");
  };
  const auto ms =
      MediansMs({[&](int) { run(all); }, [&](int) { run(one); }, [&](int) { direct.Launch(0); }});
  std::printf("%4ld of %ld x %ld float32  %9.4f ms  one by one %9.4f ms  cuBLASLt %9.4f ms\n",
              static_cast<long>(count), static_cast<long>(side), static_cast<long>(side), ms[0],
              ms[1] * static_cast<double>(count), ms[2]);
}

void BenchAll() {
  cublasLtHandle_t made = nullptr;
  CheckCublas(cublasLtCreate(&made), "cublasLtCreate");
  const CublasLt handle(made);
  const Buffers workspace(1, cuda::MatMul::kWorkspaceBytes, false);
  cuda::MatMul matmul(made, workspace[0]);
  const Tools tools = {made, workspace[0], matmul};
  for (const int64_t side : {1024, 4096, 8192}) {
    const MatMulShape base = {.m = side, .n = side, .k = side};
    const auto bench = [&](const char* name, Type type, Precision precision, bool transpose_b) {
      MatMulShape shape = base;
      shape.type = type;
      shape.precision = precision;
      shape.transpose_b = transpose_b;
      BenchLarge(tools, name, shape);
    };
    bench("float32", Type::kFloat32, Precision::kHighest, false);
    bench("float32 as tf32", Type::kFloat32, Precision::kTf32, false);
    bench("bfloat16", Type::kBfloat16, Precision::kHighest, false);
    bench("float16", Type::kFloat16, Precision::kHighest, false);
    bench("int8, b transposed", Type::kInt8, Precision::kHighest, true);
    bench("int8", Type::kInt8, Precision::kHighest, false);
  }
  for (const int64_t count : {64, 512, 1024}) BenchSmall(tools, 64, count);
}

}  // namespace
}  // namespace gpucall

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  gpucall::BenchAll();
}
