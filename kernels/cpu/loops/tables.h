// Tables of loops, compiled once for each instruction set level (kernels/CMakeLists.txt). The
// sources in this folder hold leaf loops only, in anonymous namespaces and without library types:
// nothing compiled for a newer machine can be linked into code that runs on an older one.
#ifndef GPUCALL_KERNELS_CPU_LOOPS_TABLES_H_
#define GPUCALL_KERNELS_CPU_LOOPS_TABLES_H_

#include <span>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/loops/filter_loops.h"
#include "kernels/cpu/loops/product_loops.h"
#include "kernels/cpu/loops/reduce_loops.h"

// GPUCALL_LEVEL: the namespace of the level compiled for.
#ifndef GPUCALL_LEVEL
#define GPUCALL_LEVEL baseline
#endif

namespace gpucall::cpu {

inline constexpr size_t kElementwiseRowCount = 0
#define GPUCALL_ELEMENTWISE(...) +1
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
    ;

// Of one type, by row.
struct ElementwiseColumn {
  ElementwiseLoop loops[kElementwiseRowCount];
};
struct ElementwiseTable {
  const ElementwiseColumn* columns[kElementTypeCount];
  FaultScan power_faults[kElementTypeCount];
};
struct CastTable {
  const CastLoop* loops[kElementTypeCount];  // [from][to]
};
struct ConvertTable {
  ConvertLoop loops[kElementTypeCount][kElementTypeCount];  // [from][to]
};

inline constexpr size_t kReduceRowCount = 0
#define GPUCALL_REDUCE(...) +1
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
    ;
struct ReduceTable {
  ReduceLoops loops[kReduceRowCount][kElementTypeCount];
};

namespace GPUCALL_LEVEL {
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) \
  extern const ElementwiseColumn k##Name##Column;
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
extern const ElementwiseTable kElementwise;
extern const CastTable kCasts;
extern const ConvertTable kConvert;
extern const SumTable kSums;
extern const BoxTable kBoxes;
extern const MedianTable kMedians;
extern const ReduceTable kReduce;
extern const ProductTable kProducts;
}  // namespace GPUCALL_LEVEL

struct Level {
  const char* name;
  const ElementwiseTable& elementwise;
  const CastTable& casts;
  const ConvertTable& convert;
  const SumTable& sums;
  const BoxTable& boxes;
  const MedianTable& medians;
  const ReduceTable& reduce;
  const ProductTable& products;
};
// Levels this machine can run, slowest first; at least one. Live forever.
std::span<const Level> SupportedLevels();
inline const Level& BestLevel() { return SupportedLevels().back(); }

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_LOOPS_TABLES_H_
