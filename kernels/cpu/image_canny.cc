#include "kernels/image_canny.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/image.h"
#include "kernels/cpu/image_rows.h"

namespace gpucall::cpu {
namespace {

// Edges of one image, which grow from those that are certain.
class Growth {
 public:
  Growth(const image::Arguments& a, int64_t n)
      : map_(a.x), edges_(static_cast<uint8_t*>(a.out)), sizes_(a.in), n_(n) {}

  void Grow() {
    for (int64_t y = 0; y < sizes_.rows; ++y) {
      for (int64_t x = 0; x < sizes_.columns; ++x) {
        if (image::Load<uint8_t>(map_, image::PixelAt(sizes_, n_, y, x)) == 2) Reach(y, x);
        while (!reached_.empty()) {
          const Place place = reached_.back();
          reached_.pop_back();
          ReachAround(place.y, place.x);
        }
      }
    }
  }

 private:
  struct Place {
    int64_t y, x;
  };

  void Reach(int64_t y, int64_t x) {
    const int64_t pixel = image::PixelAt(sizes_, n_, y, x);
    if (edges_[pixel] != 0 || image::Load<uint8_t>(map_, pixel) == 0) return;
    edges_[pixel] = 255;
    reached_.push_back({y, x});
  }
  void ReachAround(int64_t y, int64_t x) {
    for (int64_t i = std::max<int64_t>(y - 1, 0); i <= std::min(y + 1, sizes_.rows - 1); ++i) {
      for (int64_t j = std::max<int64_t>(x - 1, 0); j <= std::min(x + 1, sizes_.columns - 1); ++j) {
        Reach(i, j);
      }
    }
  }

  const void* const map_;
  uint8_t* const edges_;
  const image::Sizes sizes_;
  const int64_t n_;
  std::vector<Place> reached_;
};

}  // namespace

void CannyMap(const image::Arguments& a) {
  MakePixels<image::CannyMapPixel>(a, 20 * a.in.channels);
}

void Hysteresis(const image::Arguments& a) {
  const int64_t count = a.in.images * a.in.rows * a.in.columns;
  std::fill_n(static_cast<uint8_t*>(a.out), count, uint8_t{0});
  for (int64_t n = 0; n < a.in.images; ++n) Growth(a, n).Grow();
}

}  // namespace gpucall::cpu
