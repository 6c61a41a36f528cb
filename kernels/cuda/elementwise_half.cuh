// The bits of float16, by the machine's instructions: text for NVRTC (elementwise_source.cc), which
// kernels/elementwise_types.h asks its includer for.
namespace gpucall::elementwise {

__device__ inline float FloatOfHalf(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
__device__ inline unsigned short HalfOfFloat(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

}  // namespace gpucall::elementwise
