#include "kernels/cpu/filter_box.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/padded_rows.h"
#include "kernels/cpu/row_ring.h"

namespace gpucall::cpu {
namespace {

void Scale(const std::vector<uint32_t>& sums, float factor, float* out) {
  BestLevel().boxes.scale_float32(sums.data(), factor, out, sums.size());
}
void Scale(const std::vector<uint32_t>& sums, double factor, double* out) {
  BestLevel().boxes.scale_float64(sums.data(), factor, out, sums.size());
}

template <class Real>
void Run(const Image& image, const Window& window, double weight, const Output& output) {
  constexpr ElementType kType =
      std::is_same_v<Real, float> ? ElementType::kFloat32 : ElementType::kFloat64;
  constexpr int64_t kStripColumns = 2048;
  const BoxTable& loops = BestLevel().boxes;
  PaddedRows padded(image, window, FindConvertLoop(ElementType::kUint8, ElementType::kUint8), 1);
  const StripWriter writer(image, output, FindConvertLoop(kType, output.type), sizeof(Real));
  const int64_t width = std::max(kStripColumns, 2 * window.columns);
  for (const Strip& strip : MakeStrips(image, width)) {
    padded.Select(strip);
    const auto count = static_cast<size_t>(padded.element_count());
    // Before the first row enters, rows of zeros leave.
    const RowRing<uint8_t> ring(window.rows, padded.element_count());
    const RowRing<uint8_t> entering(1, padded.element_count());
    std::vector<uint32_t> columns(count), scratch(count), sums(static_cast<size_t>(strip.count()));
    std::vector<Real> means(sums.size());
    for (int64_t row = 0; row < padded.row_count(); ++row) {
      padded.Read(row, entering.row(0));
      loops.move_down(entering.row(0), ring.row(row), columns.data(), count);
      std::copy_n(entering.row(0), count, ring.row(row));
      const int64_t y = row - (window.rows - 1);
      if (y < 0) continue;
      loops.sum_along(columns.data(), static_cast<size_t>(window.columns),
                      static_cast<size_t>(strip.channels), scratch.data(), sums.data(),
                      sums.size());
      Scale(sums, static_cast<Real>(weight), means.data());
      writer.Write(strip, y, means.data());
    }
  }
}

}  // namespace

void BoxFilter(const Image& image, const Window& window, double weight, const Output& output) {
  constexpr double kExactInFloat32 = 1 << 24;
  const double largest = 255.0 * static_cast<double>(window.rows * window.columns);
  if (output.type == ElementType::kFloat64 || largest >= kExactInFloat32) {
    Run<double>(image, window, weight, output);
  } else {
    Run<float>(image, window, weight, output);
  }
}

}  // namespace gpucall::cpu
