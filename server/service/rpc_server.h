// The gRPC server: all services, grpc.health.v1 and reflection on one port.
#ifndef GPUCALL_SERVER_SERVICE_RPC_SERVER_H_
#define GPUCALL_SERVER_SERVICE_RPC_SERVER_H_

#include <grpcpp/server.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/service/compute_service.h"
#include "server/service/server_service.h"
#include "server/service/tensors_service.h"
#include "server/store/reaper.h"

namespace gpucall {

class RpcServer {
 public:
  // Listens on `listen` ("address:port", port 0 for any; "unix:/path") and serves at once, health
  // SERVING. `scheduler`, and `device` that it runs on, outlive the server, which holds the tensors
  // that stay. UNAVAILABLE: cannot listen there.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(const std::string& listen,
                                                          BatchScheduler& scheduler, Device& device,
                                                          const ComputeLimits& limits,
                                                          v1::ServerInfo info);

  // "address:port" with the port in use, or the Unix socket.
  const std::string& address() const { return address_; }
  // Where segments of shared memory are registered.
  SegmentTable& segments() { return segments_; }

  // Health NOT_SERVING, then no new work, then waits for calls in flight; those left at the
  // deadline are cancelled. Until half a second after the last, new calls are refused with
  // UNAVAILABLE. False: some were cancelled.
  bool Drain(std::chrono::seconds timeout);

 private:
  RpcServer(BatchScheduler& scheduler, Device& device, const ComputeLimits& limits,
            v1::ServerInfo info);

  // Each time there are twice as many.
  void WarnOfFallbacks(const PinnedMemory& pinned);

  BatchScheduler& scheduler_;
  TensorStore store_;
  SegmentTable segments_;
  ComputeService compute_;
  TensorsService tensors_;
  ServerService server_;
  std::string address_;
  std::unique_ptr<grpc::Server> rpc_;
  int64_t next_warning_ = 1;  // of the reaper's thread
  Reaper reaper_;
};

// Asks the server at `target` for its health. OK: it is SERVING. UNAVAILABLE: it is not, or nothing
// answers within `timeout`.
absl::Status ProbeHealth(const std::string& target, std::chrono::seconds timeout);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_RPC_SERVER_H_
