#include "optimize/admm/grid_passes.hpp"

#include <algorithm>

#include "core/dots.hpp"
#include "core/simd.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kGroup = 8;    // vectors of points that a piece is applied to at once: enough to hide latencies
constexpr Index kChunk = 256;  // points whose features stay in the first cache

// The numbers of block two for a piece, spread over a vector: stores to other arrays cannot change locals, so that they
// stay in registers.
template <class V>
struct Costs {
  BREGMAX_INLINE Costs(const GridProx& prox, double own_label)
      : similar(V{} + prox.similar_cost),
        dissimilar(V{} + prox.dissimilar_cost),
        margin(V{} + prox.margin),
        label(V{} + own_label) {}
  V similar, dissimilar, margin, label;
};

// What is taken off a copy for its linear cost, and what is added to it where a hinge lifts it.
template <class V>
struct Cost {
  V linear, lift;
};

template <class V>
BREGMAX_INLINE void cost_at(const Costs<V>& costs, const V& label, Cost<V>& cost) {
  const V none{};
  cost.linear = label == costs.label ? costs.similar : none;
  cost.lift = label == costs.label ? -costs.similar : costs.dissimilar;
}

// A hinge lifts what is below the margin, but not above it. Without one, what is lifted is what is lowered.
template <class V>
BREGMAX_INLINE void slack_at(const Cost<V>& cost, const V& margin, const V& copy, V& slack) {
  const V none{};
  const V lowered = copy - cost.linear, lifted = copy + cost.lift;
  const V kept = lifted < margin ? lifted : margin;
  const V above = lowered > kept ? lowered : kept;
  slack = above > none ? above : none;
}

template <class V>
struct Tally {
  V wishes{}, miss{}, change{}, value{}, slack{}, multiplier{};

  BREGMAX_INLINE void add_to(ResidualSums& sums) const {
    sums.miss += total(miss);
    sums.change += total(change);
    sums.value += total(value);
    sums.slack += total(slack);
    sums.multiplier += total(multiplier);
  }
};

// What a loop over points works on: all by value, so that it stays in registers.
template <class Number>
struct Place {
  Index stride, features;
  const double* points;
  const double* label;
  const double* z;
  const double* slope;  // of the piece
  double intercept, own_label;
  Number* copies;  // of the piece
  double* wishes;  // of the points of a chunk
  double* of_point;
};

// From the first point of a chunk on.
template <class Number>
BREGMAX_INLINE Place<Number> place_of(const GridTerms& terms, Index piece, Index from, Number* copies, double* wishes,
                                      const GridSums& sums) {
  return {terms.rows,
          terms.features,
          terms.points + from,
          terms.label + from,
          terms.z + from,
          terms.slopes + piece * terms.features,
          terms.intercept[piece],
          terms.label[piece],
          copies + piece * terms.rows + from,
          wishes,
          sums.of_point + from};
}

// D of `count` vectors of points from `l` on.
template <class V, Index count, class Number>
BREGMAX_INLINE void divergences_at(const Place<Number>& place, Index l, V* d) {
  for (Index g = 0; g < count; ++g) {
    V z;
    load(place.z + l + g * kLanesOf<V>, z);
    d[g] = z - place.intercept;
  }
  const double* feature = place.points + l;
  for (Index f = 0; f < place.features; ++f, feature += place.stride) {
    const V slope = V{} + place.slope[f];
    for (Index g = 0; g < count; ++g) {
      V x;
      load(feature + g * kLanesOf<V>, x);
      d[g] -= slope * x;
    }
  }
}

template <class V, class Number>
BREGMAX_INLINE void put_wish(const Place<Number>& place, Index l, const V& slack, const V& multiplier,
                             Tally<V>& tally) {
  const V wish = slack - multiplier;
  V sum;
  store(wish, place.wishes + l);
  load(place.of_point + l, sum);
  sum += wish;
  store(sum, place.of_point + l);
  tally.wishes += wish;
}

template <bool measured>
struct Move {
  static constexpr bool kInGroups = true;
  GridProx prox;
  double relaxation;

  template <class V, Index count, class Number>
  BREGMAX_INLINE void step(const Place<Number>& place, Index l, Tally<V>& tally) const {
    const Costs<V> costs(prox, place.own_label);
    V d[count];
    divergences_at<V, count>(place, l, d);
    for (Index g = 0; g < count; ++g, l += kLanesOf<V>) {
      V label, copy, before, slack;
      load(place.label + l, label);
      load(place.copies + l, copy);
      Cost<V> cost;
      cost_at(costs, label, cost);
      slack_at(cost, costs.margin, copy, before);
      copy += relaxation * (d[g] - before);
      store(copy, place.copies + l);
      slack_at(cost, costs.margin, copy, slack);
      const V multiplier = copy - slack;
      put_wish(place, l, slack, multiplier, tally);
      if constexpr (measured) {
        const V miss = d[g] - slack, change = slack - before;
        tally.miss += miss * miss;
        tally.change += change * change;
        tally.value += d[g] * d[g];
        tally.slack += slack * slack;
        tally.multiplier += multiplier * multiplier;
      }
    }
  }
};

struct Rescale {
  static constexpr bool kInGroups = false;  // it is rare, and shorter code compiles faster
  GridProx before, after;
  double factor;

  template <class V, Index count, class Number>
  BREGMAX_INLINE void step(const Place<Number>& place, Index l, Tally<V>& tally) const {
    const Costs<V> old(before, place.own_label), now(after, place.own_label);
    for (Index g = 0; g < count; ++g, l += kLanesOf<V>) {
      V label, copy, slack;
      load(place.label + l, label);
      load(place.copies + l, copy);
      Cost<V> cost;
      cost_at(old, label, cost);
      slack_at(cost, old.margin, copy, slack);
      copy = slack + factor * (copy - slack);
      store(copy, place.copies + l);
      cost_at(now, label, cost);
      slack_at(cost, now.margin, copy, slack);
      put_wish(place, l, slack, static_cast<V>(copy - slack), tally);
    }
  }
};

template <class Pass, class Number>
BREGMAX_INLINE void pass_body(GridTerms terms, Pass pass, Index begin, Index end, Number* copies, GridSums sums,
                              ResidualSums* residuals) {
  alignas(32) double wishes[kChunk];
  std::fill(sums.of_point, sums.of_point + terms.rows, 0.0);
  std::fill(sums.of_piece + begin, sums.of_piece + end, 0.0);
  std::fill(sums.weighted + begin * terms.features, sums.weighted + end * terms.features, 0.0);
  for (Index from = 0; from < terms.rows; from += kChunk) {
    const Index points = std::min(kChunk, terms.rows - from);
    for (Index k = begin; k < end; ++k) {
      const Place<Number> place = place_of(terms, k, from, copies, wishes, sums);
      Tally<Four> tally;
      Tally<double> rest;
      Index l = 0;
      if constexpr (Pass::kInGroups) {
        for (; l + kGroup * kLanes <= points; l += kGroup * kLanes) pass.template step<Four, kGroup>(place, l, tally);
      }
      for (; l + kLanes <= points; l += kLanes) pass.template step<Four, 1>(place, l, tally);
      for (; l < points; ++l) pass.template step<double, 1>(place, l, rest);
      sums.of_piece[k] += total(tally.wishes) + rest.wishes;
      if (residuals != nullptr) {
        tally.add_to(*residuals);
        rest.add_to(*residuals);
      }
      add_dots(wishes, terms.points + from, terms.rows, terms.features, points, sums.weighted + k * terms.features);
    }
  }
}

template <class Pass, class Number>
void pass_over(Instructions use, const GridTerms& terms, const Pass& pass, Index begin, Index end, Number* copies,
               const GridSums& sums, ResidualSums* residuals = nullptr) {
  dispatch<pass_body<Pass, Number>>(use, terms, pass, begin, end, copies, sums, residuals);
}

}  // namespace

template <class Number>
void move_copies(const GridTerms& terms, const GridProx& prox, double relaxation, Index begin, Index end,
                 Number* copies, const GridSums& sums, ResidualSums* residuals, Instructions use) {
  if (residuals == nullptr) {
    pass_over(use, terms, Move<false>{prox, relaxation}, begin, end, copies, sums);
  } else {
    *residuals = {};
    pass_over(use, terms, Move<true>{prox, relaxation}, begin, end, copies, sums, residuals);
  }
}

template <class Number>
void rescale_copies(const GridTerms& terms, const GridProx& before, const GridProx& after, double factor, Index begin,
                    Index end, Number* copies, const GridSums& sums, Instructions use) {
  pass_over(use, terms, Rescale{before, after, factor}, begin, end, copies, sums);
}

double slack_of(const GridProx& prox, bool similar, double copy) {
  double slack = 0;
  const Cost<double> cost{similar ? prox.similar_cost : 0, similar ? -prox.similar_cost : prox.dissimilar_cost};
  slack_at(cost, prox.margin, copy, slack);
  return slack;
}

#define BREGMAX_GRID_STORAGE(Number)                                                                              \
  template void move_copies(const GridTerms&, const GridProx&, double, Index, Index, Number*, const GridSums&,    \
                            ResidualSums*, Instructions);                                                         \
  template void rescale_copies(const GridTerms&, const GridProx&, const GridProx&, double, Index, Index, Number*, \
                               const GridSums&, Instructions);
BREGMAX_GRID_STORAGE(double)
BREGMAX_GRID_STORAGE(float)
#undef BREGMAX_GRID_STORAGE

}  // namespace bregmax::internal
