#include "client/cpp/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace gpucall {
inline namespace client {
namespace {

constexpr size_t kSegmentBytes = 64 << 20;  // at least
constexpr int kAnswerSeconds = 30;

size_t AlignUp(size_t size, size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

int ConnectTo(const std::string& path) {
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof(address.sun_path)) return -1;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const timeval limit = {kAnswerSeconds, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

bool Send(int socket, std::string bytes, int file) {
  iovec part = {bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof(file));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

}  // namespace

Arena::Segment::~Segment() {
  if (data != nullptr) munmap(data, size_bytes);
  if (fd >= 0) close(fd);
}

char* Arena::Segment::Take(size_t wanted) {
  const auto found =
      std::ranges::find_if(free, [wanted](const auto& part) { return part.second >= wanted; });
  if (is_retired || found == free.end()) return nullptr;
  const auto [offset, size] = *found;
  free.erase(found);
  if (size > wanted) free.emplace(offset + wanted, size - wanted);
  taken.emplace(offset, wanted);
  return data + offset;
}

// Joins it with the free parts beside it.
void Arena::Segment::GiveBack(size_t offset, size_t size) {
  auto after = free.upper_bound(offset);
  if (after != free.end() && offset + size == after->first) {
    size += after->second;
    after = free.erase(after);
  }
  if (after != free.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  free.emplace(offset, size);
}

Arena::~Arena() { Disconnect(); }

std::shared_ptr<char> Arena::Take(size_t size_bytes) {
  if (size_bytes == 0 || size_bytes > SIZE_MAX / 2) return nullptr;
  const size_t wanted = AlignUp(size_bytes, kAlignment);
  std::lock_guard lock(mutex_);
  char* data = nullptr;
  for (auto segment = segments_.begin(); segment != segments_.end() && data == nullptr; ++segment) {
    data = segment->Take(wanted);
  }
  if (data == nullptr) {
    std::erase_if(segments_, [this](const Segment& segment) {
      if (segment.taken.empty()) Release(segment);
      return segment.taken.empty();
    });
    Segment* const grown = Grow(wanted);
    if (grown == nullptr) return nullptr;
    data = grown->Take(wanted);
  }
  return {data, [arena = shared_from_this()](char* given) { arena->GiveBack(given); }};
}

void Arena::GiveBack(const char* data) {
  std::lock_guard lock(mutex_);
  Segment* const segment = SegmentOf(data);
  const auto taken = segment->taken.find(static_cast<size_t>(data - segment->data));
  segment->GiveBack(taken->first, taken->second);
  segment->taken.erase(taken);
  if (!segment->is_retired || !segment->taken.empty()) return;
  Release(*segment);
  std::erase_if(segments_, [segment](const Segment& s) { return &s == segment; });
}

void Arena::Trim(const char* data, size_t size_bytes) {
  std::lock_guard lock(mutex_);
  Segment* const segment = SegmentOf(data);
  const auto taken = segment->taken.find(static_cast<size_t>(data - segment->data));
  const size_t kept = std::max(AlignUp(size_bytes, kAlignment), kAlignment);
  if (kept >= taken->second) return;
  segment->GiveBack(taken->first + kept, taken->second - kept);
  taken->second = kept;
}

std::optional<v1::Region> Arena::Find(absl::string_view bytes) const {
  std::lock_guard lock(mutex_);
  for (const Segment& segment : segments_) {
    if (!segment.Holds(bytes.data()) || segment.id.empty()) continue;
    v1::Region region;
    region.set_segment(segment.id);
    region.set_offset(static_cast<uint64_t>(bytes.data() - segment.data));
    return region;
  }
  return std::nullopt;
}

void Arena::Retire(const char* data) {
  std::lock_guard lock(mutex_);
  SegmentOf(data)->is_retired = true;
}

void Arena::Renew() {
  std::lock_guard lock(mutex_);
  Disconnect();
  for (Segment& segment : segments_) {
    Register(segment);
    segment.is_retired |= segment.id.empty();
  }
}

Arena::Segment* Arena::SegmentOf(const char* data) {
  return &*std::ranges::find_if(segments_, [data](const Segment& s) { return s.Holds(data); });
}

Arena::Segment* Arena::Grow(size_t size_bytes) {
  Segment& segment = segments_.emplace_back();
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (Map(std::max(AlignUp(size_bytes, page_bytes), kSegmentBytes), segment)) Register(segment);
  if (!segment.id.empty()) return &segment;
  segments_.pop_back();
  return nullptr;
}

bool Arena::Map(size_t size_bytes, Segment& segment) {
  segment.fd = memfd_create("gpucall", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (segment.fd < 0 || ftruncate(segment.fd, static_cast<off_t>(size_bytes)) != 0 ||
      fcntl(segment.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return false;
  }
  void* const data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment.fd, 0);
  if (data == MAP_FAILED) return false;
  segment.data = static_cast<char*>(data);
  segment.size_bytes = size_bytes;
  segment.free.emplace(0, size_bytes);
  return true;
}

void Arena::Register(Segment& segment) {
  v1::SharedMemoryRequest request;
  request.mutable_register_segment();
  const std::optional<v1::SharedMemoryReply> reply = Ask(request, segment.fd);
  segment.id = reply && reply->code() == 0 ? reply->segment() : "";
}

void Arena::Release(const Segment& segment) {
  if (segment.id.empty() || socket_ < 0) return;
  v1::SharedMemoryRequest request;
  request.mutable_release_segment()->set_segment(segment.id);
  Ask(request, -1);
}

std::optional<v1::SharedMemoryReply> Arena::Ask(const v1::SharedMemoryRequest& request, int fd) {
  if (socket_ < 0) socket_ = ConnectTo(path_);
  if (socket_ < 0) return std::nullopt;
  char bytes[4096];
  v1::SharedMemoryReply reply;
  if (Send(socket_, request.SerializeAsString(), fd)) {
    const ssize_t size = recv(socket_, bytes, sizeof(bytes), 0);
    if (size > 0 && reply.ParseFromArray(bytes, static_cast<int>(size))) return reply;
  }
  Disconnect();
  return std::nullopt;
}

void Arena::Disconnect() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

}  // namespace client
}  // namespace gpucall
