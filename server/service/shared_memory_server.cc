#include "server/service/shared_memory_server.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace gpucall {

absl::StatusOr<std::unique_ptr<SharedMemoryServer>> SharedMemoryServer::Start(
    const std::string& path, const SegmentLimits& limits, Device& device, SegmentTable& table) {
  std::unique_ptr<SharedMemoryServer> server(new SharedMemoryServer(path, limits, device, table));
  GPUCALL_ASSIGN_OR_RETURN(server->listener_, ListenForPackets(path));
  server->stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  if (!server->stop_.is_open()) {
    return absl::UnavailableError("shared_memory_socket: the system has no descriptors left");
  }
  server->thread_ = std::thread([raw = server.get()] { raw->Run(); });
  return server;
}

SharedMemoryServer::~SharedMemoryServer() {
  if (thread_.joinable()) {
    static_cast<void>(eventfd_write(stop_.get(), 1));
    thread_.join();
  }
  for (Connection& connection : connections_) Close(connection);
  if (listener_.is_open()) unlink(path_.c_str());
}

void SharedMemoryServer::Run() {
  while (true) {
    std::vector<pollfd> waiting = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Connection& c : connections_) waiting.push_back({c.socket.get(), POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;  // EINTR
    if (waiting[0].revents != 0) return;
    auto ready = waiting.begin() + 2;
    for (auto c = connections_.begin(); c != connections_.end(); ++ready) {
      if (ready->revents == 0 || Serve(*c)) {
        ++c;
      } else {
        Close(*c);
        c = connections_.erase(c);
      }
    }
    if (waiting[1].revents != 0) Accept();
  }
}

void SharedMemoryServer::Accept() {
  UniqueFd socket = AcceptConnection(listener_);
  if (!socket.is_open()) {
    // Out of descriptors, else the client has left. Not at once again: the listener stays readable.
    if (errno == EMFILE || errno == ENFILE) {
      spdlog::warn("shared memory: no descriptor for a connection");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return;
  }
  if (connections_.size() >= kMaxConnections) {
    spdlog::warn("shared memory: refused a connection, {} are open", connections_.size());
    return;
  }
  connections_.push_back({std::move(socket), {}});
}

bool SharedMemoryServer::Serve(Connection& connection) {
  const absl::StatusOr<Packet> packet = ReceivePacket(connection.socket);
  if (absl::IsUnavailable(packet.status())) return true;
  if (absl::IsInternal(packet.status())) return false;
  if (packet.ok() && packet->bytes.empty()) return false;
  // A client that does not read its replies is cut off.
  return SendPacket(connection.socket, Answer(connection, packet).SerializeAsString());
}

v1::SharedMemoryReply SharedMemoryServer::Answer(Connection& connection,
                                                 const absl::StatusOr<Packet>& packet) {
  v1::SharedMemoryReply reply;
  v1::SharedMemoryRequest request;
  absl::Status status = packet.status();
  if (status.ok() && !request.ParseFromString(packet->bytes)) {
    status = absl::InvalidArgumentError("request: is not a valid SharedMemoryRequest message");
  }
  if (status.ok() && request.has_register_segment()) {
    absl::StatusOr<std::string> id = Register(connection, *packet);
    status = id.status();
    if (id.ok()) reply.set_segment(*std::move(id));
  } else if (status.ok() && request.has_release_segment()) {
    status = Release(connection, request.release_segment().segment());
    if (status.ok()) reply.set_segment(request.release_segment().segment());
  } else if (status.ok()) {
    status = absl::InvalidArgumentError(
        "request: is not set, allowed are register_segment and release_segment");
  }
  reply.set_code(static_cast<uint32_t>(status.code()));
  reply.set_message(std::string(status.message()));
  return reply;
}

absl::StatusOr<std::string> SharedMemoryServer::Register(Connection& connection,
                                                         const Packet& packet) {
  if (packet.files.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "register_segment: came with ", packet.files.size(), " file descriptors, needed is 1"));
  }
  if (connection.segments.size() >= limits_.max_segments) {
    return absl::ResourceExhaustedError(
        absl::StrCat("register_segment: ", connection.segments.size(),
                     " segments are registered, allowed are ", limits_.max_segments));
  }
  int64_t left = limits_.max_bytes;
  for (const Held& held : connection.segments) left -= held.size_bytes;
  GPUCALL_ASSIGN_OR_RETURN(std::shared_ptr<const Segment> segment,
                           Segment::Map(packet.files[0], left, device_));
  const int64_t size_bytes = segment->size_bytes();
  if (!segment->is_pinned() && device_.info().id != "cpu") {
    spdlog::warn("shared memory: {} bytes could not be page-locked, copies are slower", size_bytes);
  }
  GPUCALL_ASSIGN_OR_RETURN(std::string id, table_.Add(std::move(segment)));
  connection.segments.push_back({id, size_bytes});
  return id;
}

absl::Status SharedMemoryServer::Release(Connection& connection, const std::string& id) {
  const auto held =
      std::ranges::find_if(connection.segments, [&id](const Held& h) { return h.id == id; });
  if (held == connection.segments.end()) {
    return absl::NotFoundError("release_segment: there is none with this id");
  }
  table_.Remove(id);
  connection.segments.erase(held);
  return absl::OkStatus();
}

void SharedMemoryServer::Close(Connection& connection) {
  for (const Held& held : connection.segments) table_.Remove(held.id);
}

}  // namespace gpucall
