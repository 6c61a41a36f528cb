#include "kernels/cuda/elementwise_row.h"

#include <algorithm>
#include <cstddef>

namespace gpucall::cuda {
namespace {

constexpr int64_t kFixedWords = 4;  // first_block, count, fault, aligned
constexpr uint64_t kAlignment = 16;

bool IsStrided(const ElementwiseKernel::Input& input) { return input.mode == ReadMode::kStrided; }

bool IsAligned(const ElementwiseKernel& kernel, const ElementwiseArguments& arguments) {
  for (size_t i = 0; i < arguments.inputs.size(); ++i) {
    if (kernel.inputs[i].mode == ReadMode::kFull && arguments.inputs[i] % kAlignment != 0) {
      return false;
    }
  }
  return std::ranges::all_of(arguments.outputs,
                             [](uint64_t address) { return address % kAlignment == 0; });
}

}  // namespace

int64_t ElementwiseRowWords(const ElementwiseKernel& kernel) {
  int64_t words = kFixedWords + static_cast<int64_t>(kernel.inputs.size() + kernel.outputs.size());
  if (kernel.rank > 0) {
    words += kernel.rank * (1 + std::ranges::count_if(kernel.inputs, IsStrided));
  }
  return words;
}

int64_t WriteElementwiseRow(const ElementwiseKernel& kernel, const ElementwiseArguments& arguments,
                            int64_t first_block, std::span<uint64_t> words) {
  auto word = words.begin();
  *word++ = static_cast<uint64_t>(first_block);
  *word++ = static_cast<uint64_t>(arguments.count);
  *word++ = arguments.fault;
  *word++ = IsAligned(kernel, arguments) ? 1 : 0;
  word = std::ranges::copy(arguments.inputs, word).out;
  word = std::ranges::copy(arguments.outputs, word).out;
  // Innermost first; dimensions that the row does not have are of size 1, outermost.
  const size_t rank = static_cast<size_t>(kernel.rank);
  const size_t given = arguments.sizes.size();
  const auto write = [&](std::span<const int64_t> values, uint64_t absent) {
    for (size_t d = 0; d < rank; ++d) {
      *word++ = d < given ? static_cast<uint64_t>(values[given - 1 - d]) : absent;
    }
  };
  if (rank > 0) {
    write(arguments.sizes, 1);
    for (size_t i = 0; i < arguments.strides.size(); i += given) {
      write(arguments.strides.subspan(i, given), 0);
    }
  }
  const int64_t tile = ElementwiseTile(kernel);
  return first_block + (arguments.count + tile - 1) / tile;
}

}  // namespace gpucall::cuda
