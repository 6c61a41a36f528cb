// One operation on images on its way from attributes to a step (image.h).
#ifndef GPUCALL_SERVER_PROGRAM_IMAGE_LOWERER_H_
#define GPUCALL_SERVER_PROGRAM_IMAGE_LOWERER_H_

#include <initializer_list>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/program/catalogue.h"
#include "server/program/image.h"

namespace gpucall {

// The nearest element of a dtype that images have.
double AsElement(DType dtype, double value);

// Used once. Refers to what it is made of.
class ImageLowerer {
 public:
  ImageLowerer(const ImageAttributes& attributes, absl::Span<const TensorType* const> operands)
      : attributes_(attributes), name_(RowOf(attributes.kind).name), image_(*operands[0]) {}

  // Errors: see LowerImage.
  absl::StatusOr<ImageLowering> Lower();

 private:
  using Form = ImageStep::Form;

  ImageStep& step() { return result_.step; }
  Shape& shape() { return result_.output.shape; }
  const ImageAttributes& of() const { return attributes_; }
  template <typename... Parts>
  absl::Status Invalid(const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", parts...));
  }
  // H x W, H x W x C or ... x H x W x C; a histogram is of all elements.
  absl::Status SetSizes();
  absl::Status LowerKind();
  // Elements one by one: channels are columns.
  void OneByOne(Form form);
  // Of the output; one channel of one image is rows x columns.
  void SetChannels(int64_t channels);
  void SetSides(int64_t rows, int64_t columns);
  // The image's leading dimensions, those of a batch.
  void KeepImagesOnly();
  absl::Status CheckChannels(std::initializer_list<int64_t> allowed) const;
  absl::Status CheckFinite(absl::string_view what, double value) const;
  absl::Status CheckPositive(absl::string_view what, double value) const;
  absl::Status ConvertColour();
  absl::Status Threshold();
  absl::Status CheckOtsu() const;
  absl::Status AdaptiveThreshold();
  absl::Status Counts();
  absl::Status CheckHistogram() const;
  // The image is counts, ... x 256.
  absl::Status OfCounts();
  absl::Status Integral();
  absl::Status Smooth();
  absl::Status CheckSides(int64_t least) const;
  absl::Status Resize();
  // `taps` of each axis; halves are rounded up.
  absl::Status Pyramid(int64_t rows, int64_t columns, double taps);
  absl::Status WarpAffine();
  // The element outside goes to numbers[place].
  absl::Status SetBorder(size_t place);
  absl::Status Normalise();
  absl::Status Bilateral();
  absl::Status Canny();

  const ImageAttributes& attributes_;
  const absl::string_view name_;
  const TensorType& image_;
  ImageLowering result_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_IMAGE_LOWERER_H_
