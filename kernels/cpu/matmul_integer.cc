#include "kernels/cpu/matmul_integer.h"

#include <type_traits>

#include "kernels/cpu/aligned_array.h"
#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/product_rows.h"

namespace gpucall::cpu {
namespace {

// A tile of the result, and the terms summed at a time: all three blocks stay in the second cache.
constexpr int64_t kTileRows = 64, kTileColumns = 256, kTerms = 128;
static_assert(kTileColumns % kProductColumns == 0);

// One thread's work on tiles, whose sums are of T. Narrower types are sums modulo 2^32, cut.
template <class T>
class TileWorker {
 public:
  explicit TileWorker(const Product& product)
      : product_(product), memory_(kSumCount + kACount + kBCount + kTerms + 2 * RowCount()) {}

  void Multiply(const ProductOperands& operands, int64_t first_row, int64_t first_column) {
    const MatMulShape& shape = product_.shape;
    const int64_t rows = std::min(kTileRows, shape.m - first_row);
    const int64_t columns = std::min(kTileColumns, shape.n - first_column);
    std::fill_n(sums(), kSumCount, T(0));
    for (int64_t k = 0; k < shape.k; k += kTerms) {
      const int64_t terms = std::min(kTerms, shape.k - k);
      PackA(operands.a, first_row, rows, k, terms);
      PackB(operands.b, first_column, columns, k, terms);
      Loop()(a(), kTerms, b(), kTileColumns, sums(), kTileColumns, static_cast<size_t>(rows),
             static_cast<size_t>(terms), static_cast<size_t>(columns));
    }
    const T alpha = static_cast<T>(static_cast<int64_t>(product_.alpha));
    ProductRows<T> finish(product_, operands, line() + kTerms);
    for (int64_t i = 0; i < rows; ++i) {
      T* const row = sums() + i * kTileColumns;
      for (int64_t j = 0; alpha != 1 && j < columns; ++j) row[j] *= alpha;
      finish.Finish(first_row + i, first_column, columns, row);
    }
  }

 private:
  static constexpr int64_t kSumCount = kTileRows * kTileColumns, kACount = kTileRows * kTerms,
                           kBCount = kTerms * kTileColumns;

  T* sums() const { return memory_.data(); }
  T* a() const { return sums() + kSumCount; }
  T* b() const { return a() + kACount; }
  T* line() const { return b() + kBCount; }
  size_t RowCount() const { return static_cast<size_t>(product_.shape.n); }

  static AddProductLoop<T> Loop() {
    if constexpr (std::is_same_v<T, uint32_t>) {
      return BestLevel().products.add32;
    } else {
      return BestLevel().products.add64;
    }
  }

  void Load(const std::byte* matrix, ElementType type, int64_t index, int64_t count, T* to) const {
    const std::byte* const from = matrix + index * static_cast<int64_t>(SizeOf(type));
    FindCastLoop(type, SumTypeOf<T>())(from, to, static_cast<size_t>(count));
  }
  // to[i + j * stride] for i < rows of the column j.
  void LoadColumn(const std::byte* matrix, ElementType type, int64_t index, int64_t count, T* to,
                  int64_t stride) const {
    for (int64_t done = 0; done < count; done += kTerms) {
      const int64_t part = std::min(kTerms, count - done);
      Load(matrix, type, index + done, part, line());
      for (int64_t i = 0; i < part; ++i) to[(done + i) * stride] = line()[i];
    }
  }

  void PackA(const std::byte* matrix, int64_t first_row, int64_t rows, int64_t k, int64_t terms) {
    const MatMulShape& shape = product_.shape;
    if (shape.transpose_a == Transpose::kNo) {
      for (int64_t i = 0; i < rows; ++i) {
        Load(matrix, product_.a_type, (first_row + i) * shape.k + k, terms, a() + i * kTerms);
      }
      return;
    }
    for (int64_t t = 0; t < terms; ++t) {
      LoadColumn(matrix, product_.a_type, (k + t) * shape.m + first_row, rows, a() + t, kTerms);
    }
  }

  void PackB(const std::byte* matrix, int64_t first_column, int64_t columns, int64_t k,
             int64_t terms) {
    const MatMulShape& shape = product_.shape;
    if (shape.transpose_b == Transpose::kNo) {
      for (int64_t t = 0; t < terms; ++t) {
        Load(matrix, product_.b_type, (k + t) * shape.n + first_column, columns,
             b() + t * kTileColumns);
      }
      return;
    }
    for (int64_t j = 0; j < columns; ++j) {
      LoadColumn(matrix, product_.b_type, (first_column + j) * shape.k + k, terms, b() + j,
                 kTileColumns);
    }
  }

  const Product& product_;
  const AlignedArray<T> memory_;
};

template <class T>
void MultiplyAll(const Product& product, std::span<const ProductOperands> batch) {
  const MatMulShape& shape = product.shape;
  const int64_t tile_columns = (shape.n + kTileColumns - 1) / kTileColumns;
  const int64_t tiles = (shape.m + kTileRows - 1) / kTileRows * tile_columns;
  const int64_t total = tiles * static_cast<int64_t>(batch.size());
  const double work = static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                      static_cast<double>(shape.k) * static_cast<double>(batch.size());
  ForEach(total, work, [&] {
    return [&, worker = TileWorker<T>(product)](int64_t i) mutable {
      const int64_t tile = i % tiles;
      worker.Multiply(batch[static_cast<size_t>(i / tiles)], tile / tile_columns * kTileRows,
                      tile % tile_columns * kTileColumns);
    };
  });
}

}  // namespace

void MultiplyIntegers(const Product& product, std::span<const ProductOperands> batch) {
  if (product.shape.m == 0 || product.shape.n == 0) return;
  if (SizeOf(product.out_type) == 8) {
    MultiplyAll<uint64_t>(product, batch);
  } else {
    MultiplyAll<uint32_t>(product, batch);
  }
}

}  // namespace gpucall::cpu
