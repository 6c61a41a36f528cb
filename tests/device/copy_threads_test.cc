#include "server/device/copy_threads.h"

#include <atomic>

#include "gtest/gtest.h"

namespace gpucall {
namespace {

TEST(CopyThreads, RunsEachPartOnce) {
  CopyThreads threads(2);
  for (const int count : {0, 1, 2, 3, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
    threads.Run(count, [&](int part) { ++calls[static_cast<size_t>(part)]; });
    for (const auto& made : calls) EXPECT_EQ(made, 1);
  }
}

TEST(CopyThreads, ManyCallersAtOnce) {
  CopyThreads threads(2);
  std::atomic<int> total = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        int mine[7] = {};
        threads.Run(7, [&](int part) { mine[part] = 1; });  // seen by the caller afterwards
        for (const int done : mine) total += done;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 500 * 7);
}

}  // namespace
}  // namespace gpucall
