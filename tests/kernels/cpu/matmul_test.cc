#include "kernels/cpu/matmul.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace gpucall::cpu {
namespace {

ProductOperands OperandsOf(const void* a, const void* b, void* out) {
  return {static_cast<const std::byte*>(a), static_cast<const std::byte*>(b), nullptr, nullptr,
          static_cast<std::byte*>(out)};
}

TEST(Multiply, RefusesSizesThatTheBlasCannotCount) {
  const float a = 1, b = 1;
  float c = 5;
  const ProductOperands operands = OperandsOf(&a, &b, &c);
  const int64_t large = int64_t{1} << 31;
  EXPECT_FALSE(Multiply({.shape = {.m = large, .n = 1, .k = 1}}, {&operands, 1}, nullptr));
  EXPECT_FALSE(Multiply({.shape = {.m = 1, .n = 1, .k = large}}, {&operands, 1}, nullptr));
  EXPECT_TRUE(Multiply({.shape = {.m = large, .n = 0, .k = 1}}, {&operands, 1}, nullptr))
      << "nothing to compute";
  EXPECT_EQ(c, 5);
}

TEST(Multiply, EmptySumsOverwriteWithZeros) {
  std::vector<double> c(6, 7);
  const ProductOperands operands = OperandsOf(nullptr, nullptr, c.data());
  const Product product = {.shape = {.m = 2, .n = 3, .k = 0},
                           .a_type = ElementType::kFloat64,
                           .b_type = ElementType::kFloat64,
                           .out_type = ElementType::kFloat64};
  alignas(64) std::byte scratch[64];
  ASSERT_LE(ScratchBytes(product), sizeof(scratch));
  EXPECT_TRUE(Multiply(product, {&operands, 1}, scratch));
  EXPECT_EQ(c, std::vector<double>(6, 0));
}

// A process that starts with the variable asks for nothing more.
TEST(BlasCore, IsTakenFromTheEnvironment) {
  const char* core = BlasCoreToAskFor();
  if (core == nullptr) GTEST_SKIP() << "OpenBLAS knows this processor";
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) FAIL() << core << " was set to no effect";
  const std::string command = std::string("OPENBLAS_CORETYPE=") + core + " " +
                              program_invocation_name +
                              " --gtest_filter=BlasCore.IsTakenFromTheEnvironment > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace
}  // namespace gpucall::cpu
