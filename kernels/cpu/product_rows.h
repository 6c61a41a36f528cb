// What comes after the sums of a product, row by row.
#ifndef GPUCALL_KERNELS_CPU_PRODUCT_ROWS_H_
#define GPUCALL_KERNELS_CPU_PRODUCT_ROWS_H_

#include <algorithm>
#include <complex>
#include <type_traits>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/matmul.h"

namespace gpucall::cpu {

template <class T>
constexpr ElementType SumTypeOf() {
  if constexpr (std::is_same_v<T, float>) return ElementType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return ElementType::kFloat64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return ElementType::kComplex64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return ElementType::kComplex128;
  if constexpr (std::is_same_v<T, uint32_t>) return ElementType::kUint32;
  if constexpr (std::is_same_v<T, uint64_t>) return ElementType::kUint64;
}

// Adds c and bias to sums, of type T, and writes them as elements of the product's type. A view.
// Used by one thread.
template <class T>
class ProductRows {
 public:
  // `scratch`: 2 * shape.n elements.
  ProductRows(const Product& product, const ProductOperands& operands, T* scratch)
      : product_(product), operands_(operands), c_row_(scratch), bias_(scratch + product.shape.n) {
    if (operands.bias != nullptr) Load(operands.bias, bias_, product.shape.n);
  }

  // Of row `row`, columns `first` to `first + count`: `sums` already times alpha; changes them.
  void Finish(int64_t row, int64_t first, int64_t count, T* sums) {
    if (operands_.c != nullptr) AddC(row, first, count, sums);
    if (operands_.bias != nullptr) {
      for (int64_t j = 0; j < count; ++j) sums[j] += bias_[first + j];
    }
    if (product_.relu) Relu(count, sums);
    std::byte* const out = operands_.out + (row * product_.shape.n + first) * OutBytes();
    if (reinterpret_cast<const std::byte*>(sums) == out) return;
    FindCastLoop(SumTypeOf<T>(), product_.out_type)(sums, out, static_cast<size_t>(count));
  }

 private:
  int64_t OutBytes() const { return static_cast<int64_t>(SizeOf(product_.out_type)); }

  void Load(const std::byte* from, T* to, int64_t count) const {
    FindCastLoop(product_.out_type, SumTypeOf<T>())(from, to, static_cast<size_t>(count));
  }

  static T Factor(double value) {
    if constexpr (std::is_unsigned_v<T>) {
      return static_cast<T>(static_cast<int64_t>(value));
    } else {
      return static_cast<T>(value);
    }
  }

  void AddC(int64_t row, int64_t first, int64_t count, T* sums) {
    const int64_t step = product_.c_column_stride;
    const std::byte* const c =
        operands_.c + (row * product_.c_row_stride + first * step) * OutBytes();
    Load(c, c_row_, step == 0 ? std::min<int64_t>(count, 1) : count);
    if (step == 0) std::fill_n(c_row_, count, *c_row_);
    const T beta = Factor(product_.beta);
    for (int64_t j = 0; j < count; ++j) sums[j] += beta * c_row_[j];
  }

  void Relu(int64_t count, T* sums) const {
    if constexpr (std::is_floating_point_v<T>) {  // NaN stays
      for (int64_t j = 0; j < count; ++j) sums[j] = sums[j] < 0 ? T(0) : sums[j];
    } else if constexpr (std::is_unsigned_v<T>) {
      if (IsUnsigned(product_.out_type)) return;
      const int unused = 8 * static_cast<int>(sizeof(T) - SizeOf(product_.out_type));
      using Signed = std::make_signed_t<T>;
      for (int64_t j = 0; j < count; ++j) {
        if (static_cast<Signed>(sums[j] << unused) < 0) sums[j] = 0;
      }
    }
  }
  static bool IsUnsigned(ElementType type) {
    return type >= ElementType::kUint8 && type <= ElementType::kUint64;
  }

  const Product& product_;
  const ProductOperands& operands_;
  T* const c_row_;
  T* const bias_;
};

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_PRODUCT_ROWS_H_
