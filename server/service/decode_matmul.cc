#include "server/service/decode_matmul.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/decode_operation.h"

namespace gpucall {
namespace {

absl::StatusOr<MatMulPrecision> DecodePrecision(v1::MatMulPrecision precision) {
  switch (precision) {
    case v1::MATMUL_PRECISION_UNSPECIFIED:
    case v1::MATMUL_PRECISION_HIGHEST:
      return MatMulPrecision::kHighest;
    case v1::MATMUL_PRECISION_TF32:
      return MatMulPrecision::kTf32;
    case v1::MATMUL_PRECISION_BF16:
      return MatMulPrecision::kBf16;
    default:
      return absl::InvalidArgumentError(absl::StrCat("matmul: precision is ",
                                                     static_cast<int>(precision),
                                                     ", allowed are highest, tf32, bf16"));
  }
}

absl::StatusOr<Activation> DecodeActivation(v1::Activation activation) {
  switch (activation) {
    case v1::ACTIVATION_UNSPECIFIED:
      return Activation::kNone;
    case v1::ACTIVATION_RELU:
      return Activation::kRelu;
    case v1::ACTIVATION_GELU:
      return Activation::kGelu;
    case v1::ACTIVATION_GELU_TANH:
      return Activation::kGeluTanh;
    default:
      return absl::InvalidArgumentError(absl::StrCat("matmul: activation is ",
                                                     static_cast<int>(activation),
                                                     ", allowed are relu, gelu, gelu_tanh"));
  }
}

}  // namespace

absl::StatusOr<MatMulAttributes> DecodeMatMul(const v1::MatMul& matmul) {
  MatMulAttributes attributes = {.transpose_a = matmul.transpose_a(),
                                 .transpose_b = matmul.transpose_b(),
                                 .addend = matmul.addend(),
                                 .bias = matmul.bias()};
  if (matmul.output_dtype() != v1::DTYPE_UNSPECIFIED) {
    GPUCALL_ASSIGN_OR_RETURN(attributes.output_dtype,
                             DecodeDType("matmul: output_dtype", matmul.output_dtype()));
  }
  GPUCALL_ASSIGN_OR_RETURN(attributes.precision, DecodePrecision(matmul.precision()));
  GPUCALL_ASSIGN_OR_RETURN(attributes.activation, DecodeActivation(matmul.activation()));
  if (matmul.has_alpha()) attributes.alpha = matmul.alpha();
  if (matmul.has_beta()) attributes.beta = matmul.beta();
  return attributes;
}

}  // namespace gpucall
