#include "server/program/creation.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

// Significant bits of the floating dtypes.
int SignificantBits(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 11;
    case DType::kBfloat16:
      return 8;
    case DType::kFloat32:
      return 24;
    default:
      return 53;
  }
}

bool IsHalf(DType dtype) { return IsFloating(dtype) && ElementSize(dtype) == 2; }

absl::Status CheckNumber(absl::string_view name, absl::string_view argument, double number) {
  if (std::isfinite(number)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", argument, " is ", number, ", allowed are finite numbers"));
}

absl::Status CheckNumbers(const CreationAttributes& attributes, absl::string_view name,
                          absl::string_view first, absl::string_view second) {
  GPUCALL_RETURN_IF_ERROR(CheckNumber(name, first, attributes.first));
  return CheckNumber(name, second, attributes.step);
}

absl::Status CheckRandom(const CreationAttributes& attributes, absl::string_view name) {
  if (attributes.kind == CreationKind::kRandomNormal) {
    GPUCALL_RETURN_IF_ERROR(CheckNumbers(attributes, name, "mean", "standard_deviation"));
    if (attributes.step >= 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(name, ": standard_deviation is ",
                                                   attributes.step, ", allowed are 0 and above"));
  }
  GPUCALL_RETURN_IF_ERROR(CheckNumbers(attributes, name, "low", "high"));
  if (attributes.first <= attributes.step) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": low is ", attributes.first, ", above high, ", attributes.step));
}

// That low .. low + range - 1 are of the dtype.
absl::Status CheckIntegers(const CreationAttributes& attributes, absl::string_view name) {
  const auto bits = 8 * ElementSize(attributes.dtype);
  const bool is_signed = KindOf(attributes.dtype) == DTypeKind::kSigned;
  const __int128 lowest = is_signed ? -(static_cast<__int128>(1) << (bits - 1)) : 0;
  const __int128 past = lowest + (static_cast<__int128>(1) << bits);
  const __int128 low = attributes.integer_first;
  const __int128 range = attributes.range == 0 ? static_cast<__int128>(1) << 64
                                               : static_cast<__int128>(attributes.range);
  if (low >= lowest && low + range <= past) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": low is ", attributes.integer_first, " and range ",
                   attributes.range == 0 ? std::string("2^64") : absl::StrCat(attributes.range),
                   ", which are not all ", DTypeName(attributes.dtype)));
}

absl::Status CheckKind(const CreationAttributes& attributes, absl::string_view name) {
  switch (attributes.kind) {
    case CreationKind::kFull:
      if (attributes.value.size() == ElementSize(attributes.dtype)) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": value has ", attributes.value.size(), " bytes, allowed are the ",
                       ElementSize(attributes.dtype), " of a ", DTypeName(attributes.dtype)));
    case CreationKind::kArange:
      if (attributes.shape.size() != 1) {
        return absl::InvalidArgumentError(absl::StrCat(
            name, ": shape has ", attributes.shape.size(), " dimensions, allowed is one"));
      }
      return CheckNumbers(attributes, name, "start", "step");
    case CreationKind::kRandomUniform:
    case CreationKind::kRandomNormal:
      return CheckRandom(attributes, name);
    case CreationKind::kRandomIntegers:
      return CheckIntegers(attributes, name);
  }
  return absl::OkStatus();
}

template <class T>
void SetArange(const CreationAttributes& attributes, CreationStep& step) {
  step.first = static_cast<T>(attributes.first);
  step.second = static_cast<T>(attributes.first + attributes.step);
  step.step = static_cast<T>(step.second) - static_cast<T>(step.first);
}

Step FullStep(const CreationAttributes& attributes, uint32_t output) {
  RearrangeStep step = {.output = output, .parts = {}, .attributes = {}};
  std::memcpy(step.fill.data(), attributes.value.data(), attributes.value.size());
  step.attributes = absl::StrCat("full ", ShapeString(attributes.shape), attributes.value);
  const int64_t count = ElementCount(attributes.shape);
  step.parts.push_back({RearrangeStep::kFill, 0, 0, {count}, {0}, {1}});
  return step;
}

}  // namespace

absl::Status CheckCreation(const CreationAttributes& attributes) {
  const CatalogueRow& row = RowOf(attributes.kind);
  GPUCALL_RETURN_IF_ERROR(CheckOffered(row, attributes.dtype));
  GPUCALL_RETURN_IF_ERROR(CheckedSizeBytes(row.name, attributes.dtype, attributes.shape).status());
  return CheckKind(attributes, row.name);
}

Step LowerCreation(const CreationAttributes& attributes, uint32_t output) {
  if (attributes.kind == CreationKind::kFull) return FullStep(attributes, output);
  CreationStep step = {.output = output, .kind = attributes.kind};
  step.seed = attributes.seed;
  step.integer_first = attributes.integer_first;
  step.integer_step = attributes.integer_step;
  step.range = attributes.range;
  step.first = attributes.first;
  step.step = attributes.step;
  if (attributes.kind == CreationKind::kRandomUniform) {
    step.bits = attributes.bits > 0 ? attributes.bits : SignificantBits(attributes.dtype);
    step.step = attributes.step - attributes.first;
  } else if (attributes.kind == CreationKind::kArange) {
    if (attributes.dtype == DType::kFloat32) SetArange<float>(attributes, step);
    if (attributes.dtype == DType::kFloat64) SetArange<double>(attributes, step);
  }
  return step;
}

std::vector<Operation> ExpandCreation(const Operation& operation, uint32_t next) {
  const auto& attributes = std::get<CreationAttributes>(operation.attributes);
  if (!IsHalf(attributes.dtype) || attributes.kind == CreationKind::kFull) return {operation};
  CreationAttributes wider = attributes;
  wider.dtype = DType::kFloat32;
  wider.bits = SignificantBits(attributes.dtype);
  return {{wider, {}}, {CastAttributes{attributes.dtype}, {next}}};
}

}  // namespace gpucall
