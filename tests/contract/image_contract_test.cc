// Operations on images: known answers, and references made the plain way.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "tests/contract/buffers.h"

namespace gpucall::contract {
namespace {

using ImageContract = BufferTest;

ImageAttributes Of(ImageKind kind, const std::function<void(ImageAttributes&)>& set = {}) {
  ImageAttributes attributes;
  attributes.kind = kind;
  if (set) set(attributes);
  return attributes;
}
ImageAttributes Conversion(ColourConversion conversion) {
  return Of(ImageKind::kConvertColour,
            [&](ImageAttributes& attributes) { attributes.conversion = conversion; });
}
ImageAttributes Size(int64_t rows, int64_t columns, Interpolation interpolation) {
  return Of(ImageKind::kResize, [&](ImageAttributes& attributes) {
    attributes.rows = rows;
    attributes.columns = columns;
    attributes.interpolation = interpolation;
  });
}
ImageAttributes CannyOf(double low, double high) {
  return Of(ImageKind::kCanny, [&](ImageAttributes& attributes) {
    attributes.low = low;
    attributes.high = high;
  });
}

TEST_F(ImageContract, Colours) {
  const Array x = ArrayOf<uint8_t>({1, 4, 3}, {255, 0, 0, 0, 255, 0, 0, 0, 255, 90, 90, 90});
  EXPECT_TRUE(SameElements(Run(Conversion(ColourConversion::kRgbToGray), {x}),
                           ArrayOf<uint8_t>({1, 4}, {76, 150, 29, 90})));
  EXPECT_TRUE(SameElements(
      Run(Conversion(ColourConversion::kRgbToHsv), {x}),
      ArrayOf<uint8_t>({1, 4, 3}, {0, 255, 255, 60, 255, 255, 120, 255, 255, 0, 0, 90})));
  const Array ycrcb = Run(Conversion(ColourConversion::kRgbToYcrcb), {x});
  EXPECT_TRUE(SameElements(
      ycrcb, ArrayOf<uint8_t>({1, 4, 3}, {76, 255, 85, 150, 21, 43, 29, 107, 255, 90, 128, 128})));
  const Array hsv = ArrayOf<float>({1, 2, 3}, {120, 1, 1, 0, 0, 0.25});
  EXPECT_TRUE(SameElements(Run(Conversion(ColourConversion::kHsvToRgb), {hsv}),
                           ArrayOf<float>({1, 2, 3}, {0, 1, 0, 0.25, 0.25, 0.25})));
  const Array gray = ArrayOf<uint16_t>({2, 1, 1, 1}, {7, 65535});
  EXPECT_TRUE(SameElements(Run(Conversion(ColourConversion::kGrayToRgb), {gray}),
                           ArrayOf<uint16_t>({2, 1, 1, 3}, {7, 7, 7, 65535, 65535, 65535})));
}

TEST_F(ImageContract, Thresholds) {
  const Array x = ArrayOf<int16_t>({1, 4}, {-300, 9, 10, 300});
  const auto at = [](ThresholdKind kind) {
    return Of(ImageKind::kThreshold, [&](ImageAttributes& attributes) {
      attributes.threshold = kind;
      attributes.value = 9.5;
      attributes.max_value = 20;
    });
  };
  const std::vector<std::vector<int16_t>> wanted = {
      {0, 0, 20, 20}, {20, 20, 0, 0}, {-300, 9, 9, 9}, {0, 0, 10, 300}, {-300, 9, 0, 0}};
  for (size_t kind = 0; kind < wanted.size(); ++kind) {
    EXPECT_TRUE(SameElements(Run(at(static_cast<ThresholdKind>(kind)), {x}),
                             ArrayOf<int16_t>({1, 4}, wanted[kind])));
  }
  ImageAttributes otsu = at(ThresholdKind::kBinary);
  otsu.otsu = true;
  const Array two = ArrayOf<uint8_t>({2, 1, 3, 1}, {10, 11, 200, 50, 90, 91});
  EXPECT_TRUE(SameElements(Run(Of(ImageKind::kOtsu), {two}), ArrayOf<uint8_t>({2}, {11, 50})));
  EXPECT_TRUE(
      SameElements(Run(otsu, {two}), ArrayOf<uint8_t>({2, 1, 3, 1}, {0, 0, 20, 0, 20, 20})));
}

TEST_F(ImageContract, HistogramsCountEveryElement) {
  for (const Shape& shape : {Shape{0, 5}, Shape{1, 1}, Shape{300, 401, 3}, Shape{70'000}}) {
    const Array bytes = UniformArray(DType::kUint8, shape, 0, 255, 5);
    const Array floats = UniformArray(DType::kFloat32, shape, -1, 2, 6);
    for (const int64_t bins : {1, 7, 256, 5000}) {
      const auto with = Of(ImageKind::kHistogram, [&](ImageAttributes& attributes) {
        attributes.bins = bins;
        attributes.has_range = true;
        attributes.high = 1;
      });
      std::vector<int64_t> wanted(static_cast<size_t>(bins));
      const double width = 1.0 / static_cast<double>(bins);
      for (int64_t i = 0; i < floats.count(); ++i) {
        const auto value = static_cast<double>(floats.get<float>(i));
        for (int64_t b = std::max<int64_t>(0, static_cast<int64_t>(value / width) - 2); b < bins;
             ++b) {
          const auto low = static_cast<float>(static_cast<double>(b) * width);
          const auto high = static_cast<float>(static_cast<double>(b + 1) * width);
          if (value < low) break;
          if (value < high || (b + 1 == bins && value <= 1)) {
            ++wanted[static_cast<size_t>(b)];
            break;
          }
        }
      }
      EXPECT_TRUE(SameElements(Run(with, {floats}), ArrayOf<int64_t>({bins}, wanted)));
    }
    const Array counts = Run(Of(ImageKind::kHistogram, [](auto& a) { a.bins = 256; }), {bytes});
    for (int64_t v = 0; v < 256; ++v) {
      const auto value = static_cast<std::byte>(v);
      ASSERT_EQ(counts.get<int64_t>(v), std::ranges::count(bytes.bytes, value)) << v;
    }
  }
}

TEST_F(ImageContract, EqualisedAndSummed) {
  const Array x = ArrayOf<uint8_t>({2, 3}, {9, 10, 10, 11, 9, 9});
  EXPECT_TRUE(SameElements(Run(Of(ImageKind::kEqualiseHistogram), {x}),
                           ArrayOf<uint8_t>({2, 3}, {0, 170, 170, 255, 0, 0})));
  const Array flat = ArrayOf<uint8_t>({1, 2, 1}, {7, 7});
  EXPECT_TRUE(SameElements(Run(Of(ImageKind::kEqualiseHistogram), {flat}), flat));
  EXPECT_TRUE(SameElements(Run(Of(ImageKind::kIntegral), {x}),
                           ArrayOf<uint64_t>({3, 4}, {0, 0, 0, 0, 0, 9, 19, 29, 0, 20, 39, 58})));
}

TEST_F(ImageContract, Sizes) {
  const Array x = ArrayOf<uint8_t>({2, 4}, {0, 10, 20, 30, 40, 50, 60, 70});
  const auto at = [&](int64_t rows, int64_t columns, Interpolation interpolation) {
    return Run(Size(rows, columns, interpolation), {x});
  };
  EXPECT_TRUE(SameElements(at(1, 2, Interpolation::kNearest), ArrayOf<uint8_t>({1, 2}, {0, 20})));
  EXPECT_TRUE(SameElements(at(1, 2, Interpolation::kArea), ArrayOf<uint8_t>({1, 2}, {25, 45})));
  EXPECT_TRUE(SameElements(at(1, 2, Interpolation::kBilinear), ArrayOf<uint8_t>({1, 2}, {25, 45})));
  EXPECT_TRUE(SameElements(at(1, 8, Interpolation::kBilinear),
                           ArrayOf<uint8_t>({1, 8}, {20, 22, 28, 32, 38, 42, 48, 50})));
  const Array spot = ArrayOf<uint16_t>({1, 5}, {0, 0, 160, 0, 0});
  EXPECT_TRUE(SameElements(Run(Of(ImageKind::kPyramidDown), {spot}),
                           ArrayOf<uint16_t>({1, 3}, {20, 60, 20})));
  EXPECT_TRUE(SameElements(Run(Of(ImageKind::kPyramidUp), {ArrayOf<float>({1, 2}, {0, 8})}),
                           ArrayOf<float>({2, 4}, {2, 4, 7, 8, 2, 4, 7, 8})));
}

TEST_F(ImageContract, AffineMapsReadPastEveryBorder) {
  const Array x = ArrayOf<int16_t>({1, 3}, {10, 20, 30});
  const std::vector<std::vector<int16_t>> wanted = {{10, 10, 10, 20, 30, 30, 30},   // nearest
                                                    {20, 10, 10, 20, 30, 30, 20},   // reflect
                                                    {30, 20, 10, 20, 30, 20, 10},   // mirror
                                                    {20, 30, 10, 20, 30, 10, 20},   // wrap
                                                    {-5, -5, 10, 20, 30, -5, -5}};  // constant
  for (size_t mode = 0; mode < wanted.size(); ++mode) {
    for (const Interpolation way : {Interpolation::kNearest, Interpolation::kBilinear}) {
      const auto warp = Of(ImageKind::kWarpAffine, [&](ImageAttributes& attributes) {
        attributes.matrix = {1, 0, -2, 0, 1, 0};
        attributes.rows = 1;
        attributes.columns = 7;
        attributes.interpolation = way;
        attributes.mode = static_cast<BorderMode>(mode);
        attributes.cval = -5;
      });
      EXPECT_TRUE(SameElements(Run(warp, {x}), ArrayOf<int16_t>({1, 7}, wanted[mode]))) << mode;
    }
  }
}

TEST_F(ImageContract, BilateralKeepsSteps) {
  const auto bilateral = Of(ImageKind::kBilateral, [](ImageAttributes& attributes) {
    attributes.size = 3;
    attributes.sigma_colour = 20;
    attributes.sigma_space = 2;
  });
  EXPECT_TRUE(SameElements(Run(bilateral, {ArrayOf<uint8_t>({1, 4}, {10, 12, 200, 202})}),
                           ArrayOf<uint8_t>({1, 4}, {11, 12, 200, 201})));
  const Array got = Run(bilateral, {ArrayOf<float>({1, 4}, {10, 12, 200, 202})});
  // One row: mirrored it is its own neighbour above and below; the other one is on both sides.
  const double above = 2 * std::exp(-1 / 8.0), beside = above * std::exp(-4 / 800.0);
  EXPECT_NEAR(got.get<float>(0), (10 * (1 + above) + 12 * beside) / (1 + above + beside), 1e-5);
  EXPECT_LT(got.get<float>(1), 12);
  EXPECT_GT(got.get<float>(2), 200);
}

// Every pixel that touches, by way of others, one that is certain.
std::vector<uint8_t> Reached(const Array& map) {
  const int64_t rows = map.type.shape[0], columns = map.type.shape[1];
  std::vector<uint8_t> reached(map.bytes.size());
  for (size_t i = 0; i < reached.size(); ++i) {
    reached[i] = map.bytes[i] == std::byte{2} ? 255 : 0;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const auto at = static_cast<size_t>(i);
      if (map.bytes[at] == std::byte{0} || reached[at] != 0) continue;
      for (int64_t y = std::max<int64_t>(i / columns - 1, 0);
           y <= std::min(i / columns + 1, rows - 1); ++y) {
        for (int64_t x = std::max<int64_t>(i % columns - 1, 0);
             x <= std::min(i % columns + 1, columns - 1); ++x) {
          if (reached[static_cast<size_t>(y * columns + x)] != 0) reached[at] = 255;
        }
      }
      changed |= reached[at] != 0;
    }
  }
  return reached;
}

TEST_F(ImageContract, EdgesGrowAsFarAsTheyTouch) {
  for (const double share : {0.3, 0.42, 0.6}) {  // about 0.41 they begin to reach all through
    for (const Shape& shape : {Shape{1, 1}, Shape{1, 90}, Shape{90, 1}, Shape{131, 200}}) {
      const Array numbers = UniformArray(DType::kFloat32, shape, 0, 1, 17);
      std::vector<uint8_t> elements;
      for (int64_t i = 0; i < numbers.count(); ++i) {
        const float number = numbers.get<float>(i);
        elements.push_back(number < 0.002 ? 2 : (number < share ? 1 : 0));
      }
      const Array map = ArrayOf<uint8_t>(shape, elements);
      EXPECT_TRUE(SameElements(Run(Of(ImageKind::kHysteresis), {map}),
                               ArrayOf<uint8_t>(shape, Reached(map))))
          << ShapeString(shape) << " " << share;
    }
  }
  // One line, that winds through all rows from its only certain pixel.
  constexpr int64_t kRows = 101, kColumns = 300;
  std::vector<uint8_t> line(kRows * kColumns, 0);
  for (int64_t y = 0; y < kRows; ++y) {
    for (int64_t x = 0; x < kColumns; ++x) {
      const int64_t turn = y % 4 == 1 ? kColumns - 1 : 0;
      if (y % 2 == 0 || x == turn) line[static_cast<size_t>(y * kColumns + x)] = 1;
    }
  }
  std::vector<uint8_t> wanted(line.size());
  std::ranges::transform(line, wanted.begin(), [](uint8_t v) { return v == 0 ? 0 : 255; });
  line.back() = 2;
  EXPECT_TRUE(
      SameElements(Run(Of(ImageKind::kHysteresis), {ArrayOf<uint8_t>({kRows, kColumns}, line)}),
                   ArrayOf<uint8_t>({kRows, kColumns}, wanted)));
}

TEST_F(ImageContract, CannyOfAStep) {
  std::vector<uint8_t> elements, wanted;
  for (int i = 0; i < 5; ++i) {
    elements.insert(elements.end(), {0, 0, 90, 90});
    wanted.insert(wanted.end(), {0, 255, 0, 0});
  }
  const Array x = ArrayOf<uint8_t>({5, 4}, elements);
  EXPECT_TRUE(SameElements(Run(CannyOf(100, 359), {x}), ArrayOf<uint8_t>({5, 4}, wanted)));
  EXPECT_TRUE(SameElements(Run(CannyOf(100, 360), {x}), Empty(DType::kUint8, {5, 4})));
}

TEST_F(ImageContract, BatchIsBitEqualToThemAlone) {
  const auto sharpen = Of(ImageKind::kUnsharpMask, [](ImageAttributes& attributes) {
    attributes.sigma = 1.5;
    attributes.amount = 2;
  });
  const auto adaptive = Of(ImageKind::kAdaptiveThreshold, [](ImageAttributes& attributes) {
    attributes.size = 5;
    attributes.max_value = 255;
  });
  for (const ImageAttributes& attributes :
       {CannyOf(200, 400), Size(13, 17, Interpolation::kBicubic), sharpen, adaptive,
        Of(ImageKind::kEqualiseHistogram), Of(ImageKind::kOtsu), Of(ImageKind::kPyramidUp)}) {
    std::vector<Call> calls;
    unsigned seed = 0;
    for (const Shape& shape : {Shape{50, 33}, Shape{7, 9, 1}, Shape{50, 33}, Shape{3, 20, 31, 1},
                               Shape{1, 1}, Shape{64, 64}}) {
      const Array x = UniformArray(DType::kUint8, shape, 0, 255, ++seed);
      calls.push_back({ProgramOf(attributes, 1), {x}});
    }
    const auto batched = this->RunBatch(calls);
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_TRUE(batched[i].ok()) << batched[i].status();
      EXPECT_EQ((*batched[i])[0].bytes, this->Run(calls[i])[0].bytes) << i;
    }
  }
}

// Of a resident tensor, with results that stay.
TEST_F(ImageContract, InProgramsOfResidents) {
  const Array x = UniformArray(DType::kUint8, {40, 30, 3}, 0, 255, 3);
  ProgramBuilder builder(1);
  const uint32_t gray = builder.Add(Conversion(ColourConversion::kRgbToGray), {0});
  const uint32_t small = builder.Add(Size(20, 15, Interpolation::kArea), {gray});
  const uint32_t edges = builder.Add(CannyOf(50, 100), {small});
  const Program program = builder.Returning({edges, gray});
  const Array alone = Run(Conversion(ColourConversion::kRgbToGray), {x});
  const Array wanted = Run(CannyOf(50, 100), {Run(Size(20, 15, Interpolation::kArea), {alone})});
  for (unsigned mix = 0; mix < 4; ++mix) {
    const Work work =
        WorkOf(program, {&x}, {{.resident = BufferOf(x)}}, {(mix & 1) != 0, (mix & 2) != 0});
    std::vector<Execution> batch = {work.execution()};
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    for (size_t i = 0; i < 2; ++i) {
      const Storage& output = batch[0].outputs[i];
      EXPECT_EQ(output.resident ? Read(output.resident) : Bytes(output),
                i == 0 ? wanted.bytes : alone.bytes)
          << mix;
    }
  }
}

}  // namespace
}  // namespace gpucall::contract
