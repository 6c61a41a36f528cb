#include "kernels/cuda/matmul_problem.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace gpucall::cuda {
namespace {

using Type = MatMulShape::Type;
using Precision = MatMulShape::Precision;

template <typename ValueT>
cublasStatus_t Set(cublasLtMatmulDesc_t descriptor, cublasLtMatmulDescAttributes_t attribute,
                   ValueT value) {
  return cublasLtMatmulDescSetAttribute(descriptor, attribute, &value, sizeof(value));
}
template <typename ValueT>
cublasStatus_t Set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
                   ValueT value) {
  return cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof(value));
}
template <typename ValueT>
cublasStatus_t Set(cublasLtMatmulPreference_t preference,
                   cublasLtMatmulPreferenceAttributes_t attribute, ValueT value) {
  return cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value));
}

struct Types {
  cudaDataType_t operands, result, scale;
  cublasComputeType_t compute;
};

Types TypesOf(const MatMulShape& shape) {
  switch (shape.type) {
    case Type::kFloat32:
      return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Type::kFloat64:
      return {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case Type::kFloat16:
      return {CUDA_R_16F, shape.widens ? CUDA_R_32F : CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Type::kBfloat16:
      return {CUDA_R_16BF, shape.widens ? CUDA_R_32F : CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Type::kComplex64:
      return {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
    case Type::kComplex128:
      return {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    case Type::kInt8:
      break;
  }
  return {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I};
}

cublasComputeType_t ComputeType(const MatMulShape& shape) {
  const bool has_choice = shape.type == Type::kFloat32 || shape.type == Type::kComplex64;
  if (has_choice && shape.precision == Precision::kTf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
  if (has_choice && shape.precision == Precision::kBf16) return CUBLAS_COMPUTE_32F_FAST_16BF;
  return TypesOf(shape).compute;
}

cublasLtEpilogue_t Epilogue(const MatMulShape& shape) {
  if (shape.has_bias) return shape.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return shape.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

// `rows` x `columns`, column-major and dense.
cublasStatus_t MakeLayout(cudaDataType_t type, int64_t rows, int64_t columns, LtLayout& layout) {
  cublasLtMatrixLayout_t made = nullptr;
  const cublasStatus_t status = cublasLtMatrixLayoutCreate(&made, type, static_cast<uint64_t>(rows),
                                                           static_cast<uint64_t>(columns), rows);
  layout.reset(made);
  return status;
}

// What the addresses of matrices of this size are all multiples of, in a dense batch too.
uint32_t Alignment(int64_t element_bytes, int64_t rows, int64_t columns) {
  const int64_t size_bytes = rows * columns * element_bytes;
  return static_cast<uint32_t>(std::min<int64_t>(size_bytes & -size_bytes, 256));
}

}  // namespace

int64_t OperandBytes(const MatMulShape& shape) {
  switch (shape.type) {
    case Type::kInt8:
      return 1;
    case Type::kFloat16:
    case Type::kBfloat16:
      return 2;
    case Type::kFloat32:
      return 4;
    case Type::kFloat64:
    case Type::kComplex64:
      return 8;
    case Type::kComplex128:
      break;
  }
  return 16;
}

int64_t ResultBytes(const MatMulShape& shape) {
  return shape.type == Type::kInt8 || shape.widens ? 4 : OperandBytes(shape);
}

MatMulBatch Part(const MatMulShape& shape, MatMulBatch batch, int64_t first, int64_t count) {
  const auto move = [first](auto*& data, int64_t stride, int64_t bytes) {
    using Bytes = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(+data)>>,
                                     const std::byte, std::byte>;
    if (data != nullptr) data = static_cast<Bytes*>(data) + first * stride * bytes;
  };
  const int64_t operand_bytes = OperandBytes(shape), bytes = ResultBytes(shape);
  move(batch.a, batch.stride_a, operand_bytes);
  move(batch.b, batch.stride_b, operand_bytes);
  move(batch.c, batch.stride_c, bytes);
  move(batch.addend, batch.stride_addend, bytes);
  move(batch.bias, batch.stride_bias, bytes);
  batch.count = count;
  return batch;
}

cublasStatus_t MatMulProblem::Make(const MatMulShape& shape) {
  const Types types = TypesOf(shape);
  has_addend = shape.has_addend;
  cublasLtMatmulDesc_t made = nullptr;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(cublasLtMatmulDescCreate(&made, ComputeType(shape), types.scale));
  descriptor.reset(made);
  const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_DESC_TRANSA, operation(shape.transpose_b)));
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_DESC_TRANSB, operation(shape.transpose_a)));
  if (shape.has_bias || shape.relu) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(Set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, Epilogue(shape)));
  }
  const auto [m, n, k] = std::array{shape.m, shape.n, shape.k};
  GPUCALL_RETURN_IF_CUBLAS_ERROR(shape.transpose_b ? MakeLayout(types.operands, k, n, b)
                                                   : MakeLayout(types.operands, n, k, b));
  GPUCALL_RETURN_IF_CUBLAS_ERROR(shape.transpose_a ? MakeLayout(types.operands, m, k, a)
                                                   : MakeLayout(types.operands, k, m, a));
  GPUCALL_RETURN_IF_CUBLAS_ERROR(MakeLayout(types.result, n, m, addend));
  return MakeLayout(types.result, n, m, c);
}

cublasStatus_t MatMulProblem::SetBatch(const MatMulBatch& batch, int64_t count) {
  const int64_t of_addend = has_addend ? batch.stride_addend : batch.stride_c;
  const std::array<std::pair<cublasLtMatrixLayout_t, int64_t>, 4> strides = {
      {{a.get(), batch.stride_a},
       {b.get(), batch.stride_b},
       {addend.get(), of_addend},
       {c.get(), batch.stride_c}}};
  for (const auto& [layout, stride] : strides) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(
        Set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(count)));
    GPUCALL_RETURN_IF_CUBLAS_ERROR(
        Set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t MatMulProblem::SetBias(const void* bias, int64_t stride) {
  GPUCALL_RETURN_IF_CUBLAS_ERROR(Set(descriptor.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias));
  return Set(descriptor.get(), CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, stride);
}

cublasStatus_t MakePreference(const MatMulShape& shape, LtPreference& preference) {
  cublasLtMatmulPreference_t made = nullptr;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(cublasLtMatmulPreferenceCreate(&made));
  preference.reset(made);
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{MatMul::kWorkspaceBytes}));
  GPUCALL_RETURN_IF_CUBLAS_ERROR(Set(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                     uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE}));
  // The library's a is our b.
  const int64_t bytes = OperandBytes(shape);
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Alignment(bytes, shape.k, shape.n)));
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Alignment(bytes, shape.m, shape.k)));
  const int64_t rows = shape.has_bias ? 1 : shape.m;  // a bias is read as c is written
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(
        Set(made, attribute, Alignment(ResultBytes(shape), rows, shape.n)));
  }
  return CUBLAS_STATUS_SUCCESS;
}

MatMulFactor::MatMulFactor(const MatMulShape& shape, double value) : value_{} {
  switch (TypesOf(shape).scale) {
    case CUDA_R_32I:
      value_.integer = static_cast<int32_t>(value);
      break;
    case CUDA_R_64F:
    case CUDA_C_64F:
      value_.wide[0] = value;
      value_.wide[1] = 0;
      break;
    default:
      value_.real[0] = static_cast<float>(value);
      value_.real[1] = 0;
      break;
  }
}

}  // namespace gpucall::cuda
