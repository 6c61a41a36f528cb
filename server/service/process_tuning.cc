#include "server/service/process_tuning.h"

#include <grpcpp/version_info.h>
#include <malloc.h>
#include <stdlib.h>

#include <limits>

namespace gpucall {

void TuneProcess() {
  // All three together: the first alone stops glibc from adapting its own thresholds, and is worse
  // than nothing.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR == 51
  setenv("GRPC_EXPERIMENTS", "-tcp_read_chunks,tcp_frame_size_tuning,tcp_rcv_lowat",
         /*overwrite=*/0);
#endif
}

}  // namespace gpucall
