// Matrix products by cuBLASLt.
#ifndef GPUCALL_KERNELS_CUDA_MATMUL_H_
#define GPUCALL_KERNELS_CUDA_MATMUL_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>

namespace gpucall::cuda {

// c = op(a) op(b), row-major and dense: op(a) is m x k, op(b) is k x n, c is m x n. Any may be 0;
// with k = 0 the product is zeros.
struct MatMulShape {
  enum class Type : uint8_t { kFloat32, kFloat64 };
  Type type = Type::kFloat32;
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;  // a is stored k x m
  bool transpose_b = false;  // b is stored n x k
  auto operator<=>(const MatMulShape&) const = default;
};

// Device memory. Every matrix is aligned as its size in bytes is, up to 256.
struct MatMulBatch {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  int64_t stride_a = 0, stride_b = 0,
          stride_c = 0;  // elements between products; of a and b 0 repeats
  int64_t count = 1;
};

// Products on one stream. The bits of a product depend neither on its batch nor on its place in it:
// an algorithm is chosen once for a shape, for one product, without split sums, and serves all.
// Float32 is computed in float32, without TF32. Used by one thread at a time.
class MatMul {
 public:
  // Both must outlive this object. `workspace` is device memory of kWorkspaceBytes.
  MatMul(cublasLtHandle_t handle, void* workspace) : handle_(handle), workspace_(workspace) {}

  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;

  // Enqueues all products of the batch. CUBLAS_STATUS_NOT_SUPPORTED: sizes past the library's.
  cublasStatus_t Run(const MatMulShape& shape, const MatMulBatch& batch, cudaStream_t stream);

 private:
  static constexpr size_t kMaxKeptAlgorithms = 4096;

  cublasStatus_t FindAlgorithm(const MatMulShape& shape, cublasLtMatmulAlgo_t& algorithm);

  cublasLtHandle_t handle_;
  void* workspace_;
  std::map<MatMulShape, cublasLtMatmulAlgo_t> algorithms_;
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_MATMUL_H_
