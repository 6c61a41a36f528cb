// Where the elements of images are.
#ifndef GPUCALL_KERNELS_CPU_NETWORK_IMAGE_H_
#define GPUCALL_KERNELS_CPU_NETWORK_IMAGE_H_

#include <memory>
#include <type_traits>

#include "kernels/cpu/aligned_array.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/network.h"

namespace gpucall::cpu {

template <class T>
inline constexpr ElementType kSumType =
    std::is_same_v<T, float> ? ElementType::kFloat32 : ElementType::kFloat64;

// Strides of one image, in elements.
struct ImageStrides {
  int64_t channel, row, column;

  static ImageStrides Of(int64_t channels, int64_t rows, int64_t columns, bool channels_last) {
    if (channels_last) return {1, columns * channels, channels};
    return {rows * columns, columns, 1};
  }
};

// `count` elements of `type` from element `first` of `data`, as T.
template <class T>
void LoadElements(const std::byte* data, ElementType type, int64_t first, int64_t count, T* to) {
  FindCastLoop(type, kSumType<T>)(data + first * static_cast<int64_t>(SizeOf(type)), to,
                                  static_cast<size_t>(count));
}
template <class T>
AlignedArray<T> LoadedElements(const std::byte* data, ElementType type, int64_t count) {
  AlignedArray<T> elements(static_cast<size_t>(count));
  LoadElements(data, type, 0, count, elements.data());
  return elements;
}
template <class T>
void StoreElements(const T* from, int64_t count, ElementType type, int64_t first, std::byte* data) {
  FindCastLoop(kSumType<T>, type)(from, data + first * static_cast<int64_t>(SizeOf(type)),
                                  static_cast<size_t>(count));
}

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_NETWORK_IMAGE_H_
