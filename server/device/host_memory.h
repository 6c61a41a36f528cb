// How much host memory this process may use.
#ifndef GPUCALL_SERVER_DEVICE_HOST_MEMORY_H_
#define GPUCALL_SERVER_DEVICE_HOST_MEMORY_H_

#include <cstdint>

namespace gpucall {

// Bytes: the machine's memory, or its container's limit (cgroup v2 memory.max) where that is lower.
int64_t HostMemoryLimit();

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_HOST_MEMORY_H_
