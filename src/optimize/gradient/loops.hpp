#pragma once

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// The loops over single numbers of a training step, compiled for AVX2 and for any processor; the rest of a step is
// matrix products. Real: float or double.

// values[j] = exp(values[j] - shift), where no value is larger than `shift`; returns their sum.
template <class Real>
Real exponentials(Real shift, Index count, Real* values);

template <class Real>
Real largest(Index count, const Real* values);

template <class Real>
Real dot(Index count, const Real* x, const Real* y);

// y += factor x
template <class Real>
void add_multiple(Real factor, Index count, const Real* x, Real* y);

// out[j] = weights[j] (slopes[j] - shift), which may be in place.
template <class Real>
void weigh_differences(Index count, const Real* weights, Real shift, Real* slopes);

// y[j] = 0 where x[j] <= 0.
template <class Real>
void clear_where_not_positive(Index count, const Real* x, Real* y);

// How much of the moments of Adam is kept in each step.
inline constexpr double kFirstMoment = 0.9, kSecondMoment = 0.999;

// One step of Adam with the decayed weights of Loshchilov and Hutter: `rate` and `decay` of this step, and the factors
// that remove the bias of the moments towards their start at 0.
struct AdamStep {
  double rate = 0, decay = 0;
  double first_factor = 1, second_factor = 1;
};
template <class Real>
void step_adam(const AdamStep& step, Index count, const Real* gradient, Real* first, Real* second, Real* parameters);

}  // namespace bregmax::internal
