// Which kernels there are of recurrences, and how they divide lines.
#ifndef GPUCALL_KERNELS_CUDA_RECURRENCE_FORM_H_
#define GPUCALL_KERNELS_CUDA_RECURRENCE_FORM_H_

namespace gpucall::cuda {

inline constexpr int kSpan = 2048;  // elements; a power of 2
inline constexpr int kMaxFormOrder = 8;

// The sections and order that are compiled and have room for the filter's. REQUIRES: an order of up
// to kMaxFormOrder.
struct RecurrenceForm {
  int sections, order;
};
inline RecurrenceForm FormOf(int sections, int order) {
  if (sections > 2) return {4, 2};
  if (sections > 1) return {2, 2};
  return {1, order <= 2 ? 2 : order <= 4 ? 4 : 8};
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_RECURRENCE_FORM_H_
