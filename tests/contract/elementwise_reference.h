// What elementwise operations give, worked out in long double and 128-bit integers.
#ifndef GPUCALL_TESTS_CONTRACT_ELEMENTWISE_REFERENCE_H_
#define GPUCALL_TESTS_CONTRACT_ELEMENTWISE_REFERENCE_H_

#include <array>
#include <complex>

#include "server/base/dtype.h"
#include "server/program/program.h"

namespace gpucall::contract {

using Number = std::complex<long double>;

struct Expectation {
  Number value;
  // How far a result may be from it: units in the last place of the result's dtype; of complex
  // results, of their absolute value.
  double ulps = 0.5;
};

// Of operands that are numbers of `computed_in`, converted to it by the caller.
Expectation Expect(ElementwiseOp op, DType computed_in, const std::array<Number, 3>& operands);

// Expect, for the kinds of `computed_in` that have parts, and the order of complex numbers.
Expectation ExpectReal(ElementwiseOp op, DType dtype, long double a, long double b, long double c);
Expectation ExpectComplex(ElementwiseOp op, Number a, Number b, Number c);
bool IsBefore(Number a, Number b);

// The distance between neighbours of `value` in a float dtype, or the parts of a complex one.
long double UnitInLastPlace(DType dtype, long double value);
// The largest finite number of such a dtype.
long double LargestOf(DType dtype);

}  // namespace gpucall::contract

#endif  // GPUCALL_TESTS_CONTRACT_ELEMENTWISE_REFERENCE_H_
