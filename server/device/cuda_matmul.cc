#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "kernels/cuda/matmul_integer.h"
#include "server/device/cuda_broadcast.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"

namespace gpucall {
namespace {

// Where an operand's matrices are: nowhere where there is none.
struct Operand {
  std::byte* data = nullptr;
  int64_t element_bytes = 1;
  int64_t member_stride = 0;           // elements
  std::vector<int64_t> outer_strides;  // elements, along the step's batch
  const void* at(int64_t offset) const {
    return data == nullptr ? nullptr : data + offset * element_bytes;
  }
};
enum { kA, kB, kC, kBias, kOutput, kOperandCount };
using Operands = std::array<Operand, kOperandCount>;
// Of a group of executions, whose products are alike.
struct Products {
  const Plan& plan;
  const MatMulStep& step;
  Operands operands;
  std::byte* scratch = nullptr;
  int64_t scratch_count = 0;  // of products

  DType dtype(uint32_t value) const { return plan.values[value].dtype; }
};

// Products that are `strides` elements apart, from `offsets` on.
struct Run {
  std::array<int64_t, kOperandCount> strides, offsets;
  int64_t count;
};

cuda::IntegerType IntegerTypeOf(DType dtype) {
  return {static_cast<int>(ElementSize(dtype)), KindOf(dtype) == DTypeKind::kSigned};
}

cuda::MatMulShape::Type TypeOf(DType dtype) {
  using Type = cuda::MatMulShape::Type;
  switch (dtype) {
    case DType::kFloat16:
      return Type::kFloat16;
    case DType::kBfloat16:
      return Type::kBfloat16;
    case DType::kFloat64:
      return Type::kFloat64;
    case DType::kComplex64:
      return Type::kComplex64;
    case DType::kComplex128:
      return Type::kComplex128;
    case DType::kInt8:
      return Type::kInt8;
    default:
      return Type::kFloat32;
  }
}

cuda::MatMulShape ShapeOf(const Products& products) {
  const MatMulStep& step = products.step;
  const DType operands = products.dtype(step.a);
  return {.type = TypeOf(operands),
          .m = step.m,
          .n = step.n,
          .k = step.k,
          .transpose_a = step.attributes.transpose_a,
          .transpose_b = step.attributes.transpose_b,
          .widens = IsFloating(operands) && products.dtype(step.output) != operands,
          .precision = static_cast<cuda::MatMulShape::Precision>(step.attributes.precision),
          .has_addend = step.c != MatMulStep::kNone,
          .has_bias = step.bias != MatMulStep::kNone,
          .relu = step.attributes.activation == Activation::kRelu};
}

cuda::MatMulBatch BatchOf(const Products& products, const Run& run) {
  const MatMulStep& step = products.step;
  const Operands& operands = products.operands;
  cuda::MatMulBatch batch = {.a = operands[kA].at(run.offsets[kA]),
                             .b = operands[kB].at(run.offsets[kB]),
                             .c = const_cast<void*>(operands[kOutput].at(run.offsets[kOutput])),
                             .stride_a = run.strides[kA],
                             .stride_b = run.strides[kB],
                             .stride_c = run.strides[kOutput],
                             .count = run.count,
                             .alpha = step.attributes.alpha,
                             .beta = step.attributes.beta,
                             .addend = operands[kC].at(run.offsets[kC]),
                             .stride_addend = run.strides[kC],
                             .bias = operands[kBias].at(run.offsets[kBias]),
                             .stride_bias = run.strides[kBias],
                             .scratch = products.scratch,
                             .scratch_count = products.scratch_count};
  if (step.c != MatMulStep::kNone) {
    batch.addend_row_stride = step.c_strides.end()[-2];
    batch.addend_column_stride = step.c_strides.back();
  }
  return batch;
}

// What cuBLASLt multiplies exactly: sums that cannot overflow, in aligned rows.
bool IsTensorCoreProduct(const Products& products) {
  constexpr int64_t kMaxTerms = 131071;  // of -128 * -128, below 2^31
  const MatMulStep& step = products.step;
  const MatMulAttributes& attributes = step.attributes;
  return products.dtype(step.a) == DType::kInt8 && products.dtype(step.b) == DType::kInt8 &&
         products.dtype(step.output) == DType::kInt32 && attributes.alpha == 1 &&
         step.c == MatMulStep::kNone && step.bias == MatMulStep::kNone &&
         attributes.activation == Activation::kNone && step.m % 16 == 0 && step.n % 16 == 0 &&
         step.k % 16 == 0 && step.k > 0 && step.k <= kMaxTerms;
}

cuda::IntegerProducts IntegerProductsOf(const Products& products, const Run& run) {
  const MatMulStep& step = products.step;
  const cuda::MatMulBatch batch = BatchOf(products, run);
  return {.a_type = IntegerTypeOf(products.dtype(step.a)),
          .b_type = IntegerTypeOf(products.dtype(step.b)),
          .out_type = IntegerTypeOf(products.dtype(step.output)),
          .transpose_a = step.attributes.transpose_a,
          .transpose_b = step.attributes.transpose_b,
          .relu = step.attributes.activation == Activation::kRelu,
          .m = step.m,
          .n = step.n,
          .k = step.k,
          .count = batch.count,
          .a = batch.a,
          .b = batch.b,
          .addend = batch.addend,
          .bias = batch.bias,
          .out = batch.c,
          .stride_a = batch.stride_a,
          .stride_b = batch.stride_b,
          .stride_addend = batch.stride_addend,
          .stride_bias = batch.stride_bias,
          .stride_out = batch.stride_c,
          .addend_row_stride = batch.addend_row_stride,
          .addend_column_stride = batch.addend_column_stride,
          .alpha = static_cast<long long>(batch.alpha),
          .beta = static_cast<long long>(batch.beta)};
}

class MatMulRun : public StepRun {
 public:
  MatMulRun(size_t step, BatchLayout& layout, cuda::MatMul& matmul)
      : step_(step), layout_(layout), matmul_(matmul) {
    for (const BatchLayout::Group& group : layout.groups()) {
      const auto& of = std::get<MatMulStep>(group.plan->steps[step]);
      const Products products = {*group.plan, of, {}};
      const int64_t bytes = ScratchBytes(products);
      if (bytes > 0) layout.RequireScratch(bytes * ScratchCount(bytes, group, of));
    }
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>&) override { memory_ = memory; }

  absl::Status Launch(cudaStream_t stream) override {
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      GPUCALL_RETURN_IF_ERROR(LaunchGroup(g, stream));
    }
    return absl::OkStatus();
  }

 private:
  // Of one product. See MatMul.
  int64_t ScratchBytes(const Products& products) {
    const bool is_integer = IsInteger(products.dtype(products.step.output));
    if (is_integer && !IsTensorCoreProduct(products)) return 0;
    return matmul_.ScratchBytes(ShapeOf(products), BatchOf(products, {}));
  }
  // Products that have scratch memory at once.
  static int64_t ScratchCount(int64_t bytes, const BatchLayout::Group& group,
                              const MatMulStep& step) {
    constexpr int64_t kEnoughBytes = int64_t{32} << 20;
    return std::min(ElementCount(step.batch) * static_cast<int64_t>(group.members.size()),
                    std::max<int64_t>(kEnoughBytes / bytes, 1));
  }

  Operand OperandOf(size_t group, uint32_t value, std::vector<int64_t> outer_strides) const {
    const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
    const auto bytes =
        static_cast<int64_t>(ElementSize(layout_.groups()[group].plan->values[value].dtype));
    return {memory_ + slots.offset, bytes, slots.stride / bytes, std::move(outer_strides)};
  }

  Operands OperandsOf(size_t group, const MatMulStep& step) const {
    const auto matrices = [&](const Shape& from, int64_t size) {
      std::vector<int64_t> strides = BroadcastStrides(from, step.batch);
      for (int64_t& stride : strides) stride *= size;
      return strides;
    };
    const std::vector<int64_t> none(step.batch.size(), 0);
    Operands operands;
    operands[kA] = OperandOf(group, step.a, matrices(step.a_batch, step.m * step.k));
    operands[kB] = OperandOf(group, step.b, matrices(step.b_batch, step.k * step.n));
    operands[kOutput] = OperandOf(group, step.output, matrices(step.batch, step.m * step.n));
    operands[kC].outer_strides = operands[kBias].outer_strides = none;
    if (step.c != MatMulStep::kNone) {
      const auto first = step.c_strides.begin();
      operands[kC] = OperandOf(group, step.c, {first, first + static_cast<int64_t>(none.size())});
    }
    if (step.bias != MatMulStep::kNone) operands[kBias] = OperandOf(group, step.bias, none);
    return operands;
  }

  // The group's products in one dimension are one call; calls repeat over the others.
  absl::Status LaunchGroup(size_t group, cudaStream_t stream) {
    const BatchLayout::Group& g = layout_.groups()[group];
    const auto& step = std::get<MatMulStep>(g.plan->steps[step_]);
    Products products = {*g.plan, step, OperandsOf(group, step)};
    if (const int64_t bytes = ScratchBytes(products); bytes > 0) {
      products.scratch = memory_ + layout_.scratch_offset();
      products.scratch_count = ScratchCount(bytes, g, step);
    }
    StridedShape shape = {.sizes = {step.batch.begin(), step.batch.end()}, .strides = {}};
    std::array<int64_t, kOperandCount> member_strides;
    for (size_t i = 0; i < kOperandCount; ++i) {
      shape.strides.push_back(products.operands[i].outer_strides);
      member_strides[i] = products.operands[i].member_stride;
    }
    shape.AddOuter(static_cast<int64_t>(g.members.size()), member_strides);
    shape = Collapse(shape);
    if (shape.rank() == 0) shape.AddOuter(1, std::array<int64_t, kOperandCount>{});
    return LaunchAll(products, shape, stream);
  }

  absl::Status LaunchAll(const Products& products, const StridedShape& shape, cudaStream_t stream) {
    const size_t inner = static_cast<size_t>(std::distance(
        shape.sizes.begin(), std::max_element(shape.sizes.begin(), shape.sizes.end())));
    Run run = {.strides = {}, .offsets = {}, .count = shape.sizes[inner]};
    for (size_t i = 0; i < kOperandCount; ++i) run.strides[i] = shape.strides[i][inner];
    const int64_t calls = ElementCount(shape.sizes) / std::max<int64_t>(run.count, 1);
    for (int64_t call = 0; call < calls; ++call) {
      run.offsets = {};
      int64_t rest = call;
      for (size_t d = 0; d < shape.rank(); ++d) {
        if (d == inner) continue;
        for (size_t i = 0; i < kOperandCount; ++i) {
          run.offsets[i] += rest % shape.sizes[d] * shape.strides[i][d];
        }
        rest /= shape.sizes[d];
      }
      GPUCALL_RETURN_IF_ERROR(LaunchRun(products, run, stream));
    }
    return absl::OkStatus();
  }

  absl::Status LaunchRun(const Products& products, const Run& run, cudaStream_t stream) {
    const bool is_integer = IsInteger(products.dtype(products.step.output));
    if (!is_integer || IsTensorCoreProduct(products)) {
      const cublasStatus_t status = matmul_.Run(ShapeOf(products), BatchOf(products, run), stream);
      if (!is_integer || status != CUBLAS_STATUS_NOT_SUPPORTED) {
        return CublasStatus(status, "cublasLtMatmul");
      }
    }
    return CudaStatus(cuda::LaunchIntegerProducts(IntegerProductsOf(products, run), stream),
                      "LaunchIntegerProducts");
  }

  const size_t step_;
  const BatchLayout& layout_;
  cuda::MatMul& matmul_;
  std::byte* memory_ = nullptr;
};

}  // namespace

PreparedStep Prepare(const MatMulStep&, size_t step, BatchLayout& layout, const StepTools& tools) {
  return std::make_unique<MatMulRun>(step, layout, tools.matmul);
}

}  // namespace gpucall
