// How benchmarks of CUDA kernels are timed.
#ifndef GPUCALL_TESTS_BENCH_CUDA_TIMING_H_
#define GPUCALL_TESTS_BENCH_CUDA_TIMING_H_

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "server/device/cuda_handles.h"

namespace gpucall {

inline constexpr int kRounds = 11;
inline constexpr double kRoundMs = 4;
inline constexpr int64_t kCacheBytes = int64_t{256} << 20;  // several times any GPU's

inline void Check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "failed: %s (%s)\n", what, cudaGetErrorString(cudaGetLastError()));
  std::exit(1);
}
inline void Check(cudaError_t error, const char* what) { Check(error == cudaSuccess, what); }
#define CHECK_CUDA(call) Check((call), #call)

// Device memory with random elements: floats from 0.5 to 1.5, or bytes.
class Buffers {
 public:
  Buffers(int count, int64_t size_bytes, bool floats) {
    std::mt19937 random(1);
    std::vector<uint32_t> words(1 << 20);
    for (uint32_t& word : words) word = floats ? 0x3f000000u | (random() & 0xffffff) : random();
    for (int i = 0; i < count; ++i) {
      void* data = nullptr;
      CHECK_CUDA(cudaMalloc(&data, static_cast<size_t>(size_bytes)));
      buffers_.emplace_back(data);
      for (int64_t at = 0; at < size_bytes;) {
        const int64_t part = std::min<int64_t>(size_bytes - at, words.size() * sizeof(words[0]));
        CHECK_CUDA(cudaMemcpy(static_cast<std::byte*>(data) + at, words.data(),
                              static_cast<size_t>(part), cudaMemcpyHostToDevice));
        at += part;
      }
    }
  }
  void* operator[](int i) const { return buffers_[static_cast<size_t>(i) % buffers_.size()].get(); }

 private:
  std::vector<CudaGlobalMemory> buffers_;
};

inline double TimeMs(const std::function<void(int)>& launch, int repetitions) {
  cudaEvent_t events[2];
  for (cudaEvent_t& event : events) CHECK_CUDA(cudaEventCreate(&event));
  const CudaEvent begin(events[0]), end(events[1]);
  CHECK_CUDA(cudaEventRecord(begin.get()));
  for (int i = 0; i < repetitions; ++i) launch(i);
  CHECK_CUDA(cudaEventRecord(end.get()));
  CHECK_CUDA(cudaEventSynchronize(end.get()));
  float ms = 0;
  CHECK_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return ms / repetitions;
}

// Launches are counted, so that each takes the next buffers. Milliseconds of one launch of each.
inline std::vector<double> MediansMs(const std::vector<std::function<void(int)>>& launches) {
  std::vector<int> repetitions;
  for (const auto& launch : launches) {
    TimeMs(launch, 3);
    const double ms = TimeMs(launch, 5);
    repetitions.push_back(std::max(5, static_cast<int>(std::ceil(kRoundMs / ms))));
  }
  std::vector<std::array<double, kRounds>> times(launches.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < launches.size(); ++i) {
      times[i][round] = TimeMs(launches[i], repetitions[i]);
    }
  }
  std::vector<double> medians;
  for (auto& rounds : times) {
    std::sort(rounds.begin(), rounds.end());
    medians.push_back(rounds[kRounds / 2]);
  }
  return medians;
}

// `input_bytes` are read and `output_bytes` written by each launch(inputs, inputs of a second
// array, outputs).
inline void CompareWithCopy(const char* name, int64_t input_bytes, int64_t output_bytes,
                            bool floats, const std::function<void(void*, void*, void*)>& launch) {
  const int64_t size_bytes = std::max(input_bytes, output_bytes);
  const int count = static_cast<int>(kCacheBytes / size_bytes) + 1;
  const Buffers a(count, size_bytes, floats), b(count, size_bytes, floats),
      out(count, size_bytes, floats);
  const auto copy_bytes = static_cast<size_t>(size_bytes);
  const auto ms = MediansMs(
      {[&](int i) { launch(a[i], b[i], out[i]); },
       [&](int i) {
         CHECK_CUDA(cudaMemcpyAsync(out[i], a[i], copy_bytes, cudaMemcpyDeviceToDevice, nullptr));
       }});
  const double rate = static_cast<double>(input_bytes + output_bytes) / ms[0] / 1e6;
  const double copy_rate = 2.0 * static_cast<double>(copy_bytes) / ms[1] / 1e6;
  std::printf("%-36s %9.4f ms %8.0f GB/s  copy %9.4f ms %8.0f GB/s  ratio %.2f\n", name, ms[0],
              rate, ms[1], copy_rate, rate / copy_rate);
}

}  // namespace gpucall

#endif  // GPUCALL_TESTS_BENCH_CUDA_TIMING_H_
