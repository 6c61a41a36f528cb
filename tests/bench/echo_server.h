// The control: a gRPC server that does nothing but send requests back.
#ifndef GPUCALL_TESTS_BENCH_ECHO_SERVER_H_
#define GPUCALL_TESTS_BENCH_ECHO_SERVER_H_

#include <string>

namespace gpucall {

// The methods that it serves, for any bytes; the second is a stream, answered message by message.
inline constexpr char kEchoMethod[] = "/gpucall.v1.Compute/Elementwise";
inline constexpr char kEchoStreamMethod[] = "/gpucall.v1.Compute/RunStream";

// Serves on a free port of 127.0.0.1, with gpucall-server's API and settings, until the process is
// killed. Writes its address to `port_file`. Returns an exit code where it cannot.
int ServeEcho(const std::string& port_file);

}  // namespace gpucall

#endif  // GPUCALL_TESTS_BENCH_ECHO_SERVER_H_
