#include "kernels/cpu/matmul.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace gpucall::cpu {
namespace {

TEST(MatMul, RefusesSizesThatTheBlasCannotCount) {
  const float a = 1, b = 1;
  float c = 5;
  const MatMulOperands<float> operands = {&a, &b, &c};
  const int64_t large = int64_t{1} << 31;
  EXPECT_FALSE(MatMul({.m = large, .n = 1, .k = 1}, {&operands, 1}));
  EXPECT_FALSE(MatMul({.m = 1, .n = 1, .k = large}, {&operands, 1}));
  EXPECT_TRUE(MatMul({.m = large, .n = 0, .k = 1}, {&operands, 1})) << "nothing to compute";
  EXPECT_EQ(c, 5);
}

TEST(MatMul, EmptySumsOverwriteWithZeros) {
  std::vector<double> c(6, 7);
  const MatMulOperands<double> operands = {nullptr, nullptr, c.data()};
  EXPECT_TRUE(MatMul({.m = 2, .n = 3, .k = 0}, {&operands, 1}));
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
