#include "kernels/cuda/reduce_source.h"

#include "kernels/cuda/embedded_text.h"

namespace gpucall::cuda {
namespace {

// A form's template, of its function and width.
struct Form {
  std::string_view name, arguments;  // between the two
  std::string_view text;
};
Form FormOf(ReduceForm form) {
  switch (form) {
    case ReduceForm::kTeams:
      return {"Runs", "false, ", kReduceRunsText};
    case ReduceForm::kHeldTeams:
      return {"HeldRuns", "false, ", kReduceRunsText};
    case ReduceForm::kBlocks:
      return {"Runs", "true, ", kReduceRunsText};
    case ReduceForm::kHeldBlocks:
      return {"HeldRuns", "true, ", kReduceRunsText};
    case ReduceForm::kScattered:
      return {"Scattered", "", kReduceRunsText};
    case ReduceForm::kRows:
      return {"Rows", "", kReduceRowsText};
    case ReduceForm::kHeldRows:
      return {"HeldRows", "", kReduceRowsText};
    case ReduceForm::kPackedLines:
      return {"PackedLines", "", kReducePackedText};
    case ReduceForm::kPackedRows:
      return {"PackedRows", "", kReducePackedText};
  }
  return {};
}

std::string TemplateOf(const ReduceKernel& kernel) {
  const Form form = FormOf(kernel.form);
  std::string text(form.name);
  text.append("<gpucall::reduce::").append(kernel.function).append("<");
  text.append(TypeName(kernel.type)).append(">, ").append(form.arguments);
  return text.append(std::to_string(kernel.width)).append(">");
}

}  // namespace

std::string ReduceSignature(const ReduceKernel& kernel) { return "reduce " + TemplateOf(kernel); }

std::string ReducePrelude(ReduceForm form) {
  std::string source = "#define GPUCALL_FN __device__\n";
  source.append(kReduceFunctionsText).append(kReduceRowText).append(kReduceGroupsText);
  return source.append(kReduceTeamText).append(FormOf(form).text);
}

std::string ReduceSource(const ReduceKernel& kernel, std::string_view name) {
  const std::string form = "gpucall::cuda::" + TemplateOf(kernel);
  std::string source = "extern \"C\" __global__ void __launch_bounds__(256, ";
  source.append(form).append("::kBlocksAtOnce) ").append(name);
  source.append(
      "(const __grid_constant__ gpucall::cuda::ReduceRow only,\n"
      "    const gpucall::cuda::ReduceRow* table, int row_count,\n"
      "    gpucall::cuda::ReducePass pass, double parameter) {\n"
      "  const gpucall::cuda::ReduceRow& row =\n"
      "      row_count == 1 ? only : gpucall::cuda::FindRow(table, row_count, pass == "
      "gpucall::cuda::ReducePass::kMerge);\n"
      "  gpucall::cuda::Reduce<");
  return source.append(form).append(">(row, pass, parameter);\n}\n");
}

}  // namespace gpucall::cuda
