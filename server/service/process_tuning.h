// Settings of the process that large messages need: call first in main, before gRPC starts and
// before threads do.
#ifndef GPUCALL_SERVER_SERVICE_PROCESS_TUNING_H_
#define GPUCALL_SERVER_SERVICE_PROCESS_TUNING_H_

namespace gpucall {

// Tells glibc to keep freed memory instead of returning it to the kernel: page faults of fresh
// memory cost more than copying. (What lost callers had is returned: reaper.h.) And, for gRPC 1.51
// alone, chooses read experiments by which a 4 MiB message arrives in 2 slices, not 65. Variables
// already set in the environment (GRPC_EXPERIMENTS) win. tests/bench/server_bench measures the read
// settings, not yet glibc's.
void TuneProcess();

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_PROCESS_TUNING_H_
