#include "server/store/written_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace gpucall {
namespace {

using ::testing::HasSubstr;

void ExpectError(const absl::Status& status, absl::StatusCode code, const std::string& part) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(part));
}

TEST(WrittenPartsTest, CompleteOnceAllHaveCome) {
  WrittenParts parts(100);
  EXPECT_FALSE(parts.complete());
  ASSERT_TRUE(parts.Take(40, 60).ok());
  ASSERT_TRUE(parts.Take(0, 40).ok());
  EXPECT_EQ(parts.writers(), 2);
  parts.Finish(40);
  EXPECT_FALSE(parts.complete());
  parts.Finish(0);
  EXPECT_TRUE(parts.complete());
  EXPECT_EQ(parts.writers(), 0);
}

TEST(WrittenPartsTest, PartsDoNotOverlap) {
  WrittenParts parts(100);
  ASSERT_TRUE(parts.Take(20, 20).ok());
  for (const auto& [offset, size] :
       std::vector<std::pair<int64_t, int64_t>>{{20, 20}, {0, 21}, {39, 1}, {30, 70}, {0, 100}}) {
    ExpectError(parts.Take(offset, size), absl::StatusCode::kInvalidArgument,
                "overlap bytes 20 to 40");
  }
  parts.Finish(20);
  ExpectError(parts.Take(39, 2), absl::StatusCode::kInvalidArgument, "overlap bytes 20 to 40");
  EXPECT_TRUE(parts.Take(40, 60).ok());
  EXPECT_TRUE(parts.Take(0, 20).ok());
}

TEST(WrittenPartsTest, WhatIsGivenUpMayBeTakenAgain) {
  WrittenParts parts(10);
  ASSERT_TRUE(parts.Take(0, 10).ok());
  parts.GiveUp(0);
  EXPECT_FALSE(parts.complete());
  ASSERT_TRUE(parts.Take(5, 5).ok());
  ASSERT_TRUE(parts.Take(0, 5).ok());
  parts.Finish(5);
  parts.Finish(0);
  EXPECT_TRUE(parts.complete());
}

TEST(WrittenPartsTest, OutsideTheTensor) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  WrittenParts parts(10);
  for (const auto& [offset, size] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 11}, {10, 1}, {11, 0}, {0, 0}, {-1, 5}, {5, -1}, {5, kMax}, {kMax, kMax}}) {
    ExpectError(parts.Take(offset, size), absl::StatusCode::kInvalidArgument, "has 10");
  }
  EXPECT_EQ(parts.writers(), 0);
}

TEST(WrittenPartsTest, FragmentsAreBounded) {
  constexpr int64_t kParts = WrittenParts::kMaxParts;
  WrittenParts parts(4 * kParts);
  for (int64_t i = 0; i < kParts; ++i) {
    ASSERT_TRUE(parts.Take(2 * i, 1).ok());
    parts.Finish(2 * i);
  }
  ExpectError(parts.Take(2 * kParts, 1), absl::StatusCode::kResourceExhausted, "1024");
}

TEST(WrittenPartsTest, PartsThatTouchAreOne) {
  constexpr int64_t kCount = 3 * WrittenParts::kMaxParts;
  WrittenParts parts(kCount);
  for (int64_t i = kCount - 1; i >= 0; --i) {
    ASSERT_TRUE(parts.Take(i, 1).ok()) << i;
    parts.Finish(i);
  }
  EXPECT_TRUE(parts.complete());
}

}  // namespace
}  // namespace gpucall
