// Reshapes are other views of a value (Plan::roots): wherever they meet resident inputs, kept
// outputs, targets and fused steps, each output has its own bytes for as long as it promises.
#include <functional>
#include <string>

#include "tests/contract/buffers.h"

namespace gpucall::contract {
namespace {

RearrangeAttributes Reshape(std::initializer_list<int64_t> shape) {
  return {.kind = RearrangeKind::kReshape, .sizes = shape};
}

// The values of x (6, n), in the order of the outputs of AliasProgram.
constexpr size_t kOutputs = 7;
Program AliasProgram() {
  ProgramBuilder builder(1);
  const uint32_t flat = builder.Add(Reshape({-1}), {0});
  const uint32_t again = builder.Add(Reshape({3, -1}), {flat});
  const uint32_t negative = builder.Add(ElementwiseOp::kNegative, {again});
  const uint32_t tall = builder.Add(Reshape({-1, 2}), {negative});
  const uint32_t squares = builder.Add(ElementwiseOp::kMultiply, {tall, tall});
  return builder.Returning({flat, again, 0, tall, negative, squares, tall});
}

class AliasContract : public BufferTest {
 protected:
  // What each output of AliasProgram is.
  static std::vector<std::vector<std::byte>> Wanted(const Array& x) {
    std::vector<float> negatives, squares;
    for (int64_t i = 0; i < x.count(); ++i) {
      negatives.push_back(-x.get<float>(i));
      squares.push_back(x.get<float>(i) * x.get<float>(i));
    }
    const auto negative = ArrayOf<float>({x.count()}, negatives).bytes;
    const auto square = ArrayOf<float>({x.count()}, squares).bytes;
    return {x.bytes, x.bytes, x.bytes, negative, negative, square, negative};
  }
  static Array Input(int64_t columns, unsigned seed) {
    return UniformArray(DType::kFloat32, {6, columns}, -5, 5, seed);
  }
  static absl::InlinedVector<bool, 8> Keep(unsigned mix) {
    absl::InlinedVector<bool, 8> keep;
    for (size_t i = 0; i < kOutputs; ++i) keep.push_back((mix >> i & 1) != 0);
    return keep;
  }
  void ExpectOutputs(const Execution& execution, const Array& x, const std::string& what) {
    ASSERT_EQ(execution.status, absl::OkStatus()) << what;
    ASSERT_EQ(execution.outputs.size(), kOutputs) << what;
    const auto wanted = Wanted(x);
    for (size_t i = 0; i < kOutputs; ++i) {
      const Storage& output = execution.outputs[i];
      ASSERT_EQ(output.resident != nullptr, execution.keeps(i)) << what << " output " << i;
      ASSERT_EQ(output.size_bytes(), x.type.size_bytes()) << what << " output " << i;
      EXPECT_EQ(output.resident ? Read(output.resident) : Bytes(output), wanted[i])
          << what << " output " << i;
    }
  }
};

// Every mix of kept outputs, of a host and of a resident input, in one batch with others.
TEST_F(AliasContract, AnyMixOfKeptOutputs) {
  for (const int64_t columns : {2, 50'000}) {
    const Array x = Input(columns, 1), other = Input(4, 2);
    const int step = columns > 1000 ? 9 : 1;
    for (unsigned mix = 0; mix < 1u << kOutputs; mix += step) {
      const Work works[] = {
          WorkOf(AliasProgram(), {&x}, {HostOf(x)}, Keep(mix)),
          WorkOf(AliasProgram(), {&other}, {HostOf(other)}, {}),
          WorkOf(AliasProgram(), {&x}, {{.resident = BufferOf(x)}}, Keep(mix)),
          WorkOf(AliasProgram(), {&other}, {HostOf(other)}, {}),
      };
      std::vector<Execution> batch;
      for (const Work& work : works) batch.push_back(work.execution());
      ASSERT_EQ(Execute(batch), absl::OkStatus());
      for (size_t i = 0; i < batch.size(); ++i) {
        ExpectOutputs(batch[i], i % 2 == 0 ? x : other, "mix " + std::to_string(mix));
      }
    }
  }
}

// Inputs, the other outputs and the lane are gone; their memory has been used again.
TEST_F(AliasContract, KeptOutputsOutliveAllElse) {
  for (const bool resident : {false, true}) {
    for (size_t kept = 0; kept < kOutputs; ++kept) {
      const Array x = Input(30'000, 3);
      Array host = x;
      BufferPointer buffer = resident ? BufferOf(x) : nullptr;
      BufferPointer output;
      {
        const Work work =
            WorkOf(AliasProgram(), {&x}, {resident ? Storage{.resident = buffer} : HostOf(host)},
                   Keep(1u << kept));
        std::vector<Execution> batch = {work.execution()};
        ASSERT_EQ(Execute(batch), absl::OkStatus());
        output = batch[0].outputs[kept].resident;
      }
      buffer.reset();
      std::ranges::fill(host.bytes, std::byte{0x55});
      const Array next = Input(30'000, 4);
      const Work work = WorkOf(AliasProgram(), {&next}, {{.resident = BufferOf(next)}}, Keep(127));
      std::vector<Execution> batch = {work.execution()};
      ASSERT_EQ(Execute(batch), absl::OkStatus());
      lane_ = *device().MakeLane();
      EXPECT_EQ(Read(output), Wanted(x)[kept]) << kept;
    }
  }
}

// What is not kept belongs to its holder too, where it is large.
TEST_F(AliasContract, LargeOutputsOutliveTheNextBatch) {
  const Array x = Input(60'000, 5), next = Input(60'000, 6);
  BufferPointer buffer = BufferOf(x);
  std::vector<Storage> outputs;
  {
    const Work work =
        WorkOf(AliasProgram(), {&x}, {{.resident = std::move(buffer)}}, Keep(1u << 4));
    std::vector<Execution> batch = {work.execution()};
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    outputs = std::move(batch[0].outputs);
  }
  const Work work = WorkOf(AliasProgram(), {&next}, {HostOf(next)}, {});
  std::vector<Execution> batch = {work.execution()};
  ASSERT_EQ(Execute(batch), absl::OkStatus());
  const auto wanted = Wanted(x);
  for (size_t i = 0; i < kOutputs; ++i) {
    for (const auto& piece : outputs[i].host.pieces()) EXPECT_NE(piece.owner, nullptr) << i;
    EXPECT_EQ(outputs[i].resident ? Read(outputs[i].resident) : Bytes(outputs[i]), wanted[i]) << i;
  }
}

TEST_F(AliasContract, EachOutputGoesToItsTarget) {
  for (const int64_t columns : {2, 70'000}) {
    const Array x = Input(columns, 7);
    const auto wanted = Wanted(x);
    for (const bool resident : {false, true}) {
      for (const unsigned mix : {0u, 0b0011u, 0b0010101u, 0b1001000u}) {
        for (const unsigned given : {127u, 0b1010101u, 0b0101010u}) {
          const Work work =
              WorkOf(AliasProgram(), {&x},
                     {resident ? Storage{.resident = BufferOf(x)} : HostOf(x)}, Keep(mix));
          std::vector<Aligned> memory;
          HostTarget targets[kOutputs];
          for (size_t i = 0; i < kOutputs; ++i) memory.emplace_back(x.bytes.size());
          for (size_t i = 0; i < kOutputs; ++i) {
            if ((given & ~mix) >> i & 1) targets[i].data = memory[i].data();
          }
          std::vector<Execution> batch = {work.execution()};
          batch[0].targets = targets;
          ASSERT_EQ(Execute(batch), absl::OkStatus());
          ExpectOutputs(batch[0], x, "targets " + std::to_string(given));
          for (size_t i = 0; i < kOutputs; ++i) {
            if (targets[i].data == nullptr) continue;
            EXPECT_EQ(batch[0].outputs[i].host.data(), targets[i].data) << i;
            EXPECT_EQ(memory[i].bytes(), wanted[i]) << i;
          }
        }
      }
    }
  }
}

// As a caller with shared memory may: a reshape of an input put over the input, or partly over it.
TEST_F(AliasContract, TargetsThatOverlapTheirInput) {
  const Array x = Input(5'000, 8);
  for (const size_t shift : {size_t{0}, size_t{64}, size_t{6'400}}) {
    Aligned memory(x.bytes.size() + shift);
    std::ranges::copy(x.bytes, memory.data());
    ProgramBuilder builder(1);
    const Program program = builder.Returning({builder.Add(Reshape({-1}), {0})});
    const Work work =
        WorkOf(program, {&x}, {{.host = HostBytes(memory.data(), x.type.size_bytes())}}, {});
    const HostTarget targets[] = {{.data = memory.data() + shift}};
    std::vector<Execution> batch = {work.execution()};
    batch[0].targets = targets;
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    EXPECT_EQ(Bytes(batch[0].outputs[0]), x.bytes) << shift;
    EXPECT_EQ(batch[0].outputs[0].host.data(), targets[0].data) << shift;
  }
}

// As RunStream does: inputs come in chunks, every output is kept and read in chunks.
TEST_F(AliasContract, StreamedInAndOut) {
  const Array x = Input(400'000, 9);  // some blocks of a copier
  const BufferPointer buffer = *device().Allocate(x.type.size_bytes());
  for (int64_t at = 0; at < x.type.size_bytes(); at += 700'001) {
    const int64_t count = std::min<int64_t>(700'001, x.type.size_bytes() - at);
    ASSERT_EQ(copier_->Write(HostBytes(x.bytes.data() + at, count), buffer, at), absl::OkStatus());
  }
  ASSERT_EQ(copier_->Finish(), absl::OkStatus());
  const Work work = WorkOf(AliasProgram(), {&x}, {{.resident = buffer}}, Keep(127));
  std::vector<Execution> batch = {work.execution()};
  ASSERT_EQ(Execute(batch), absl::OkStatus());
  ExpectOutputs(batch[0], x, "stream");
}

TEST_F(AliasContract, NoElementsAndOneElement) {
  for (const Shape& shape : {Shape{0, 3}, Shape{}, Shape{1, 1}}) {
    const Array x = UniformArray(DType::kFloat32, shape, 1, 2, 10);
    ProgramBuilder builder(1);
    const uint32_t flat = builder.Add(Reshape({x.count()}), {0});
    const uint32_t sum = builder.Add(ElementwiseOp::kAdd, {flat, flat});
    const uint32_t row = builder.Add(Reshape({1, x.count()}), {sum});
    const Program program = builder.Returning({flat, row, sum, row});
    const std::vector<Array> wanted = Run({program, {x}});
    for (const bool resident : {false, true}) {
      const Storage input = resident ? Storage{.resident = BufferOf(x)} : HostOf(x);
      const Work work = WorkOf(program, {&x}, {input}, {true, true, false, false});
      std::vector<Execution> batch = {work.execution()};
      ASSERT_EQ(Execute(batch), absl::OkStatus());
      for (size_t i = 0; i < 4; ++i) {
        const Storage& output = batch[0].outputs[i];
        ASSERT_EQ(output.resident != nullptr, i < 2);
        EXPECT_EQ(output.resident ? Read(output.resident) : Bytes(output), wanted[i].bytes) << i;
      }
    }
  }
}

// Steps of every kind read reshapes of inputs and of what other steps made; the results are the
// bits that the same operations give one by one, wherever inputs and outputs are.
TEST_F(AliasContract, StepsOfEveryKindReadReshapes) {
  const Array x = UniformArray(DType::kFloat32, {12, 20}, -5, 5, 11);
  ProgramBuilder builder(1);
  const uint32_t image = builder.Add(Reshape({24, 10}), {0});
  FilterAttributes box;
  box.kind = FilterKind::kBox;
  box.size = {3, 3};
  const uint32_t blurred = builder.Add(box, {image});
  const uint32_t wide = builder.Add(Reshape({10, 24}), {blurred});
  const uint32_t product = builder.Add(MatMulAttributes{}, {image, wide});  // (24, 24)
  const uint32_t blocks = builder.Add(Reshape({4, 6, 24}), {product});
  const uint32_t totals = builder.Add(ReduceAttributes{.axes = Axes{1}}, {blocks});  // (4, 24)
  const uint32_t column = builder.Add(Reshape({4, 1, 24}), {totals});
  const uint32_t centred = builder.Add(ElementwiseOp::kSubtract, {blocks, column});
  const uint32_t back = builder.Add(Reshape({24, 24}), {centred});
  const uint32_t turned =
      builder.Add(RearrangeAttributes{.kind = RearrangeKind::kTranspose}, {back});
  const uint32_t joined = builder.Add(
      RearrangeAttributes{.kind = RearrangeKind::kConcatenate, .axes = Axes{0}}, {turned, back});
  const Program program = builder.Returning({joined, wide, column, back, image});

  const auto view = [](Array array, const Shape& shape) {
    array.type.shape = shape;
    return array;
  };
  const Array blur = Run(box, {view(x, {24, 10})});
  const Array products = Run(MatMulAttributes{}, {view(x, {24, 10}), view(blur, {10, 24})});
  const Array sums = Run(ReduceAttributes{.axes = Axes{1}}, {view(products, {4, 6, 24})});
  const Array rest =
      view(Run(ElementwiseOp::kSubtract, {view(products, {4, 6, 24}), view(sums, {4, 1, 24})}),
           {24, 24});
  const Array across = Run(RearrangeAttributes{.kind = RearrangeKind::kTranspose}, {rest});
  std::vector<std::byte> both = across.bytes;
  both.insert(both.end(), rest.bytes.begin(), rest.bytes.end());
  const std::vector<std::byte> wanted[] = {both, blur.bytes, sums.bytes, rest.bytes, x.bytes};

  std::vector<Work> works;
  for (unsigned mix = 0; mix < 64; mix += 3) {
    absl::InlinedVector<bool, 8> keep;
    for (unsigned i = 0; i < 5; ++i) keep.push_back((mix >> i & 1) != 0);
    works.push_back(
        WorkOf(program, {&x}, {mix < 32 ? HostOf(x) : Storage{.resident = BufferOf(x)}}, keep));
  }
  std::vector<Execution> batch;
  for (const Work& work : works) batch.push_back(work.execution());
  ASSERT_EQ(Execute(batch), absl::OkStatus());
  for (const Execution& execution : batch) {
    for (size_t i = 0; i < 5; ++i) {
      const Storage& output = execution.outputs[i];
      ASSERT_EQ(output.resident != nullptr, execution.keeps(i));
      EXPECT_EQ(output.resident ? Read(output.resident) : Bytes(output), wanted[i]) << i;
    }
  }
}

// One with the other way round: a value is made and reshaped within what could be one fused step.
TEST_F(AliasContract, FusedStepsAroundReshapes) {
  const Array x = UniformArray(DType::kFloat32, {6, 500}, -5, 5, 12);
  const Array y = UniformArray(DType::kFloat32, {3000}, -5, 5, 13);
  ProgramBuilder builder(2);
  const uint32_t doubled = builder.Add(ElementwiseOp::kAdd, {0, 0});
  const uint32_t flat = builder.Add(Reshape({3000}), {doubled});
  const uint32_t sum = builder.Add(ElementwiseOp::kAdd, {flat, 1});
  const uint32_t same = builder.Add(Reshape({3000}), {sum});  // of the shape that it has
  const uint32_t more = builder.Add(ElementwiseOp::kMultiply, {same, sum});
  const uint32_t square = builder.Add(Reshape({6, 500}), {more});
  const uint32_t last = builder.Add(ElementwiseOp::kSubtract, {square, doubled});
  const Program program = builder.Returning({last, same, more, flat, square, doubled});
  std::vector<float> wanted[6];
  for (int64_t i = 0; i < 3000; ++i) {
    const float two = x.get<float>(i) + x.get<float>(i), both = two + y.get<float>(i);
    const float product = both * both, rest = product - two;
    const float values[] = {rest, both, product, two, product, two};
    for (size_t o = 0; o < 6; ++o) wanted[o].push_back(values[o]);
  }
  for (unsigned mix = 0; mix < 64; mix += 7) {
    absl::InlinedVector<bool, 8> keep;
    for (unsigned i = 0; i < 6; ++i) keep.push_back((mix >> i & 1) != 0);
    const Work work = WorkOf(program, {&x, &y}, {{.resident = BufferOf(x)}, HostOf(y)}, keep);
    std::vector<Execution> batch = {work.execution()};
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    for (size_t i = 0; i < 6; ++i) {
      const Storage& output = batch[0].outputs[i];
      EXPECT_EQ(output.resident ? Read(output.resident) : Bytes(output),
                ArrayOf<float>({3000}, wanted[i]).bytes)
          << "mix " << mix << " output " << i;
    }
  }
}

}  // namespace
}  // namespace gpucall::contract
