// How generated reduction kernels take in several elements at once: text for NVRTC
// (reduce_source.cc), after reduce_functions.h. Results are those of Add, one by one, but for the
// order of sums and the bits of NaN.
namespace gpucall::cuda {

template <class T>
struct Stored {
  using Type = T;
};
template <>
struct Stored<bool> {
  using Type = unsigned char;
};
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Group {
  T at[kWidth];
};

// A copy that the compiler does not compute with any earlier: what it makes of many elements at
// once would take more registers than there are, or wait for one before it asks for the others.
template <class G>
__device__ inline G Later(const G& group) {
  constexpr int kWords = (sizeof(G) + 3) / 4;
  unsigned words[kWords] = {};
  memcpy(words, &group, sizeof(G));
#pragma unroll
  for (int w = 0; w < kWords; ++w) asm volatile("" : "+r"(words[w]));
  G result;
  memcpy(&result, words, sizeof(G));
  return result;
}

// Whichever is kept: NaN, or the larger where kSign is 1, the smaller where it is -1.
template <int kSign, class T>
__device__ inline T Better(T a, T b) {
  return reduce::IsBefore<kSign>(b, a) ? b : a;
}
template <int kSign>
__device__ inline float Better(float a, float b) {
  float best;
  if constexpr (kSign > 0) {
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(best) : "f"(a), "f"(b));
  } else {
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(best) : "f"(a), "f"(b));
  }
  return best;
}
template <int kSign, class T, int kCount>
__device__ T BestOf(const T (&x)[kCount]) {
  T best = x[0];
#pragma unroll
  for (int k = 1; k < kCount; ++k) best = Better<kSign>(best, x[k]);
  return best;
}

__device__ inline float ExpOf(float x) { return expf(x); }
// Not inlined: it is long.
__device__ __noinline__ double ExpOf(double x) { return exp(x); }

template <class T>
inline constexpr bool kIsNarrow = sizeof(T) <= 4 && !reduce::kIsFloat<T>;

// ---- Take(function, a, x, at): `a` takes in the elements x, of which number k has index at(k),
// which rises with k, and from one call to the next unless there is one element. Functions that are
// not here add them one by one.

template <class T, int kCount>
__device__ double SumOfFloats(const T (&x)[kCount]) {
  double even = -0.0, odd = -0.0;
#pragma unroll
  for (int k = 0; k < kCount; k += 2) {
    even += static_cast<double>(x[k]);
    if (k + 1 < kCount) odd += static_cast<double>(x[k + 1]);
  }
  return even + odd;
}

template <class T, int kCount, class At>
requires reduce::kIsFloat<T> __device__ void Take(const reduce::Sum<T>&,
                                                  typename reduce::Sum<T>::Accumulator& a,
                                                  const T (&x)[kCount], At) {
  a.sum += SumOfFloats(x);
}
template <class T, int kCount, class At>
requires(sizeof(T) == 1) __device__
    void Take(const reduce::Sum<T>&, typename reduce::Sum<T>::Accumulator& a, const T (&x)[kCount],
              At) {
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < kCount; ++k) sum += x[k];
  a.sum += sum;
}

template <class T, int kCount, class At>
requires(reduce::kIsFloat<T> || kIsNarrow<T>) __device__
    void Take(const reduce::Mean<T>&, typename reduce::Mean<T>::Accumulator& a,
              const T (&x)[kCount], At) {
  if constexpr (reduce::kIsFloat<T>) {
    a.sum += SumOfFloats(x);
  } else {
    typename reduce::Choice<sizeof(T) == 1, int, long long>::Type sum = 0;
#pragma unroll
    for (int k = 0; k < kCount; ++k) sum += x[k];
    a.sum += static_cast<double>(sum);
  }
}

// The accumulator has its shift: Begin.
template <class T, int kCount, class At>
__device__ void Take(const reduce::Var<T>&, reduce::Moments& a, const T (&x)[kCount], At) {
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const double difference = static_cast<double>(x[k]) - a.shift;
    a.sum += difference;
    a.squares = fma(difference, difference, a.squares);
  }
  a.count += kCount;
}

template <int kSign, class T, int kCount, class At>
__device__ void Take(const reduce::Extreme<kSign, T>&,
                     typename reduce::Extreme<kSign, T>::Accumulator& a, const T (&x)[kCount], At) {
  a.best = Better<kSign>(a.best, BestOf<kSign>(x));
}

template <int kSign, class T, int kCount, class At>
__device__ void Take(const reduce::ArgExtreme<kSign, T>& function,
                     typename reduce::ArgExtreme<kSign, T>::Accumulator& a, const T (&x)[kCount],
                     At at) {
  if constexpr (kCount == 1) return function.Add(a, x[0], at(0));
  const T best = BestOf<kSign>(x);
  if (a.index >= 0 && !reduce::IsBefore<kSign>(best, a.best)) return;
  a.best = best;
#pragma unroll
  for (int k = kCount - 1; k >= 0; --k) {
    if (x[k] == best || reduce::IsNan(x[k])) a.index = at(k);
  }
}

template <class T, int kCount, class At>
__device__ void Take(const reduce::CountNonzero<T>&,
                     typename reduce::CountNonzero<T>::Accumulator& a, const T (&x)[kCount], At) {
  int count = 0;
#pragma unroll
  for (int k = 0; k < kCount; ++k) count += reduce::IsNonzero(x[k]) ? 1 : 0;
  a.count += count;
}

template <class T, int kCount, class At>
__device__ void Take(const reduce::Norm<T>& norm, typename reduce::Norm<T>::Accumulator& a,
                     const T (&x)[kCount], At at) {
  if (norm.parameter == 2) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const double element = static_cast<double>(x[k]);
      a.value = fma(element, element, a.value);
    }
    a.any = true;
    return;
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) norm.Add(a, x[k], at(k));
}

template <class T, int kCount, class At>
__device__ void Take(const reduce::Softmax<T>&, typename reduce::Softmax<T>::Accumulator& a,
                     const T (&elements)[kCount], At) {
  using Output = typename reduce::Softmax<T>::Output;
  Output x[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) x[k] = static_cast<Output>(elements[k]);
  const Output best = BestOf<1>(x);
  if (best == reduce::Lowest<Output>()) return;
  if (!(best <= a.largest)) {
    a.sum *= static_cast<double>(ExpOf(a.largest - best));
    a.largest = best;
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) x[k] = ExpOf(x[k] - a.largest);
  a.sum += SumOfFloats(x);
}

template <class Function, class A, class T, int kCount, class At>
__device__ void TakeIn(const Function& function, A& a, const T (&x)[kCount], At at) {
  if constexpr (requires { Take(function, a, x, at); }) {
    Take(function, a, x, at);
  } else {
#pragma unroll
    for (int k = 0; k < kCount; ++k) function.Add(a, x[k], at(k));
  }
}

// ---- Begin: what knows of no elements yet, of a line with an element at x. Accumulators of one
// line begin at the same one, which makes variances quick to merge.

template <class Function>
inline constexpr bool kBegins = reduce::kIsSame<typename Function::Accumulator, reduce::Moments>;

template <class Function, class S>
__device__ typename Function::Accumulator Begin(const S* x) {
  typename Function::Accumulator a;
  if constexpr (kBegins<Function>) {
    a.shift = static_cast<double>(static_cast<typename Function::Element>(Later(*x)));
  }
  return a;
}

}  // namespace gpucall::cuda
