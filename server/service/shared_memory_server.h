// The socket at which clients of this host register segments of shared memory
// (proto/gpucall/v1/shared_memory.proto).
#ifndef GPUCALL_SERVER_SERVICE_SHARED_MEMORY_SERVER_H_
#define GPUCALL_SERVER_SERVICE_SHARED_MEMORY_SERVER_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "gpucall/v1/shared_memory.pb.h"
#include "server/base/unique_fd.h"
#include "server/device/device.h"
#include "server/service/packet_socket.h"
#include "server/store/segment_table.h"

namespace gpucall {

// Of one connection.
struct SegmentLimits {
  size_t max_segments = 64;
  int64_t max_bytes = int64_t{16} << 30;  // together
};

class SharedMemoryServer {
 public:
  // More are closed as they come: their clients send tensors inline.
  static constexpr size_t kMaxConnections = 1024;

  // Listens at `path` and serves at once, from a thread of its own. `device` and `table`, where
  // segments go, must outlive it. UNAVAILABLE: cannot listen there.
  static absl::StatusOr<std::unique_ptr<SharedMemoryServer>> Start(const std::string& path,
                                                                   const SegmentLimits& limits,
                                                                   Device& device,
                                                                   SegmentTable& table);
  // Ends all connections, and their segments.
  ~SharedMemoryServer();

 private:
  struct Held {
    std::string id;
    int64_t size_bytes;
  };
  struct Connection {
    UniqueFd socket;
    std::vector<Held> segments;
  };

  SharedMemoryServer(const std::string& path, const SegmentLimits& limits, Device& device,
                     SegmentTable& table)
      : path_(path), limits_(limits), device_(device), table_(table) {}

  void Run();
  void Accept();
  // False: the connection is over.
  bool Serve(Connection& connection);
  v1::SharedMemoryReply Answer(Connection& connection, const absl::StatusOr<Packet>& packet);
  absl::StatusOr<std::string> Register(Connection& connection, const Packet& packet);
  absl::Status Release(Connection& connection, const std::string& id);
  void Close(Connection& connection);

  const std::string path_;
  const SegmentLimits limits_;
  Device& device_;
  SegmentTable& table_;
  UniqueFd listener_, stop_;  // an eventfd: readable once the thread must end
  std::list<Connection> connections_;
  std::thread thread_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_SHARED_MEMORY_SERVER_H_
