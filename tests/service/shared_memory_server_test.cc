#include "server/service/shared_memory_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/device/cpu_device.h"
#include "tests/testing/memfd.h"

namespace gpucall {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kPage = 4096;

// A client's end of the socket.
class Peer {
 public:
  explicit Peer(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }

  void Send(const std::string& bytes, const std::vector<int>& files = {}) {
    std::string part = bytes;
    iovec vector = {part.data(), part.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    if (!files.empty()) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
      std::memcpy(CMSG_DATA(header), files.data(), files.size() * sizeof(int));
    }
    ASSERT_EQ(sendmsg(socket_.get(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  // False: the server has closed.
  bool SendUnread(const std::string& bytes) {
    return send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0;
  }
  // Code 99: the server has closed.
  v1::SharedMemoryReply Read() {
    char bytes[kMaxPacketBytes];
    const ssize_t size = recv(socket_.get(), bytes, sizeof(bytes), 0);
    v1::SharedMemoryReply reply;
    if (size <= 0 || !reply.ParseFromArray(bytes, static_cast<int>(size))) reply.set_code(99);
    return reply;
  }
  v1::SharedMemoryReply RegisterFiles(const std::vector<int>& files) {
    v1::SharedMemoryRequest request;
    request.mutable_register_segment();
    Send(request.SerializeAsString(), files);
    return Read();
  }
  v1::SharedMemoryReply Register(int64_t size_bytes) {
    const UniqueFd fd = MakeMemfd(size_bytes);
    return RegisterFiles({fd.get()});
  }
  v1::SharedMemoryReply Release(const std::string& id) {
    v1::SharedMemoryRequest request;
    request.mutable_release_segment()->set_segment(id);
    Send(request.SerializeAsString());
    return Read();
  }

 private:
  UniqueFd socket_;
};

int OpenFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<int>(std::distance(begin(files), end(files)));
}

// Once the server has closed those of the last request.
void ExpectOpenFiles(int count) {
  for (int i = 0; i < 500 && OpenFiles() != count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(OpenFiles(), count);
}

class SharedMemoryServerTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "shm_test_" + std::to_string(getpid());
    server_ = *SharedMemoryServer::Start(path_, {.max_segments = 3, .max_bytes = 8 * kPage},
                                         *device_, table_);
  }

  // Once the server has seen what its clients did.
  void ExpectSegments(size_t count) {
    for (int i = 0; i < 500 && table_.size() != count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(table_.size(), count);
  }
  void ExpectRefused(const v1::SharedMemoryReply& reply, absl::StatusCode code,
                     const std::string& part) {
    EXPECT_EQ(reply.code(), static_cast<uint32_t>(code)) << reply.message();
    EXPECT_THAT(reply.message(), HasSubstr(part));
    EXPECT_TRUE(reply.segment().empty());
  }

  const std::unique_ptr<Device> device_ = MakeCpuDevice();
  SegmentTable table_;
  std::string path_;
  std::unique_ptr<SharedMemoryServer> server_;
};

TEST_F(SharedMemoryServerTest, SegmentsLiveAsLongAsTheirConnection) {
  Peer other(path_);
  const std::string kept = other.Register(kPage).segment();
  {
    Peer peer(path_);
    const v1::SharedMemoryReply reply = peer.Register(2 * kPage);
    EXPECT_EQ(reply.code(), 0) << reply.message();
    EXPECT_EQ((*table_.Find(reply.segment()))->size_bytes(), 2 * kPage);
    ExpectSegments(2);
  }
  ExpectSegments(1);
  EXPECT_TRUE(table_.Find(kept).ok());
}

TEST_F(SharedMemoryServerTest, ReleasesOnlySegmentsOfTheConnection) {
  Peer peer(path_), other(path_);
  const std::string id = peer.Register(kPage).segment();
  ExpectRefused(other.Release(id), absl::StatusCode::kNotFound, "release_segment");
  EXPECT_EQ(peer.Release(id).code(), 0);
  ExpectSegments(0);
  ExpectRefused(peer.Release(id), absl::StatusCode::kNotFound, "release_segment");
}

TEST_F(SharedMemoryServerTest, LimitsAreOfOneConnection) {
  Peer peer(path_);
  const std::string first = peer.Register(6 * kPage).segment();
  ExpectRefused(peer.Register(3 * kPage), absl::StatusCode::kResourceExhausted, "8192 more");
  EXPECT_EQ(peer.Register(kPage).code(), 0);
  EXPECT_EQ(peer.Register(kPage).code(), 0);
  ExpectRefused(peer.Register(kPage), absl::StatusCode::kResourceExhausted, "allowed are 3");
  EXPECT_EQ(Peer(path_).Register(8 * kPage).code(), 0);
  EXPECT_EQ(peer.Release(first).code(), 0);
  EXPECT_EQ(peer.Register(6 * kPage).code(), 0);
}

TEST_F(SharedMemoryServerTest, WrongRequestsAreAnsweredAndTheConnectionGoesOn) {
  using Code = absl::StatusCode;
  Peer peer(path_);
  ExpectRefused(peer.RegisterFiles({}), Code::kInvalidArgument, "0 file descriptors");
  const int before = OpenFiles();  // once the server has the connection's
  const UniqueFd fd = MakeMemfd(kPage), unsealed = MakeMemfd(kPage, 0);
  ExpectRefused(peer.RegisterFiles({fd.get(), fd.get()}), Code::kInvalidArgument,
                "2 file descriptors");
  ExpectRefused(peer.RegisterFiles(std::vector<int>(16, fd.get())), Code::kInvalidArgument,
                "file descriptors");
  ExpectRefused(peer.RegisterFiles({unsealed.get()}), Code::kInvalidArgument, "F_SEAL_SHRINK");
  peer.Send("\xff\xff");
  ExpectRefused(peer.Read(), Code::kInvalidArgument, "not a valid");
  peer.Send(v1::SharedMemoryRequest().SerializeAsString() + "\x1a\x01x");  // a field of the future
  ExpectRefused(peer.Read(), Code::kInvalidArgument, "is not set");
  peer.Send(std::string(kMaxPacketBytes + 1, 'x'), {fd.get()});
  ExpectRefused(peer.Read(), Code::kInvalidArgument, "longer than");
  EXPECT_EQ(peer.RegisterFiles({fd.get()}).code(), 0);
  ExpectOpenFiles(before + 2);  // fd and unsealed: the server has kept none
}

TEST_F(SharedMemoryServerTest, AClientThatDoesNotReadIsCutOff) {
  Peer peer(path_);
  EXPECT_EQ(peer.Register(kPage).code(), 0);
  bool open = true;
  for (int i = 0; i < 100'000 && open; ++i) open = peer.SendUnread("x");
  EXPECT_FALSE(open);
  ExpectSegments(0);
  EXPECT_EQ(Peer(path_).Register(kPage).code(), 0);  // others are served
}

TEST_F(SharedMemoryServerTest, TenThousandRegistrationsLeaveNothing) {
  const int before = OpenFiles();
  for (int i = 0; i < 2500; ++i) {
    Peer peer(path_);
    for (int k = 0; k < 3; ++k) ASSERT_EQ(peer.Register(kPage).code(), 0) << i;
    const std::string id = Peer(path_).Register(kPage).segment();
    ASSERT_EQ(id.size(), SegmentTable::kIdBytes);
  }
  ExpectSegments(0);
  ExpectOpenFiles(before);
}

TEST_F(SharedMemoryServerTest, EndsConnectionsAndRemovesItsSocket) {
  Peer peer(path_);
  EXPECT_EQ(peer.Register(kPage).code(), 0);
  server_.reset();
  EXPECT_EQ(table_.size(), 0);
  EXPECT_EQ(peer.Read().code(), 99);
  struct stat file = {};
  EXPECT_NE(lstat(path_.c_str(), &file), 0);
}

TEST_F(SharedMemoryServerTest, ReplacesASocketLeftBehind) {
  const auto second = SharedMemoryServer::Start(path_, {}, *device_, table_);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Peer(path_).Register(kPage).code(), 0);
}

TEST_F(SharedMemoryServerTest, PathsThatCannotBe) {
  const std::string file = testing::TempDir() + "shm_test_file";
  UniqueFd made(open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  for (const std::string& path : {file, std::string("/no/such/folder/x"), std::string(200, 'x')}) {
    const auto server = SharedMemoryServer::Start(path, {}, *device_, table_);
    EXPECT_EQ(server.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(server.status().message()), HasSubstr(path));
  }
  unlink(file.c_str());
}

}  // namespace
}  // namespace gpucall
