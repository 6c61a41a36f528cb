#include "server/store/segment.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace gpucall {
namespace {

absl::Status CheckSeals(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0) return absl::InvalidArgumentError("segment: is not a memfd");
  if ((seals & F_SEAL_SHRINK) == 0) {
    return absl::InvalidArgumentError("segment: is not sealed with F_SEAL_SHRINK");
  }
  if ((seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) != 0) {
    return absl::InvalidArgumentError("segment: is sealed against writing, results go there too");
  }
  // Huge pages can run out when one is first touched, which would end the server.
  struct statfs system = {};
  if (fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC) {
    return absl::InvalidArgumentError(
        "segment: has huge pages, allowed is a memfd of ordinary ones");
  }
  return absl::OkStatus();
}

// Once it cannot shrink.
absl::StatusOr<int64_t> CheckedSize(int fd, int64_t max_bytes) {
  struct stat file = {};
  if (fstat(fd, &file) != 0) return absl::InvalidArgumentError("segment: has no size");
  const int64_t size_bytes = file.st_size;
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  if (size_bytes == 0 || size_bytes % page_bytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat("segment: has ", size_bytes,
                                                   " bytes, allowed are multiples of ", page_bytes,
                                                   " from there on"));
  }
  if (size_bytes > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("segment: has ", size_bytes, " bytes, allowed are ", max_bytes, " more"));
  }
  return size_bytes;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Segment>> Segment::Map(const UniqueFd& memfd,
                                                            int64_t max_bytes, Device& device) {
  GPUCALL_RETURN_IF_ERROR(CheckSeals(memfd.get()));
  GPUCALL_ASSIGN_OR_RETURN(const int64_t size_bytes, CheckedSize(memfd.get(), max_bytes));
  void* const data = mmap(nullptr, static_cast<size_t>(size_bytes), PROT_READ | PROT_WRITE,
                          MAP_SHARED, memfd.get(), 0);
  if (data == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("segment: ", size_bytes, " bytes cannot be mapped: ", strerror(errno)));
  }
  std::shared_ptr<Segment> segment(new Segment(static_cast<std::byte*>(data), size_bytes));
  absl::StatusOr<std::shared_ptr<const void>> lock =
      device.LockHostMemory(segment->data_, size_bytes);
  if (lock.ok()) segment->lock_ = *std::move(lock);
  return segment;
}

Segment::~Segment() {
  lock_.reset();
  static_cast<void>(munmap(data_, static_cast<size_t>(size_bytes_)));
}

absl::StatusOr<std::byte*> Segment::At(uint64_t offset, uint64_t size_bytes) const {
  const auto held = static_cast<uint64_t>(size_bytes_);
  if (offset <= held && size_bytes <= held - offset) return data_ + offset;
  return absl::InvalidArgumentError(absl::StrCat("offset ", offset, " and ", size_bytes,
                                                 " bytes are past the segment's ", held, " bytes"));
}

}  // namespace gpucall
