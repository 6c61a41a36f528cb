#include "client/cpp/shared_call.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace gpucall {
inline namespace client {
namespace {

// Smaller tensors are in the messages.
constexpr size_t kMinSharedBytes = 64 << 10;

// Room for the results; what needs more is in the reply.
size_t ResultBytes(const EncodedRequest& request) {
  size_t element = 0, largest = 0, count = 0;
  Shape broadcast;
  for (const TensorRef& input : request.inputs) {
    const size_t size = ElementSize(input.dtype());
    element = std::max(element, size);
    largest = std::max(largest, input.bytes().size());
    count = std::max(count, size == 0 ? 0 : input.bytes().size() / size);
    const Shape& shape = input.shape();
    if (shape.size() > broadcast.size()) {
      broadcast.insert(broadcast.begin(), shape.size() - broadcast.size(), 1);
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t& dimension = broadcast[broadcast.size() - shape.size() + i];
      dimension = std::max(dimension, shape[i]);
    }
  }
  if (const auto bytes = SizeBytes(DType::kUint8, broadcast); bytes.ok()) {
    count = std::max(count, std::min(*bytes, 4 * largest));
  }
  const bool widens = element < 4;  // a uint8 image may give float32
  const size_t outputs = std::max(request.program.outputs_size(), 1);
  return outputs * (count * (widens ? 4 : element) + Arena::kAlignment);
}

// False: there is no room for it.
bool ShareInput(Arena& arena, const TensorRef& input, SharedTensors& shared) {
  std::optional<v1::Region>& region = shared.inputs.emplace_back();
  if (input.bytes().size() < kMinSharedBytes) return true;
  region = arena.Find(input.bytes());
  if (region) return true;
  std::shared_ptr<char> copy = arena.Take(input.bytes().size());
  if (copy == nullptr) return false;
  std::memcpy(copy.get(), input.bytes().data(), input.bytes().size());
  region = arena.Find({copy.get(), input.bytes().size()});
  shared.copies.push_back(std::move(copy));
  return region.has_value();
}

}  // namespace

std::shared_ptr<Arena> ArenaOf(absl::string_view target) {
  if (!absl::ConsumePrefix(&target, "unix:")) return nullptr;
  absl::ConsumePrefix(&target, "//");
  return std::make_shared<Arena>(absl::StrCat(target, ".shm"));
}

std::unique_ptr<const EncodedRequest> ShareTensors(const std::shared_ptr<Arena>& arena,
                                                   const EncodedRequest& request) {
  const size_t results = ResultBytes(request);
  const bool has_large = std::ranges::any_of(request.inputs, [](const TensorRef& input) {
    return input.bytes().size() >= kMinSharedBytes;
  });
  const bool has_resident =
      std::ranges::any_of(request.inputs, [](const TensorRef& i) { return i.is_resident(); });
  if (arena == nullptr || has_resident || (!has_large && results < kMinSharedBytes)) {
    return nullptr;
  }
  SharedTensors shared;
  for (const TensorRef& input : request.inputs) {
    if (!ShareInput(*arena, input, shared)) return nullptr;
  }
  shared.arena = arena;
  shared.results = arena->Take(results);
  if (shared.results != nullptr) {
    const auto region = arena->Find({shared.results.get(), results});
    if (!region) return nullptr;
    shared.area.set_segment(region->segment());
    shared.area.set_offset(region->offset());
    shared.area.set_size_bytes(results);
  }
  auto with = std::make_unique<EncodedRequest>(request);
  with->shared = std::make_shared<const SharedTensors>(std::move(shared));
  return with;
}

bool EndSharedCall(Arena& arena, const EncodedRequest& request, const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return false;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
      return false;
    case absl::StatusCode::kResourceExhausted:
      return absl::StrContains(status.message(), "RunStream takes larger ones");
    case absl::StatusCode::kNotFound:
      if (!absl::StrContains(status.message(), "segment")) return false;
      arena.Renew();
      return true;
    default:  // the work may go on, and write its results
      if (request.shared->results != nullptr) arena.Retire(request.shared->results.get());
      return false;
  }
}

}  // namespace client
}  // namespace gpucall
