// As a product of matrices for each block of output positions: the weights, and the elements under
// each position's window.
#include <cblas.h>

#include <algorithm>
#include <limits>

#include "kernels/cpu/network.h"
#include "kernels/cpu/network_image.h"
#include "kernels/cpu/parallel.h"

namespace gpucall::cpu {
namespace {

constexpr int64_t kBlockBytes = 1 << 20;  // of elements under windows
constexpr int64_t kMinPositions = 64;
constexpr int64_t kImageBytes = 64 << 20;  // of images at a time

// c = a b, dense: m x k by k x n.
void Multiply(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(m),
              static_cast<blasint>(n), static_cast<blasint>(k), 1, a, static_cast<blasint>(k), b,
              static_cast<blasint>(n), 0, c, static_cast<blasint>(n));
}
void Multiply(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(m),
              static_cast<blasint>(n), static_cast<blasint>(k), 1, a, static_cast<blasint>(k), b,
              static_cast<blasint>(n), 0, c, static_cast<blasint>(n));
}

template <class T>
class Convolution {
 public:
  Convolution(const WindowShape& shape, ElementType type, const std::byte* x,
              const std::byte* weights, const std::byte* bias, std::byte* out)
      : shape_(shape),
        type_(type),
        x_(x),
        out_(out),
        terms_(shape.channels / shape.groups * shape.size[0] * shape.size[1]),
        positions_(shape.out_rows * shape.out_columns),
        block_(std::min(positions_,
                        std::max(kMinPositions, kBlockBytes / static_cast<int64_t>(sizeof(T)) /
                                                    std::max<int64_t>(terms_, 1)))),
        group_channels_(shape.out_channels / shape.groups),
        weights_(LoadedElements<T>(weights, type, shape.out_channels * terms_)),
        bias_(LoadedElements<T>(bias, type, bias == nullptr ? 0 : shape.out_channels)),
        has_bias_(bias != nullptr) {}

  bool Run() {
    constexpr int64_t kMax = std::numeric_limits<blasint>::max();
    if (positions_ == 0 || shape_.images == 0 || shape_.out_channels == 0) return true;
    if (std::max({terms_, group_channels_, block_}) > kMax) return false;
    const int64_t image_count = shape_.channels * shape_.rows * shape_.columns;
    const int64_t images_at_a_time = std::clamp<int64_t>(
        kImageBytes / static_cast<int64_t>(sizeof(T)) / std::max<int64_t>(image_count, 1), 1,
        shape_.images);
    const AlignedArray<T> images(static_cast<size_t>(images_at_a_time * image_count));
    images_ = images.data();
    for (int64_t first = 0; first < shape_.images; first += images_at_a_time) {
      const int64_t count = std::min(images_at_a_time, shape_.images - first);
      LoadElements(x_, type_, first * image_count, count * image_count, images.data());
      RunImages(first, count);
    }
    return true;
  }

 private:
  // Those of images_.
  void RunImages(int64_t first, int64_t count) {
    const int64_t blocks = (positions_ + block_ - 1) / block_;
    const double work = static_cast<double>(count) * static_cast<double>(shape_.out_channels) *
                        static_cast<double>(positions_) * static_cast<double>(terms_);
    ForEach(count * shape_.groups * blocks, work, [&] {
      return [&, worker = Worker(*this)](int64_t i) mutable {
        worker.Run(first, i / blocks / shape_.groups, i / blocks % shape_.groups,
                   i % blocks * block_);
      };
    });
  }

  // One thread's memory.
  class Worker {
   public:
    explicit Worker(const Convolution& of)
        : of_(of),
          elements_(static_cast<size_t>(of.terms_ * of.block_)),
          sums_(static_cast<size_t>(of.group_channels_ * of.block_)),
          line_(static_cast<size_t>(of.group_channels_)) {}

    // Positions from `first` on, as many as a block has, of image `image` of images_, which is
    // number first_image + image of all.
    void Run(int64_t first_image, int64_t image, int64_t group, int64_t first) {
      const int64_t count = std::min(of_.block_, of_.positions_ - first);
      Gather(image, group, first, count);
      const int64_t channels = of_.group_channels_;
      if (of_.terms_ == 0) {
        std::fill_n(sums_.data(), channels * count, T(0));
      } else {
        Multiply(channels, count, of_.terms_, of_.weights_.data() + group * channels * of_.terms_,
                 elements_.data(), sums_.data());
      }
      for (int64_t c = 0; of_.has_bias_ && c < channels; ++c) {
        const T bias = of_.bias_.data()[group * channels + c];
        for (int64_t p = 0; p < count; ++p) sums_.data()[c * count + p] += bias;
      }
      Store(first_image + image, group * channels, first, count);
    }

   private:
    // elements_[term][position], zeros outside the image.
    void Gather(int64_t image, int64_t group, int64_t first, int64_t count) {
      const WindowShape& s = of_.shape_;
      const int64_t channels = s.channels / s.groups;
      for (int64_t p = 0; p < count;) {
        const int64_t y = (first + p) / s.out_columns, x = (first + p) % s.out_columns;
        const int64_t part = std::min(count - p, s.out_columns - x);
        int64_t term = 0;
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t i = 0; i < s.size[0]; ++i, term += s.size[1]) {
            GatherRow(image, group * channels + c,
                      y * s.stride[0] + i * s.dilation[0] - s.before[0], x, part,
                      elements_.data() + term * count + p, count);
          }
        }
        p += part;
      }
    }

    // What the windows at `part` neighbouring positions from `first` on have of row `y`: to[j][p].
    void GatherRow(int64_t image, int64_t channel, int64_t y, int64_t first, int64_t part, T* to,
                   int64_t to_stride) {
      const WindowShape& s = of_.shape_;
      const bool exists = y >= 0 && y < s.rows;
      const auto strides = ImageStrides::Of(s.channels, s.rows, s.columns, s.channels_last);
      const T* const row = of_.images_ + image * s.channels * s.rows * s.columns +
                           channel * strides.channel + (exists ? y : 0) * strides.row;
      for (int64_t j = 0; j < s.size[1]; ++j, to += to_stride) {
        int64_t x = first * s.stride[1] + j * s.dilation[1] - s.before[1];
        for (int64_t p = 0; p < part; ++p, x += s.stride[1]) {
          to[p] = exists && x >= 0 && x < s.columns ? row[x * strides.column] : T(0);
        }
      }
    }

    void Store(int64_t image, int64_t first_channel, int64_t first, int64_t count) {
      const WindowShape& s = of_.shape_;
      const int64_t all = of_.positions_, channels = of_.group_channels_;
      const int64_t start = image * s.out_channels * all;
      if (!s.channels_last) {
        for (int64_t c = 0; c < channels; ++c) {
          StoreElements(sums_.data() + c * count, count, of_.type_,
                        start + (first_channel + c) * all + first, of_.out_);
        }
        return;
      }
      for (int64_t p = 0; p < count; ++p) {
        for (int64_t c = 0; c < channels; ++c) line_.data()[c] = sums_.data()[c * count + p];
        StoreElements(line_.data(), channels, of_.type_,
                      start + (first + p) * s.out_channels + first_channel, of_.out_);
      }
    }

    const Convolution& of_;
    AlignedArray<T> elements_, sums_, line_;
  };

  const WindowShape& shape_;
  const ElementType type_;
  const std::byte* const x_;
  std::byte* const out_;
  const int64_t terms_, positions_, block_, group_channels_;
  const AlignedArray<T> weights_, bias_;
  const bool has_bias_;
  const T* images_ = nullptr;
};

}  // namespace

bool Convolve2d(const WindowShape& shape, ElementType type, const std::byte* x,
                const std::byte* weights, const std::byte* bias, std::byte* out) {
  if (type == ElementType::kFloat64) {
    return Convolution<double>(shape, type, x, weights, bias, out).Run();
  }
  return Convolution<float>(shape, type, x, weights, bias, out).Run();
}

}  // namespace gpucall::cpu
