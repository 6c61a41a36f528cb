#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "server/device/cuda_broadcast.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"

namespace gpucall {
namespace {

// Dimensions that a and b are broadcast along.
absl::Span<const int64_t> OuterSizes(const Shape& shape) {
  return absl::MakeConstSpan(shape).first(shape.size() - 2);
}

class MatMulRun : public StepRun {
 public:
  MatMulRun(size_t step, const BatchLayout& layout, cuda::MatMul& matmul)
      : step_(step), layout_(layout), matmul_(matmul) {}

  void FillTables(std::byte* memory, std::vector<Staging::Segment>&) override { memory_ = memory; }

  absl::Status Launch(cudaStream_t stream) override {
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      GPUCALL_RETURN_IF_ERROR(LaunchGroup(g, stream));
    }
    return absl::OkStatus();
  }

 private:
  // Operands a, b, c, with the strides of one matrix to the next.
  struct Operand {
    std::byte* data;
    int64_t member_stride;
    std::vector<int64_t> outer_strides;
  };

  Operand OperandOf(size_t group, uint32_t value, const Shape& result) const {
    const BatchLayout::Group& g = layout_.groups()[group];
    const TensorType& type = g.plan->values[value];
    const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
    const int64_t matrix = type.shape.end()[-1] * type.shape.end()[-2];
    Operand operand = {memory_ + slots.offset,
                       slots.stride / static_cast<int64_t>(ElementSize(type.dtype)),
                       BroadcastStrides(OuterSizes(type.shape), OuterSizes(result))};
    for (int64_t& stride : operand.outer_strides) stride *= matrix;
    return operand;
  }

  // The group's products in one dimension are one call; calls repeat over the others.
  absl::Status LaunchGroup(size_t group, cudaStream_t stream) {
    const BatchLayout::Group& g = layout_.groups()[group];
    const auto& step = std::get<MatMulStep>(g.plan->steps[step_]);
    const TensorType& result = g.plan->values[step.output];
    const std::array<Operand, 3> operands = {OperandOf(group, step.a, result.shape),
                                             OperandOf(group, step.b, result.shape),
                                             OperandOf(group, step.output, result.shape)};
    const absl::Span<const int64_t> outer = OuterSizes(result.shape);
    StridedShape shape = {.sizes = {outer.begin(), outer.end()}, .strides = {}};
    for (const Operand& operand : operands) shape.strides.push_back(operand.outer_strides);
    shape.AddOuter(
        static_cast<int64_t>(g.members.size()),
        {operands[0].member_stride, operands[1].member_stride, operands[2].member_stride});
    const cuda::MatMulShape matrices = {.type = result.dtype == DType::kFloat64
                                                    ? cuda::MatMulShape::Type::kFloat64
                                                    : cuda::MatMulShape::Type::kFloat32,
                                        .m = step.m,
                                        .n = step.n,
                                        .k = step.k,
                                        .transpose_a = step.attributes.transpose_a,
                                        .transpose_b = step.attributes.transpose_b};
    return LaunchAll(matrices, operands, Collapse(shape), stream);
  }

  absl::Status LaunchAll(const cuda::MatMulShape& matrices, const std::array<Operand, 3>& operands,
                         StridedShape shape, cudaStream_t stream) {
    if (shape.rank() == 0) shape.AddOuter(1, {0, 0, 0});
    const size_t inner = static_cast<size_t>(std::distance(
        shape.sizes.begin(), std::max_element(shape.sizes.begin(), shape.sizes.end())));
    cuda::MatMulBatch batch = {.stride_a = shape.strides[0][inner],
                               .stride_b = shape.strides[1][inner],
                               .stride_c = shape.strides[2][inner],
                               .count = shape.sizes[inner]};
    const int64_t element_bytes = matrices.type == cuda::MatMulShape::Type::kFloat64 ? 8 : 4;
    const int64_t calls = ElementCount(shape.sizes) / std::max<int64_t>(batch.count, 1);
    for (int64_t call = 0; call < calls; ++call) {
      std::array<int64_t, 3> offsets = {0, 0, 0};
      int64_t rest = call;
      for (size_t d = 0; d < shape.rank(); ++d) {
        if (d == inner) continue;
        for (size_t i = 0; i < 3; ++i) offsets[i] += rest % shape.sizes[d] * shape.strides[i][d];
        rest /= shape.sizes[d];
      }
      batch.a = operands[0].data + offsets[0] * element_bytes;
      batch.b = operands[1].data + offsets[1] * element_bytes;
      batch.c = operands[2].data + offsets[2] * element_bytes;
      GPUCALL_RETURN_IF_ERROR(CublasStatus(matmul_.Run(matrices, batch, stream), "cublasLtMatmul"));
    }
    return absl::OkStatus();
  }

  const size_t step_;
  const BatchLayout& layout_;
  cuda::MatMul& matmul_;
  std::byte* memory_ = nullptr;
};

}  // namespace

std::unique_ptr<StepRun> PrepareMatMul(size_t step, BatchLayout& layout, cuda::MatMul& matmul) {
  return std::make_unique<MatMulRun>(step, layout, matmul);
}

}  // namespace gpucall
