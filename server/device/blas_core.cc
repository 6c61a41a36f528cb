#include "server/device/blas_core.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "kernels/cpu/matmul.h"

namespace gpucall {

void RestartWithBlasCore(char** argv) {
  constexpr char kVariable[] = "OPENBLAS_CORETYPE";
  const char* core = cpu::BlasCoreToAskFor();
  if (core == nullptr || std::getenv(kVariable) != nullptr) return;
  // Its own path, not /proc/self/exe, which would become the process's name.
  std::array<char, 4096> path = {};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (size <= 0 || setenv(kVariable, core, 1) != 0) return;
  execv(path.data(), argv);
}

}  // namespace gpucall
