// What server/device/buffer.h says of buffers and copiers, and device.h of resident inputs and kept
// outputs.
#include <algorithm>

#include "tests/contract/buffers.h"

namespace gpucall::contract {
namespace {

class BufferContract : public BufferTest {};

TEST_F(BufferContract, WhatIsWrittenIsRead) {
  for (const int64_t size : {int64_t{0}, int64_t{1}, Copier::kBlockBytes,
                             3 * Copier::kBlockBytes + 17, 11 * Copier::kBlockBytes - 1}) {
    const Array array = UniformArray(DType::kUint8, {size}, 0, 255, 3);
    EXPECT_EQ(Read(BufferOf(array)), array.bytes) << size;
  }
}

TEST_F(BufferContract, WritesOfPiecesAtOffsets) {
  const Array array = UniformArray(DType::kUint8, {5'000'003}, 0, 255, 4);
  const BufferPointer buffer = *device().Allocate(array.type.size_bytes());
  for (int64_t at = array.count(); at > 0;) {  // from the end to the start
    const int64_t begin = std::max<int64_t>(0, at - 1'300'001);
    HostBytes pieces;
    for (int64_t piece = begin; piece < at;) {
      const int64_t count = std::min<int64_t>(at - piece, 77'777);
      pieces.Add({array.bytes.data() + piece, count});
      piece += count;
    }
    ASSERT_EQ(copier_->Write(pieces, buffer, begin), absl::OkStatus());
    at = begin;
  }
  ASSERT_EQ(copier_->Finish(), absl::OkStatus());
  EXPECT_EQ(Read(buffer), array.bytes);
}

TEST_F(BufferContract, SeveralReadsInFlight) {
  const Array array = UniformArray(DType::kUint8, {4000}, 0, 255, 5);
  const BufferPointer buffer = BufferOf(array);
  for (int i = 0; i < Copier::kMaxReads; ++i) {
    ASSERT_EQ(copier_->StartRead(buffer, i * 1000, 1000), absl::OkStatus());
  }
  std::vector<std::byte> bytes(4000);
  for (int i = 0; i < Copier::kMaxReads; ++i) copier_->FinishRead()->CopyTo(&bytes[i * 1000]);
  EXPECT_EQ(bytes, array.bytes);
}

TEST_F(BufferContract, ReadBytesOutliveTheirBufferAndCopier) {
  const Array array = UniformArray(DType::kUint8, {100'000}, 0, 255, 6);
  BufferPointer buffer = BufferOf(array);
  ASSERT_EQ(copier_->StartRead(buffer, 0, 100'000), absl::OkStatus());
  const HostBytes bytes = *copier_->FinishRead();
  buffer.reset();
  copier_.reset();
  std::vector<std::byte> copy(100'000);
  bytes.CopyTo(copy.data());
  EXPECT_EQ(copy, array.bytes);
}

TEST_F(BufferContract, CopiesBetweenBuffers) {
  for (const int64_t size : {int64_t{0}, int64_t{1}, 3 * Copier::kBlockBytes + 17}) {
    const Array array = UniformArray(DType::kUint8, {size}, 0, 255, 15);
    const BufferPointer from = BufferOf(array), to = *device().Allocate(size);
    ASSERT_EQ(copier_->Copy(from, to), absl::OkStatus());
    EXPECT_EQ(Read(to), array.bytes) << size;
  }
}

TEST_F(BufferContract, InputsInPieces) {
  const Array a = UniformArray(DType::kFloat32, {70'001}, -5, 5, 7);
  HostBytes pieces;
  for (int64_t at = 0; at < a.type.size_bytes();) {
    const int64_t count = std::min<int64_t>(a.type.size_bytes() - at, 9'999);
    pieces.Add({a.bytes.data() + at, count});
    at += count;
  }
  const Program program = ProgramOf(ElementwiseOp::kNegative, 1);
  const Work work = WorkOf(program, {&a}, {{.host = pieces}}, {});
  std::vector<Execution> batch = {work.execution()};
  ASSERT_EQ(Execute(batch), absl::OkStatus());
  EXPECT_EQ(Bytes(batch[0].outputs[0]), Run({program, {a}})[0].bytes);
}

// Every mix of where inputs are and whether the output is kept, in one batch with others.
TEST_F(BufferContract, ResidentInputsAndKeptOutputsGiveTheSameBits) {
  const Array a = MixedArray(DType::kFloat32, {37, 50}, 8),
              b = MixedArray(DType::kFloat32, {50}, 9);
  const Array image = MixedArray(DType::kFloat32, {50, 37}, 10);
  FilterAttributes box;
  box.kind = FilterKind::kBox;
  box.size = {3, 3};
  const std::vector<std::pair<Program, std::vector<const Array*>>> programs = {
      {ProgramOf(ElementwiseOp::kAdd, 2), {&a, &b}},
      {ProgramOf(MatMulAttributes{}, 2), {&a, &image}},
      {ProgramOf(box, 1), {&image}}};
  for (const auto& [program, arrays] : programs) {
    std::vector<Array> values;
    for (const Array* array : arrays) values.push_back(*array);
    const Array wanted = Run({program, values})[0];
    std::vector<Work> works;
    for (unsigned mix = 0; mix < 8; ++mix) {
      std::vector<Storage> inputs;
      for (size_t i = 0; i < arrays.size(); ++i) {
        inputs.push_back((mix >> i & 1) != 0 ? Storage{.resident = BufferOf(*arrays[i])}
                                             : HostOf(*arrays[i]));
      }
      works.push_back(WorkOf(program, arrays, inputs, {mix >= 4}));
    }
    std::vector<Execution> batch;
    for (const Work& work : works) batch.push_back(work.execution());
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    for (unsigned mix = 0; mix < 8; ++mix) {
      const Storage& output = batch[mix].outputs[0];
      ASSERT_EQ(output.resident != nullptr, mix >= 4) << mix;
      EXPECT_TRUE(SameElements(
          {wanted.type, output.resident ? Read(output.resident) : Bytes(output)}, wanted))
          << mix;
    }
  }
}

TEST_F(BufferContract, OutputsThatAreInputsOrTheSameValue) {
  const Array a = UniformArray(DType::kFloat32, {1000}, -5, 5, 11);
  Program program = ProgramOf(ElementwiseOp::kNegative, 1);
  program.outputs = {0, 0, 1, 1, 1};
  const std::vector<std::byte> negative =
      Run({ProgramOf(ElementwiseOp::kNegative, 1), {a}})[0].bytes;
  for (const bool resident : {false, true}) {
    const Storage input = resident ? Storage{.resident = BufferOf(a)} : HostOf(a);
    const Work work = WorkOf(program, {&a}, {input}, {true, false, false, true, true});
    std::vector<Execution> batch = {work.execution()};
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    const std::vector<Storage>& outputs = batch[0].outputs;
    ASSERT_EQ(outputs.size(), 5);
    EXPECT_EQ(Read(outputs[0].resident), a.bytes);
    EXPECT_EQ(Bytes(outputs[1]), a.bytes);
    EXPECT_EQ(Bytes(outputs[2]), negative);
    EXPECT_EQ(Read(outputs[3].resident), negative);
    EXPECT_EQ(outputs[4].resident, outputs[3].resident);
  }
}

TEST_F(BufferContract, KeptOutputsOutliveTheLane) {
  const Array a = UniformArray(DType::kFloat32, {300'000}, -5, 5, 12);
  const Program program = ProgramOf(ElementwiseOp::kNegative, 1);
  const Work work = WorkOf(program, {&a}, {HostOf(a)}, {true});
  std::vector<Execution> batch = {work.execution()};
  ASSERT_EQ(Execute(batch), absl::OkStatus());
  lane_.reset();
  EXPECT_EQ(Read(batch[0].outputs[0].resident), Run({program, {a}})[0].bytes);
}

TEST_F(BufferContract, OutputsGoToTheirTargets) {
  for (const int64_t count : {3, 1000, 2'000'003}) {
    const Array a = UniformArray(DType::kFloat32, {count}, -5, 5, 15);
    Program program = ProgramOf(ElementwiseOp::kNegative, 1);
    program.outputs = {1, 0};
    const Work work = WorkOf(program, {&a}, {HostOf(a)}, {});
    Aligned negative(a.bytes.size()), same(a.bytes.size());
    const HostTarget targets[] = {{.data = negative.data()}, {.data = same.data()}};
    std::vector<Execution> batch = {work.execution()};
    batch[0].targets = targets;
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    EXPECT_EQ(batch[0].outputs[0].host.data(), negative.data());
    EXPECT_EQ(negative.bytes(), Run({ProgramOf(ElementwiseOp::kNegative, 1), {a}})[0].bytes);
    EXPECT_EQ(same.bytes(), a.bytes);
  }
}

// Large outputs belong to whoever holds them.
TEST_F(BufferContract, LargeOutputsOutliveTheNextBatch) {
  const Array a = UniformArray(DType::kFloat32, {300'000}, -5, 5, 13);
  const Array b = UniformArray(DType::kFloat32, {300'000}, -5, 5, 14);
  const Program program = ProgramOf(ElementwiseOp::kNegative, 1);
  const Work first = WorkOf(program, {&a}, {HostOf(a)}, {});
  const Work second = WorkOf(program, {&b}, {HostOf(b)}, {});
  std::vector<Execution> batch = {first.execution()}, next = {second.execution()};
  ASSERT_EQ(Execute(batch), absl::OkStatus());
  for (const auto& piece : batch[0].outputs[0].host.pieces()) EXPECT_NE(piece.owner, nullptr);
  ASSERT_EQ(Execute(next), absl::OkStatus());
  EXPECT_EQ(Bytes(batch[0].outputs[0]), Run({program, {a}})[0].bytes);
}

}  // namespace
}  // namespace gpucall::contract
