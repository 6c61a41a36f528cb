// Work on several threads.
#ifndef GPUCALL_KERNELS_CPU_PARALLEL_H_
#define GPUCALL_KERNELS_CPU_PARALLEL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace gpucall::cpu {

// Calls worker(i) once for each i below `count`, in turns, where `worker` is one made by
// make_worker() for each thread. `work`: operations in all; uses a thread for every few million of
// them, as many as there are processors at most. Blocks.
template <class MakeWorker>
void ForEach(int64_t count, double work, const MakeWorker& make_worker) {
  constexpr double kThreadWork = 1 << 22;
  std::atomic<int64_t> next = 0;
  const auto take_turns = [&] {
    auto worker = make_worker();
    for (int64_t i = next++; i < count; i = next++) worker(i);
  };
  const auto worth = static_cast<int64_t>(std::min(work / kThreadWork, 1024.0));
  const int64_t threads = std::min({int64_t{std::thread::hardware_concurrency()}, count, worth});
  std::vector<std::jthread> others;
  for (int64_t i = 1; i < threads; ++i) others.emplace_back(take_turns);
  take_turns();
}

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_PARALLEL_H_
