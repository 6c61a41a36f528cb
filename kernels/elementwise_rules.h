// What the columns of kernels/elementwise_ops.def may say; that file explains them.
#ifndef GPUCALL_KERNELS_ELEMENTWISE_RULES_H_
#define GPUCALL_KERNELS_ELEMENTWISE_RULES_H_

namespace gpucall {

struct ElementwiseTakes {
  // A bit for each kind: bool, integers, floats, complex.
  enum Kinds : unsigned char {
    kB = 1,
    kI = 2,
    kBI = 3,
    kF = 4,
    kIF = 6,
    kBIF = 7,
    kFC = 12,
    kIFC = 14,
    kBIFC = 15
  };
};
enum class ElementwiseRule : unsigned char {
  kPromote,
  kNumbers,
  kDivide,
  kTruth,
  kSelect,
  kPower,
  kNeighbour,
  kCast
};
enum class ElementwiseResult : unsigned char { kSame, kBool, kReal };

}  // namespace gpucall

#endif  // GPUCALL_KERNELS_ELEMENTWISE_RULES_H_
