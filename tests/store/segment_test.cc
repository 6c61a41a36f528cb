#include "server/store/segment.h"

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/device/cpu_device.h"
#include "server/store/segment_table.h"
#include "tests/testing/memfd.h"

namespace gpucall {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kPage = 4096;

class SegmentTest : public testing::Test {
 protected:
  absl::StatusOr<std::shared_ptr<const Segment>> Map(const UniqueFd& fd,
                                                     int64_t max_bytes = 1 << 20) {
    return Segment::Map(fd, max_bytes, *device_);
  }
  void ExpectRefused(const UniqueFd& fd, absl::StatusCode code, const std::string& part) {
    const absl::Status status = Map(fd).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }

  const std::unique_ptr<Device> device_ = MakeCpuDevice();
};

int MappedFiles() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:") != line.npos;
  return count;
}

TEST_F(SegmentTest, SharesItsBytesWithTheClient) {
  const UniqueFd fd = MakeMemfd(3 * kPage);
  const auto segment = Map(fd);
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_EQ((*segment)->size_bytes(), 3 * kPage);
  ASSERT_EQ(pwrite(fd.get(), "abc", 3, 2 * kPage), 3);
  std::byte* const data = *(*segment)->At(2 * kPage, 3);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(data), 3), "abc");
  data[1] = std::byte{'x'};
  char read[3];
  ASSERT_EQ(pread(fd.get(), read, 3, 2 * kPage), 3);
  EXPECT_EQ(std::string(read, 3), "axc");
}

TEST_F(SegmentTest, MayBeSealedAgainstGrowing) {
  EXPECT_TRUE(Map(MakeMemfd(kPage, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)).ok());
}

TEST_F(SegmentTest, MappingGoesWithItsLastUser) {
  const int before = MappedFiles();
  std::shared_ptr<const Segment> user;
  {
    const auto segment = Map(MakeMemfd(kPage));
    user = *segment;
  }
  EXPECT_EQ(MappedFiles(), before + 1);
  user.reset();
  EXPECT_EQ(MappedFiles(), before);
}

TEST_F(SegmentTest, BoundsAreChecked) {
  const auto segment = *Map(MakeMemfd(2 * kPage));
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_TRUE(segment->At(0, 2 * kPage).ok());
  EXPECT_TRUE(segment->At(2 * kPage, 0).ok());
  const std::pair<uint64_t, uint64_t> outside[] = {
      {0, 2 * kPage + 1}, {2 * kPage, 1}, {2 * kPage + 1, 0},        {kMost, 1},
      {kMost, kMost},     {1, kMost},     {kPage, kMost - kPage + 1}};
  for (const auto& [offset, size_bytes] : outside) {
    const absl::Status status = segment->At(offset, size_bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << offset << " " << size_bytes;
  }
}

TEST_F(SegmentTest, WrongFilesAreRefused) {
  using Code = absl::StatusCode;
  ExpectRefused(MakeMemfd(kPage, 0), Code::kInvalidArgument, "F_SEAL_SHRINK");
  ExpectRefused(MakeMemfd(kPage, F_SEAL_GROW), Code::kInvalidArgument, "F_SEAL_SHRINK");
  ExpectRefused(MakeMemfd(kPage, F_SEAL_SHRINK | F_SEAL_WRITE), Code::kInvalidArgument, "writing");
  ExpectRefused(MakeMemfd(kPage, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE), Code::kInvalidArgument,
                "writing");
  ExpectRefused(MakeMemfd(0), Code::kInvalidArgument, "0 bytes");
  ExpectRefused(MakeMemfd(kPage + 1), Code::kInvalidArgument, "4097 bytes");
  ExpectRefused(MakeMemfd(2 << 20), Code::kResourceExhausted, "1048576");
  ExpectRefused(UniqueFd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), Code::kInvalidArgument,
                "not a memfd");
  ExpectRefused(UniqueFd(open("/dev/zero", O_RDWR | O_CLOEXEC)), Code::kInvalidArgument,
                "not a memfd");
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd other(ends[1]);
  ExpectRefused(UniqueFd(ends[0]), Code::kInvalidArgument, "not a memfd");
}

TEST_F(SegmentTest, OnesThatCannotBeWrittenAreRefused) {
  const UniqueFd writable = MakeMemfd(kPage);
  const std::string path = "/proc/self/fd/" + std::to_string(writable.get());
  ExpectRefused(UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)),
                absl::StatusCode::kResourceExhausted, "mapped");
}

TEST_F(SegmentTest, HugePagesAreRefused) {
  const UniqueFd fd = MakeMemfd(2 << 20, F_SEAL_SHRINK, MFD_HUGETLB);
  if (!fd.is_open()) GTEST_SKIP() << "no memfd with huge pages here";
  ExpectRefused(fd, absl::StatusCode::kInvalidArgument, "huge pages");
}

TEST_F(SegmentTest, TableFindsByIdOnly) {
  SegmentTable table;
  const std::string first = *table.Add(*Map(MakeMemfd(kPage)));
  const std::string second = *table.Add(*Map(MakeMemfd(2 * kPage)));
  EXPECT_EQ(first.size(), SegmentTable::kIdBytes);
  EXPECT_NE(first, second);
  EXPECT_EQ((*table.Find(second))->size_bytes(), 2 * kPage);
  for (const std::string& id :
       {std::string(), first.substr(1), first + second, std::string(16, 0)}) {
    EXPECT_EQ(table.Find(id).status().code(), absl::StatusCode::kNotFound);
  }
  const auto used = *table.Find(first);
  table.Remove(first);
  table.Remove(first);
  EXPECT_FALSE(table.Find(first).ok());
  EXPECT_TRUE(used->At(0, kPage).ok());
  EXPECT_EQ(table.size(), 1);
}

}  // namespace
}  // namespace gpucall
