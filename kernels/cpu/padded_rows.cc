#include "kernels/cpu/padded_rows.h"

#include <algorithm>
#include <cstring>

namespace gpucall::cpu {
namespace {

int64_t Modulo(int64_t value, int64_t period) {
  const int64_t remainder = value % period;
  return remainder < 0 ? remainder + period : remainder;
}

}  // namespace

int64_t BorderIndex(int64_t index, int64_t size, Border border) {
  if (index >= 0 && index < size) return index;
  switch (border) {
    case Border::kNearest:
      return index < 0 ? 0 : size - 1;
    case Border::kReflect: {
      const int64_t place = Modulo(index, 2 * size);
      return std::min(place, 2 * size - 1 - place);
    }
    case Border::kMirror: {
      if (size == 1) return 0;
      const int64_t place = Modulo(index, 2 * size - 2);
      return std::min(place, 2 * size - 2 - place);
    }
    case Border::kWrap:
      return Modulo(index, size);
    case Border::kConstant:
      break;
  }
  return -1;
}

std::vector<Strip> MakeStrips(const Image& image, int64_t columns) {
  std::vector<Strip> strips;
  for (int64_t channel = 0; channel < image.channels; channel += kMaxStripChannels) {
    const int64_t channels = std::min(kMaxStripChannels, image.channels - channel);
    for (int64_t column = 0; column < image.columns; column += columns) {
      strips.push_back({column, std::min(columns, image.columns - column), channel, channels});
    }
  }
  return strips;
}

PaddedRows::PaddedRows(const Image& image, const Window& window, ConvertLoop load, size_t size)
    : image_(image),
      window_(window),
      load_(load),
      size_(size),
      constant_(kMaxStripChannels * size) {
  const double cval = window.cval;
  std::byte element[8];
  FindConvertLoop(ElementType::kFloat64, image.type)(&cval, element, 1);
  for (int64_t c = 0; c < kMaxStripChannels; ++c) {
    load(element, constant_.data() + static_cast<size_t>(c) * size, 1);
  }
}

void PaddedRows::Select(const Strip& strip) {
  strip_ = strip;
  const int64_t first = strip.column - window_.columns_before;
  const int64_t padded = strip.columns + window_.columns - 1;
  inside_ = std::clamp<int64_t>(-first, 0, padded);
  outside_ = std::clamp<int64_t>(image_.columns - first, inside_, padded);
  sources_.resize(static_cast<size_t>(padded));
  for (int64_t p = 0; p < padded; ++p) {
    sources_[static_cast<size_t>(p)] = BorderIndex(first + p, image_.columns, window_.border);
  }
}

const std::byte* PaddedRows::Pixel(const std::byte* image_row, int64_t column) const {
  return image_row +
         static_cast<size_t>(column * image_.channels + strip_.channel) * SizeOf(image_.type);
}

void PaddedRows::Load(const std::byte* image_row, int64_t column, int64_t columns,
                      std::byte* out) const {
  if (strip_.channels == image_.channels) {
    load_(Pixel(image_row, column), out, static_cast<size_t>(columns * strip_.channels));
    return;
  }
  const auto channels = static_cast<size_t>(strip_.channels);
  for (int64_t c = 0; c < columns; ++c) {
    load_(Pixel(image_row, column + c), out + static_cast<size_t>(c) * channels * size_, channels);
  }
}

void PaddedRows::Read(int64_t row, void* out) const {
  auto* target = static_cast<std::byte*>(out);
  const size_t pixel = static_cast<size_t>(strip_.channels) * size_;
  const auto padded = static_cast<int64_t>(sources_.size());
  const int64_t source = BorderIndex(row - window_.rows_before, image_.rows, window_.border);
  if (source < 0) {
    for (int64_t p = 0; p < padded; ++p) {
      std::memcpy(target + static_cast<size_t>(p) * pixel, constant_.data(), pixel);
    }
    return;
  }
  const auto* image_row =
      static_cast<const std::byte*>(image_.data) +
      static_cast<size_t>(source * image_.columns * image_.channels) * SizeOf(image_.type);
  const auto load_border = [&](int64_t p) {
    std::byte* to = target + static_cast<size_t>(p) * pixel;
    const int64_t column = sources_[static_cast<size_t>(p)];
    if (column < 0) {
      std::memcpy(to, constant_.data(), pixel);
    } else {
      Load(image_row, column, 1, to);
    }
  };
  for (int64_t p = 0; p < inside_; ++p) load_border(p);
  if (inside_ < outside_) {
    Load(image_row, sources_[static_cast<size_t>(inside_)], outside_ - inside_,
         target + static_cast<size_t>(inside_) * pixel);
  }
  for (int64_t p = outside_; p < padded; ++p) load_border(p);
}

void StripWriter::Write(const Strip& strip, int64_t row, const void* elements) const {
  const auto* source = static_cast<const std::byte*>(elements);
  const auto target = [&](int64_t column) {
    return static_cast<std::byte*>(output_.data) +
           static_cast<size_t>((row * image_.columns + column) * image_.channels + strip.channel) *
               SizeOf(output_.type);
  };
  if (strip.channels == image_.channels) {
    store_(source, target(strip.column), static_cast<size_t>(strip.count()));
    return;
  }
  const auto channels = static_cast<size_t>(strip.channels);
  for (int64_t c = 0; c < strip.columns; ++c) {
    store_(source + static_cast<size_t>(c) * channels * size_, target(strip.column + c), channels);
  }
}

}  // namespace gpucall::cpu
