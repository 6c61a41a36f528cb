// Four elements at a time, in one load or store.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_QUADS_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_QUADS_CUH_

#include "kernels/cuda/filter_common.cuh"

namespace gpucall::cuda {

__device__ inline void LoadQuad(const float* from, float4& quad) {
  quad = __ldg(reinterpret_cast<const float4*>(from));
}
__device__ inline void LoadQuad(const uint8_t* from, uint32_t& quad) {
  quad = __ldg(reinterpret_cast<const unsigned*>(from));
}
__device__ inline void ToFloats(const float4& quad, float* out) {
  out[0] = quad.x, out[1] = quad.y, out[2] = quad.z, out[3] = quad.w;
}
__device__ inline void ToFloats(uint32_t quad, float* out) {
  // 2^23 + byte, minus 2^23: faster than conversions, which few units do.
  constexpr uint32_t kExponent = 0x4b000000u;
  constexpr float kBias = 8388608.0f;
  out[0] = __uint_as_float(__byte_perm(quad, kExponent, 0x7440)) - kBias;
  out[1] = __uint_as_float(__byte_perm(quad, kExponent, 0x7441)) - kBias;
  out[2] = __uint_as_float(__byte_perm(quad, kExponent, 0x7442)) - kBias;
  out[3] = __uint_as_float(__byte_perm(quad, kExponent, 0x7443)) - kBias;
}

// Stores at whole quads. The compiler makes narrow stores of these where it does not know the
// address space, hence the assembly.
template <int kRun>
__device__ void StoreRun(float* to, const float (&results)[kRun]) {
#pragma unroll
  for (int i = 0; i < kRun; i += 4) {
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to + i)),
                 "f"(results[i]), "f"(results[i + 1]), "f"(results[i + 2]), "f"(results[i + 3]));
  }
}
// Rounds half to even, saturates; NaN gives 0.
__device__ inline uint32_t PackBytes(const float* results) {
  uint32_t high, bytes;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(high)
      : "r"(__float2int_rn(results[3])), "r"(__float2int_rn(results[2])), "r"(0));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(bytes)
      : "r"(__float2int_rn(results[1])), "r"(__float2int_rn(results[0])), "r"(high));
  return bytes;
}
template <int kRun>
__device__ void StoreRun(uint8_t* to, const float (&results)[kRun]) {
  const size_t address = __cvta_generic_to_global(to);
  if constexpr (kRun == 8) {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(address), "r"(PackBytes(results)),
                 "r"(PackBytes(results + 4)));
  } else {
    static_assert(kRun == 4);
    asm volatile("st.global.b32 [%0], %1;" ::"l"(address), "r"(PackBytes(results)));
  }
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_QUADS_CUH_
