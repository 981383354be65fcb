#include "optimize/gradient/loops.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/exponentials.hpp"

namespace bregmax::internal {
namespace {

template <class Real>
struct WideOf;
template <>
struct WideOf<double> {
  using Type = Four;
};
template <>
struct WideOf<float> {
  using Type = EightFloats;
};
template <class Real>
using Wide = typename WideOf<Real>::Type;

template <class Real>
BREGMAX_INLINE Real exponentials_body(Real shift, Index count, Real* values) {
  constexpr Index kWide = kLanesOf<Wide<Real>>;
  Wide<Real> sums[2] = {};  // two chains of additions, so that one does not wait for the other
  Index j = 0;
  for (; j + 2 * kWide <= count; j += 2 * kWide) {
    BREGMAX_UNROLL
    for (Index half = 0; half < 2; ++half) {
      Wide<Real> value;
      load(values + j + half * kWide, value);
      value -= shift;
      exponentiate(value);
      store(value, values + j + half * kWide);
      sums[half] += value;
    }
  }
  Real sum = total(Wide<Real>(sums[0] + sums[1]));
  for (; j < count; ++j) {
    values[j] -= shift;
    exponentiate(values[j]);
    sum += values[j];
  }
  return sum;
}

template <class Real>
BREGMAX_INLINE Real largest_body(Index count, const Real* values) {
  constexpr Index kWide = kLanesOf<Wide<Real>>;
  Real most = -std::numeric_limits<Real>::infinity();
  Index j = 0;
  if (count >= kWide) {
    Wide<Real> lanes, value;
    load(values, lanes);
    for (j = kWide; j + kWide <= count; j += kWide) {
      load(values + j, value);
      lanes = lanes < value ? value : lanes;
    }
    for (Index lane = 0; lane < kWide; ++lane) most = std::max<Real>(most, lanes[lane]);
  }
  for (; j < count; ++j) most = std::max(most, values[j]);
  return most;
}

template <class Real>
BREGMAX_INLINE Real dot_body(Index count, const Real* x, const Real* y) {
  constexpr Index kWide = kLanesOf<Wide<Real>>;
  Wide<Real> sums[2] = {};
  Index j = 0;
  for (; j + 2 * kWide <= count; j += 2 * kWide) {
    BREGMAX_UNROLL
    for (Index half = 0; half < 2; ++half) {
      Wide<Real> a, b;
      load(x + j + half * kWide, a);
      load(y + j + half * kWide, b);
      sums[half] += a * b;
    }
  }
  Real sum = total(Wide<Real>(sums[0] + sums[1]));
  for (; j < count; ++j) sum += x[j] * y[j];
  return sum;
}

template <class Real>
BREGMAX_INLINE void add_multiple_body(Real factor, Index count, const Real* x, Real* y) {
  for (Index j = 0; j < count; ++j) y[j] += factor * x[j];
}

template <class Real>
BREGMAX_INLINE void weigh_differences_body(Index count, const Real* weights, Real shift, Real* slopes) {
  for (Index j = 0; j < count; ++j) slopes[j] = weights[j] * (slopes[j] - shift);
}

template <class Real>
BREGMAX_INLINE void clear_where_not_positive_body(Index count, const Real* x, Real* y) {
  for (Index j = 0; j < count; ++j) {
    const Real value = y[j];
    y[j] = x[j] > 0 ? value : Real(0);
  }
}

template <class Real>
struct AdamNumbers {
  Real rate, keep, first_factor, second_factor;
};

constexpr double kSmall = 1e-8;

template <class Real>
BREGMAX_INLINE void step_adam_body(AdamNumbers<Real> step, Index count, const Real* gradient, Real* first, Real* second,
                                   Real* parameters) {
  constexpr auto kFirst = static_cast<Real>(kFirstMoment), kSecond = static_cast<Real>(kSecondMoment),
                 kLeast = static_cast<Real>(kSmall);
  for (Index i = 0; i < count; ++i) {
    const Real g = gradient[i];
    const Real m = first[i] + (1 - kFirst) * (g - first[i]);
    const Real v = second[i] + (1 - kSecond) * (g * g - second[i]);
    first[i] = m;
    second[i] = v;
    parameters[i] =
        step.keep * parameters[i] - step.rate * (m * step.first_factor) / (std::sqrt(v * step.second_factor) + kLeast);
  }
}

}  // namespace

template <class Real>
Real exponentials(Real shift, Index count, Real* values) {
  return dispatch<exponentials_body<Real>>(best_instructions(), shift, count, values);
}

template <class Real>
Real largest(Index count, const Real* values) {
  return dispatch<largest_body<Real>>(best_instructions(), count, values);
}

template <class Real>
Real dot(Index count, const Real* x, const Real* y) {
  return dispatch<dot_body<Real>>(best_instructions(), count, x, y);
}

template <class Real>
void add_multiple(Real factor, Index count, const Real* x, Real* y) {
  dispatch<add_multiple_body<Real>>(best_instructions(), factor, count, x, y);
}

template <class Real>
void weigh_differences(Index count, const Real* weights, Real shift, Real* slopes) {
  dispatch<weigh_differences_body<Real>>(best_instructions(), count, weights, shift, slopes);
}

template <class Real>
void clear_where_not_positive(Index count, const Real* x, Real* y) {
  dispatch<clear_where_not_positive_body<Real>>(best_instructions(), count, x, y);
}

template <class Real>
void step_adam(const AdamStep& step, Index count, const Real* gradient, Real* first, Real* second, Real* parameters) {
  const AdamNumbers<Real> numbers{static_cast<Real>(step.rate), static_cast<Real>(1 - step.rate * step.decay),
                                  static_cast<Real>(step.first_factor), static_cast<Real>(step.second_factor)};
  dispatch<step_adam_body<Real>>(best_instructions(), numbers, count, gradient, first, second, parameters);
}

template float exponentials<float>(float, Index, float*);
template float largest<float>(Index, const float*);
template float dot<float>(Index, const float*, const float*);
template void add_multiple<float>(float, Index, const float*, float*);
template void weigh_differences<float>(Index, const float*, float, float*);
template void clear_where_not_positive<float>(Index, const float*, float*);
template void step_adam<float>(const AdamStep&, Index, const float*, float*, float*, float*);
template double exponentials<double>(double, Index, double*);
template double largest<double>(Index, const double*);
template double dot<double>(Index, const double*, const double*);
template void add_multiple<double>(double, Index, const double*, double*);
template void weigh_differences<double>(Index, const double*, double, double*);
template void clear_where_not_positive<double>(Index, const double*, double*);
template void step_adam<double>(const AdamStep&, Index, const double*, double*, double*, double*);

}  // namespace bregmax::internal
