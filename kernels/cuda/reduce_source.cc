#include "kernels/cuda/reduce_source.h"

#include <algorithm>

#include "kernels/cuda/embedded_text.h"

namespace gpucall::cuda {
namespace {

constexpr int64_t kWantedBlocks = 2048;    // that keep any GPU busy
constexpr int64_t kMinSegment = 8 << 10;   // elements of a block
constexpr int64_t kMaxSegment = 64 << 10;  // keeps sums of float64 short
constexpr int64_t kSegmentUnit = 1024;
constexpr int64_t kMinRun = 512;       // shorter runs are read as scattered elements
constexpr int64_t kMaxWarpRun = 2048;  // longer runs are read by a whole block

int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

// Lines side by side that a thread takes at once.
int WidthOf(ElementType type) { return ElementBytes(type) > 4 ? 2 : 4; }

int64_t Fill(std::span<const int64_t> sizes, std::span<const int64_t> strides,
             long long (&row_sizes)[kReduceRank], long long (&row_strides)[kReduceRank]) {
  int64_t count = 1;
  for (size_t d = 0; d < kReduceRank; ++d) {
    const bool has = d < sizes.size();
    row_sizes[d] = has ? sizes[sizes.size() - 1 - d] : 1;
    row_strides[d] = has ? strides[sizes.size() - 1 - d] : 0;
    count *= row_sizes[d];
  }
  return count;
}

int TeamFor(int64_t elements, int width) {
  if (elements > kMaxWarpRun) return kReduceThreads;
  int team = 1;
  while (team < 32 && team * width * 2 < elements) team *= 2;
  return team;
}

// Elements of one segment where a line's `length` elements are cut.
int64_t SegmentFor(int64_t length, int64_t total) {
  const int64_t wanted = std::clamp(total / kWantedBlocks, kMinSegment, kMaxSegment);
  const int64_t even = DivideUp(length, DivideUp(length, wanted));
  return DivideUp(even, kSegmentUnit) * kSegmentUnit;
}

void CutRuns(ReduceRow& row, int width) {
  const int64_t run = row.element_sizes[0];
  const int64_t total = row.line_count * row.element_count;
  if (run == row.element_count || run >= kMinRun) {
    row.form = ReduceForm::kRuns;
    row.segment_size = SegmentFor(run, total);
    row.segment_count = row.element_count / run * DivideUp(run, row.segment_size);
    row.team = TeamFor(std::min<int64_t>(run, row.segment_size), width);
  } else {
    row.form = ReduceForm::kScattered;
    row.segment_size = SegmentFor(row.element_count, total);
    row.segment_count = DivideUp(row.element_count, row.segment_size);
    row.team = TeamFor(std::min<int64_t>(row.element_count, row.segment_size), 1);
  }
}

void CutRows(ReduceRow& row, int width) {
  const int64_t lines = row.start_sizes[0];
  row.form = ReduceForm::kRows;
  row.width = lines % width == 0 ? width : 1;
  row.across = 1;
  while (row.across < 32 && row.across * row.width < lines) row.across *= 2;
  const int64_t tiles = row.line_count / lines * DivideUp(lines, row.across * row.width);
  const int64_t down = kReduceThreads / row.across;
  row.segment_size =
      std::max(DivideUp(row.element_count, DivideUp(kWantedBlocks, tiles)), down * 8);
  row.segment_count = DivideUp(row.element_count, row.segment_size);
}

}  // namespace

std::string ReduceSignature(const ReduceKernel& kernel) {
  std::string signature = "reduce ";
  signature.append(kernel.function).append("<").append(TypeName(kernel.type)).append(">");
  return signature;
}

std::string ReducePrelude() {
  std::string source = "#define GPUCALL_FN __device__\n";
  return source.append(kReduceFunctionsText).append(kReduceRowText).append(kReduceTileText);
}

std::string ReduceSource(const ReduceKernel& kernel, std::string_view name) {
  std::string source = "extern \"C\" __global__ void __launch_bounds__(256) ";
  source.append(name);
  source.append(
      "(const __grid_constant__ gpucall::cuda::ReduceRow only,\n"
      "    const gpucall::cuda::ReduceRow* table, int row_count,\n"
      "    gpucall::cuda::ReducePass pass, double parameter) {\n"
      "  const gpucall::cuda::ReduceRow& row =\n"
      "      row_count == 1 ? only : gpucall::cuda::FindRow(table, row_count, pass == "
      "gpucall::cuda::ReducePass::kMerge);\n"
      "  gpucall::cuda::Reduce<gpucall::reduce::");
  source.append(kernel.function).append("<").append(TypeName(kernel.type));
  return source.append(">>(row, pass, parameter);\n}\n");
}

ReduceRow MakeReduceRow(const LineShape& lines, ElementType type) {
  ReduceRow row = {};
  row.team = row.across = row.width = row.merge_team = 1;
  row.line_count = Fill(lines.start_sizes, lines.start_strides, row.start_sizes, row.start_strides);
  row.element_count =
      Fill(lines.element_sizes, lines.element_strides, row.element_sizes, row.element_strides);
  row.starts_even = row.start_sizes[0] == row.line_count;
  row.elements_even = row.element_sizes[0] == row.element_count;
  row.form = ReduceForm::kScattered;
  row.segment_count = row.segment_size = 1;
  if (row.line_count == 0 || row.element_count == 0) return row;
  if (!lines.start_sizes.empty() && row.start_strides[0] == 1) {
    CutRows(row, WidthOf(type));
  } else {
    CutRuns(row, WidthOf(type));
  }
  row.merge_team = row.segment_count > 256 ? kReduceThreads : 1;
  while (row.merge_team < 32 && row.merge_team < row.segment_count) row.merge_team *= 2;
  return row;
}

int64_t ReduceBlockCount(const ReduceRow& row) {
  if (row.line_count == 0) return 0;
  if (row.form != ReduceForm::kRows) {
    return DivideUp(row.line_count * row.segment_count, kReduceThreads / row.team);
  }
  const int64_t lines = row.start_sizes[0];
  return row.line_count / lines * DivideUp(lines, row.across * row.width) * row.segment_count;
}

int64_t ReduceMergeBlockCount(const ReduceRow& row) {
  return row.segment_count > 1 ? DivideUp(row.line_count, kReduceThreads / row.merge_team) : 0;
}

int64_t ReducePartialBytes(const ReduceRow& row) {
  return row.segment_count > 1 ? row.line_count * row.segment_count * kPartialBytes : 0;
}

}  // namespace gpucall::cuda
