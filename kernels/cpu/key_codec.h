// Elements as keys: integers in the order of the elements, NaN last.
#ifndef GPUCALL_KERNELS_CPU_KEY_CODEC_H_
#define GPUCALL_KERNELS_CPU_KEY_CODEC_H_

#include "kernels/cpu/filter.h"
#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/padded_rows.h"

namespace gpucall::cpu {

// How ranks are taken of keys of one type.
template <class Key>
struct KeyCodec {
  ConvertLoop load;   // from the image's elements
  ConvertLoop store;  // to the image's type
};

// Writes keys through the image's type to the output's.
template <class Key>
class KeyWriter {
 public:
  KeyWriter(const Image& image, const Output& output, const KeyCodec<Key>& codec)
      : writer_(image, output, FindConvertLoop(image.type, output.type), SizeOf(image.type)),
        store_(codec.store) {}
  // `elements`: scratch for as many elements as the strip's row has.
  void Write(const Strip& strip, int64_t row, const Key* keys, std::byte* elements) const {
    store_(keys, elements, static_cast<size_t>(strip.count()));
    writer_.Write(strip, row, elements);
  }

 private:
  StripWriter writer_;
  ConvertLoop store_;
};

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_KEY_CODEC_H_
