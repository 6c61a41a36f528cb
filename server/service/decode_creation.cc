#include "server/service/decode_creation.h"

#include "server/base/status_macros.h"
#include "server/service/decode_operation.h"

namespace gpucall {
namespace {

absl::Status DecodeKind(const v1::Creation& creation, CreationAttributes& attributes) {
  switch (creation.kind_case()) {
    case v1::Creation::kFull:
      attributes.kind = CreationKind::kFull;
      attributes.value = creation.full().value();
      return absl::OkStatus();
    case v1::Creation::kArange:
      attributes.kind = CreationKind::kArange;
      attributes.first = creation.arange().start();
      attributes.step = creation.arange().step();
      attributes.integer_first = creation.arange().integer_start();
      attributes.integer_step = creation.arange().integer_step();
      return absl::OkStatus();
    case v1::Creation::kRandomUniform:
      attributes.kind = CreationKind::kRandomUniform;
      attributes.first = creation.random_uniform().low();
      attributes.step = creation.random_uniform().high();
      attributes.seed = creation.random_uniform().seed();
      return absl::OkStatus();
    case v1::Creation::kRandomNormal:
      attributes.kind = CreationKind::kRandomNormal;
      attributes.first = creation.random_normal().mean();
      attributes.step = creation.random_normal().standard_deviation();
      attributes.seed = creation.random_normal().seed();
      return absl::OkStatus();
    case v1::Creation::kRandomIntegers:
      attributes.kind = CreationKind::kRandomIntegers;
      attributes.integer_first = creation.random_integers().low();
      attributes.range = creation.random_integers().range();
      attributes.seed = creation.random_integers().seed();
      return absl::OkStatus();
    case v1::Creation::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "creation: kind is not set, allowed are full, arange, random_uniform, random_normal, "
      "random_integers");
}

}  // namespace

absl::StatusOr<CreationAttributes> DecodeCreation(const v1::Creation& creation) {
  CreationAttributes attributes;
  GPUCALL_ASSIGN_OR_RETURN(attributes.dtype, DecodeDType("creation", creation.dtype()));
  attributes.shape.assign(creation.shape().begin(), creation.shape().end());
  GPUCALL_RETURN_IF_ERROR(DecodeKind(creation, attributes));
  return attributes;
}

}  // namespace gpucall
