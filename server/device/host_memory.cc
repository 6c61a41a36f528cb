#include "server/device/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace gpucall {

int64_t HostMemoryLimit() {
  const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::ifstream file("/sys/fs/cgroup/memory.max");
  int64_t limit = 0;
  // "max" where there is no limit.
  return file >> limit ? std::min(limit, machine) : machine;
}

}  // namespace gpucall
