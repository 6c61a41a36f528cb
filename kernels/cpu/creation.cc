#include "kernels/cpu/creation.h"

namespace gpucall::cpu {

void Create(const creation::Recipe& recipe, Numbers numbers, size_t element_bytes, int64_t count,
            std::byte* out) {
  const auto write = [&]<class T>(T) {
    auto* const elements = reinterpret_cast<T*>(out);
    for (int64_t i = 0; i < count; ++i) {
      elements[i] = creation::ElementAt<T>(recipe, static_cast<uint64_t>(i));
    }
  };
  if (numbers == Numbers::kFloat) return element_bytes == 4 ? write(float()) : write(double());
  if (element_bytes == 1) return write(uint8_t());
  if (element_bytes == 2) return write(uint16_t());
  if (element_bytes == 4) return write(uint32_t());
  write(uint64_t());
}

}  // namespace gpucall::cpu
