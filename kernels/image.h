// What kernels over images work on: host memory for the CPU's, device memory for CUDA's.
#ifndef GPUCALL_KERNELS_IMAGE_H_
#define GPUCALL_KERNELS_IMAGE_H_

#include <cstdint>

namespace gpucall::image {

enum class Element : uint8_t { kUint8, kUint16, kInt16, kFloat32 };

// What lies outside; scipy.ndimage's names.
enum class Border : uint8_t { kNearest, kReflect, kMirror, kWrap, kConstant };

// So many images, each rows x columns x channels, row-major.
struct Sizes {
  int64_t images = 1, rows = 1, columns = 1, channels = 1;
};

// Operands of a kernel. The output overlaps no input. Beside x and out each kernel uses what its
// header says.
struct Arguments {
  const void* x = nullptr;  // `in`
  const void* second = nullptr;
  void* out = nullptr;  // `out_sizes`
  void* scratch = nullptr;
  const double* table = nullptr;
  Sizes in, out_sizes;
  int option = 0;
  Border border = Border::kConstant;
  double numbers[8] = {};
};

}  // namespace gpucall::image

#endif  // GPUCALL_KERNELS_IMAGE_H_
