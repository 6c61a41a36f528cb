// Every generated kernel compiles, for every architecture built for. Needs NVRTC, no GPU.
#include "kernels/cuda/elementwise_source.h"

#include <nvrtc.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cuda/elementwise_row.h"
#include "kernels/elementwise_rules.h"

namespace gpucall::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kernel = ElementwiseKernel;

struct Operation {
  std::string_view function;
  uint8_t arity;
  ElementwiseTakes::Kinds takes;
  ElementwiseRule rule;
  ElementwiseResult result;
};
constexpr Operation kOperations[] = {
#define GPUCALL_ELEMENTWISE(Function, name, arity, takes, rule, result, description) \
  {#Function, arity, ElementwiseTakes::takes, ElementwiseRule::rule, ElementwiseResult::result},
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
};

enum class Kind { kBool = 1, kUnsigned = 2, kSigned = 2, kFloat = 4, kComplex = 8 };
struct TypeRow {
  ElementType type;
  Kind kind;
};
constexpr TypeRow kTypes[] = {
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) {ElementType::k##Name, Kind::kind},
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
};

bool ComputesIn(const Operation& operation, const TypeRow& row) {
  return (operation.takes & static_cast<int>(row.kind)) != 0;
}

ElementType ResultOf(const Operation& operation, ElementType type) {
  if (operation.result == ElementwiseResult::kBool) return ElementType::kBool;
  if (operation.result != ElementwiseResult::kReal) return type;
  if (type == ElementType::kComplex64) return ElementType::kFloat32;
  return type == ElementType::kComplex128 ? ElementType::kFloat64 : type;
}

Kernel::Instruction InstructionOf(const Operation& operation, ElementType type) {
  return {.function = operation.function,
          .type = type,
          .result = ResultOf(operation, type),
          .operands = {0, 1, 2},
          .operand_count = operation.arity,
          .selects = operation.rule == ElementwiseRule::kSelect,
          .faults = operation.rule == ElementwiseRule::kPower && type >= ElementType::kInt8 &&
                    type <= ElementType::kInt64};
}

// One operation whose inputs are stored in its own type, the last but one read in `mode`.
Kernel KernelOf(const Operation& operation, ElementType type, ReadMode mode) {
  Kernel kernel;
  for (int i = 0; i < operation.arity; ++i) {
    kernel.inputs.push_back({type, i == operation.arity - 1 ? mode : ReadMode::kFull});
  }
  kernel.instructions = {InstructionOf(operation, type)};
  kernel.outputs = {operation.arity};
  kernel.rank = mode == ReadMode::kStrided ? 2 : 0;
  return kernel;
}

// What to compile to: machine code takes ten times as long.
enum class To { kMachineCode, kPtx };

// Empty, or what NVRTC says.
std::string Compile(const std::string& source, int compute_capability, To to = To::kMachineCode) {
  nvrtcProgram program;
  if (nvrtcCreateProgram(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) !=
      NVRTC_SUCCESS) {
    return "no program";
  }
  std::vector<const char*> options;
  std::vector<std::string> texts = ElementwiseOptions(compute_capability);
  if (to == To::kPtx) texts[0] = "--gpu-architecture=compute_" + std::to_string(compute_capability);
  for (const std::string& text : texts) options.push_back(text.c_str());
  const nvrtcResult result =
      nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  size_t size = 0, code_size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, '\0');
  nvrtcGetProgramLog(program, log.data());
  static_cast<void>(to == To::kPtx ? nvrtcGetPTXSize(program, &code_size)
                                   : nvrtcGetCUBINSize(program, &code_size));
  nvrtcDestroyProgram(&program);
  return result == NVRTC_SUCCESS && code_size > 0 ? "" : log;
}

class ArchitectureTest : public ::testing::TestWithParam<int> {
 protected:
  void Add(const Kernel& kernel) {
    source_ += ElementwiseSource(kernel, "kernel" + std::to_string(count_++));
  }
  void ExpectCompiles(To to = To::kMachineCode) { EXPECT_EQ(Compile(source_, GetParam(), to), ""); }

 private:
  std::string source_ = ElementwisePrelude(NumberKinds::kAll);
  int count_ = 0;
};

TEST_P(ArchitectureTest, EveryOperation) {
  for (const Operation& operation : kOperations) {
    const bool real = (operation.takes & ElementwiseTakes::kF) != 0;
    const ElementType type = real ? ElementType::kFloat32 : ElementType::kBool;
    const ElementType integer = ElementType::kInt32;
    const bool shift = operation.takes == ElementwiseTakes::kI;
    Add(KernelOf(operation, shift ? integer : type, ReadMode::kFull));
  }
  ExpectCompiles();
}

TEST_P(ArchitectureTest, EveryReadModeAndSize) {
  for (const ElementType type : {ElementType::kBool, ElementType::kFloat16, ElementType::kFloat32,
                                 ElementType::kInt64, ElementType::kComplex128}) {
    for (const ReadMode mode : {ReadMode::kScalar, ReadMode::kStrided}) {
      Kernel kernel = {.inputs = {{type, ReadMode::kFull}, {type, mode}, {type, mode}},
                       .instructions = {{"Add", type, type, {0, 1}, 2},
                                        {"Where", type, type, {0, 3, 2}, 3, true}},
                       .outputs = {4}};
      kernel.rank = mode == ReadMode::kStrided ? 2 : 0;
      Add(kernel);
    }
  }
  ExpectCompiles();
}

// Every pair of types that meet: operands convert to the type computed in, and casts to any.
TEST_P(ArchitectureTest, Conversions) {
  for (const TypeRow& from : kTypes) {
    for (const TypeRow& to : kTypes) {
      if (from.type == to.type) continue;
      Kernel kernel = {.inputs = {{from.type, ReadMode::kFull}},
                       .instructions = {{"Cast", to.type, to.type, {0}, 1}},
                       .outputs = {1}};
      if (from.type < to.type) {
        kernel.instructions.push_back({"Add", to.type, to.type, {0, 1}, 2});
        kernel.instructions.push_back({"Where", to.type, to.type, {0, 2, 0}, 3, true});
        kernel.instructions.push_back(
            {"LogicalXor", ElementType::kBool, ElementType::kBool, {0, 3}, 2});
        kernel.outputs = {3, 4};
      }
      Add(kernel);
    }
  }
  ExpectCompiles();
}

// (a * b + c, then relu and a scale), with results kept on the way, an input given back, and all
// read modes in 8 dimensions.
Kernel Chain() {
  return {
      .inputs = {{ElementType::kFloat32, ReadMode::kFull},
                 {ElementType::kUint8, ReadMode::kStrided},
                 {ElementType::kFloat32, ReadMode::kScalar},
                 {ElementType::kBool, ReadMode::kStrided}},
      .instructions = {{"MultiplyAdd", ElementType::kFloat32, ElementType::kFloat32, {0, 1, 2}, 3},
                       {"Relu", ElementType::kFloat32, ElementType::kFloat32, {4}, 1},
                       {"Where", ElementType::kFloat64, ElementType::kFloat64, {3, 5, 0}, 3, true},
                       {"Tanh", ElementType::kFloat64, ElementType::kFloat64, {6}, 1}},
      .outputs = {0, 5, 7},
      .rank = 8};
}

TEST_P(ArchitectureTest, Chains) {
  Add(Chain());
  Kernel longest = {.inputs = {{ElementType::kFloat64, ReadMode::kFull}}, .outputs = {64}};
  for (uint16_t i = 0; i < 64; ++i) {
    longest.instructions.push_back(
        {i % 2 == 0 ? "Exp" : "Power", ElementType::kFloat64, ElementType::kFloat64, {i, 0}, 2});
    longest.instructions.back().operand_count = i % 2 == 0 ? 1 : 2;
  }
  Add(longest);
  ExpectCompiles();
}

INSTANTIATE_TEST_SUITE_P(Architectures, ArchitectureTest, ::testing::Values(80, 90, 120),
                         ::testing::PrintToStringParamName());

TEST(ElementwiseSource, EveryOperationAndType) {
  std::string source = ElementwisePrelude(NumberKinds::kAll);
  int count = 0;
  for (const Operation& operation : kOperations) {
    for (const TypeRow& row : kTypes) {
      if (!ComputesIn(operation, row)) continue;
      source += ElementwiseSource(KernelOf(operation, row.type, ReadMode::kFull),
                                  "kernel" + std::to_string(count++));
    }
  }
  EXPECT_EQ(Compile(source, 90, To::kPtx), "");
}

TEST(ElementwiseSource, WrongFunctionDoesNotCompile) {
  Kernel kernel = Chain();
  kernel.instructions[1].function = "Rleu";
  EXPECT_THAT(
      Compile(ElementwisePrelude(NumberKinds::kAll) + ElementwiseSource(kernel, "wrong"), 90),
      HasSubstr("Rleu"));
}

TEST(ElementwiseSource, SignaturesDiffer) {
  const Kernel chain = Chain();
  EXPECT_EQ(ElementwiseSignature(chain), ElementwiseSignature(Chain()));
  const auto expect_other = [&](auto change) {
    Kernel other = chain;
    change(other);
    EXPECT_NE(ElementwiseSignature(other), ElementwiseSignature(chain));
    EXPECT_NE(ElementwiseSource(other, "k"), ElementwiseSource(chain, "k"));
  };
  expect_other([](Kernel& k) { k.rank = 4; });
  expect_other([](Kernel& k) { k.inputs[0].type = ElementType::kInt32; });
  expect_other([](Kernel& k) { k.inputs[1].mode = ReadMode::kScalar; });
  expect_other([](Kernel& k) { k.instructions[0].operands[2] = 0; });
  expect_other([](Kernel& k) { k.instructions[1].function = "Abs"; });
  expect_other([](Kernel& k) { k.instructions[1].result = ElementType::kBool; });
  expect_other([](Kernel& k) { k.outputs.pop_back(); });
}

TEST(ElementwiseRow, HoldsArgumentsInTheKernelsOrder) {
  const Kernel kernel = {
      .inputs = {{ElementType::kFloat32, ReadMode::kFull},
                 {ElementType::kFloat32, ReadMode::kStrided}},
      .instructions = {{"Add", ElementType::kFloat32, ElementType::kFloat32, {0, 1}, 2}},
      .outputs = {2},
      .rank = 4};
  ASSERT_EQ(ElementwiseRowWords(kernel), 4 + 2 + 1 + 4 + 4);
  const int64_t tile = ElementwiseTile(kernel);
  EXPECT_EQ(tile % (4 * kElementwiseThreads), 0);  // whole 16-byte groups

  const std::vector<uint64_t> inputs = {0x1000, 0x2004}, outputs = {0x3000};
  const std::vector<int64_t> sizes = {tile, 3}, strides = {1, 0};
  std::vector<uint64_t> words(ElementwiseRowWords(kernel));
  const int64_t next = WriteElementwiseRow(kernel,
                                           {.count = 3 * tile,
                                            .inputs = inputs,
                                            .outputs = outputs,
                                            .fault = 0x4000,
                                            .sizes = sizes,
                                            .strides = strides},
                                           7, words);
  EXPECT_EQ(next, 10);
  EXPECT_THAT(words, ElementsAre(7, 3 * tile, 0x4000, 1, 0x1000, 0x2004, 0x3000, 3, tile, 1, 1, 0,
                                 1, 0, 0));
}

TEST(ElementwiseRow, KnowsUnalignedAddresses) {
  const Kernel kernel = KernelOf(kOperations[0], ElementType::kFloat32, ReadMode::kFull);
  const auto aligned = [&](uint64_t input, uint64_t output) {
    std::vector<uint64_t> words(ElementwiseRowWords(kernel));
    WriteElementwiseRow(kernel, {.count = 1, .inputs = {&input, 1}, .outputs = {&output, 1}}, 0,
                        words);
    return words[3];
  };
  EXPECT_EQ(aligned(0x10, 0x20), 1);
  EXPECT_EQ(aligned(0x14, 0x20), 0);
  EXPECT_EQ(aligned(0x10, 0x24), 0);
}

TEST(ElementwiseRow, EmptyHasNoBlocks) {
  const Kernel kernel = KernelOf(kOperations[0], ElementType::kFloat32, ReadMode::kFull);
  std::vector<uint64_t> words(ElementwiseRowWords(kernel));
  const uint64_t address = 0x100;
  const ElementwiseArguments arguments = {
      .count = 0, .inputs = {&address, 1}, .outputs = {&address, 1}};
  EXPECT_EQ(WriteElementwiseRow(kernel, arguments, 5, words), 5);
}

}  // namespace
}  // namespace gpucall::cuda
