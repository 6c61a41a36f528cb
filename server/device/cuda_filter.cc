#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "server/device/cuda_filter_run.h"
#include "server/device/cuda_status.h"

namespace gpucall {
namespace {

constexpr double kExactInFloat32 = 1 << 24;

double SumOfMagnitudes(const std::vector<double>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0,
                         [](double sum, double weight) { return sum + std::abs(weight); });
}

cuda::SeparableWeights SeparableWeightsOf(const FilterStep& filter) {
  cuda::SeparableWeights weights = {};
  std::copy(filter.row_weights.begin(), filter.row_weights.end(), weights.rows);
  std::copy(filter.column_weights.begin(), filter.column_weights.end(), weights.columns);
  return weights;
}

class SeparableRun : public FilterRun {
 public:
  SeparableRun(size_t step, BatchLayout& layout, const FilterStep& filter)
      : FilterRun(step, layout,
                  cuda::SeparableTile(ShapeOf(step, layout), SeparableWeightsOf(filter))),
        weights_(SeparableWeightsOf(filter)) {}

  absl::Status Launch(cudaStream_t stream) override {
    return CudaStatus(cuda::LaunchSeparable(batch_, weights_, stream), "LaunchSeparable");
  }

 private:
  const cuda::SeparableWeights weights_;
};

// Where SeparableRun would not fit, or not be exact enough.
class SeparablePassesRun : public FilterRun {
 public:
  SeparablePassesRun(size_t step, BatchLayout& layout, const FilterStep& filter)
      : FilterRun(step, layout, {1, 1}), weights_(filter.row_weights) {
    weights_.insert(weights_.end(), filter.column_weights.begin(), filter.column_weights.end());
    weights_offset_ = layout.ReserveTable(WeightBytes());
    for (const double weight : filter.column_weights) outside_row_ += weight * filter.cval;
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      const int64_t images = std::max<int64_t>(StepOf(g).images, 1);  // one at a time
      const int64_t count = PlanOf(g).values[StepOf(g).output].count() / images;
      layout.RequireScratch(count * static_cast<int64_t>(sizeof(double)));
    }
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    FilterRun::FillTables(memory, upload);
    upload.push_back({weights_offset_, weights_.data(), WeightBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    const auto* weights = reinterpret_cast<const double*>(memory_ + weights_offset_);
    auto* scratch = reinterpret_cast<double*>(memory_ + layout_.scratch_offset());
    cuda::FilterBatch single = batch_;
    single.image_count = 1;
    for (const cuda::FilterImage& image : images_) {
      single.only = image;
      GPUCALL_RETURN_IF_ERROR(
          CudaStatus(cuda::LaunchSeparablePasses(single, weights, weights + single.window.rows,
                                                 outside_row_, scratch, stream),
                     "LaunchSeparablePasses"));
    }
    return absl::OkStatus();
  }

 private:
  int64_t WeightBytes() const { return static_cast<int64_t>(weights_.size() * sizeof(double)); }

  std::vector<double> weights_;  // of the rows, then of the columns
  double outside_row_ = 0;
  int64_t weights_offset_ = 0;
};

cuda::WeightType WeightTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return cuda::WeightType::kUint8;
    case DType::kInt32:
      return cuda::WeightType::kInt32;
    case DType::kFloat64:
      return cuda::WeightType::kFloat64;
    default:
      return cuda::WeightType::kFloat32;
  }
}

// Weights come with the step, the same for all images, or are a value of each task.
class DenseRun : public FilterRun {
 public:
  DenseRun(size_t step, BatchLayout& layout, const FilterStep& filter)
      : FilterRun(step, layout, cuda::DenseTile(ShapeOf(step, layout))), kernel_(filter.kernel) {
    const bool is_uint8 = batch_.input == cuda::PixelType::kUint8;
    if (!cuda::DenseFits(batch_.window, batch_.channels)) {
      sums_ = cuda::DenseSums::kFloat64;
    } else if (is_uint8 && HasKernel()) {
      sums_ = cuda::DenseSums::kEither;
    } else if (is_uint8 && 255 * SumOfMagnitudes(filter.dense_weights) >= kExactInFloat32) {
      sums_ = cuda::DenseSums::kFloat64;
    }
    if (HasKernel()) {
      layout.RequireScratch(batch_.image_count * PreparedBytes());
      weight_type_ = WeightTypeOf(PlanOf(0).values[kernel_].dtype);
      flip_ = filter.flip ? cuda::Flip::kBoth : cuda::Flip::kNo;
      return;
    }
    weights_ = {sums_ == cuda::DenseSums::kFloat64 ? 1.0 : 0.0};
    weights_.insert(weights_.end(), filter.dense_weights.begin(), filter.dense_weights.end());
    weights_offset_ = layout.ReserveTable(PreparedBytes());
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    FilterRun::FillTables(memory, upload);
    if (!HasKernel()) upload.push_back({weights_offset_, weights_.data(), PreparedBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    if (HasKernel()) {
      GPUCALL_RETURN_IF_ERROR(
          CudaStatus(cuda::LaunchPrepareDenseWeights(batch_, weight_type_, flip_, stream),
                     "LaunchPrepareDenseWeights"));
    }
    return CudaStatus(cuda::LaunchDense(batch_, sums_, stream), "LaunchDense");
  }

 private:
  bool HasKernel() const { return kernel_ != FilterStep::kNoKernel; }
  // Of one image's prepared weights.
  int64_t PreparedBytes() const {
    return cuda::DenseWeightCount(batch_.window) * static_cast<int64_t>(sizeof(double));
  }

  void CompleteImage(size_t index, size_t group, size_t member, cuda::FilterImage& image) override {
    if (HasKernel()) {
      image.kernel = Address(kernel_, group, member);
      image.dense_weights = reinterpret_cast<double*>(
          memory_ + layout_.scratch_offset() + static_cast<int64_t>(index) * PreparedBytes());
    } else {
      image.dense_weights = reinterpret_cast<double*>(memory_ + weights_offset_);
    }
  }

  const uint32_t kernel_;
  cuda::DenseSums sums_ = cuda::DenseSums::kFloat32;
  cuda::WeightType weight_type_ = cuda::WeightType::kFloat32;
  cuda::Flip flip_ = cuda::Flip::kNo;
  std::vector<double> weights_;  // without a kernel: as prepared
  int64_t weights_offset_ = 0;
};

class RankRun : public FilterRun {
 public:
  RankRun(size_t step, BatchLayout& layout, int rank, cuda::FilterTile tile)
      : FilterRun(step, layout, tile), rank_(rank) {}

  absl::Status Launch(cudaStream_t stream) override {
    return CudaStatus(cuda::LaunchRank(batch_, rank_, stream), "LaunchRank");
  }

 private:
  const int rank_;
};

class ExtremeRun : public FilterRun {
 public:
  ExtremeRun(size_t step, BatchLayout& layout, cuda::Extreme extreme, cuda::FilterTile tile)
      : FilterRun(step, layout, tile), extreme_(extreme) {}

  absl::Status Launch(cudaStream_t stream) override {
    return CudaStatus(cuda::LaunchExtreme(batch_, extreme_, stream), "LaunchExtreme");
  }

 private:
  const cuda::Extreme extreme_;
};

class ExtremePassesRun : public FilterRun {
 public:
  ExtremePassesRun(size_t step, BatchLayout& layout, cuda::Extreme extreme)
      : FilterRun(step, layout, {1, 1}), extreme_(extreme) {
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      const int64_t images = std::max<int64_t>(StepOf(g).images, 1);  // one at a time
      layout.RequireScratch(PlanOf(g).values[StepOf(g).image].size_bytes() / images);
    }
  }

  absl::Status Launch(cudaStream_t stream) override {
    cuda::FilterBatch single = batch_;
    single.image_count = 1;
    for (const cuda::FilterImage& image : images_) {
      single.only = image;
      GPUCALL_RETURN_IF_ERROR(CudaStatus(
          cuda::LaunchExtremePasses(single, extreme_, memory_ + layout_.scratch_offset(), stream),
          "LaunchExtremePasses"));
    }
    return absl::OkStatus();
  }

 private:
  const cuda::Extreme extreme_;
};

std::unique_ptr<StepRun> MakeExtremeRun(size_t step, BatchLayout& layout, cuda::Extreme extreme) {
  const cuda::FilterShape shape = ShapeOf(step, layout);
  if (!cuda::ExtremeFits(shape)) {
    return std::make_unique<ExtremePassesRun>(step, layout, extreme);
  }
  return std::make_unique<ExtremeRun>(step, layout, extreme, cuda::ExtremeTile(shape));
}

// Whether sums in float32, of the kernel that does both passes at once, will do.
bool SumsInFloat32(const FilterStep& filter, DType image) {
  if (!cuda::SeparableFits(WindowOf(filter), ChannelsOf(filter))) return false;
  if (filter.size[0] + filter.size[1] > cuda::kMaxFloat32Weights) return false;
  const double magnitude =
      SumOfMagnitudes(filter.row_weights) * SumOfMagnitudes(filter.column_weights);
  return image != DType::kUint8 || 255 * magnitude < kExactInFloat32;
}

}  // namespace

PreparedStep Prepare(const FilterStep&, size_t step, BatchLayout& layout, const StepTools&) {
  const Plan& plan = *layout.groups()[0].plan;
  const auto& filter = std::get<FilterStep>(plan.steps[step]);
  constexpr int64_t kMaxChannels = std::numeric_limits<int>::max();
  if (filter.channels > kMaxChannels) {
    return absl::UnimplementedError(absl::StrCat("filter: image has ", filter.channels,
                                                 " channels, allowed are ", kMaxChannels));
  }
  const DType image = plan.values[filter.image].dtype;
  switch (filter.form) {
    case FilterStep::Form::kSeparable:
      if (!SumsInFloat32(filter, image)) {
        return std::make_unique<SeparablePassesRun>(step, layout, filter);
      }
      return std::make_unique<SeparableRun>(step, layout, filter);
    case FilterStep::Form::kDense:
      return std::make_unique<DenseRun>(step, layout, filter);
    case FilterStep::Form::kMinimum:
      return MakeExtremeRun(step, layout, cuda::Extreme::kMinimum);
    case FilterStep::Form::kMaximum:
      return MakeExtremeRun(step, layout, cuda::Extreme::kMaximum);
    case FilterStep::Form::kRank:
      break;
  }
  const int rank = static_cast<int>(filter.rank);
  return std::make_unique<RankRun>(step, layout, rank, cuda::RankTile(ShapeOf(step, layout), rank));
}

}  // namespace gpucall
