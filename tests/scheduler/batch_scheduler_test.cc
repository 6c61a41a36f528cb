#include "server/scheduler/batch_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "tests/testing/gated_device.h"

namespace gpucall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SteadyTime Now() { return std::chrono::steady_clock::now(); }

class BatchSchedulerTest : public ::testing::Test {
 protected:
  void SetUp() override { scheduler_ = *BatchScheduler::Make(device_, 1, {}); }

  // Schedules a task; the future gets its status and batch size.
  std::future<std::pair<absl::Status, int>> Schedule(SteadyTime deadline = SteadyTime::max(),
                                                     TaskId* id = nullptr) {
    auto promise = std::make_shared<std::promise<std::pair<absl::Status, int>>>();
    auto future = promise->get_future();
    auto task = std::make_unique<Task>();
    task->id = scheduler_->NewTaskId();
    if (id != nullptr) *id = task->id;
    task->deadline = deadline;
    task->done = [promise](const TaskResult& result) {
      promise->set_value({result.status, result.batch_size});
    };
    const absl::Status status = scheduler_->Schedule(std::move(task));
    if (!status.ok()) promise->set_value({status, -1});
    return future;
  }

  GatedDevice device_;
  std::unique_ptr<BatchScheduler> scheduler_;
};

TEST_F(BatchSchedulerTest, TasksGatherWhileTheLaneIsBusy) {
  auto first = Schedule();
  device_.AwaitBatches(1);
  std::vector<std::future<std::pair<absl::Status, int>>> others;
  for (int i = 0; i < 10; ++i) others.push_back(Schedule());
  device_.Open();
  EXPECT_EQ(first.get().second, 1);
  for (auto& other : others) EXPECT_EQ(other.get().second, 10);
}

TEST_F(BatchSchedulerTest, ExpiresQueuedTasksWhileTheLaneIsBusy) {
  auto running = Schedule();
  device_.AwaitBatches(1);
  auto expiring = Schedule(Now() + milliseconds(20));
  EXPECT_EQ(expiring.get().first.code(), absl::StatusCode::kDeadlineExceeded);
  device_.Open();
  EXPECT_TRUE(running.get().first.ok());
  EXPECT_THAT(device_.sizes(), ::testing::ElementsAre(1u));
}

TEST_F(BatchSchedulerTest, RefusesWhatIsAlreadyLate) {
  EXPECT_EQ(Schedule(Now() - seconds(1)).get().first.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(device_.sizes().empty());
}

TEST_F(BatchSchedulerTest, CancelledTasksAreNotStarted) {
  auto running = Schedule();
  device_.AwaitBatches(1);
  TaskId id = 0;
  auto cancelled = Schedule(SteadyTime::max(), &id);
  scheduler_->Cancel(id);
  EXPECT_EQ(cancelled.get().first.code(), absl::StatusCode::kCancelled);
  scheduler_->Cancel(id);  // again: nothing happens
  device_.Open();
  EXPECT_TRUE(running.get().first.ok());
  EXPECT_THAT(device_.sizes(), ::testing::ElementsAre(1u));
}

TEST_F(BatchSchedulerTest, DrainFinishesWhatWasAcceptedAndRefusesTheRest) {
  auto running = Schedule();
  auto queued = Schedule();
  device_.AwaitBatches(1);
  EXPECT_FALSE(scheduler_->Drain(Now() + milliseconds(10)));
  EXPECT_EQ(Schedule().get().first.code(), absl::StatusCode::kUnavailable);
  device_.Open();
  EXPECT_TRUE(scheduler_->Drain(Now() + seconds(60)));
  EXPECT_TRUE(running.get().first.ok());
  EXPECT_TRUE(queued.get().first.ok());
}

TEST_F(BatchSchedulerTest, BatchTooLargeForTheDeviceRunsOneByOne) {
  device_.largest_fitting_batch = 1;
  auto first = Schedule();
  device_.AwaitBatches(1);
  auto second = Schedule(), third = Schedule();
  device_.Open();
  EXPECT_TRUE(first.get().first.ok());
  EXPECT_TRUE(second.get().first.ok());
  EXPECT_TRUE(third.get().first.ok());
  EXPECT_THAT(device_.sizes(), ::testing::ElementsAre(1u, 2u, 1u, 1u));
}

TEST_F(BatchSchedulerTest, StoppingEndsQueuedTasks) {
  auto running = Schedule();
  device_.AwaitBatches(1);
  auto queued = Schedule();
  std::thread stop([this] { scheduler_.reset(); });
  EXPECT_EQ(queued.get().first.code(), absl::StatusCode::kUnavailable);
  device_.Open();
  stop.join();
  EXPECT_TRUE(running.get().first.ok());
}

TEST_F(BatchSchedulerTest, ManyThreadsEveryTaskEndsOnce) {
  device_.Open();
  constexpr int kThreads = 8, kTasks = 500;
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTasks; ++i) {
        auto task = std::make_unique<Task>();
        const TaskId id = task->id = scheduler_->NewTaskId();
        task->deadline = i % 3 == 0 ? Now() + std::chrono::microseconds(50) : SteadyTime::max();
        task->done = [&](const TaskResult&) { ended.fetch_add(1); };
        if (!scheduler_->Schedule(std::move(task)).ok()) ended.fetch_add(1);
        if ((i + t) % 4 == 0) scheduler_->Cancel(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(scheduler_->Drain(Now() + seconds(60)));
  EXPECT_EQ(ended.load(), kThreads * kTasks);
}

}  // namespace
}  // namespace gpucall
