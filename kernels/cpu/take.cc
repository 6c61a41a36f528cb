#include "kernels/cpu/take.h"

#include <cstring>

namespace gpucall::cpu {
namespace {

template <size_t kBytes, class Index>
class Taker {
 public:
  Taker(const TakeShape& shape, std::byte* out) : shape_(shape), out_(out) {}

  // Dimensions from `d` on; false at an index out of range, which is bad() then.
  bool Take(const std::byte* x, const std::byte* indices, size_t d) {
    if (d == shape_.sizes.size()) return TakeOne(x, indices);
    const int64_t size = shape_.sizes[d];
    const int64_t x_stride = shape_.x_strides[d] * static_cast<int64_t>(kBytes);
    const int64_t index_stride = shape_.index_strides[d] * static_cast<int64_t>(sizeof(Index));
    // One index for elements that lie together.
    if (d + 1 == shape_.sizes.size() && shape_.x_strides[d] == 1 && index_stride == 0 && size > 0) {
      return TakeRun(x, indices, static_cast<size_t>(size));
    }
    for (int64_t i = 0; i < size; ++i) {
      if (!Take(x + i * x_stride, indices + i * index_stride, d + 1)) return false;
    }
    return true;
  }

  int64_t bad() const { return bad_; }

 private:
  bool TakeOne(const std::byte* x, const std::byte* indices) { return TakeRun(x, indices, 1); }

  bool TakeRun(const std::byte* x, const std::byte* indices, size_t count) {
    Index read;
    std::memcpy(&read, indices, sizeof(read));
    const int64_t index = read < 0 ? read + shape_.size : read;
    if (index < 0 || index >= shape_.size) {
      bad_ = read;
      return false;
    }
    const std::byte* const from = x + index * shape_.stride * static_cast<int64_t>(kBytes);
    if (count == 1) {
      std::memcpy(out_, from, kBytes);
    } else {
      std::memcpy(out_, from, count * kBytes);
    }
    out_ += count * kBytes;
    return true;
  }

  const TakeShape& shape_;
  std::byte* out_;
  int64_t bad_ = 0;
};

template <size_t kBytes>
std::optional<int64_t> TakeBytes(const std::byte* x, const std::byte* indices, size_t index_bytes,
                                 const TakeShape& shape, std::byte* out) {
  const auto take = [&](auto taker) -> std::optional<int64_t> {
    if (taker.Take(x, indices, 0)) return std::nullopt;
    return taker.bad();
  };
  return index_bytes == 4 ? take(Taker<kBytes, int32_t>(shape, out))
                          : take(Taker<kBytes, int64_t>(shape, out));
}

}  // namespace

std::optional<int64_t> Take(const std::byte* x, size_t element_bytes, const std::byte* indices,
                            size_t index_bytes, const TakeShape& shape, std::byte* out) {
  switch (element_bytes) {
    case 1:
      return TakeBytes<1>(x, indices, index_bytes, shape, out);
    case 2:
      return TakeBytes<2>(x, indices, index_bytes, shape, out);
    case 4:
      return TakeBytes<4>(x, indices, index_bytes, shape, out);
    case 8:
      return TakeBytes<8>(x, indices, index_bytes, shape, out);
    default:
      return TakeBytes<16>(x, indices, index_bytes, shape, out);
  }
}

}  // namespace gpucall::cpu
