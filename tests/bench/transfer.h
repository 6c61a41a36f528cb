// Moves bytes through servers and says how fast.
#ifndef GPUCALL_TESTS_BENCH_TRANSFER_H_
#define GPUCALL_TESTS_BENCH_TRANSFER_H_

#include <grpcpp/channel.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/testing/child_process.h"

namespace gpucall {

// What calls one after another gave, measurement by measurement.
struct Transfer {
  std::vector<double> megabytes_per_second;
  std::vector<double> server_cpu_ms_per_gb;  // of the server's process
  std::vector<double> client_cpu_ms_per_gb;  // of this one

  // Calls for `duration`, and once before; `size_bytes` of each call count. An error of a call ends
  // it and is returned.
  absl::Status Measure(const ServerProcess& server, const std::function<absl::Status()>& call,
                       int64_t size_bytes, absl::Duration duration);
};

// The control: raw bytes to an echo server (echo_server.h) and back, neither parsed nor copied by
// the caller. INTERNAL: not as many come back.
absl::Status EchoUnary(const std::shared_ptr<grpc::Channel>& channel, absl::string_view bytes);
// In messages of 1 MiB, read while they are sent.
absl::Status EchoStreamed(const std::shared_ptr<grpc::Channel>& channel, absl::string_view bytes);

}  // namespace gpucall

#endif  // GPUCALL_TESTS_BENCH_TRANSFER_H_
