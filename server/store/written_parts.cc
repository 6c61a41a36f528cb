#include "server/store/written_parts.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace gpucall {

absl::Status WrittenParts::Take(uint64_t first, uint64_t size_bytes) {
  const auto all = static_cast<uint64_t>(size_bytes_);
  if (size_bytes == 0 || first > all || size_bytes > all - first) {
    return absl::InvalidArgumentError(
        absl::StrCat("write: ", size_bytes, " bytes at offset ", first, ", the tensor has ", all));
  }
  const auto offset = static_cast<int64_t>(first);
  const auto end = static_cast<int64_t>(first + size_bytes);
  const auto next = parts_.upper_bound(offset);
  const auto overlapped = [&](Parts::const_iterator part) {
    return absl::InvalidArgumentError(
        absl::StrCat("write: bytes ", offset, " to ", end, " overlap bytes ", part->first, " to ",
                     part->second.end, ", which have come or are being written"));
  };
  if (next != parts_.begin() && std::prev(next)->second.end > offset) {
    return overlapped(std::prev(next));
  }
  if (next != parts_.end() && next->first < end) return overlapped(next);
  if (parts_.size() >= kMaxParts) {
    return absl::ResourceExhaustedError(
        absl::StrCat("write: ", parts_.size(),
                     " parts of the tensor are written apart, allowed "
                     "are ",
                     kMaxParts));
  }
  parts_.emplace(offset, Part{end, false});
  ++writers_;
  return absl::OkStatus();
}

void WrittenParts::Finish(int64_t offset) {
  auto part = parts_.find(offset);
  part->second.done = true;
  done_bytes_ += part->second.end - offset;
  --writers_;
  if (part != parts_.begin()) {
    const auto before = std::prev(part);
    if (before->second.done && before->second.end == offset) {
      before->second.end = part->second.end;
      parts_.erase(part);
      part = before;
    }
  }
  const auto after = std::next(part);
  if (after != parts_.end() && after->second.done && after->first == part->second.end) {
    part->second.end = after->second.end;
    parts_.erase(after);
  }
}

void WrittenParts::GiveUp(int64_t offset) {
  parts_.erase(offset);
  --writers_;
}

}  // namespace gpucall
