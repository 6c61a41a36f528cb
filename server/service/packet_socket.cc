#include "server/service/packet_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace gpucall {
namespace {

// More than one client needs; what comes beyond them the system drops.
constexpr size_t kMaxFiles = 4;

std::vector<UniqueFd> FilesOf(msghdr& message) {
  std::vector<UniqueFd> files;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
      files.emplace_back(fd);
    }
  }
  return files;
}

}  // namespace

absl::StatusOr<UniqueFd> ListenForPackets(const std::string& path) {
  const auto failed = [&path](absl::string_view why) {
    return absl::UnavailableError(
        absl::StrCat("shared_memory_socket: cannot listen on ", path, ": ", why));
  };
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof(address.sun_path)) return failed("the path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return failed(strerror(errno));
  struct stat file = {};
  if (lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode)) unlink(path.c_str());
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0) {
    return failed(strerror(errno));
  }
  return socket;
}

UniqueFd AcceptConnection(const UniqueFd& listener) {
  return UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

absl::StatusOr<Packet> ReceivePacket(const UniqueFd& socket) {
  Packet packet;
  packet.bytes.resize(kMaxPacketBytes);
  iovec part = {packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFiles * sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (size < 0) {
    const bool nothing = errno == EAGAIN || errno == EINTR;
    return nothing ? absl::UnavailableError("no packet yet") : absl::InternalError(strerror(errno));
  }
  packet.files = FilesOf(message);
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("request: is longer than ", kMaxPacketBytes, " bytes"));
  }
  packet.bytes.resize(static_cast<size_t>(size));
  return packet;
}

bool SendPacket(const UniqueFd& socket, absl::string_view bytes) {
  return send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

}  // namespace gpucall
