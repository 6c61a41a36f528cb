// Rows of an image as windows see them: converted, cut to a strip, and continued past its border.
#ifndef GPUCALL_KERNELS_CPU_PADDED_ROWS_H_
#define GPUCALL_KERNELS_CPU_PADDED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/aligned_array.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/filter.h"

namespace gpucall::cpu {

// Index in 0 .. size-1 that `index` stands for, -1 for the constant. REQUIRES: size >= 1.
int64_t BorderIndex(int64_t index, int64_t size, Border border);

// Some columns and channels of an image: one strip of the output.
struct Strip {
  int64_t column, columns;
  int64_t channel, channels;
  int64_t count() const { return columns * channels; }
};

// REQUIRES (all below): the image is not empty.
// Strips that cover the image, each of at least `columns` columns where the image has them.
// Channels stay together up to kMaxStripChannels: memory stays bounded whatever their number.
inline constexpr int64_t kMaxStripChannels = 64;
std::vector<Strip> MakeStrips(const Image& image, int64_t columns);

// Not thread-safe. The image must outlive it.
class PaddedRows {
 public:
  // Elements are converted by `load` to a type of `size` bytes.
  PaddedRows(const Image& image, const Window& window, ConvertLoop load, size_t size);

  // Rows now are the strip's, with window.columns - 1 further columns.
  void Select(const Strip& strip);
  int64_t row_count() const { return image_.rows + window_.rows - 1; }
  int64_t element_count() const { return static_cast<int64_t>(sources_.size()) * strip_.channels; }

  // Writes element_count() elements: row y + i is the one window row i of output row y reads.
  void Read(int64_t row, void* out) const;

 private:
  void Load(const std::byte* image_row, int64_t column, int64_t columns, std::byte* out) const;
  const std::byte* Pixel(const std::byte* image_row, int64_t column) const;

  const Image image_;
  const Window window_;
  const ConvertLoop load_;
  const size_t size_;
  AlignedArray<std::byte> constant_;  // kMaxStripChannels elements
  Strip strip_ = {};
  std::vector<int64_t> sources_;      // the image's column for each padded one, -1: constant
  int64_t inside_ = 0, outside_ = 0;  // first padded column in the image, first one after it
};

// Writes a strip's row of converted results to the output.
class StripWriter {
 public:
  StripWriter(const Image& image, const Output& output, ConvertLoop store, size_t size)
      : image_(image), output_(output), store_(store), size_(size) {}
  void Write(const Strip& strip, int64_t row, const void* elements) const;

 private:
  const Image image_;
  const Output output_;
  const ConvertLoop store_;
  const size_t size_;
};

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_PADDED_ROWS_H_
