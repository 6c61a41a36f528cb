#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/cuda/filter_nd.h"
#include "kernels/line_symmetry.h"
#include "server/base/status_macros.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"
#include "server/device/filter_forms.h"
#include "server/device/numbers.h"

namespace gpucall {
namespace {

cuda::FilterNumbers FilterNumbersOf(DType dtype) {
  return {NumbersOf(dtype), static_cast<int>(ElementSize(dtype))};
}

// The bits of cval as an element of `dtype`, which holds it if it is an integer one.
unsigned long long FillBits(double cval, DType dtype) {
  switch (KindOf(dtype)) {
    case DTypeKind::kBool:
      return cval != 0 ? 1 : 0;
    case DTypeKind::kFloat:
      if (dtype == DType::kFloat32) return std::bit_cast<uint32_t>(static_cast<float>(cval));
      return std::bit_cast<uint64_t>(cval);
    case DTypeKind::kSigned: {
      // Of other modes than constant cval is anything, and not read.
      const bool fits = cval >= -0x1p63 && cval < 0x1p63;
      return fits ? static_cast<unsigned long long>(static_cast<long long>(cval)) : 0;
    }
    default:
      return cval >= 0 && cval < 0x1p64 ? static_cast<unsigned long long>(cval) : 0;
  }
}

// Steps that are one launch for each execution, and share a table.
template <class Step>
class NdFilterRun : public StepRun {
 public:
  NdFilterRun(size_t step, BatchLayout& layout) : step_(step), layout_(layout) {}

  absl::Status Launch(cudaStream_t stream) override {
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      for (size_t i = 0; i < layout_.groups()[g].members.size(); ++i) {
        GPUCALL_RETURN_IF_ERROR(LaunchOne(g, i, stream));
      }
    }
    return absl::OkStatus();
  }

 protected:
  virtual absl::Status LaunchOne(size_t group, size_t member, cudaStream_t stream) = 0;

  const Plan& PlanOf(size_t group) const { return *layout_.groups()[group].plan; }
  const Step& StepOf(size_t group) const { return std::get<Step>(PlanOf(group).steps[step_]); }
  const TensorType& TypeOf(uint32_t value, size_t group) const {
    return PlanOf(group).values[value];
  }
  std::byte* Address(uint32_t value, size_t group, size_t member) const {
    const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
    return memory_ + slots.offset + static_cast<int64_t>(member) * slots.stride;
  }

  const size_t step_;
  BatchLayout& layout_;
  std::byte* memory_ = nullptr;
};

class LineFilterRun : public NdFilterRun<LineFilterStep> {
 public:
  LineFilterRun(size_t step, BatchLayout& layout) : NdFilterRun(step, layout) {
    const LineFilterAttributes& line = StepOf(0).attributes;
    symmetry_ = SymmetryOf(line.weights);
    if (!line.weights.empty()) table_offset_ = layout.ReserveTable(TableBytes());
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    memory_ = memory;
    const LineFilterAttributes& line = StepOf(0).attributes;
    if (!line.weights.empty()) upload.push_back({table_offset_, line.weights.data(), TableBytes()});
  }

 private:
  int64_t TableBytes() const {
    return static_cast<int64_t>(StepOf(0).attributes.weights.size() * sizeof(double));
  }

  absl::Status LaunchOne(size_t group, size_t member, cudaStream_t stream) override {
    const LineFilterStep& step = StepOf(group);
    const LineFilterAttributes& line = step.attributes;
    const DType from = TypeOf(step.x, group).dtype;
    const cuda::LineFilter filter = {
        .x = Address(step.x, group, member),
        .out = Address(step.output, group, member),
        .weights = reinterpret_cast<const double*>(memory_ + table_offset_),
        .elements = TypeOf(step.x, group).count(),
        .count = step.lines.count,
        .inner = step.lines.inner,
        .size = line.size,
        .before = line.before,
        .border = BorderRuleOf(line.mode),
        .cval = line.cval,
        .fill = FillBits(line.cval, from),
        .divisor = line.divisor,
        .symmetry = symmetry_};
    if (line.op == LineFilterAttributes::Op::kSum) {
      const DType to = TypeOf(step.output, group).dtype;
      return CudaStatus(
          cuda::LaunchLineSum(filter, FilterNumbersOf(from), FilterNumbersOf(to), stream),
          "LaunchLineSum");
    }
    const bool largest = line.op == LineFilterAttributes::Op::kMaximum;
    return CudaStatus(cuda::LaunchLineExtreme(filter, FilterNumbersOf(from), largest, stream),
                      "LaunchLineExtreme");
  }

  int symmetry_ = 0;
  int64_t table_offset_ = 0;
};

class WindowFilterRun : public NdFilterRun<WindowFilterStep> {
 public:
  WindowFilterRun(size_t step, BatchLayout& layout) : NdFilterRun(step, layout) {
    const size_t rank = std::max<size_t>(TypeOf(StepOf(0).x, 0).shape.size(), 1);
    const std::vector<int64_t> offsets = OffsetsOf(StepOf(0).attributes, rank);
    for (size_t first = 0; first < offsets.size(); first += rank) {
      offsets_.insert(offsets_.end(), cuda::kMaxFilterRank - rank, 0);
      for (size_t d = 0; d < rank; ++d) offsets_.push_back(static_cast<int>(offsets[first + d]));
    }
    table_offset_ = layout.ReserveTable(TableBytes());
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    memory_ = memory;
    upload.push_back({table_offset_, offsets_.data(), TableBytes()});
  }

 private:
  int64_t TableBytes() const { return static_cast<int64_t>(offsets_.size() * sizeof(int)); }

  cuda::WindowFilter FilterOf(size_t group, size_t member) const {
    const WindowFilterStep& step = StepOf(group);
    const WindowFilterAttributes& window = step.attributes;
    const TensorType& type = TypeOf(step.x, group);
    cuda::WindowFilter filter = {};
    filter.x = Address(step.x, group, member);
    filter.out = Address(step.output, group, member);
    filter.offsets = reinterpret_cast<const int*>(memory_ + table_offset_);
    filter.members = static_cast<long long>(offsets_.size()) / cuda::kMaxFilterRank;
    filter.elements = type.count();
    std::fill_n(filter.sizes, cuda::kMaxFilterRank, 1);
    std::fill_n(filter.borders, cuda::kMaxFilterRank, BorderRule::kNearest);
    const size_t first = cuda::kMaxFilterRank - type.shape.size();
    std::copy(type.shape.begin(), type.shape.end(), filter.sizes + first);
    for (size_t i = 0; i < window.axes.size(); ++i) {
      filter.borders[first + static_cast<size_t>(window.axes[i])] = BorderRuleOf(window.modes[i]);
    }
    filter.flip = window.flip;
    filter.cval = window.cval;
    filter.fill = FillBits(window.cval, type.dtype);
    filter.rank = window.rank;
    return filter;
  }

  absl::Status LaunchOne(size_t group, size_t member, cudaStream_t stream) override {
    const WindowFilterStep& step = StepOf(group);
    cuda::WindowFilter filter = FilterOf(group, member);
    const cuda::FilterNumbers from = FilterNumbersOf(TypeOf(step.x, group).dtype);
    if (step.attributes.form == WindowFilterAttributes::Form::kRank) {
      return CudaStatus(cuda::LaunchWindowRank(filter, from, stream), "LaunchWindowRank");
    }
    filter.weights = reinterpret_cast<const double*>(Address(step.weights, group, member));
    const cuda::FilterNumbers to = FilterNumbersOf(TypeOf(step.output, group).dtype);
    return CudaStatus(cuda::LaunchWindowSum(filter, from, to, stream), "LaunchWindowSum");
  }

  std::vector<int> offsets_;
  int64_t table_offset_ = 0;
};

}  // namespace

PreparedStep Prepare(const LineFilterStep&, size_t step, BatchLayout& layout, const StepTools&) {
  return std::make_unique<LineFilterRun>(step, layout);
}
PreparedStep Prepare(const WindowFilterStep&, size_t step, BatchLayout& layout, const StepTools&) {
  return std::make_unique<WindowFilterRun>(step, layout);
}

}  // namespace gpucall
