#include "server/service/decode_network.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace gpucall {
namespace {

using Field = google::protobuf::RepeatedField<int64_t>;
using Pair = std::array<int64_t, 2>;

// One value for both axes, or (rows, columns); `none` where there is none.
absl::Status DecodePair(absl::string_view name, const Field& field, int64_t none, Pair& pair) {
  if (field.size() > 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": has ", field.size(), " values, allowed are one, or two (rows, columns)"));
  }
  pair = {none, none};
  if (!field.empty()) pair = {field[0], field[field.size() - 1]};
  return absl::OkStatus();
}

absl::Status DecodePadding(const Field& field, NetworkAttributes& attributes) {
  if (field.size() == 3 || field.size() > 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("network: padding: has ", field.size(),
                     " values, allowed are one, two (rows, columns), or four (top, left, bottom, "
                     "right)"));
  }
  if (field.empty()) return absl::OkStatus();
  attributes.before = {field[0], field[field.size() > 1 ? 1 : 0]};
  attributes.after = attributes.before;
  if (field.size() == 4) attributes.after = {field[2], field[3]};
  return absl::OkStatus();
}

// `stride`: where there is none.
absl::Status DecodeSteps(const v1::Steps2d& steps, int64_t stride, NetworkAttributes& attributes) {
  for (const int64_t given : steps.stride()) {
    if (given >= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("network: stride: is ", given, ", allowed are 1 and more"));
  }
  GPUCALL_RETURN_IF_ERROR(DecodePair("network: stride", steps.stride(), stride, attributes.stride));
  GPUCALL_RETURN_IF_ERROR(
      DecodePair("network: dilation", steps.dilation(), 1, attributes.dilation));
  return DecodePadding(steps.padding(), attributes);
}

absl::Status DecodePool(const v1::Pool2d& pool, NetworkKind kind, NetworkAttributes& attributes) {
  attributes.kind = kind;
  if (pool.size().empty()) {
    return absl::InvalidArgumentError(
        "network: size: is missing, allowed are one, or two (rows, columns)");
  }
  GPUCALL_RETURN_IF_ERROR(DecodePair("network: size", pool.size(), 1, attributes.size));
  attributes.ceil_mode = pool.ceil_mode();
  attributes.count_padding = pool.count_padding();
  return DecodeSteps(pool.steps(), 0, attributes);
}

absl::Status DecodeConvolution(const v1::Conv2d& conv, NetworkAttributes& attributes) {
  attributes.groups = conv.groups() == 0 ? 1 : conv.groups();
  return DecodeSteps(conv.steps(), 1, attributes);
}

absl::Status DecodeKind(const v1::Network& network, NetworkAttributes& attributes) {
  switch (network.kind_case()) {
    case v1::Network::kConv2D:
      return DecodeConvolution(network.conv2d(), attributes);
    case v1::Network::kMaxPool2D:
      return DecodePool(network.max_pool2d(), NetworkKind::kMaxPool2d, attributes);
    case v1::Network::kAvgPool2D:
      return DecodePool(network.avg_pool2d(), NetworkKind::kAvgPool2d, attributes);
    case v1::Network::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "network: kind is not set, allowed are conv2d, max_pool2d, avg_pool2d");
}

}  // namespace

absl::StatusOr<NetworkAttributes> DecodeNetwork(const v1::Network& network) {
  NetworkAttributes attributes;
  switch (network.layout()) {
    case v1::IMAGE_LAYOUT_UNSPECIFIED:
    case v1::IMAGE_LAYOUT_NCHW:
      attributes.layout = ImageLayout::kNchw;
      break;
    case v1::IMAGE_LAYOUT_NHWC:
      attributes.layout = ImageLayout::kNhwc;
      break;
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "network: layout is ", static_cast<int>(network.layout()), ", allowed are NCHW, NHWC"));
  }
  GPUCALL_RETURN_IF_ERROR(DecodeKind(network, attributes));
  return attributes;
}

}  // namespace gpucall
