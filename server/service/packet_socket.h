// Unix sockets that carry packets, and file descriptors with them.
#ifndef GPUCALL_SERVER_SERVICE_PACKET_SOCKET_H_
#define GPUCALL_SERVER_SERVICE_PACKET_SOCKET_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/unique_fd.h"

namespace gpucall {

constexpr size_t kMaxPacketBytes = 4096;

struct Packet {
  std::string bytes;
  std::vector<UniqueFd> files;
};

// Listens at `path`, which replaces a socket that is there. UNAVAILABLE: it cannot be made there.
absl::StatusOr<UniqueFd> ListenForPackets(const std::string& path);
// The next connection, which does not block; not open where there is none now.
UniqueFd AcceptConnection(const UniqueFd& listener);

// OK with empty bytes: the other side has closed. UNAVAILABLE: nothing has come yet.
// INVALID_ARGUMENT: longer than kMaxPacketBytes. INTERNAL: the connection is lost.
absl::StatusOr<Packet> ReceivePacket(const UniqueFd& socket);
// False: it cannot be sent now, or at all.
bool SendPacket(const UniqueFd& socket, absl::string_view bytes);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_PACKET_SOCKET_H_
