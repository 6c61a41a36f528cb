#include "server/program/matmul.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

using Operands = absl::Span<const TensorType* const>;

constexpr double kMaxWhole = 9007199254740992.0;  // 2^53

bool IsHalf(DType dtype) { return IsFloating(dtype) && ElementSize(dtype) == 2; }

bool IsGelu(Activation activation) {
  return activation == Activation::kGelu || activation == Activation::kGeluTanh;
}

// Of a and b as they are multiplied: equal, or both integers.
struct Operand {
  absl::string_view name;
  const Shape& shape;
  bool transpose;
  bool is_vector() const { return shape.size() == 1; }
  absl::Span<const int64_t> batch() const {
    return absl::MakeConstSpan(shape).first(is_vector() ? 0 : shape.size() - 2);
  }
  // Of the last two dimensions, transposed where asked: the first, or the second. Not of vectors.
  int64_t side(bool second) const { return shape[shape.size() - (second == transpose ? 2 : 1)]; }
  std::string Text() const {
    return absl::StrCat(name, " ", ShapeString(shape), transpose ? " transposed" : "");
  }
};

absl::Status CheckCount(const MatMulAttributes& attributes, size_t got) {
  const size_t wanted = 2 + (attributes.addend ? 1 : 0) + (attributes.bias ? 1 : 0);
  if (got == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("matmul: got ", got, " inputs, needs ", wanted,
                                                 " (a, b", attributes.addend ? ", c" : "",
                                                 attributes.bias ? ", bias" : "", ")"));
}

// The dtype that operands promote to, or the one asked for.
absl::StatusOr<DType> ResultDType(const MatMulAttributes& attributes, DType a, DType b) {
  const CatalogueRow& row = RowOf(OperationKind::kMatMul);
  GPUCALL_RETURN_IF_ERROR(CheckOffered(row, a));
  GPUCALL_RETURN_IF_ERROR(CheckOffered(row, b));
  const DType promoted = Promote(a, b), wanted = attributes.output_dtype;
  if (wanted == DType::kUnspecified || wanted == promoted) return promoted;
  if (IsInteger(promoted) && IsInteger(wanted)) return wanted;
  if (IsHalf(promoted) && wanted == DType::kFloat32) return wanted;
  return absl::InvalidArgumentError(
      absl::StrCat("matmul: output_dtype is ", DTypeName(wanted), " for dtypes ", DTypeName(a),
                   " and ", DTypeName(b), ", allowed are ",
                   IsInteger(promoted)
                       ? "integers"
                       : absl::StrCat(DTypeName(promoted), IsHalf(promoted) ? ", float32" : "")));
}

absl::Status CheckAttributes(const MatMulAttributes& attributes, DType result) {
  for (const auto& [name, value] :
       {std::pair("alpha", attributes.alpha), std::pair("beta", attributes.beta)}) {
    if (IsInteger(result) && !(std::trunc(value) == value && std::abs(value) <= kMaxWhole)) {
      return absl::InvalidArgumentError(
          absl::StrCat("matmul: ", name, " is ", value,
                       ", allowed for integers are whole numbers up to 2^53 either way"));
    }
  }
  const Activation activation = attributes.activation;
  if ((IsGelu(activation) && !IsFloating(result)) ||
      (activation == Activation::kRelu && KindOf(result) == DTypeKind::kComplex)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "matmul: activation is ", IsGelu(activation) ? "gelu" : "relu", " for a result of dtype ",
        DTypeName(result), IsInteger(result) ? ", allowed is relu" : ", allowed is none"));
  }
  return absl::OkStatus();
}

absl::Status CheckRank(const Operand& operand) {
  if (!operand.shape.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("matmul: ", operand.name, " has rank 0 (shape ()), allowed is 1 to ", kMaxRank));
}

absl::Status SetSizes(const Operand& a, const Operand& b, MatMulStep& step) {
  const int64_t inner_a = a.is_vector() ? a.shape[0] : a.side(true);
  const int64_t inner_b = b.is_vector() ? b.shape[0] : b.side(false);
  if (inner_a != inner_b) {
    return absl::InvalidArgumentError(absl::StrCat("matmul: inner dimensions differ, ", inner_a,
                                                   " of ", a.Text(), " against ", inner_b, " of ",
                                                   b.Text()));
  }
  absl::StatusOr<Shape> batch = BroadcastShapes(a.batch(), b.batch());
  if (!batch.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("matmul: batch ", batch.status().message(), " (",
                                                   a.Text(), ", ", b.Text(), ")"));
  }
  step.m = a.is_vector() ? 1 : a.side(false);
  step.n = b.is_vector() ? 1 : b.side(true);
  step.k = inner_a;
  step.batch = *std::move(batch);
  step.a_batch.assign(a.batch().begin(), a.batch().end());
  step.b_batch.assign(b.batch().begin(), b.batch().end());
  return absl::OkStatus();
}

absl::Status CheckDType(absl::string_view name, const TensorType& type, DType result) {
  if (type.dtype == result) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("matmul: ", name, " has dtype ",
                                                 DTypeName(type.dtype), ", allowed is ",
                                                 DTypeName(result), ", the result's"));
}

// `has_m`, `has_n`: dimensions that the result has.
absl::Status SetAddend(const TensorType& c, const TensorType& result, bool has_m, bool has_n,
                       MatMulStep& step) {
  GPUCALL_RETURN_IF_ERROR(CheckDType("c", c, result.dtype));
  const absl::StatusOr<Shape> together = BroadcastShapes(c.shape, result.shape);
  if (!together.ok() || *together != result.shape) {
    return absl::InvalidArgumentError(absl::StrCat("matmul: c of shape ", ShapeString(c.shape),
                                                   " does not broadcast to the result's shape ",
                                                   ShapeString(result.shape)));
  }
  absl::InlinedVector<int64_t, kMaxRank + 2> strides(result.shape.size(), 0);
  int64_t stride = 1;
  for (size_t d = 0; d < c.shape.size(); ++d) {
    const int64_t size = c.shape[c.shape.size() - 1 - d];
    if (size != 1) strides[strides.size() - 1 - d] = stride;
    stride *= size;
  }
  if (!has_m) strides.insert(has_n ? strides.end() - 1 : strides.end(), 0);
  if (!has_n) strides.push_back(0);
  step.c_strides = strides;
  return absl::OkStatus();
}

absl::Status CheckBias(const TensorType& bias, const TensorType& result, const MatMulStep& step) {
  GPUCALL_RETURN_IF_ERROR(CheckDType("bias", bias, result.dtype));
  if (bias.shape == Shape{step.n}) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("matmul: bias has shape ", ShapeString(bias.shape),
                                                 ", allowed is (", step.n,
                                                 "), an element for each column of the result"));
}

// The same for each row: a bias.
bool IsRow(const MatMulStep& step) {
  if (step.bias != MatMulStep::kNone || step.attributes.beta != 1) return false;
  const auto& strides = step.c_strides;
  for (size_t d = 0; d + 1 < strides.size(); ++d) {
    if (strides[d] != 0) return false;
  }
  return strides.back() == 1;
}

absl::Status SetRest(const MatMulAttributes& attributes, Operands operands,
                     MatMulLowering& lowering) {
  MatMulStep& step = lowering.step;
  if (attributes.bias) {
    step.bias = static_cast<uint32_t>(operands.size()) - 1;
    GPUCALL_RETURN_IF_ERROR(CheckBias(*operands.back(), lowering.output, step));
  }
  if (!attributes.addend) return absl::OkStatus();
  const bool has_m = operands[0]->shape.size() > 1, has_n = operands[1]->shape.size() > 1;
  GPUCALL_RETURN_IF_ERROR(SetAddend(*operands[2], lowering.output, has_m, has_n, step));
  if (IsRow(step)) {
    step.bias = 2;
  } else if (attributes.beta != 0) {
    step.c = 2;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MatMulLowering> LowerMatMul(const MatMulAttributes& attributes, Operands operands) {
  GPUCALL_RETURN_IF_ERROR(CheckCount(attributes, operands.size()));
  const Operand a = {"a", operands[0]->shape,
                     attributes.transpose_a && operands[0]->shape.size() > 1};
  const Operand b = {"b", operands[1]->shape,
                     attributes.transpose_b && operands[1]->shape.size() > 1};
  GPUCALL_RETURN_IF_ERROR(CheckRank(a));
  GPUCALL_RETURN_IF_ERROR(CheckRank(b));
  MatMulLowering lowering;
  TensorType& output = lowering.output;
  GPUCALL_ASSIGN_OR_RETURN(output.dtype,
                           ResultDType(attributes, operands[0]->dtype, operands[1]->dtype));
  GPUCALL_RETURN_IF_ERROR(CheckAttributes(attributes, output.dtype));
  MatMulStep& step = lowering.step;
  step.a = 0;
  step.b = 1;
  step.attributes = attributes;
  step.attributes.transpose_a = a.transpose;
  step.attributes.transpose_b = b.transpose;
  GPUCALL_RETURN_IF_ERROR(SetSizes(a, b, step));
  output.shape = step.batch;
  if (!a.is_vector()) output.shape.push_back(step.m);
  if (!b.is_vector()) output.shape.push_back(step.n);
  if (output.shape.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul: result has over ", kMaxRank, " dimensions"));
  }
  GPUCALL_RETURN_IF_ERROR(CheckedSizeBytes("matmul: result", output.dtype, output.shape).status());
  GPUCALL_RETURN_IF_ERROR(SetRest(attributes, operands, lowering));
  return lowering;
}

std::vector<Operation> ExpandMatMul(const Operation& operation, absl::Span<const DType> operands,
                                    uint32_t next) {
  const auto& wanted = std::get<MatMulAttributes>(operation.attributes);
  const DType promoted = Promote(operands[0], operands[1]);
  const DType result = wanted.output_dtype == DType::kUnspecified ? promoted : wanted.output_dtype;
  std::vector<Operation> operations;
  Operation product = operation;
  for (size_t i = 0; i < 2; ++i) {
    if (operands[i] == promoted || IsInteger(promoted)) continue;
    operations.push_back({CastAttributes{promoted}, {operation.inputs[i]}});
    product.inputs[i] = next++;
  }
  if (!IsGelu(wanted.activation)) {
    operations.push_back(std::move(product));
    return operations;
  }
  auto& attributes = std::get<MatMulAttributes>(product.attributes);
  attributes.activation = Activation::kNone;
  const bool widens = IsHalf(result);
  for (size_t i = 2; widens && i < operands.size(); ++i) {
    operations.push_back({CastAttributes{DType::kFloat32}, {operation.inputs[i]}});
    product.inputs[i] = next++;
  }
  if (widens) attributes.output_dtype = DType::kFloat32;
  operations.push_back(std::move(product));
  operations.push_back(
      {wanted.activation == Activation::kGelu ? ElementwiseOp::kGelu : ElementwiseOp::kGeluTanh,
       {next++}});
  if (widens) operations.push_back({CastAttributes{result}, {next++}});
  return operations;
}

}  // namespace gpucall
