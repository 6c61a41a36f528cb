#include "kernels/cpu/filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/padded_rows.h"

namespace gpucall::cpu {
namespace {

template <class T>
constexpr ElementType kTypeOf = ElementType::kUint8;
template <>
constexpr ElementType kTypeOf<float> = ElementType::kFloat32;
template <>
constexpr ElementType kTypeOf<double> = ElementType::kFloat64;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
struct Picture {
  int64_t rows, columns, channels;
  std::vector<T> elements;
  Image image() const { return {elements.data(), kTypeOf<T>, rows, columns, channels}; }
};

template <class T>
Picture<T> RandomPicture(int64_t rows, int64_t columns, int64_t channels, int levels) {
  std::mt19937 random(7);
  Picture<T> picture = {rows, columns, channels, {}};
  for (int64_t i = 0; i < rows * columns * channels; ++i) {
    picture.elements.push_back(static_cast<T>(static_cast<int>(random() % unsigned(levels))));
  }
  return picture;
}

template <class T>
std::vector<T> Ranked(const Picture<T>& picture, const Window& window, int64_t rank) {
  std::vector<T> out(picture.elements.size());
  RankFilter(picture.image(), window, rank, {out.data(), kTypeOf<T>});
  return out;
}

template <class T>
std::vector<T> Median(const Picture<T>& picture, const Window& window) {
  return Ranked(picture, window, window.rows * window.columns / 2);
}

template <class T>
std::vector<T> ExtremeOf(const Picture<T>& picture, const Window& window, Extreme extreme) {
  std::vector<T> out(picture.elements.size());
  ExtremeFilter(picture.image(), window, extreme, {out.data(), kTypeOf<T>});
  return out;
}

template <class T>
T RankAt(const Picture<T>& picture, const Window& window, int64_t rank, int64_t y, int64_t x,
         int64_t c) {
  std::vector<T> inside;
  for (int64_t i = 0; i < window.rows; ++i) {
    for (int64_t j = 0; j < window.columns; ++j) {
      const int64_t row = BorderIndex(y + i - window.rows_before, picture.rows, window.border);
      const int64_t column =
          BorderIndex(x + j - window.columns_before, picture.columns, window.border);
      inside.push_back(row < 0 || column < 0
                           ? static_cast<T>(window.cval)
                           : picture.elements[static_cast<size_t>(
                                 (row * picture.columns + column) * picture.channels + c)]);
    }
  }
  std::nth_element(inside.begin(), inside.begin() + rank, inside.end());
  return inside[static_cast<size_t>(rank)];
}

template <class T>
void ExpectRank(const std::vector<T>& got, const Picture<T>& picture, const Window& window,
                int64_t rank) {
  for (size_t i = 0; i < got.size(); ++i) {
    const int64_t pixel = static_cast<int64_t>(i) / picture.channels;
    ASSERT_EQ(got[i], RankAt(picture, window, rank, pixel / picture.columns,
                             pixel % picture.columns, static_cast<int64_t>(i) % picture.channels))
        << i << " of window " << window.rows << " x " << window.columns << " rank " << rank;
  }
}

template <class T>
void ExpectMedians(const Picture<T>& picture, const Window& window) {
  const int64_t count = window.rows * window.columns;
  ExpectRank(Median(picture, window), picture, window, count / 2);
  ExpectRank(Ranked(picture, window, count / 3), picture, window, count / 3);
  ExpectRank(ExtremeOf(picture, window, Extreme::kMinimum), picture, window, 0);
  ExpectRank(ExtremeOf(picture, window, Extreme::kMaximum), picture, window, count - 1);
}

TEST(RankFilter, AnyWindowOfAnyType) {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{{1, 1},
                                                                              {1, 2},
                                                                              {2, 2},
                                                                              {3, 3},
                                                                              {5, 5},
                                                                              {6, 8},
                                                                              {7, 7},
                                                                              {5, 10},
                                                                              {15, 17},
                                                                              {16, 16},
                                                                              {1, 255},
                                                                              {255, 1},
                                                                              {40, 9}}) {
    for (Border border : {Border::kMirror, Border::kConstant}) {
      const Window window = {rows, columns, rows / 3, columns / 2, border, 100};
      ExpectMedians(RandomPicture<uint8_t>(40, 61, 1, 256), window);
      ExpectMedians(RandomPicture<uint8_t>(19, 23, 3, 3), window);
      ExpectMedians(RandomPicture<float>(23, 31, 2, 1000), window);
      ExpectMedians(RandomPicture<double>(13, 21, 1, 5), window);
    }
  }
}

TEST(MedianFilter, LargestWindowOfOneValue) {
  const Picture<uint8_t> black = {9, 9, 1, std::vector<uint8_t>(81, 0)};
  const Window window = {255, 255, 127, 127, Border::kReflect, 0};
  EXPECT_EQ(Median(black, window), black.elements);
  const Picture<uint8_t> white = {9, 9, 1, std::vector<uint8_t>(81, 255)};
  EXPECT_EQ(Median(white, window), white.elements);
}

TEST(MedianFilter, NanRanksLast) {
  const Picture<float> picture = {1, 5, 1, {kNan, -1, -kNan, 3, 2}};
  const auto got = Median(picture, {1, 3, 0, 1, Border::kNearest, 0});
  EXPECT_TRUE(std::isnan(got[0]));  // NaN NaN -1
  EXPECT_TRUE(std::isnan(got[1]));  // NaN -1 NaN
  EXPECT_EQ(got[2], 3);             // -1 NaN 3
  EXPECT_EQ(got[3], 3);             // NaN 3 2
  EXPECT_EQ(got[4], 2);             // 3 2 2
}

TEST(ExtremeFilter, NanRanksLast) {
  const Picture<float> picture = {1, 5, 1, {kNan, -kNan, -1, -0.0f, 0}};
  const Window window = {1, 2, 0, 0, Border::kNearest, 0};
  const auto smallest = ExtremeOf(picture, window, Extreme::kMinimum);
  EXPECT_TRUE(std::isnan(smallest[0]));  // NaN NaN
  EXPECT_EQ(smallest[1], -1);            // NaN -1
  EXPECT_TRUE(std::signbit(smallest[3]));
  const auto largest = ExtremeOf(picture, window, Extreme::kMaximum);
  EXPECT_TRUE(std::isnan(largest[1]));
  EXPECT_FALSE(std::signbit(largest[3]));
}

TEST(ExtremeFilter, WindowsLargerThanTheImage) {
  const Picture<uint8_t> picture = RandomPicture<uint8_t>(5, 7, 3, 256);
  const Window window = {401, 900, 200, 450, Border::kMirror, 0};
  ExpectRank(ExtremeOf(picture, window, Extreme::kMaximum), picture, window, 401 * 900 - 1);
}

TEST(MedianFilter, KeepsSignsOfZeroAndInfinities) {
  const Picture<double> picture = {1, 3, 1, {-0.0, INFINITY, -INFINITY}};
  const auto got = Median(picture, {1, 1, 0, 0, Border::kNearest, 0});
  EXPECT_TRUE(std::signbit(got[0]));
  EXPECT_EQ(got[1], INFINITY);
  EXPECT_EQ(got[2], -INFINITY);
}

TEST(SeparableFilter, NanFillMakesARing) {
  const Picture<float> ones = {4, 4, 1, std::vector<float>(16, 1)};
  const std::vector<double> third(3, 1.0 / 3);
  std::vector<float> out(16);
  SeparableFilter(ones.image(), {3, 3, 1, 1, Border::kConstant, kNan}, third, third,
                  {out.data(), ElementType::kFloat32});
  for (int i = 0; i < 16; ++i) {
    const bool inside = i / 4 % 3 != 0 && i % 4 % 3 != 0;
    EXPECT_EQ(std::isnan(out[static_cast<size_t>(i)]), !inside) << i;
    if (inside) {
      EXPECT_FLOAT_EQ(out[static_cast<size_t>(i)], 1);
    }
  }
}

TEST(SeparableFilter, ManyWeightsOfUint8AreRoundedOnce) {
  const Picture<uint8_t> flat = {3, 5, 1, std::vector<uint8_t>(15, 200)};
  std::vector<double> weights(4095);
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] = 1 + std::sin(double(i));
  for (double& weight : weights) weight /= sum;
  std::vector<uint8_t> out(15);
  SeparableFilter(flat.image(), {4095, 4095, 2047, 2047, Border::kWrap, 0}, weights, weights,
                  {out.data(), ElementType::kUint8});
  EXPECT_EQ(out, flat.elements);
}

TEST(SeparableFilter, LargestBoxOfUint8IsExact) {
  const Picture<uint8_t> flat = {2, 3, 1, std::vector<uint8_t>(6, 255)};
  const std::vector<double> weights(4095, 1.0 / 4095);
  std::vector<double> out(6);
  SeparableFilter(flat.image(), {4095, 4095, 0, 4094, Border::kNearest, 0}, weights, weights,
                  {out.data(), ElementType::kFloat64});
  for (double mean : out) EXPECT_DOUBLE_EQ(mean, 255);
}

TEST(DenseFilter, WeightsOfZeroTakeNoPart) {
  const Picture<float> picture = {1, 3, 1, {kNan, 1, 2}};
  std::vector<float> out(3);
  DenseFilter(picture.image(), {1, 3, 0, 1, Border::kNearest, 0}, std::vector<double>{0, 1, 2},
              {out.data(), ElementType::kFloat32});
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 5);
  EXPECT_EQ(out[2], 6);
}

TEST(DenseFilter, LargeIntegerWeightsAreExact) {
  const Picture<uint8_t> picture = {1, 3, 1, {201, 203, 207}};
  std::vector<uint8_t> out(3);
  DenseFilter(picture.image(), {1, 3, 0, 1, Border::kNearest, 0},
              std::vector<double>{-100000007, 0, 100000007}, {out.data(), ElementType::kUint8});
  EXPECT_EQ(out, (std::vector<uint8_t>{255, 255, 255}));
  std::vector<double> exact(3);
  DenseFilter(picture.image(), {1, 3, 0, 1, Border::kNearest, 0},
              std::vector<double>{-100000007, 100000007, 1}, {exact.data(), ElementType::kFloat64});
  EXPECT_EQ(exact, (std::vector<double>{203, 200000014.0 + 207, 400000028.0 + 207}));
}

TEST(BorderIndex, RepeatsPastManyImages) {
  // scipy.ndimage on (a b c d), 5 before to 5 after.
  const std::vector<int64_t> reflect = {3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0};
  const std::vector<int64_t> mirror = {1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2};
  const std::vector<int64_t> wrap = {3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0};
  for (int64_t i = 0; i < 14; ++i) {
    const auto at = static_cast<size_t>(i);
    EXPECT_EQ(BorderIndex(i - 5, 4, Border::kReflect), reflect[at]) << i;
    EXPECT_EQ(BorderIndex(i - 5, 4, Border::kMirror), mirror[at]) << i;
    EXPECT_EQ(BorderIndex(i - 5, 4, Border::kWrap), wrap[at]) << i;
  }
  for (Border border : {Border::kNearest, Border::kReflect, Border::kMirror, Border::kWrap}) {
    for (int64_t i : {-1000, -1, 0, 1, 1000}) EXPECT_EQ(BorderIndex(i, 1, border), 0);
  }
  EXPECT_EQ(BorderIndex(-1, 4, Border::kConstant), -1);
}

}  // namespace
}  // namespace gpucall::cpu
