// Memory that a client would share.
#ifndef GPUCALL_TESTS_TESTING_MEMFD_H_
#define GPUCALL_TESTS_TESTING_MEMFD_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server/base/unique_fd.h"

namespace gpucall {

inline UniqueFd MakeMemfd(int64_t size_bytes, int seals = F_SEAL_SHRINK, unsigned flags = 0) {
  UniqueFd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  if (ftruncate(fd.get(), size_bytes) != 0 || fcntl(fd.get(), F_ADD_SEALS, seals) != 0) return {};
  return fd;
}

}  // namespace gpucall

#endif  // GPUCALL_TESTS_TESTING_MEMFD_H_
