#include "kernels/cpu/loops/tables.h"

namespace gpucall::cpu {
#define GPUCALL_DECLARE_LEVEL(level)          \
  namespace level {                           \
  extern const ElementwiseTable kElementwise; \
  extern const CastTable kCasts;              \
  extern const ConvertTable kConvert;         \
  extern const SumTable kSums;                \
  extern const BoxTable kBoxes;               \
  extern const MedianTable kMedians;          \
  extern const ReduceTable kReduce;           \
  extern const ProductTable kProducts;        \
  }
GPUCALL_DECLARE_LEVEL(x86_64_v3)
GPUCALL_DECLARE_LEVEL(x86_64_v4)
#undef GPUCALL_DECLARE_LEVEL

std::span<const Level> SupportedLevels() {
  static const Level kLevels[] = {
      {"baseline", baseline::kElementwise, baseline::kCasts, baseline::kConvert, baseline::kSums,
       baseline::kBoxes, baseline::kMedians, baseline::kReduce, baseline::kProducts},
      {"x86-64-v3", x86_64_v3::kElementwise, x86_64_v3::kCasts, x86_64_v3::kConvert,
       x86_64_v3::kSums, x86_64_v3::kBoxes, x86_64_v3::kMedians, x86_64_v3::kReduce,
       x86_64_v3::kProducts},
      {"x86-64-v4", x86_64_v4::kElementwise, x86_64_v4::kCasts, x86_64_v4::kConvert,
       x86_64_v4::kSums, x86_64_v4::kBoxes, x86_64_v4::kMedians, x86_64_v4::kReduce,
       x86_64_v4::kProducts},
  };
  static const size_t kCount = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512cd");
    return v4 ? 3 : 2;
  }();
  return std::span(kLevels).first(kCount);
}

}  // namespace gpucall::cpu
