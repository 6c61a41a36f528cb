#include "server/scheduler/batch_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpucall {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const SteadyTime kStart{};

std::unique_ptr<Task> MakeTask(TaskId id, std::string signature, int64_t size_bytes = 0,
                               SteadyTime deadline = SteadyTime::max()) {
  auto task = std::make_unique<Task>();
  task->id = id;
  task->plan.signature = std::move(signature);
  task->plan.input_bytes = size_bytes;
  task->deadline = deadline;
  return task;
}

std::vector<TaskId> Ids(const Batch& batch) {
  std::vector<TaskId> ids;
  for (const auto& task : batch) ids.push_back(task->id);
  return ids;
}

class BatchQueueTest : public ::testing::Test {
 protected:
  absl::Status Add(std::unique_ptr<Task> task) { return queue_.Add(task); }
  BatchQueue queue_{{.max_batch_tasks = 3,
                     .max_batch_bytes = 100,
                     .max_queue_tasks = 5,
                     .max_queue_bytes = 1000}};
};

TEST_F(BatchQueueTest, BatchesTheOldestTasksSignature) {
  ASSERT_TRUE(Add(MakeTask(1, "add")).ok());
  ASSERT_TRUE(Add(MakeTask(2, "exp")).ok());
  ASSERT_TRUE(Add(MakeTask(3, "add")).ok());
  EXPECT_THAT(Ids(queue_.Take(kStart)), ElementsAre(1, 3));
  EXPECT_THAT(Ids(queue_.Take(kStart)), ElementsAre(2));
  EXPECT_TRUE(queue_.Take(kStart).empty());
}

TEST_F(BatchQueueTest, StopsAtTheTaskLimit) {
  for (TaskId id = 1; id <= 5; ++id) ASSERT_TRUE(Add(MakeTask(id, "add")).ok());
  EXPECT_THAT(Ids(queue_.Take(kStart)), ElementsAre(1, 2, 3));
  EXPECT_THAT(Ids(queue_.Take(kStart)), ElementsAre(4, 5));
}

TEST_F(BatchQueueTest, StopsAtTheByteLimitButTakesOne) {
  ASSERT_TRUE(Add(MakeTask(1, "add", 500)).ok());
  ASSERT_TRUE(Add(MakeTask(2, "add", 60)).ok());
  ASSERT_TRUE(Add(MakeTask(3, "add", 60)).ok());
  EXPECT_THAT(Ids(queue_.Take(kStart)), ElementsAre(1));
  EXPECT_THAT(Ids(queue_.Take(kStart)), ElementsAre(2));
  EXPECT_EQ(queue_.size_bytes(), 60);
}

TEST_F(BatchQueueTest, FullQueueRefusesAndKeepsTheTaskWithTheCaller) {
  for (TaskId id = 1; id <= 5; ++id) ASSERT_TRUE(Add(MakeTask(id, "add")).ok());
  auto task = MakeTask(6, "add");
  const absl::Status status = queue_.Add(task);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("allowed are 5"));
  EXPECT_NE(task, nullptr);
}

TEST_F(BatchQueueTest, BytesAreBoundedButOneTaskAlwaysFits) {
  ASSERT_TRUE(Add(MakeTask(1, "add", 5000)).ok());
  EXPECT_EQ(Add(MakeTask(2, "add", 1)).code(), absl::StatusCode::kUnavailable);
  queue_.Take(kStart);
  EXPECT_TRUE(Add(MakeTask(3, "add", 1)).ok());
}

TEST_F(BatchQueueTest, ExpiredTasksAreNeverTaken) {
  ASSERT_TRUE(Add(MakeTask(1, "add", 0, kStart + seconds(1))).ok());
  ASSERT_TRUE(Add(MakeTask(2, "add", 0, kStart + seconds(9))).ok());
  EXPECT_EQ(queue_.earliest_deadline(), kStart + seconds(1));
  EXPECT_THAT(Ids(queue_.Take(kStart + seconds(1))), ElementsAre(2));
  EXPECT_TRUE(queue_.TakeExpired(kStart).empty());
  EXPECT_THAT(Ids(queue_.TakeExpired(kStart + seconds(1))), ElementsAre(1));
  EXPECT_EQ(queue_.size(), 0u);
  EXPECT_EQ(queue_.earliest_deadline(), SteadyTime::max());
}

TEST_F(BatchQueueTest, RemovedTasksAreGone) {
  ASSERT_TRUE(Add(MakeTask(1, "add", 10, kStart + seconds(1))).ok());
  EXPECT_EQ(queue_.Remove(1)->id, 1u);
  EXPECT_EQ(queue_.Remove(1), nullptr);
  EXPECT_EQ(queue_.size_bytes(), 0);
  EXPECT_TRUE(queue_.Take(kStart).empty());
}

}  // namespace
}  // namespace gpucall
