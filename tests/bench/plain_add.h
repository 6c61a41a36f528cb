// The control that a first program would be: float32 add as one unary call of protobuf messages,
// built and parsed by the generated stubs, in processes that set nothing.
#ifndef GPUCALL_TESTS_BENCH_PLAIN_ADD_H_
#define GPUCALL_TESTS_BENCH_PLAIN_ADD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gpucall {

// Serves on a free port of 127.0.0.1 until the process is killed. Writes its address to
// `port_file`. Returns an exit code where it cannot.
int ServePlainAdd(const std::string& port_file);

// Calls for `duration`, and once before, with two new tensors of `size_bytes` each. Seconds of a
// call. INTERNAL: a wrong sum.
absl::StatusOr<double> CallPlainAdd(const std::string& address, int64_t size_bytes,
                                    absl::Duration duration);

}  // namespace gpucall

#endif  // GPUCALL_TESTS_BENCH_PLAIN_ADD_H_
