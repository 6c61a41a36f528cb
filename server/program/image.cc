#include "server/program/image.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

// H x W, H x W x C or ... x H x W x C.
absl::StatusOr<ImageStep::Sizes> SizesOf(absl::string_view name, const Shape& shape) {
  if (shape.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": image has rank ", shape.size(), " (shape ", ShapeString(shape),
        "), allowed is (rows, columns), (rows, columns, channels) or images of ", "these three"));
  }
  ImageStep::Sizes sizes;
  const size_t rows = shape.size() == 2 ? 0 : shape.size() - 3;
  for (size_t d = 0; d < rows; ++d) sizes.images *= shape[d];
  sizes.rows = shape[rows];
  sizes.columns = shape[rows + 1];
  if (shape.size() > 2) sizes.channels = shape.back();
  return sizes;
}

// One image in the making.
class Lowering {
 public:
  Lowering(const ImageAttributes& attributes, const TensorType& image)
      : attributes_(attributes), row_(RowOf(attributes.kind)), image_(image) {}

  absl::StatusOr<ImageLowering> Lower() {
    GPUCALL_RETURN_IF_ERROR(CheckOffered(row_, image_.dtype));
    GPUCALL_ASSIGN_OR_RETURN(result_.step.in, SizesOf(row_.name, image_.shape));
    result_.step.out = result_.step.in;
    result_.output = image_;
    switch (attributes_.kind) {
      case ImageKind::kConvertColour:
        GPUCALL_RETURN_IF_ERROR(ConvertColour());
        break;
    }
    return std::move(result_);
  }

 private:
  absl::Status ConvertColour() {
    const ColourConversion conversion = attributes_.conversion;
    const bool hsv =
        conversion == ColourConversion::kRgbToHsv || conversion == ColourConversion::kHsvToRgb;
    if (hsv && image_.dtype == DType::kUint16) {
      return absl::UnimplementedError(absl::StrCat(
          row_.name, ": dtype uint16 is not offered for hsv, dtypes are uint8, float32"));
    }
    const int64_t from = conversion == ColourConversion::kGrayToRgb ? 1 : 3;
    if (result_.step.in.channels != from) {
      return absl::InvalidArgumentError(
          absl::StrCat(row_.name, ": image of shape ", ShapeString(image_.shape), " has ",
                       result_.step.in.channels, " channels, allowed is ", from));
    }
    result_.step.form = ImageStep::Form::kConvertColour;
    result_.step.option = static_cast<int>(conversion);
    if (conversion == ColourConversion::kRgbToGray) SetChannels(1);
    if (conversion == ColourConversion::kGrayToRgb) SetChannels(3);
    return absl::OkStatus();
  }

  // Of the output; one channel of one image is rows x columns.
  void SetChannels(int64_t channels) {
    Shape& shape = result_.output.shape;
    result_.step.out.channels = channels;
    if (shape.size() == 2) shape.push_back(channels);
    shape.back() = channels;
    if (shape.size() == 3 && channels == 1) shape.pop_back();
  }

  const ImageAttributes& attributes_;
  const CatalogueRow& row_;
  const TensorType& image_;
  ImageLowering result_;
};

}  // namespace

absl::StatusOr<ImageLowering> LowerImage(const ImageAttributes& attributes,
                                         absl::Span<const TensorType* const> operands) {
  return Lowering(attributes, *operands[0]).Lower();
}

}  // namespace gpucall
