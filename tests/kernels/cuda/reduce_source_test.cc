// Reduction kernels compile, for every architecture built for (needs NVRTC, no GPU).
#include "kernels/cuda/reduce_source.h"

#include <nvrtc.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpucall::cuda {
namespace {

constexpr std::string_view kFunctions[] = {
#define GPUCALL_REDUCE(Function, name, result, size, empty, description) #Function,
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
};
constexpr ElementType kTypes[] = {ElementType::kBool,   ElementType::kUint8,  ElementType::kInt32,
                                  ElementType::kInt64,  ElementType::kUint64, ElementType::kFloat32,
                                  ElementType::kFloat64};

// Empty, or what NVRTC says.
std::string Compile(const std::string& source, int compute_capability) {
  nvrtcProgram program;
  if (nvrtcCreateProgram(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) !=
      NVRTC_SUCCESS) {
    return "no program";
  }
  std::vector<const char*> options;
  const std::vector<std::string> texts = ElementwiseOptions(compute_capability);
  for (const std::string& text : texts) options.push_back(text.c_str());
  const nvrtcResult result =
      nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, '\0');
  nvrtcGetProgramLog(program, log.data());
  nvrtcDestroyProgram(&program);
  return result == NVRTC_SUCCESS ? "" : "failed: " + log;
}

struct Variant {
  ReduceForm form;
  int width;
};
// Of each form one or two.
std::vector<Variant> VariantsOf(std::string_view function, ElementType type) {
  const int width = std::min(16 / ElementBytes(type), 8);
  std::vector<Variant> variants = {{ReduceForm::kTeams, 4},      {ReduceForm::kBlocks, 4},
                                   {ReduceForm::kHeldTeams, 4},  {ReduceForm::kRows, width},
                                   {ReduceForm::kHeldBlocks, 2}, {ReduceForm::kScattered, 1},
                                   {ReduceForm::kPackedRows, 2}, {ReduceForm::kPackedLines, 3}};
  for (const std::string_view gives_elements :
       {"Softmax", "LogSoftmax", "LayerNorm", "Standardise"}) {
    if (function == gives_elements) variants.push_back({ReduceForm::kHeldRows, 16 * width + 3});
  }
  return variants;
}

class ReduceSourceTest : public testing::TestWithParam<int> {};

TEST_P(ReduceSourceTest, FunctionsCompile) {
  // A kernel takes NVRTC half a second: each function in one type and form for each architecture,
  // of which no two have the same.
  size_t number = static_cast<size_t>(GetParam() / 10);
  for (const std::string_view function : kFunctions) {
    const ElementType type = kTypes[number % std::size(kTypes)];
    const std::vector<Variant> variants = VariantsOf(function, type);
    const auto [form, width] = variants[number++ % variants.size()];
    const std::string source =
        ReducePrelude(form) + ReduceSource({function, type, form, width}, "kernel");
    EXPECT_EQ(Compile(source, GetParam()), "") << function;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReduceSourceTest, testing::Values(80, 90, 120));

TEST(ReduceSource, WrongFunctionDoesNotCompile) {
  const std::string source =
      ReducePrelude(ReduceForm::kRows) +
      ReduceSource({"Sums", ElementType::kInt32, ReduceForm::kRows, 4}, "wrong");
  EXPECT_THAT(Compile(source, 90), testing::HasSubstr("Sums"));
}

}  // namespace
}  // namespace gpucall::cuda
