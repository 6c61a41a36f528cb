// What each operation along axes does with the elements of one line: the one definition, compiled
// into the CPU kernels and given as text to NVRTC for the CUDA kernels. So no includes and no std::
// here; the includer declares the mathematical functions (<math.h>; built in for NVRTC) and
// GPUCALL_FN (nothing, or __device__).
//
// A function F<T> takes elements of type T (bool, an integer, float or double):
//   Accumulator            what is known of some elements of a line; a default one knows of none
//   Add(a, x, index)       takes in x, element number `index` of the line
//   Merge(a, b)            takes in what b knows; the order of both in the line is of no matter
//   Result(a, count)       for a line of `count` elements
// Functions hold the operation's parameter.
#ifndef GPUCALL_KERNELS_REDUCE_FUNCTIONS_H_
#define GPUCALL_KERNELS_REDUCE_FUNCTIONS_H_

namespace gpucall::reduce {

template <class A, class B>
inline constexpr bool kIsSame = false;
template <class A>
inline constexpr bool kIsSame<A, A> = true;

template <class T>
inline constexpr bool kIsFloat = kIsSame<T, float> || kIsSame<T, double>;
template <class T>
inline constexpr bool kIsSigned = kIsSame<T, bool> || T(-1) < T(1);

template <bool kYes, class A, class B>
struct Choice {
  using Type = A;
};
template <class A, class B>
struct Choice<false, A, B> {
  using Type = B;
};

// Results of sums, and of means. Integers are summed wrapping.
template <class T>
using SumOf =
    typename Choice<kIsFloat<T>, T,
                    typename Choice<kIsSigned<T>, long long, unsigned long long>::Type>::Type;
template <class T>
using SummedIn = typename Choice<kIsFloat<T>, double, unsigned long long>::Type;
template <class T>
using RealOf = typename Choice<kIsFloat<T>, T, double>::Type;

template <class T>
GPUCALL_FN bool IsNan(T x) {
  return x != x;
}
template <class T>
GPUCALL_FN bool IsNonzero(T x) {
  return x != T(0);
}

template <class T>
struct Sum {
  using Element = T;
  using Output = SumOf<T>;
  // -0 leaves every number as it is.
  struct Accumulator {
    SummedIn<T> sum = kIsFloat<T> ? SummedIn<T>(-0.0) : SummedIn<T>(0);
  };
  double parameter;
  GPUCALL_FN void Add(Accumulator& a, T x, long long) const {
    a.sum += static_cast<SummedIn<T>>(x);
  }
  GPUCALL_FN void Merge(Accumulator& a, const Accumulator& b) const { a.sum += b.sum; }
  GPUCALL_FN Output Result(const Accumulator& a, long long count) const {
    return count == 0 ? Output(0) : static_cast<Output>(a.sum);
  }
};

template <class T>
struct Prod {
  using Element = T;
  using Output = SumOf<T>;
  struct Accumulator {
    SummedIn<T> product = 1;
  };
  double parameter;
  GPUCALL_FN void Add(Accumulator& a, T x, long long) const {
    a.product *= static_cast<SummedIn<T>>(x);
  }
  GPUCALL_FN void Merge(Accumulator& a, const Accumulator& b) const { a.product *= b.product; }
  GPUCALL_FN Output Result(const Accumulator& a, long long) const {
    return static_cast<Output>(a.product);
  }
};

template <class T>
struct Mean {
  using Element = T;
  using Output = RealOf<T>;
  struct Accumulator {
    double sum = -0.0;
  };
  double parameter;
  GPUCALL_FN void Add(Accumulator& a, T x, long long) const { a.sum += static_cast<double>(x); }
  GPUCALL_FN void Merge(Accumulator& a, const Accumulator& b) const { a.sum += b.sum; }
  GPUCALL_FN Output Result(const Accumulator& a, long long count) const {
    return static_cast<Output>(a.sum / static_cast<double>(count));
  }
};

// Mean and sum of squared differences from it, without cancellation: differences are taken from
// `shift`, the first element seen, which is never much farther from the mean than their spread.
// Merging by Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for computing
// sample variances, 1979.
struct Moments {
  double count = 0, shift = 0, sum = 0, squares = 0;

  GPUCALL_FN void Add(double x) {
    shift = count == 0 ? x : shift;
    const double difference = x - shift;
    count += 1;
    sum += difference;
    squares += difference * difference;
  }
  GPUCALL_FN double Mean() const { return shift + sum / count; }
  GPUCALL_FN double SquaredDifferences() const {
    const double squared = squares - sum * (sum / count);
    return squared < 0 ? 0.0 : squared;
  }
  GPUCALL_FN void Merge(const Moments& b) {
    if (shift == b.shift) {
      count += b.count;
      sum += b.sum;
      squares += b.squares;
      return;
    }
    if (b.count == 0) return;
    if (count == 0) {
      *this = b;
      return;
    }
    const double total = count + b.count;
    const double between = (b.shift - shift) + (b.sum / b.count - sum / count);
    const double mean = Mean() + between * (b.count / total);
    const double squared = SquaredDifferences() + b.SquaredDifferences() +
                           between * between * (count * (b.count / total));
    *this = {total, mean, 0, squared};
  }
};

template <class T>
struct Var {
  using Element = T;
  using Output = RealOf<T>;
  using Accumulator = Moments;
  double parameter;  // the correction
  GPUCALL_FN void Add(Moments& a, T x, long long) const { a.Add(static_cast<double>(x)); }
  GPUCALL_FN void Merge(Moments& a, const Moments& b) const { a.Merge(b); }
  GPUCALL_FN double Variance(const Moments& a) const {
    const double freedom = a.count - parameter;
    return a.SquaredDifferences() / (freedom > 0 ? freedom : 0.0);
  }
  GPUCALL_FN Output Result(const Moments& a, long long) const {
    return static_cast<Output>(Variance(a));
  }
};

template <class T>
struct Std : Var<T> {
  GPUCALL_FN typename Var<T>::Output Result(const Moments& a, long long) const {
    return static_cast<typename Var<T>::Output>(sqrt(Var<T>::Variance(a)));
  }
};

// Both are computed, without a branch, so that loops over them vectorise.
GPUCALL_FN bool Either(bool a, bool b) { return (static_cast<int>(a) | static_cast<int>(b)) != 0; }
GPUCALL_FN bool Both(bool a, bool b) { return (static_cast<int>(a) & static_cast<int>(b)) != 0; }

// The lowest T: what every other takes the place of.
template <class T>
GPUCALL_FN constexpr T Lowest() {
  if constexpr (kIsSame<T, float>)
    return __builtin_bit_cast(float, 0xff800000u);
  else if constexpr (kIsSame<T, double>)
    return __builtin_bit_cast(double, 0xfff0000000000000ull);
  else if constexpr (kIsSame<T, bool> || !kIsSigned<T>)
    return T(0);
  else
    return static_cast<T>(1ull << (8 * sizeof(T) - 1));
}
template <class T>
GPUCALL_FN constexpr T Highest() {
  if constexpr (kIsFloat<T>)
    return -Lowest<T>();
  else if constexpr (kIsSame<T, bool>)
    return true;
  else
    return static_cast<T>(~static_cast<unsigned long long>(Lowest<T>()));
}

// Whether x is to be kept and not `than`: NaN, or else the larger where kSign is 1, the smaller
// where it is -1.
template <int kSign, class T>
GPUCALL_FN bool IsBefore(T x, T than) {
  return Either(kSign > 0 ? x > than : x < than, Both(IsNan(x), !IsNan(than)));
}

template <int kSign, class T>
struct Extreme {
  using Element = T;
  using Output = T;
  struct Accumulator {
    T best = kSign > 0 ? Lowest<T>() : Highest<T>();
  };
  double parameter;
  GPUCALL_FN void Add(Accumulator& a, T x, long long) const {
    a.best = IsBefore<kSign>(x, a.best) ? x : a.best;
  }
  GPUCALL_FN void Merge(Accumulator& a, const Accumulator& b) const { Add(a, b.best, 0); }
  GPUCALL_FN T Result(const Accumulator& a, long long) const { return a.best; }
};
template <class T>
struct Min : Extreme<-1, T> {};
template <class T>
struct Max : Extreme<1, T> {};

template <int kSign, class T>
struct ArgExtreme {
  using Element = T;
  using Output = long long;
  struct Accumulator {
    T best = T(0);
    long long index = -1;
  };
  double parameter;
  GPUCALL_FN void Add(Accumulator& a, T x, long long index) const {
    const bool ties = Either(x == a.best, Both(IsNan(x), IsNan(a.best)));
    const bool wins =
        Either(Either(a.index < 0, IsBefore<kSign>(x, a.best)), Both(ties, index < a.index));
    a.best = wins ? x : a.best;
    a.index = wins ? index : a.index;
  }
  GPUCALL_FN void Merge(Accumulator& a, const Accumulator& b) const {
    if (b.index >= 0) Add(a, b.best, b.index);
  }
  GPUCALL_FN long long Result(const Accumulator& a, long long) const { return a.index; }
};
template <class T>
struct ArgMin : ArgExtreme<-1, T> {};
template <class T>
struct ArgMax : ArgExtreme<1, T> {};

template <class T>
struct CountNonzero {
  using Element = T;
  using Output = long long;
  struct Accumulator {
    long long count = 0;
  };
  double parameter;
  GPUCALL_FN void Add(Accumulator& a, T x, long long) const { a.count += IsNonzero(x) ? 1 : 0; }
  GPUCALL_FN void Merge(Accumulator& a, const Accumulator& b) const { a.count += b.count; }
  GPUCALL_FN long long Result(const Accumulator& a, long long) const { return a.count; }
};
template <class T>
struct Any : CountNonzero<T> {
  using Output = bool;
  using Accumulator = typename CountNonzero<T>::Accumulator;
  GPUCALL_FN bool Result(const Accumulator& a, long long) const { return a.count > 0; }
};
template <class T>
struct All : CountNonzero<T> {
  using Output = bool;
  using Accumulator = typename CountNonzero<T>::Accumulator;
  GPUCALL_FN bool Result(const Accumulator& a, long long count) const { return a.count == count; }
};

// (sum of |x|^p)^(1/p), p the parameter; infinite p: the largest or smallest |x|; 0: how many are
// not 0.
template <class T>
struct Norm {
  using Element = T;
  using Output = RealOf<T>;
  struct Accumulator {
    double value = 0;
    bool any = false;
  };
  double parameter;
  GPUCALL_FN bool IsExtreme() const { return parameter - parameter != 0; }  // infinite
  // Not inlined: it is rare, and long.
  GPUCALL_FN __attribute__((noinline)) static double Power(double x, double exponent) {
    return pow(x, exponent);
  }
  GPUCALL_FN double Term(double x) const {
    if (parameter == 2) return x * x;
    if (parameter == 1 || IsExtreme()) return fabs(x);
    if (parameter == 0) return x != 0 ? 1.0 : 0.0;
    return Power(fabs(x), parameter);
  }
  GPUCALL_FN void Take(Accumulator& a, double term) const {
    if (IsExtreme()) {
      const bool wins = parameter > 0 ? IsBefore<1>(term, a.value) : IsBefore<-1>(term, a.value);
      a.value = Either(!a.any, wins) ? term : a.value;
    } else {
      a.value += term;
    }
    a.any = true;
  }
  GPUCALL_FN void Add(Accumulator& a, T x, long long) const {
    Take(a, Term(static_cast<double>(x)));
  }
  GPUCALL_FN void Merge(Accumulator& a, const Accumulator& b) const {
    if (b.any) Take(a, b.value);
  }
  GPUCALL_FN Output Result(const Accumulator& a, long long) const {
    if (parameter == 2) return static_cast<Output>(sqrt(a.value));
    if (parameter == 1 || parameter == 0 || IsExtreme()) return static_cast<Output>(a.value);
    return static_cast<Output>(Power(a.value, 1 / parameter));
  }
};

// ---- Those that give an element for each: Apply(line, x), where x is an element of the line, and
// Prepare(a) makes a Line, no larger than an Accumulator, of what is known of all its elements.

GPUCALL_FN inline float Exp(float x) { return expf(x); }
GPUCALL_FN inline double Exp(double x) { return exp(x); }

// Numbers divided by one that is the same for many. float is divided as rounded once, but for 1
// quotient in 2^28.
template <class T>
struct Divisor {
  double by;
  GPUCALL_FN static Divisor Of(double by) { return {by}; }
  GPUCALL_FN T Quotient(double x) const { return x / by; }
};
template <>
struct Divisor<float> {
  double inverse;
  GPUCALL_FN static Divisor Of(double by) { return {1 / by}; }
  GPUCALL_FN float Quotient(double x) const { return static_cast<float>(x * inverse); }
};

// The largest element, and the sum of exp(x - largest). Infinity gives NaN; so do only -infinities.
template <class T>
struct Softmax {
  using Element = T;
  using Output = RealOf<T>;
  struct Accumulator {
    Output largest = Lowest<Output>();
    double sum = 0;
  };
  struct Line {
    Output largest;
    Divisor<Output> sum;
  };
  double parameter;
  GPUCALL_FN void Add(Accumulator& a, T element, long long) const {
    const Output x = static_cast<Output>(element);
    if (x == Lowest<Output>()) return;
    if (x <= a.largest) {
      a.sum += static_cast<double>(Exp(x - a.largest));
    } else {
      // x - x: 0, or NaN of infinity.
      a.sum = a.sum * static_cast<double>(Exp(a.largest - x)) + static_cast<double>(x - x + 1);
      a.largest = x;
    }
  }
  GPUCALL_FN void Merge(Accumulator& a, const Accumulator& b) const {
    if (b.largest == Lowest<Output>()) return;
    const bool stays = b.largest <= a.largest;
    const double scale =
        static_cast<double>(Exp(stays ? b.largest - a.largest : a.largest - b.largest));
    a.sum = stays ? a.sum + b.sum * scale : a.sum * scale + b.sum;
    a.largest = stays ? a.largest : b.largest;
  }
  GPUCALL_FN Output Result(const Accumulator& a, long long) const { return a.largest; }
  GPUCALL_FN Line Prepare(const Accumulator& a) const {
    return {a.largest, Divisor<Output>::Of(a.sum)};
  }
  GPUCALL_FN Output Apply(const Line& line, T x) const {
    return line.sum.Quotient(static_cast<double>(Exp(static_cast<Output>(x) - line.largest)));
  }
};

template <class T>
struct LogSoftmax : Softmax<T> {
  using Output = RealOf<T>;
  using Accumulator = typename Softmax<T>::Accumulator;
  struct Line {
    Output largest;
    double log_sum;
  };
  GPUCALL_FN Line Prepare(const Accumulator& a) const { return {a.largest, log(a.sum)}; }
  GPUCALL_FN Output Apply(const Line& line, T x) const {
    return static_cast<Output>(static_cast<double>(static_cast<Output>(x) - line.largest) -
                               line.log_sum);
  }
};

template <class T>
struct Standardise : Var<T> {
  using Output = RealOf<T>;
  struct Line {
    double mean;
    Divisor<Output> deviation;
  };
  GPUCALL_FN Line Prepare(const Moments& a) const {
    return {a.Mean(), Divisor<Output>::Of(sqrt(Var<T>::Variance(a)))};
  }
  GPUCALL_FN Output Apply(const Line& line, T x) const {
    return line.deviation.Quotient(static_cast<double>(x) - line.mean);
  }
};

template <class T>
struct LayerNorm : Standardise<T> {
  using Line = typename Standardise<T>::Line;
  GPUCALL_FN Line Prepare(const Moments& a) const {
    const double variance = a.SquaredDifferences() / a.count;
    return {a.Mean(), Divisor<RealOf<T>>::Of(sqrt(variance + Var<T>::parameter))};
  }
};

}  // namespace gpucall::reduce

#endif  // GPUCALL_KERNELS_REDUCE_FUNCTIONS_H_
