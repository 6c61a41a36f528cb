// Calls one unary method over and over. Requests are encoded once and replies are not decoded, so
// that the caller's own cost stays small beside the server's.
#ifndef GPUCALL_TESTS_BENCH_LOAD_H_
#define GPUCALL_TESTS_BENCH_LOAD_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/testing/child_process.h"

namespace gpucall {

struct Method {
  std::string name;  // "/gpucall.v1.Compute/MatMul"
  grpc::ByteBuffer request;
  // Sent in place of `request` by one call in 16, to learn how large batches are.
  std::optional<grpc::ByteBuffer> receipt_request;
};

struct LoadOptions {
  int callers = 256;  // each with one call in flight
  int channels = 8;   // connections that callers share
  absl::Duration warm_up = absl::Milliseconds(500);
  absl::Duration duration = absl::Seconds(2);
};

struct LoadResult {
  double calls_per_second = 0;
  double p50_us = 0, p99_us = 0;
  double mean_batch = 0;      // calls / batches; 0 without receipts
  absl::Duration server_cpu;  // processor time of the server's process
  absl::Duration client_cpu;  // and of this one
};

// A connection of its own.
std::shared_ptr<grpc::Channel> MakeConnection(const std::string& address);

// Blocks for warm_up + duration; figures are of `duration`. A call that fails ends it.
absl::StatusOr<LoadResult> RunLoad(const ServerProcess& server, const Method& method,
                                   const LoadOptions& options);

// Microseconds of each of `count` calls, one after another from this thread.
absl::StatusOr<std::vector<double>> TimeCalls(const std::shared_ptr<grpc::Channel>& channel,
                                              const Method& method, int count);

// One call's reply.
absl::StatusOr<grpc::ByteBuffer> CallOnce(const std::shared_ptr<grpc::Channel>& channel,
                                          const std::string& method,
                                          const grpc::ByteBuffer& request);

}  // namespace gpucall

#endif  // GPUCALL_TESTS_BENCH_LOAD_H_
