// When a call must be done.
#ifndef GPUCALL_SERVER_SERVICE_DEADLINE_H_
#define GPUCALL_SERVER_SERVICE_DEADLINE_H_

#include <grpcpp/server_context.h>

#include <chrono>

#include "server/scheduler/task.h"

namespace gpucall {

// SteadyTime::max() where the caller set none.
inline SteadyTime DeadlineOf(const grpc::CallbackServerContext& context) {
  const std::chrono::system_clock::time_point deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return SteadyTime::max();
  return std::chrono::steady_clock::now() + (deadline - std::chrono::system_clock::now());
}

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DEADLINE_H_
