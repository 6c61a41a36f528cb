// The calls that the benchmarks make.
#ifndef GPUCALL_TESTS_BENCH_METHODS_H_
#define GPUCALL_TESTS_BENCH_METHODS_H_

#include "absl/status/status.h"
#include "tests/bench/load.h"

namespace gpucall {

// Sum of two float32 vectors of `count` elements.
Method AddMethod(int count);
// Product of two size x size float32 matrices, with receipts.
Method MatMulMethod(int size);
// grpc.health.v1.Health/Check: an empty request, answered with 2 bytes by any server.
Method EmptyMethod();
// `size_bytes` sent to an echo server and back.
Method EchoMethod(int size_bytes);

// Calls each method once and compares the answer with the right one. INTERNAL: it is another.
absl::Status CheckAdd(const ServerProcess& server, int count);
absl::Status CheckMatMul(const ServerProcess& server, int size);
absl::Status CheckEmpty(const ServerProcess& server);
absl::Status CheckEcho(const ServerProcess& server, int size_bytes);

}  // namespace gpucall

#endif  // GPUCALL_TESTS_BENCH_METHODS_H_
