#include "kernels/cpu/loops/reduce_loops.h"

#include <math.h>

#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vectorize.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

// Here, so that this level's copies of its functions are its own.
#define GPUCALL_FN
#include "kernels/reduce_functions.h"

namespace r = gpucall::reduce;

template <class Function>
struct Loops {
  using T = typename Function::Element;
  using Accumulator = typename Function::Accumulator;
  using Output = typename Function::Output;
  static_assert(sizeof(Accumulator) <= kMaxAccumulatorBytes);

  // The same on every level, whatever its vectors.
  static constexpr size_t kLaneCount = 16;
  static constexpr size_t kBlock = 1024;

  static Function With(double parameter) {
    Function function = {};
    function.parameter = parameter;
    return function;
  }
  static T At(const void* x, int64_t i) {
    return static_cast<T>(static_cast<const Element<T>*>(x)[i].value);
  }

  template <class Stride>
  static Accumulator Block(const Function& function, const void* x, Stride stride, size_t count,
                           int64_t index) {
    Accumulator lanes[kLaneCount];
    const size_t whole = count / kLaneCount * kLaneCount;
    for (size_t i = 0; i < whole; i += kLaneCount) {
      for (size_t l = 0; l < kLaneCount; ++l) {
        const auto at = static_cast<int64_t>(i + l);
        function.Add(lanes[l], At(x, at * stride), index + at);
      }
    }
    for (size_t i = whole; i < count; ++i) {
      const auto at = static_cast<int64_t>(i);
      function.Add(lanes[i - whole], At(x, at * stride), index + at);
    }
    for (size_t half = kLaneCount / 2; half > 0; half /= 2) {
      for (size_t l = 0; l < half; ++l) function.Merge(lanes[l], lanes[l + half]);
    }
    return lanes[0];
  }

  static Accumulator Run(const Function& function, const void* x, int64_t stride, size_t count,
                         int64_t index) {
    if (count > kBlock) {
      const size_t half = (count / kBlock + 1) / 2 * kBlock;
      Accumulator a = Run(function, x, stride, half, index);
      const auto* rest = static_cast<const Element<T>*>(x) + static_cast<int64_t>(half) * stride;
      function.Merge(a,
                     Run(function, rest, stride, count - half, index + static_cast<int64_t>(half)));
      return a;
    }
    if (stride == 1) return Block(function, x, UnitStride{}, count, index);
    return Block(function, x, stride, count, index);
  }

  struct UnitStride {
    friend int64_t operator*(int64_t at, UnitStride) { return at; }
  };

  static void Clear(void* accumulators, size_t width) {
    for (size_t i = 0; i < width; ++i) static_cast<Accumulator*>(accumulators)[i] = {};
  }
  static void AddRun(double parameter, const void* x, int64_t stride, size_t count, int64_t index,
                     void* accumulator) {
    const Function function = With(parameter);
    function.Merge(*static_cast<Accumulator*>(accumulator), Run(function, x, stride, count, index));
  }
  static void AddRow(double parameter, const void* x, size_t width, int64_t index,
                     void* accumulators) {
    const Function function = With(parameter);
    auto* const a = static_cast<Accumulator*>(accumulators);
    GPUCALL_INDEPENDENT
    for (size_t i = 0; i < width; ++i) function.Add(a[i], At(x, static_cast<int64_t>(i)), index);
  }
  static void Merge(double parameter, const void* from, size_t width, void* accumulators) {
    const Function function = With(parameter);
    auto* const a = static_cast<Accumulator*>(accumulators);
    for (size_t i = 0; i < width; ++i) {
      function.Merge(a[i], static_cast<const Accumulator*>(from)[i]);
    }
  }
  static void Results(double parameter, const void* accumulators, size_t width, int64_t count,
                      void* out) {
    const Function function = With(parameter);
    for (size_t i = 0; i < width; ++i) {
      static_cast<Element<Output>*>(out)[i].value =
          function.Result(static_cast<const Accumulator*>(accumulators)[i], count);
    }
  }

  static void Apply(double parameter, const void* accumulator, const void* x, int64_t stride,
                    size_t count, void* out) {
    const Function function = With(parameter);
    const auto line = function.Prepare(*static_cast<const Accumulator*>(accumulator));
    for (size_t i = 0; i < count; ++i) {
      const int64_t at = static_cast<int64_t>(i) * stride;
      static_cast<Element<Output>*>(out)[at].value = function.Apply(line, At(x, at));
    }
  }

  static constexpr ReduceLoops Table() {
    ReduceLoops loops = {
        sizeof(Accumulator), sizeof(Output), Clear, AddRun, AddRow, Merge, Results, nullptr};
    if constexpr (requires(Function f, Accumulator a) { f.Prepare(a); }) loops.apply = Apply;
    return loops;
  }
};

template <class T>
constexpr bool kIsReduced =
    r::kIsSame<T, bool> || r::kIsSame<T, unsigned char> || r::kIsSame<T, int> ||
    r::kIsSame<T, long long> || r::kIsSame<T, unsigned long long> || r::kIsFloat<T>;

// Nulls for types that are not reduced.
template <template <class> class Function, class T>
constexpr ReduceLoops LoopsOf() {
  if constexpr (kIsReduced<T>) {
    return Loops<Function<T>>::Table();
  } else {
    return {};
  }
}

// Types of kernels/dtypes.def that are not reduced.
struct Float16;
struct Bfloat16;
template <class T>
struct Complex;

#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) *loops++ = LoopsOf<Function, Type>();
template <template <class> class Function>
constexpr void SetLoops(ReduceLoops* loops) {
#include "kernels/dtypes.def"
}
#undef GPUCALL_DTYPE

constexpr ReduceTable MakeTable() {
  ReduceTable table = {};
  size_t row = 0;
#define GPUCALL_REDUCE(Function, name, result, size, empty, description) \
  SetLoops<r::Function>(table.loops[row++]);
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
  return table;
}

}  // namespace

const ReduceTable kReduce = MakeTable();

}  // namespace gpucall::cpu::GPUCALL_LEVEL
