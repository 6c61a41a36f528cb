// Elements of images, and where pixels are. For the host's compiler and for CUDA's: both devices
// run the same functions, and no product is contracted with a sum, so results are equal.
#ifndef GPUCALL_KERNELS_IMAGE_ELEMENTS_H_
#define GPUCALL_KERNELS_IMAGE_ELEMENTS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/image.h"

#ifdef __CUDACC__
#define GPUCALL_IMAGE_FN __host__ __device__ __forceinline__
#else
#define GPUCALL_IMAGE_FN inline
#endif

namespace gpucall::image {

// Element `index`. The host's arrays need no alignment.
template <class T>
GPUCALL_IMAGE_FN T Load(const void* elements, int64_t index) {
#ifdef __CUDA_ARCH__
  return static_cast<const T*>(elements)[index];
#else
  T value;
  std::memcpy(&value, static_cast<const char*>(elements) + index * int64_t{sizeof(T)}, sizeof(T));
  return value;
#endif
}

template <class T>
GPUCALL_IMAGE_FN void Store(void* elements, int64_t index, T value) {
#ifdef __CUDA_ARCH__
  static_cast<T*>(elements)[index] = value;
#else
  std::memcpy(static_cast<char*>(elements) + index * int64_t{sizeof(T)}, &value, sizeof(T));
#endif
}

template <class T>
GPUCALL_IMAGE_FN T Clamp(T value, T low, T high) {
  return value > low ? (value < high ? value : high) : low;
}

// To an integer: the nearest, halves to even, saturating.
template <class T>
GPUCALL_IMAGE_FN T Rounded(float value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    constexpr float kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
    return static_cast<T>(lrintf(Clamp(value, kLow, kHigh)));
  }
}

// The largest element of an integer image; 1 of a float image.
template <class T>
constexpr float kWhite = std::is_floating_point_v<T> ? 1.0f : float(std::numeric_limits<T>::max());

// Number of a pixel, from 0.
GPUCALL_IMAGE_FN int64_t PixelAt(const Sizes& sizes, int64_t n, int64_t y, int64_t x) {
  return (n * sizes.rows + y) * sizes.columns + x;
}

// Where `index` of an axis of `size` elements, not 0, is read; -1: outside, where a border is
// constant.
GPUCALL_IMAGE_FN int64_t Inside(Border border, int64_t index, int64_t size) {
  if (index >= 0 && index < size) return index;
  if (border == Border::kConstant) return -1;
  if (border == Border::kNearest) return index < 0 ? 0 : size - 1;
  if (border == Border::kWrap) {
    const int64_t rest = index % size;
    return rest < 0 ? rest + size : rest;
  }
  const int64_t period = border == Border::kReflect ? 2 * size : (size == 1 ? 1 : 2 * size - 2);
  int64_t rest = index % period;
  if (rest < 0) rest += period;
  if (rest < size) return rest;
  return border == Border::kReflect ? period - 1 - rest : period - rest;
}

// run(Kernel<T>()) with the type of the elements.
template <template <class> class Kernel, class Run>
auto VisitElement(Element element, Run run) {
  switch (element) {
    case Element::kUint8:
      return run(Kernel<uint8_t>());
    case Element::kUint16:
      return run(Kernel<uint16_t>());
    case Element::kInt16:
      return run(Kernel<int16_t>());
    default:
      return run(Kernel<float>());
  }
}

}  // namespace gpucall::image

#endif  // GPUCALL_KERNELS_IMAGE_ELEMENTS_H_
