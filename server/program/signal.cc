#include "server/program/signal.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

constexpr size_t kMaxCoefficients = 4096, kMaxSections = 64, kSectionSize = 6;

class Lowering {
 public:
  Lowering(const SignalAttributes& attributes, absl::Span<const TensorType* const> operands)
      : attributes_(attributes), operands_(operands), name_(RowOf(attributes.kind).name) {}

  absl::StatusOr<SignalLowering> Lower() {
    if (operands_.empty() || operands_.size() > 2) {
      return Invalid("got ", operands_.size(), " inputs, needs 1 (x) or 2 (x, zi)");
    }
    GPUCALL_RETURN_IF_ERROR(attributes_.kind == SignalKind::kLfilter ? Direct() : Sections());
    GPUCALL_RETURN_IF_ERROR(SetLines());
    if (operands_.size() == 2) GPUCALL_RETURN_IF_ERROR(CheckState(*operands_[1]));
    return std::move(result_);
  }

 private:
  template <typename... Parts>
  absl::Status Invalid(const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", parts...));
  }

  absl::Status CheckFinite(absl::string_view what, const std::vector<double>& numbers) const {
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (std::isfinite(numbers[i])) continue;
      return Invalid(what, " has ", numbers[i], " at ", i, ", allowed are finite numbers");
    }
    return absl::OkStatus();
  }

  absl::Status Direct() {
    for (const auto& [what, list] : {std::pair("b", &attributes_.b), {"a", &attributes_.a}}) {
      if (list->empty() || list->size() > kMaxCoefficients) {
        return Invalid(what, " has ", list->size(), " coefficients, allowed are 1 to ",
                       kMaxCoefficients);
      }
      GPUCALL_RETURN_IF_ERROR(CheckFinite(what, *list));
    }
    const double first = attributes_.a[0];
    if (first == 0) return Invalid("a[0] is 0, allowed is any other number");
    SignalStep& step = result_.step;
    const size_t size = std::max(attributes_.a.size(), attributes_.b.size());
    step.sections = 1;
    step.order = static_cast<int64_t>(size) - 1;
    step.b = attributes_.b;
    step.a = attributes_.a;
    for (auto* list : {&step.b, &step.a}) {
      for (double& number : *list) number /= first;
      list->resize(size);
    }
    return absl::OkStatus();
  }

  absl::Status Sections() {
    const std::vector<double>& numbers = attributes_.sections;
    if (numbers.empty() || numbers.size() % kSectionSize != 0 ||
        numbers.size() > kMaxSections * kSectionSize) {
      return Invalid("sections have ", numbers.size(), " numbers, allowed are ", kSectionSize,
                     " for each of 1 to ", kMaxSections);
    }
    GPUCALL_RETURN_IF_ERROR(CheckFinite("sections", numbers));
    SignalStep& step = result_.step;
    step.sections = static_cast<int64_t>(numbers.size() / kSectionSize);
    step.order = 2;
    for (size_t s = 0; s < numbers.size(); s += kSectionSize) {
      if (numbers[s + 3] != 1) {
        return Invalid("a0 of section ", s / kSectionSize, " is ", numbers[s + 3],
                       ", allowed is 1");
      }
      step.b.insert(step.b.end(), &numbers[s], &numbers[s] + 3);
      step.a.insert(step.a.end(), &numbers[s] + 3, &numbers[s] + 6);
    }
    return absl::OkStatus();
  }

  // x's lines, and the shapes of the state and of the result.
  absl::Status SetLines() {
    const TensorType& x = *operands_[0];
    SignalStep& step = result_.step;
    GPUCALL_ASSIGN_OR_RETURN(const AxisLines lines, LinesAt(name_, x.shape, attributes_.axis));
    step.outer = lines.outer;
    step.count = lines.count;
    step.inner = lines.inner * (KindOf(x.dtype) == DTypeKind::kComplex ? 2 : 1);
    step.axis = attributes_.axis;
    result_.state = x.shape;
    result_.state[lines.dimension] = step.order;
    if (attributes_.kind == SignalKind::kSosfilt) {
      result_.state.insert(result_.state.begin(), step.sections);
    }
    result_.output = {SignalResult(x.dtype), attributes_.final_state ? result_.state : x.shape};
    const bool needs_state = attributes_.final_state || operands_.size() == 2;
    if (!needs_state) return absl::OkStatus();
    return CheckedSizeBytes(absl::StrCat(name_, ": state"), DType::kComplex128, result_.state)
        .status();
  }

  absl::Status CheckState(const TensorType& zi) const {
    const bool complex = KindOf(operands_[0]->dtype) == DTypeKind::kComplex;
    if (KindOf(zi.dtype) == DTypeKind::kComplex && !complex) {
      return Invalid("zi is ", DTypeName(zi.dtype), ", for x of ", DTypeName(operands_[0]->dtype),
                     " allowed are real numbers");
    }
    bool fits = zi.shape.size() == result_.state.size();
    for (size_t d = 0; fits && d < zi.shape.size(); ++d) {
      fits = zi.shape[d] == result_.state[d] || zi.shape[d] == 1;
    }
    if (fits) return absl::OkStatus();
    return Invalid("zi has shape ", ShapeString(zi.shape), ", for x of shape ",
                   ShapeString(operands_[0]->shape), " allowed is ", ShapeString(result_.state),
                   ", or sizes of 1");
  }

  const SignalAttributes& attributes_;
  const absl::Span<const TensorType* const> operands_;
  const absl::string_view name_;
  SignalLowering result_ = {};
};

}  // namespace

absl::StatusOr<SignalLowering> LowerSignal(const SignalAttributes& attributes,
                                           absl::Span<const TensorType* const> operands) {
  return Lowering(attributes, operands).Lower();
}

DType SignalResult(DType x) { return KindOf(x) < DTypeKind::kFloat ? DType::kFloat64 : x; }

bool JoinSignal(const SignalStep& step, std::vector<Step>& steps) {
  const auto filters_alike = [&](const SignalStep& other) {
    return other.x == step.x && other.zi == step.zi && other.axis == step.axis &&
           other.order == step.order && other.b == step.b && other.a == step.a;
  };
  uint32_t SignalStep::*const made =
      step.output == SignalStep::kNone ? &SignalStep::states : &SignalStep::output;
  for (Step& earlier : steps) {
    auto* const other = std::get_if<SignalStep>(&earlier);
    if (other == nullptr || other->*made != SignalStep::kNone || !filters_alike(*other)) continue;
    other->*made = step.*made;
    return true;
  }
  return false;
}

}  // namespace gpucall
