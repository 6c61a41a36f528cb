// How lines are shared out among blocks.
#include "kernels/cuda/reduce_cut.h"

#include <vector>

#include "gtest/gtest.h"

namespace gpucall::cuda {
namespace {

int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

struct Cut {
  std::vector<int64_t> starts, start_strides, elements, element_strides;
  ReduceForm form;
};

// Every element of every line is in one segment, of a size that a block reads in short order.
TEST(ReduceRow, SegmentsCoverLines) {
  const Cut cuts[] = {
      {{}, {}, {1 << 26}, {1}, ReduceForm::kBlocks},
      {{}, {}, {1}, {0}, ReduceForm::kScattered},
      {{8192}, {8192}, {8192}, {1}, ReduceForm::kHeldBlocks},
      {{50}, {20000}, {4, 5000}, {1000000, 1}, ReduceForm::kBlocks},
      {{8192}, {64}, {64}, {1}, ReduceForm::kHeldTeams},
      {{512}, {512}, {256, 512}, {262144, 1}, ReduceForm::kTeams},
      {{7}, {3}, {1000, 3}, {21, 1}, ReduceForm::kScattered},
      {{8192}, {1}, {8192}, {8192}, ReduceForm::kRows},
      {{1000}, {3}, {3}, {1}, ReduceForm::kPackedLines},
      {{3}, {1}, {1 << 20}, {3}, ReduceForm::kPackedRows},
      {{5, 3}, {3000, 1}, {1000}, {3}, ReduceForm::kPackedRows},
      {{5, 3}, {3003, 1}, {1001}, {3}, ReduceForm::kRows},  // images not aligned
      {{5, 6}, {4200, 1}, {700}, {6}, ReduceForm::kRows},
  };
  for (const Cut& cut : cuts) {
    const ReduceRow row =
        MakeReduceRow({cut.starts, cut.start_strides, cut.elements, cut.element_strides},
                      ElementType::kFloat32, ReduceResults::kOfLines);
    EXPECT_EQ(row.form, cut.form);
    if (row.form == ReduceForm::kTeams || row.form == ReduceForm::kBlocks) {
      EXPECT_EQ(row.run_count * row.element_sizes[0], row.element_count);
      EXPECT_TRUE(row.parts == 1 || row.runs_a_segment == 1);
      EXPECT_EQ(row.parts, DivideUp(row.element_sizes[0], row.segment_size));
      EXPECT_EQ(row.segment_count, DivideUp(row.run_count, row.runs_a_segment) * row.parts);
      EXPECT_LE(row.segment_size * row.runs_a_segment, 64 << 10);
    } else {
      EXPECT_EQ(row.segment_count, DivideUp(row.element_count, row.segment_size));
    }
    EXPECT_GE(ReduceBlockCount(row), 1);
    // Every line's partials are merged by one block, and no block is without lines.
    const int64_t lines = row.segment_count > 1 ? row.line_count : 0;
    EXPECT_EQ(ReduceMergeBlockCount(row), DivideUp(lines, int64_t{1} << row.merge_bits));
  }
}

// Lines of functions with an element for each are read once where registers hold them.
TEST(ReduceRow, LinesThatAreHeld) {
  const auto form_of = [](int64_t count, ElementType type) {
    const std::vector<int64_t> lines = {100}, elements = {count}, one = {1};
    return MakeReduceRow({lines, elements, elements, one}, type, ReduceResults::kOfElements).form;
  };
  EXPECT_EQ(form_of(15, ElementType::kFloat32), ReduceForm::kPackedLines);
  EXPECT_EQ(form_of(16, ElementType::kFloat32), ReduceForm::kHeldTeams);
  EXPECT_EQ(form_of(1024, ElementType::kFloat32), ReduceForm::kHeldTeams);
  EXPECT_EQ(form_of(1025, ElementType::kFloat32), ReduceForm::kHeldBlocks);
  EXPECT_EQ(form_of(16384, ElementType::kFloat32), ReduceForm::kHeldBlocks);
  EXPECT_EQ(form_of(16385, ElementType::kFloat32), ReduceForm::kBlocks);
  EXPECT_EQ(form_of(16384, ElementType::kFloat64), ReduceForm::kBlocks);
}

TEST(ReduceRow, RowsThatAreHeld) {
  const auto form_of = [](int64_t count, int64_t lines) {
    const std::vector<int64_t> sizes = {3, lines}, strides = {count * lines, 1};
    const std::vector<int64_t> elements = {count}, between = {lines};
    return MakeReduceRow({sizes, strides, elements, between}, ElementType::kFloat32,
                         ReduceResults::kOfElements)
        .form;
  };
  EXPECT_EQ(form_of(512, 1024), ReduceForm::kHeldRows);
  EXPECT_EQ(form_of(513, 1024), ReduceForm::kRows);  // too long
  EXPECT_EQ(form_of(20, 256), ReduceForm::kHeldRows);
  EXPECT_EQ(form_of(20, 64), ReduceForm::kRows);     // too few threads would have lines
  EXPECT_EQ(form_of(512, 1023), ReduceForm::kRows);  // too narrow
}

TEST(ReduceRow, NoLinesNoBlocks) {
  const std::vector<int64_t> zero = {0}, three = {3}, one = {1};
  const ReduceRow none =
      MakeReduceRow({zero, one, three, one}, ElementType::kFloat32, ReduceResults::kOfLines);
  EXPECT_EQ(ReduceBlockCount(none), 0);
  const ReduceRow empty =
      MakeReduceRow({three, one, zero, one}, ElementType::kFloat32, ReduceResults::kOfLines);
  EXPECT_EQ(ReduceBlockCount(empty), 1);  // which writes what a sum of nothing is
  EXPECT_EQ(ReduceMergeBlockCount(empty), 0);
}

}  // namespace
}  // namespace gpucall::cuda
