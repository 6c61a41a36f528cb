#include "server/program/image_composite.h"

#include <utility>

namespace gpucall {
namespace {

class Expansion {
 public:
  Expansion(const ImageAttributes& attributes, const TensorType& image, uint32_t input,
            uint32_t next)
      : attributes_(attributes), image_(image), input_(input), next_(next) {}

  uint32_t Part(ImageKind kind, absl::InlinedVector<uint32_t, 3> inputs) {
    ImageAttributes part = attributes_;
    part.kind = kind;
    return Append({std::move(part), std::move(inputs)});
  }

  // Along both axes, in float32.
  uint32_t Smoothed() {
    uint32_t value = input_;
    if (image_.dtype != DType::kFloat32) value = Append({CastAttributes{DType::kFloat32}, {value}});
    for (const int axis : {0, 1}) {
      ImageAttributes part = attributes_;
      part.kind = ImageKind::kSmooth;
      part.axis = axis;
      value = Append({std::move(part), {value}});
    }
    return value;
  }

  uint32_t OtsuValue() {
    return Part(ImageKind::kOtsuValue, {Part(ImageKind::kCountValues, {input_})});
  }

  void Integral() {
    const int64_t rank = static_cast<int64_t>(image_.shape.size());
    const int64_t rows = rank == 2 ? 0 : rank - 3;
    uint32_t value = input_;
    if (IsFloating(image_.dtype)) value = Append({CastAttributes{DType::kFloat64}, {value}});
    value = Append({ScanAttributes{.op = ScanOp::kCumSum, .axis = rows + 1}, {value}});
    value = Append({ScanAttributes{.op = ScanOp::kCumSum, .axis = rows}, {value}});
    RearrangeAttributes pad = {.kind = RearrangeKind::kPad};
    for (int64_t d = 0; d < rank; ++d) {
      pad.before.push_back(d == rows || d == rows + 1 ? 1 : 0);
      pad.after.push_back(0);
    }
    Append({std::move(pad), {value}});
  }

  std::vector<Operation> Take() { return std::move(operations_); }

 private:
  uint32_t Append(Operation operation) {
    operations_.push_back(std::move(operation));
    return next_++;
  }

  const ImageAttributes& attributes_;
  const TensorType& image_;
  const uint32_t input_;
  uint32_t next_;
  std::vector<Operation> operations_;
};

}  // namespace

std::vector<Operation> ExpandImage(const Operation& operation, const TensorType& image,
                                   uint32_t next) {
  const auto& attributes = std::get<ImageAttributes>(operation.attributes);
  const uint32_t input = operation.inputs[0];
  Expansion all(attributes, image, input, next);
  switch (attributes.kind) {
    case ImageKind::kThreshold:
      if (!attributes.otsu) return {operation};
      all.Part(ImageKind::kThresholdBy, {input, all.OtsuValue()});
      break;
    case ImageKind::kAdaptiveThreshold:
      all.Part(ImageKind::kAboveMean, {input, all.Smoothed()});
      break;
    case ImageKind::kOtsu:
      all.OtsuValue();
      break;
    case ImageKind::kEqualiseHistogram: {
      const uint32_t counts = all.Part(ImageKind::kCountValues, {input});
      all.Part(ImageKind::kLookUp, {input, all.Part(ImageKind::kEqualiseTable, {counts})});
      break;
    }
    case ImageKind::kIntegral:
      all.Integral();
      break;
    case ImageKind::kUnsharpMask:
      all.Part(ImageKind::kSharpen, {input, all.Smoothed()});
      break;
    case ImageKind::kCanny:
      all.Part(ImageKind::kHysteresis, {all.Part(ImageKind::kCannyMap, {input})});
      break;
    default:
      return {operation};
  }
  return all.Take();
}

}  // namespace gpucall
