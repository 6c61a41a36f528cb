// Matrix products by cuBLASLt.
#ifndef GPUCALL_KERNELS_CUDA_MATMUL_H_
#define GPUCALL_KERNELS_CUDA_MATMUL_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gpucall::cuda {

// c = op(a) op(b), row-major and dense: op(a) is m x k, op(b) is k x n, c is m x n. Any may be 0;
// with k = 0 the sums are zeros. Then, where they are set, beta * addend and bias are added, and
// negative elements become 0.
struct MatMulShape {
  enum class Type : uint8_t {
    kFloat32,
    kFloat64,
    kFloat16,
    kBfloat16,
    kComplex64,
    kComplex128,
    kInt8  // c is int32; alone: no alpha, nothing added
  };
  // Of float32 and complex64; kTf32 and kBf16 may round elements first.
  enum class Precision : uint8_t { kHighest, kTf32, kBf16 };
  Type type = Type::kFloat32;
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;  // a is stored k x m
  bool transpose_b = false;  // b is stored n x k
  bool widens = false;       // of halves: c, addend and bias are float32
  Precision precision = Precision::kHighest;
  bool has_addend = false;
  bool has_bias = false;
  bool relu = false;  // not of complex types
  auto operator<=>(const MatMulShape&) const = default;
};

// Device memory. Every matrix is aligned as its size in bytes is, up to 256, and so is a bias.
struct MatMulBatch {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  int64_t stride_a = 0, stride_b = 0,
          stride_c = 0;  // elements between products; of all but c 0 repeats
  int64_t count = 1;
  double alpha = 1, beta = 1;
  const void* addend = nullptr;
  int64_t stride_addend = 0, addend_row_stride = 0, addend_column_stride = 0;
  const void* bias = nullptr;  // n elements
  int64_t stride_bias = 0;
  // Of `scratch_count` products, MatMul::ScratchBytes each, aligned to 256.
  std::byte* scratch = nullptr;
  int64_t scratch_count = 0;
};

// Where choices outlive the process. Nothing here is an error.
class AlgorithmStore {
 public:
  virtual ~AlgorithmStore() = default;
  virtual std::optional<std::string> Read(const std::string& key) = 0;
  virtual void Write(const std::string& key, const std::string& algorithm) = 0;
};

// Products on one stream. The bits of a product depend neither on its batch nor on its place in it:
// an algorithm is chosen once for a shape, for one product, without split sums, and serves all.
// Float32 is computed in float32, without TF32, unless the shape says so. Halves are rounded once,
// after all that is added: where the library does not add it itself, a kernel does, to float32
// sums. Used by one thread at a time.
class MatMul {
 public:
  // All must outlive this object. `workspace` is device memory of kWorkspaceBytes; `store` may be
  // null.
  MatMul(cublasLtHandle_t handle, void* workspace, AlgorithmStore* store = nullptr);
  ~MatMul();

  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;

  // Enqueues all products of the batch. CUBLAS_STATUS_NOT_SUPPORTED: sizes past the library's, or
  // of kInt8 a shape that it does not do.
  cublasStatus_t Run(const MatMulShape& shape, const MatMulBatch& batch, cudaStream_t stream);

  // What Run needs for each product: for float32 sums of halves that a kernel adds to, or for int8
  // operands in the only order that tensor cores take; else 0. Of the batch it reads how the addend
  // lies.
  int64_t ScratchBytes(const MatMulShape& shape, const MatMulBatch& batch);

 private:
  static constexpr size_t kMaxKept = 4096;
  struct Prepared;

  // The shape's problem and algorithm; null: the library does not do it.
  Prepared* Prepare(const MatMulShape& shape);
  bool ReadAlgorithm(const MatMulShape& shape, Prepared& prepared);
  bool ChooseAlgorithm(const MatMulShape& shape, Prepared& prepared);
  // Whether the library adds all that is added.
  bool Adds(const MatMulShape& shape, const MatMulBatch& batch);
  // With what the library adds itself.
  cublasStatus_t Multiply(const MatMulShape& shape, const MatMulBatch& batch, Prepared& prepared,
                          cudaStream_t stream);
  // With scratch memory.
  cublasStatus_t RunWithSums(const MatMulShape& shape, const MatMulBatch& batch,
                             cudaStream_t stream);
  cublasStatus_t RunTransposed(const MatMulShape& shape, const MatMulBatch& batch,
                               cudaStream_t stream);

  cublasLtHandle_t handle_;
  void* workspace_;
  AlgorithmStore* store_;
  std::map<MatMulShape, std::unique_ptr<Prepared>> prepared_;  // null: the library does not do it
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_MATMUL_H_
