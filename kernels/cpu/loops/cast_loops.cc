#include <math.h>

#include "kernels/cpu/loops/half.h"
#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vectorize.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

// Here, so that this level's copies of its functions are its own.
#define GPUCALL_FN
#include "kernels/elementwise_types.h"

using namespace gpucall::elementwise;

template <class From, class To>
void Loop(const void* in, void* out, size_t count) {
  const auto* source = static_cast<const Element<From>*>(in);
  auto* target = static_cast<Element<To>*>(out);
  GPUCALL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    target[i].value = Cast<To>(Widened(static_cast<From>(source[i].value)));
  }
}

// NOLINTNEXTLINE: braces of a table
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) Loop<From, Type>,
template <class From>
struct LoopsFrom {
  static constexpr CastLoop kLoops[kElementTypeCount] = {
#include "kernels/dtypes.def"
  };
};
#undef GPUCALL_DTYPE

}  // namespace

#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) LoopsFrom<Type>::kLoops,
const CastTable kCasts = {.loops = {
#include "kernels/dtypes.def"
                          }};
#undef GPUCALL_DTYPE

}  // namespace gpucall::cpu::GPUCALL_LEVEL
