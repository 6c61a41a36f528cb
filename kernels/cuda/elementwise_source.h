// CUDA source for fused elementwise kernels. Host code without CUDA: only text and plain data.
// A kernel runs a table of rows (elementwise_row.h), so that tasks of any shapes share one launch.
#ifndef GPUCALL_KERNELS_CUDA_ELEMENTWISE_SOURCE_H_
#define GPUCALL_KERNELS_CUDA_ELEMENTWISE_SOURCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpucall::cuda {

inline constexpr int kElementwiseThreads = 256;  // of a block
inline constexpr char kElementwiseKernelName[] = "gpucall_elementwise";
inline constexpr int kElementwiseMaxRank = 8;

// Rows of kernels/dtypes.def.
enum class ElementType : uint8_t {
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) k##Name,
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
};
int ElementBytes(ElementType type);
std::string_view TypeName(ElementType type);  // in sources: "unsigned char"
inline bool IsComplex(ElementType type) { return type >= ElementType::kComplex64; }

// How an input is read while the kernel walks the result.
enum class ReadMode : uint8_t {
  kFull,     // element i for element i
  kScalar,   // one element
  kStrided,  // by coordinates and strides, which may be 0
};

// What is compiled. Registers are numbered: inputs first, then one for each instruction.
struct ElementwiseKernel {
  struct Input {
    ElementType type;
    ReadMode mode;
  };
  struct Instruction {
    std::string_view function;  // a row of kernels/elementwise_ops.def: "Add"
    ElementType type;  // computed in: operands are converted to it, but for what "Cast" casts
    ElementType result;
    std::array<uint16_t, 3> operands;  // registers
    uint8_t operand_count;
    bool selects = false;  // the first operand is a condition: converted to bool
    bool faults = false;   // PowerFaults of the second operand, an integer, is checked
  };
  std::vector<Input> inputs = {};
  std::vector<Instruction> instructions = {};
  std::vector<uint16_t> outputs = {};  // registers to store, at least one
  // Dimensions that rows have for strided inputs: 2, 4 or 8; 0 without a strided input.
  int rank = 0;
};

ElementType RegisterType(const ElementwiseKernel& kernel, size_t index);

// Equal for kernels with equal source.
std::string ElementwiseSignature(const ElementwiseKernel& kernel);

// What kernels need before them, once in a source. That of real numbers compiles in less time.
enum class NumberKinds : uint8_t { kReal, kAll };
std::string ElementwisePrelude(NumberKinds kinds);
NumberKinds KindsOf(const ElementwiseKernel& kernel);
// One kernel, extern "C" under `name`. A source may hold several.
std::string ElementwiseSource(const ElementwiseKernel& kernel, std::string_view name);
// Options of NVRTC for the source, for real architecture `compute_capability` (90: sm_90).
std::vector<std::string> ElementwiseOptions(int compute_capability);

// Elements that one block computes.
int64_t ElementwiseTile(const ElementwiseKernel& kernel);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_ELEMENTWISE_SOURCE_H_
