#include "kernels/cpu/copy.h"

#include <algorithm>
#include <cstring>

namespace gpucall::cpu {
namespace {

template <size_t kBytes>
class Copier {
 public:
  Copier(std::span<const int64_t> sizes, std::span<const int64_t> input_strides,
         std::span<const int64_t> output_strides)
      : sizes_(sizes), input_strides_(input_strides), output_strides_(output_strides) {}

  // Dimensions from `d` on.
  void Copy(const std::byte* x, std::byte* out, size_t d) const {
    if (d == sizes_.size()) {
      std::memcpy(out, x, kBytes);
    } else if (d + 1 == sizes_.size()) {
      Run(x, out, sizes_[d], input_strides_[d], output_strides_[d]);
    } else if (d + 2 == sizes_.size()) {
      Plane(x, out, d);
    } else {
      for (int64_t i = 0; i < sizes_[d]; ++i) {
        Copy(At(x, i * input_strides_[d]), At(out, i * output_strides_[d]), d + 1);
      }
    }
  }

 private:
  // Square tiles, so that both sides stay in the cache whichever of them lies along the rows.
  static constexpr int64_t kTile = 32;

  template <class Byte>
  static Byte* At(Byte* data, int64_t index) {
    return data + index * static_cast<int64_t>(kBytes);
  }

  static void Run(const std::byte* x, std::byte* out, int64_t count, int64_t input_stride,
                  int64_t output_stride) {
    if (input_stride == 1 && output_stride == 1) {
      std::memcpy(out, x, static_cast<size_t>(count) * kBytes);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(At(out, i * output_stride), At(x, i * input_stride), kBytes);
    }
  }

  void Plane(const std::byte* x, std::byte* out, size_t d) const {
    const int64_t rows = sizes_[d], columns = sizes_[d + 1];
    const int64_t height = input_strides_[d + 1] == 1 ? rows : kTile;
    const int64_t width = input_strides_[d + 1] == 1 ? columns : kTile;
    for (int64_t top = 0; top < rows; top += height) {
      for (int64_t left = 0; left < columns; left += width) {
        for (int64_t row = top; row < std::min(top + height, rows); ++row) {
          Run(At(x, row * input_strides_[d] + left * input_strides_[d + 1]),
              At(out, row * output_strides_[d] + left * output_strides_[d + 1]),
              std::min(width, columns - left), input_strides_[d + 1], output_strides_[d + 1]);
        }
      }
    }
  }

  const std::span<const int64_t> sizes_, input_strides_, output_strides_;
};

}  // namespace

void CopyStrided(const std::byte* x, std::byte* out, size_t element_bytes,
                 std::span<const int64_t> sizes, std::span<const int64_t> input_strides,
                 std::span<const int64_t> output_strides) {
  switch (element_bytes) {
    case 1:
      return Copier<1>(sizes, input_strides, output_strides).Copy(x, out, 0);
    case 2:
      return Copier<2>(sizes, input_strides, output_strides).Copy(x, out, 0);
    case 4:
      return Copier<4>(sizes, input_strides, output_strides).Copy(x, out, 0);
    case 8:
      return Copier<8>(sizes, input_strides, output_strides).Copy(x, out, 0);
    default:
      return Copier<16>(sizes, input_strides, output_strides).Copy(x, out, 0);
  }
}

}  // namespace gpucall::cpu
