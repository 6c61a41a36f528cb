// Reduction kernels compile, for every architecture built for (needs NVRTC, no GPU); and how lines
// are cut.
#include "kernels/cuda/reduce_source.h"

#include <nvrtc.h>

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

class ReduceSourceTest : public testing::TestWithParam<int> {};

TEST_P(ReduceSourceTest, FunctionsCompile) {
  // A kernel takes NVRTC half a second: each function in one type for each architecture, of which
  // no two have the same.
  std::string source = ReducePrelude();
  size_t number = static_cast<size_t>(GetParam() / 10);
  for (const std::string_view function : kFunctions) {
    const ElementType type = kTypes[number % std::size(kTypes)];
    source += ReduceSource({function, type}, "kernel" + std::to_string(number++));
  }
  EXPECT_EQ(Compile(source, GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(All, ReduceSourceTest, testing::Values(80, 90, 120));

TEST(ReduceSource, WrongFunctionDoesNotCompile) {
  const std::string source = ReducePrelude() + ReduceSource({"Sums", ElementType::kInt32}, "wrong");
  EXPECT_THAT(Compile(source, 90), testing::HasSubstr("Sums"));
}

struct Cut {
  std::vector<int64_t> starts, start_strides, elements, element_strides;
  ReduceForm form;
};

// Every element of every line is in one segment, of a size that a block reads in short order.
TEST(ReduceRow, SegmentsCoverLines) {
  const Cut cuts[] = {
      {{}, {}, {1 << 26}, {1}, ReduceForm::kRuns},
      {{}, {}, {1}, {0}, ReduceForm::kRuns},
      {{8192}, {8192}, {8192}, {1}, ReduceForm::kRuns},
      {{50}, {20000}, {4, 5000}, {1000000, 1}, ReduceForm::kRuns},
      {{7}, {3}, {1000, 3}, {21, 1}, ReduceForm::kScattered},
      {{8192}, {1}, {8192}, {8192}, ReduceForm::kRows},
      {{3}, {1}, {1 << 20}, {3}, ReduceForm::kRows},
      {{5, 6}, {4200, 1}, {700}, {6}, ReduceForm::kRows},
  };
  for (const Cut& cut : cuts) {
    const ReduceRow row = MakeReduceRow(
        {cut.starts, cut.start_strides, cut.elements, cut.element_strides}, ElementType::kFloat32);
    EXPECT_EQ(row.form, cut.form);
    const int64_t run = row.form == ReduceForm::kRuns ? row.element_sizes[0] : row.element_count;
    const int64_t segments_of_run = (run + row.segment_size - 1) / row.segment_size;
    EXPECT_EQ(row.segment_count, row.element_count / run * segments_of_run);
    EXPECT_LE(row.form == ReduceForm::kRows ? 0 : row.segment_size, 64 << 10);
    EXPECT_GE(ReduceBlockCount(row), 1);
    // Every line has a team that merges its partials, and no block is without one.
    const int64_t teams = kReduceThreads / row.merge_team;
    EXPECT_EQ(kReduceThreads % row.merge_team, 0);
    const int64_t lines = row.segment_count > 1 ? row.line_count : 0;
    EXPECT_GE(ReduceMergeBlockCount(row) * teams, lines);
    EXPECT_LT(ReduceMergeBlockCount(row) * teams, lines + teams);
  }
}

TEST(ReduceRow, NoLinesNoBlocks) {
  const std::vector<int64_t> zero = {0}, three = {3}, one = {1};
  const ReduceRow none = MakeReduceRow({zero, one, three, one}, ElementType::kFloat32);
  EXPECT_EQ(ReduceBlockCount(none), 0);
  const ReduceRow empty = MakeReduceRow({three, one, zero, one}, ElementType::kFloat32);
  EXPECT_EQ(ReduceBlockCount(empty), 1);  // which writes what a sum of nothing is
  EXPECT_EQ(ReduceMergeBlockCount(empty), 0);
}

}  // namespace
}  // namespace gpucall::cuda
