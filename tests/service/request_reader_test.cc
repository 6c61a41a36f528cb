#include "server/service/request_reader.h"

#include <algorithm>
#include <random>

#include "gpucall/v1/compute.pb.h"
#include "gtest/gtest.h"

namespace gpucall {
namespace {

// The bytes in slices of at most `size`, some of them empty.
std::vector<grpc::Slice> SlicesOf(const std::string& bytes, size_t size) {
  std::vector<grpc::Slice> slices(1);
  for (size_t at = 0; at < bytes.size(); at += size) {
    slices.emplace_back(bytes.substr(at, size));
    if (at / size % 3 == 0) slices.emplace_back();
  }
  return slices;
}

std::string BytesOf(const HostBytes& bytes) {
  std::string text(static_cast<size_t>(bytes.size_bytes()), '\0');
  bytes.CopyTo(reinterpret_cast<std::byte*>(text.data()));
  return text;
}

v1::FilterRequest Request() {
  v1::FilterRequest request;
  request.mutable_image()->set_dtype(v1::DTYPE_UINT8);
  request.mutable_image()->add_shape(300);
  request.mutable_image()->set_data(std::string(300, 'x') + "end");
  request.mutable_kernel()->set_dtype(v1::DTYPE_FLOAT32);
  request.mutable_kernel()->set_data("kern");
  request.mutable_filter()->mutable_gaussian()->add_sigma(1.5);
  request.mutable_options()->set_want_receipt(true);
  return request;
}

TEST(RequestReader, SplitsAtAnySlices) {
  const v1::FilterRequest request = Request();
  for (const size_t size : {1, 2, 3, 7, 64, 1000}) {
    const std::vector<grpc::Slice> slices = SlicesOf(request.SerializeAsString(), size);
    SplitRequest split;
    ASSERT_TRUE(SplitTensors(slices, {1, 3}, split)) << size;
    ASSERT_EQ(split.tensors.size(), 2);
    EXPECT_EQ(split.tensors[0].field, 1);
    EXPECT_EQ(BytesOf(split.tensors[0].data), request.image().data());
    EXPECT_EQ(split.tensors[0].header.shape(0), 300);
    EXPECT_FALSE(split.tensors[0].header.has_data());
    EXPECT_EQ(split.tensors[1].field, 3);
    EXPECT_EQ(BytesOf(split.tensors[1].data), "kern");
    v1::FilterRequest rest = request;
    rest.clear_image();
    rest.clear_kernel();
    EXPECT_EQ(split.rest, rest.SerializeAsString());
  }
}

TEST(RequestReader, EmptyDataIsData) {
  v1::MatMulRequest request;
  request.mutable_a()->set_data("");
  request.mutable_b();
  const std::vector<grpc::Slice> slices = SlicesOf(request.SerializeAsString(), 100);
  SplitRequest split;
  ASSERT_TRUE(SplitTensors(slices, {1, 2}, split));
  EXPECT_TRUE(split.tensors[0].has_data);
  EXPECT_FALSE(split.tensors[1].has_data);
}

// Whatever the bytes: no crash, and what protobuf refuses is refused.
TEST(RequestReader, RefusesWhatIsNoMessage) {
  const std::string good = Request().SerializeAsString();
  std::mt19937 random(1);
  int accepted_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (unsigned change = random() % 4; change > 0 && !bytes.empty(); --change) {
      bytes[random() % std::min<size_t>(bytes.size(), 24)] = static_cast<char>(random());
    }
    const std::vector<grpc::Slice> slices = SlicesOf(bytes, 1 + random() % 50);
    SplitRequest split;
    v1::FilterRequest rest;
    const bool accepted = SplitTensors(slices, {1, 3}, split) && rest.ParseFromString(split.rest);
    v1::FilterRequest whole;
    if (accepted) {
      ++accepted_count;
      EXPECT_TRUE(whole.ParseFromString(bytes)) << i;
    }
  }
  EXPECT_GT(accepted_count, 0);
}

TEST(RequestReader, LengthsPastTheEnd) {
  for (const std::string& bytes :
       {std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
        std::string("\x0a\x05\x1a\x7f", 4), std::string("\x0a\x02\x1a\x7f", 4),
        std::string("\x0a", 1), std::string("\x1b", 1)}) {
    const std::vector<grpc::Slice> slices = SlicesOf(bytes, 2);
    SplitRequest split;
    EXPECT_FALSE(SplitTensors(slices, {1, 3}, split));
  }
}

}  // namespace
}  // namespace gpucall
