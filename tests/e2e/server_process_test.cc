// The server as a process: starting, stopping, and refusing what it cannot do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gpucall/client.h"
#include "tests/e2e/server_binary.h"
#include "tests/testing/child_process.h"

namespace gpucall {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Calls without a pause in 16 chains until one is refused.
class Load {
 public:
  explicit Load(const Client& client) : client_(client) {
    for (int i = 0; i < kChains; ++i) CallNext();
  }
  ~Load() { ended_.wait(); }

  // Blocks until every chain has ended.
  void Wait() { ended_.wait(); }

  std::atomic<int> right = 0;
  std::atomic<int> refused = 0;  // UNAVAILABLE
  std::atomic<int> other = 0;    // another error, or a wrong answer

 private:
  static constexpr int kChains = 16;

  void CallNext() {
    client_.Start(request_, [this](Client::Reply reply) { OnReply(std::move(reply)); });
  }
  void OnReply(Client::Reply reply) {
    if (reply.ok() && reply->front().bytes() == expected_.bytes()) {
      ++right;
      CallNext();
      return;
    }
    if (reply.status().code() == absl::StatusCode::kUnavailable) {
      ++refused;
    } else {
      ++other;
      ADD_FAILURE() << "the server answered " << reply.status();
    }
    ended_.count_down();
  }

  const Client client_;
  const Tensor half_ = Tensor::From<float>(std::vector<float>(1000, 0.5f));
  const Tensor expected_ = Tensor::From<float>(std::vector<float>(1000, 1.0f));
  const Request request_ = Request::Elementwise(ElementwiseOp::kAdd, {half_, half_});
  std::latch ended_{kChains};
};

TEST(ServerProcess, ServesOnAFreePort) {
  const absl::StatusOr<ServerProcess> server = StartServer({"--lanes=2", "--max_batch_tasks=7"});
  ASSERT_TRUE(server.ok()) << server.status();
  const Client client = *Connect(server->address());
  Receipt receipt;
  const absl::StatusOr<Tensor> sum =
      client.Add(Tensor::From<int32_t>({1, 2}), Tensor::From<int32_t>({3, 4}),
                 {.deadline = absl::Seconds(10), .receipt = &receipt});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_THAT(*sum->as<int32_t>(), ElementsAre(4, 6));
  EXPECT_EQ(receipt.device, "cpu");
  EXPECT_EQ(receipt.batch_size, 1u);
  EXPECT_GT(receipt.compute, absl::ZeroDuration());

  const absl::StatusOr<ServerInfo> info = client.Info();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->devices.at(0).lanes, 2u);
  EXPECT_EQ(info->limits.max_batch_tasks, 7u);
}

TEST(ServerProcess, ServesOnAUnixSocket) {
  const std::string path = std::filesystem::temp_directory_path() / "gpucall-e2e-XXXXXX";
  std::string folder = path;
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    const std::string address = "unix:" + folder + "/socket";
    const absl::StatusOr<ServerProcess> server = StartServer({"--listen=" + address});
    ASSERT_TRUE(server.ok()) << server.status();
    EXPECT_EQ(server->address(), address);
    EXPECT_TRUE(Connect(address)->Abs(Tensor::Scalar(-1.0f)).ok());
  }
  std::filesystem::remove_all(folder);
}

TEST(ServerProcess, TerminateUnderLoadFinishesWhatIsInFlight) {
  absl::StatusOr<ServerProcess> server = StartServer();
  ASSERT_TRUE(server.ok()) << server.status();
  const Client client = *Connect(server->address());
  Load load(client);
  while (load.right < 1000 && load.refused + load.other == 0) absl::SleepFor(absl::Milliseconds(1));
  const absl::Time start = absl::Now();
  server->process().Signal(SIGTERM);
  EXPECT_EQ(server->process().Wait(), 0) << server->Log();
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  load.Wait();
  EXPECT_GE(load.right, 1000);
  EXPECT_EQ(load.refused, 16);
  EXPECT_EQ(load.other, 0);
}

TEST(ServerProcess, InterruptStopsAnIdleServer) {
  absl::StatusOr<ServerProcess> server = StartServer();
  ASSERT_TRUE(server.ok()) << server.status();
  server->process().Signal(SIGINT);
  EXPECT_EQ(server->process().Wait(), 0) << server->Log();
}

TEST(ServerProcess, RestartOnTheSamePortServesTheSameClient) {
  absl::StatusOr<ServerProcess> server = StartServer();
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string address = server->address();
  const Client client = *Connect(address);
  ASSERT_TRUE(client.Abs(Tensor::Scalar(-1.0f)).ok());
  server->process().Signal(SIGTERM);
  EXPECT_EQ(server->process().Wait(), 0);
  const absl::StatusOr<ServerProcess> again = StartServer({"--listen=" + address});
  ASSERT_TRUE(again.ok()) << again.status();
  // gRPC waits a second or so before it connects again.
  const absl::Time end = absl::Now() + absl::Seconds(20);
  absl::Status status;
  do {
    status = client.Abs(Tensor::Scalar(-1.0f)).status();
  } while (!status.ok() && absl::Now() < end);
  EXPECT_TRUE(status.ok()) << status;
}

struct BadFlags {
  std::vector<std::string> flags;
  std::string message;  // a part of what it writes
};
void PrintTo(const BadFlags& bad, std::ostream* out) { *out << bad.flags.front(); }
class ServerRefuses : public testing::TestWithParam<BadFlags> {};

TEST_P(ServerRefuses, WithAMessageAndNoServer) {
  const std::filesystem::path log =
      std::filesystem::temp_directory_path() /
      ("gpucall-" + std::to_string(getpid()) + "-" + std::to_string(absl::GetCurrentTimeNanos()));
  absl::StatusOr<ChildProcess> process =
      ChildProcess::Start(ServerCommand(GetParam().flags), {}, log);
  ASSERT_TRUE(process.ok()) << process.status();
  const absl::Time end = absl::Now() + absl::Seconds(30);
  while (process->IsRunning() && absl::Now() < end) absl::SleepFor(absl::Milliseconds(5));
  ASSERT_FALSE(process->IsRunning()) << "it serves";
  EXPECT_EQ(process->Wait(), 1);
  std::ostringstream text;
  text << std::ifstream(log).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(GetParam().message));
  std::filesystem::remove(log);
}

INSTANTIATE_TEST_SUITE_P(
    Flags, ServerRefuses,
    testing::Values(BadFlags{{"--device=tpu"}, "tpu"}, BadFlags{{"--device=cuda:x"}, "cuda:x"},
                    BadFlags{{"--listen=nowhere"}, "nowhere"},
                    BadFlags{{"--listen=127.0.0.1:99999"}, "99999"},
                    BadFlags{{"--lanes=many"}, "lanes"}, BadFlags{{"--lanes=65"}, "lanes"},
                    BadFlags{{"--no_such_flag"}, "no_such_flag"}, BadFlags{{"stray"}, "stray"},
                    BadFlags{{"--log_level=loud"}, "loud"},
                    BadFlags{{"--config=/no/such/file"}, "/no/such/file"},
                    BadFlags{{"--port_file=/no/such/folder/port"}, "/no/such/folder/port"}));

TEST(ServerProcess, RefusesAPortThatIsTaken) {
  const absl::StatusOr<ServerProcess> first = StartServer();
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = StartServer({"--listen=" + first->address()}).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(second.message(), HasSubstr(first->address()));
}

}  // namespace
}  // namespace gpucall
