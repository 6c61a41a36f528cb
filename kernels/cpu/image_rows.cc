#include "kernels/cpu/image_rows.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace gpucall::cpu {

void DivideRows(int64_t rows, int64_t work, const std::function<void(int64_t, int64_t)>& part) {
  constexpr int64_t kWorkOfThread = 4 << 20;  // takes some 50 times what starting a thread does
  const int64_t processors = std::max<int64_t>(1, std::thread::hardware_concurrency());
  const int64_t parts = std::clamp<int64_t>(work / kWorkOfThread, 1, std::min(processors, rows));
  std::vector<std::jthread> threads;
  int64_t first = 0;
  for (int64_t p = 1; p < parts; ++p) {
    const int64_t last = rows * p / parts;
    try {
      threads.emplace_back(part, first, last);
    } catch (const std::system_error&) {  // no more threads: the rest is this one's
      break;
    }
    first = last;
  }
  part(first, rows);
}

}  // namespace gpucall::cpu
