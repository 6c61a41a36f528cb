// The C++ client against a server: every kind of call, with answers that are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <future>
#include <stop_token>
#include <string>
#include <vector>

#include "gpucall/client.h"
#include "tests/e2e/server_binary.h"
#include "tests/testing/child_process.h"

namespace gpucall {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

class ClientCalls : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new ServerProcess(*StartServer()); }
  static void TearDownTestSuite() { delete server_; }

  const Client client_ = *Connect(server_->address());
  // 0 but for a 1 in the middle of 3 rows and 4 columns.
  const Tensor impulse_ = *Tensor::From<float>({3, 4}, {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  const Tensor kernel_ = *Tensor::From<float>({1, 3}, {1, 2, 3});

 private:
  static ServerProcess* server_;
};
ServerProcess* ClientCalls::server_ = nullptr;

TEST_F(ClientCalls, ElementwiseBroadcastsAndPromotes) {
  const absl::StatusOr<Tensor> quotient =
      client_.Divide(*Tensor::From<int32_t>({2, 1}, {1, 2}), Tensor::From<int32_t>({2, 4}));
  ASSERT_TRUE(quotient.ok()) << quotient.status();
  EXPECT_THAT(quotient->shape(), ElementsAre(2, 2));
  EXPECT_THAT(*quotient->as<double>(), ElementsAre(0.5, 0.25, 1, 0.5));
}

TEST_F(ClientCalls, ScalarsAndEmptyTensors) {
  const absl::StatusOr<Tensor> scalar = client_.Square(Tensor::Scalar(3.0f));
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_TRUE(scalar->shape().empty());
  EXPECT_THAT(*scalar->as<float>(), ElementsAre(9));
  const absl::StatusOr<Tensor> empty = client_.Exp(*Tensor::From<double>({0, 3}, {}));
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_THAT(empty->shape(), ElementsAre(0, 3));
}

TEST_F(ClientCalls, MatMulTransposes) {
  const Tensor a = *Tensor::From<float>({1, 2}, {1, 2});
  const Tensor b = *Tensor::From<float>({3, 2}, {1, 0, 0, 1, 2, 2});
  const absl::StatusOr<Tensor> product = client_.MatMul(a, b, {.transpose_b = true});
  ASSERT_TRUE(product.ok()) << product.status();
  EXPECT_THAT(product->shape(), ElementsAre(1, 3));
  EXPECT_THAT(*product->as<float>(), ElementsAre(1, 2, 6));
}

TEST_F(ClientCalls, MatMulTakesWhatIsAdded) {
  const Tensor a = *Tensor::From<int8_t>({1, 2}, {100, -100});
  const Tensor b = *Tensor::From<int8_t>({2, 2}, {100, 1, 0, 2});
  const Tensor c = *Tensor::From<int32_t>({1}, {5}), bias = *Tensor::From<int32_t>({2}, {1, -2});
  const absl::StatusOr<Tensor> product =
      client_.MatMul({a, b, c, bias}, {.output_dtype = DType::kInt32,
                                       .beta = 2,
                                       .addend = true,
                                       .bias = true,
                                       .activation = Activation::kRelu});
  ASSERT_TRUE(product.ok()) << product.status();
  EXPECT_THAT(*product->as<int32_t>(), ElementsAre(10011, 0));
}

TEST_F(ClientCalls, NetworksHaveLayers) {
  const Tensor x = *Tensor::From<float>({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor bias = *Tensor::From<float>({1}, {0.5});
  const absl::StatusOr<Tensor> sums = client_.Network({x, x, bias}, Conv2dOptions{});
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_THAT(sums->shape(), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(*sums->as<float>(), ElementsAre(30.5));
  const absl::StatusOr<Tensor> largest = client_.Network({x}, PoolOptions{});
  ASSERT_TRUE(largest.ok()) << largest.status();
  EXPECT_THAT(*largest->as<float>(), ElementsAre(4));
}

TEST_F(ClientCalls, ConvolveFlipsTheKernelAndCorrelateDoesNot) {
  const Border zeros = {.mode = BorderMode::kConstant};
  const absl::StatusOr<Tensor> convolved = client_.Convolve(impulse_, kernel_, {.border = zeros});
  ASSERT_TRUE(convolved.ok()) << convolved.status();
  EXPECT_THAT(*convolved->as<float>(), ElementsAre(0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0));
  const absl::StatusOr<Tensor> correlated = client_.Correlate(impulse_, kernel_, {.border = zeros});
  ASSERT_TRUE(correlated.ok()) << correlated.status();
  EXPECT_THAT(*correlated->as<float>(), ElementsAre(0, 0, 0, 0, 3, 2, 1, 0, 0, 0, 0, 0));
}

TEST_F(ClientCalls, FiltersTakeTheirOptions) {
  const absl::StatusOr<Tensor> box = client_.Box(impulse_, {.size = {1, 2}});
  ASSERT_TRUE(box.ok()) << box.status();
  EXPECT_THAT(*box->as<float>(), ElementsAre(0, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0));
  const absl::StatusOr<Tensor> sobel =
      client_.Sobel(impulse_, {.axis = 0, .border = {.mode = BorderMode::kConstant}});
  ASSERT_TRUE(sobel.ok()) << sobel.status();
  EXPECT_THAT(*sobel->as<float>(), ElementsAre(1, 2, 1, 0, 0, 0, 0, 0, -1, -2, -1, 0));
  const absl::StatusOr<Tensor> laplacian =
      client_.Laplacian(impulse_, {.border = {.mode = BorderMode::kConstant}});
  ASSERT_TRUE(laplacian.ok()) << laplacian.status();
  EXPECT_THAT(*laplacian->as<float>(), ElementsAre(0, 1, 0, 0, 1, -4, 1, 0, 0, 1, 0, 0));
  const absl::StatusOr<Tensor> median = client_.Median(impulse_, {.size = 3});
  ASSERT_TRUE(median.ok()) << median.status();
  EXPECT_THAT(*median->as<float>(), testing::Each(0));
  const absl::StatusOr<Tensor> same = client_.Gaussian(impulse_, {.sigma = 0});
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->bytes(), impulse_.bytes());
}

TEST_F(ClientCalls, SortsAlongAnAxis) {
  const Tensor x = *Tensor::From<float>({2, 3}, {3, 1, 2, 5, 6, 4});
  const absl::StatusOr<Tensor> sorted = client_.Sort(x);
  ASSERT_TRUE(sorted.ok()) << sorted.status();
  EXPECT_THAT(*sorted->as<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  const absl::StatusOr<Tensor> last =
      client_.Sort(x, {.axis = std::nullopt, .descending = true, .indices = true, .count = 2});
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_THAT(*last->as<int64_t>(), ElementsAre(4, 3));
  Program program(1);
  program.Output(program.Sort(program.Negative(program.input(0)), {.axis = 0}));
  const Client::Reply outputs = client_.Run(program, {x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(*outputs->at(0).as<float>(), ElementsAre(-5, -6, -4, -3, -1, -2));
  EXPECT_EQ(client_.Sort(x, {.count = 4}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ClientCalls, SumsAndProductsSoFar) {
  const Tensor x = *Tensor::From<int32_t>({2, 2}, {1, 2, 3, 4});
  const absl::StatusOr<Tensor> sums = client_.Scan(x, {.op = ScanOp::kCumSum, .axis = 0});
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_THAT(*sums->as<int64_t>(), ElementsAre(1, 2, 4, 6));
  Program program(1);
  program.Output(program.Scan(program.input(0), {.op = ScanOp::kCumProd, .axis = std::nullopt}));
  const Client::Reply outputs = client_.Run(program, {x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(*outputs->at(0).as<int64_t>(), ElementsAre(1, 2, 6, 24));
}

TEST_F(ClientCalls, TakesByIndices) {
  const Tensor x = *Tensor::From<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const absl::StatusOr<Tensor> columns = client_.Take(x, *Tensor::From<int32_t>({2}, {-1, 0}));
  ASSERT_TRUE(columns.ok()) << columns.status();
  EXPECT_THAT(*columns->as<float>(), ElementsAre(3, 1, 6, 4));
  const absl::StatusOr<Tensor> each =
      client_.Take(x, *Tensor::From<int64_t>({2, 1}, {2, 0}), {.axis = 1, .along = true});
  ASSERT_TRUE(each.ok()) << each.status();
  EXPECT_THAT(each->shape(), ElementsAre(2, 1));
  EXPECT_THAT(*each->as<float>(), ElementsAre(3, 4));
  const absl::Status wrong = client_.Take(x, *Tensor::From<int32_t>({1}, {3})).status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(wrong.message(), HasSubstr("indices have 3, allowed are -3 to 2"));
}

TEST_F(ClientCalls, TopKGivesValuesAndIndices) {
  const Tensor x = *Tensor::From<float>({2, 3}, {3, 1, 2, 5, 6, 4});
  const absl::StatusOr<Client::TopKTensors> top = client_.TopK(x, 2);
  ASSERT_TRUE(top.ok()) << top.status();
  EXPECT_THAT(*top->values.as<float>(), ElementsAre(3, 2, 6, 5));
  EXPECT_THAT(*top->indices.as<int64_t>(), ElementsAre(0, 2, 1, 0));
  const absl::StatusOr<Client::TopKTensors> least =
      client_.TopK(x, 1, {.axis = 0, .largest = false});
  ASSERT_TRUE(least.ok()) << least.status();
  EXPECT_THAT(*least->values.as<float>(), ElementsAre(3, 1, 2));
  EXPECT_EQ(client_.TopK(x, 4).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ClientCalls, ProgramGivesSeveralOutputs) {
  Program program(2);
  const Program::Value product = program.MatMul(program.input(0), program.input(1));
  const Program::Value moved = program.Subtract(product, program.input(1));
  const Program::Value relu = program.Relu(moved);
  program.Output(relu);
  program.Output(product);
  program.Output(program.Filter(moved, BoxOptions{.size = 1}));
  const Tensor twice = *Tensor::From<float>({2, 2}, {2, 0, 0, 0});
  const Tensor x = *Tensor::From<float>({2, 2}, {1, 2, 3, 4});
  Receipt receipt;
  const Client::Reply outputs = client_.Run(program, {twice, x}, {.receipt = &receipt});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 3u);
  EXPECT_THAT(*outputs->at(0).as<float>(), ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(*outputs->at(1).as<float>(), ElementsAre(2, 4, 0, 0));
  EXPECT_THAT(*outputs->at(2).as<float>(), ElementsAre(1, 2, -3, -4));
  EXPECT_EQ(receipt.device, "cpu");
  EXPECT_EQ(receipt.batch_size, 1u);
}

TEST_F(ClientCalls, ErrorsNameTheArgument) {
  const absl::Status shapes =
      client_.Add(Tensor::From<float>({1, 2, 3}), Tensor::From<float>({1, 2})).status();
  EXPECT_EQ(shapes.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(shapes.message(), HasSubstr("(3)"));
  EXPECT_THAT(shapes.message(), HasSubstr("(2)"));
  const absl::Status length =
      client_.Abs(TensorRef(DType::kFloat32, {2, 3}, std::string(23, 'x'))).status();
  EXPECT_EQ(length.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(length.message(), HasSubstr("23"));
  EXPECT_THAT(length.message(), HasSubstr("24"));
  const Tensor yes = Tensor::Scalar(true);
  EXPECT_EQ(client_.Subtract(yes, yes).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(client_.Box(impulse_, {.size = 0}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ClientCalls, LateAndStoppedCallsEndAndTheNextIsServed) {
  EXPECT_EQ(client_.Abs(Tensor::Scalar(1.0f), {.deadline = absl::ZeroDuration()}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  // Some seconds of work, stopped at once.
  const Tensor large = *Tensor::From<float>({3000, 1000}, std::vector<float>(3'000'000, 0.5f));
  std::stop_source stop;
  std::future<Client::Reply> pending =
      client_.Future(Request::Filter(large, MedianOptions{.size = 31}), {.stop = stop.get_token()});
  stop.request_stop();
  EXPECT_EQ(pending.get().status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(client_.Abs(Tensor::Scalar(1.0f), {.deadline = absl::Seconds(30)}).ok());
}

TEST_F(ClientCalls, ConcurrentCallsEachGetTheirOwnAnswer) {
  std::vector<std::future<Client::Reply>> pending;
  for (int i = 0; i < 500; ++i) {
    const Tensor x = Tensor::From<int32_t>(std::vector<int32_t>(1 + i % 7, i));
    pending.push_back(client_.Future(Request::Elementwise(ElementwiseOp::kAdd, {x, x})));
  }
  for (int i = 0; i < 500; ++i) {
    const Client::Reply reply = pending[i].get();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->at(0).count(), 1 + i % 7);
    EXPECT_THAT(*reply->at(0).as<int32_t>(), testing::Each(2 * i));
  }
}

TEST_F(ClientCalls, DTypesPromoteAndCast) {
  const Tensor n = Tensor::From<int64_t>({1, -2, 300});
  const auto sum = client_.Add(n, Tensor::From<std::complex<float>>({{1, 1}, {0, 0}, {0, -1}}));
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_THAT(
      *sum->as<std::complex<double>>(),
      ElementsAre(std::complex(2.0, 1.0), std::complex(-2.0, 0.0), std::complex(300.0, -1.0)));
  const auto bytes = client_.Cast(client_.Sqrt(n).value(), DType::kUint8);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_THAT(*bytes->as<uint8_t>(), ElementsAre(1, 0, 17));  // the root of -2 is NaN
  Program program(1);
  program.Output(program.Cast(program.input(0), DType::kFloat16));
  const auto half = client_.Run(program, {n});
  ASSERT_TRUE(half.ok()) << half.status();
  EXPECT_EQ((*half)[0].dtype(), DType::kFloat16);
}

TEST_F(ClientCalls, InfoAndCatalogueSayWhatIsOffered) {
  const absl::StatusOr<ServerInfo> info = client_.Info();
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_EQ(info->devices.size(), 1u);
  EXPECT_EQ(info->devices[0].id, "cpu");
  EXPECT_THAT(info->device_choice, HasSubstr("cpu"));
  EXPECT_EQ(info->limits.max_dimensions, 8u);
  const absl::StatusOr<std::vector<CatalogueEntry>> catalogue = client_.Catalogue();
  ASSERT_TRUE(catalogue.ok()) << catalogue.status();
  for (const char* name : {"add", "multiply_add", "matmul", "gaussian", "convolve"}) {
    EXPECT_THAT(*catalogue, Contains(Field(&CatalogueEntry::name, name))) << name;
  }
}

}  // namespace
}  // namespace gpucall
