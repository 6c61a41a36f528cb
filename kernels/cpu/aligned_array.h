// Working memory of kernels.
#ifndef GPUCALL_KERNELS_CPU_ALIGNED_ARRAY_H_
#define GPUCALL_KERNELS_CPU_ALIGNED_ARRAY_H_

#include <cstddef>
#include <memory>
#include <new>

namespace gpucall::cpu {

// Owns `count` elements of a plain type, not initialised, aligned for any vector.
template <class T>
class AlignedArray {
 public:
  explicit AlignedArray(size_t count)
      : data_(static_cast<T*>(::operator new(count * sizeof(T), kAlignment))) {}
  T* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Delete {
    void operator()(T* data) const { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<T[], Delete> data_;
};

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_ALIGNED_ARRAY_H_
