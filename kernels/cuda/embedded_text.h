// Files of device code as text for NVRTC; CMake writes the definitions.
#ifndef GPUCALL_KERNELS_CUDA_EMBEDDED_TEXT_H_
#define GPUCALL_KERNELS_CUDA_EMBEDDED_TEXT_H_

#include <string_view>

namespace gpucall::cuda {

extern const std::string_view kElementwiseHalfText;         // kernels/cuda/elementwise_half.cuh
extern const std::string_view kElementwiseTypesText;        // kernels/elementwise_types.h
extern const std::string_view kElementwiseFunctionsText;    // kernels/elementwise_functions.h
extern const std::string_view kElementwiseMathText;         // kernels/elementwise_math.h
extern const std::string_view kElementwiseComplexText;      // kernels/elementwise_complex.h
extern const std::string_view kElementwiseComplexMathText;  // kernels/elementwise_complex_math.h
extern const std::string_view kElementwiseTileText;         // kernels/cuda/elementwise_tile.cuh
extern const std::string_view kReduceFunctionsText;         // kernels/reduce_functions.h
extern const std::string_view kReduceRowText;               // kernels/cuda/reduce_row.h
extern const std::string_view kReduceGroupsText;            // kernels/cuda/reduce_groups.cuh
extern const std::string_view kReduceTeamText;              // kernels/cuda/reduce_team.cuh
extern const std::string_view kReduceRunsText;              // kernels/cuda/reduce_runs.cuh
extern const std::string_view kReduceRowsText;              // kernels/cuda/reduce_rows.cuh
extern const std::string_view kReducePackedText;            // kernels/cuda/reduce_packed.cuh

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_EMBEDDED_TEXT_H_
