#pragma once

#include "core/simd.hpp"
#include "optimize/admm/state.hpp"

namespace bregmax::internal {

// The passes over the one large array of AdmmGrid: the copies of D(k, l), one row per piece k, one column per point l.
// A copy t stands for a slack s = slack(t) and a multiplier (t - s) times the penalty. A pass recomputes D and makes
// the sums for block one, so that an iteration reads and writes each copy once.

// Block two of an entry: s minimises cost(s) + penalty / 2 (s - t)^2 over s >= 0, the cost being that of a similar
// pair, linear, or of a dissimilar one, a hinge. Costs are over the penalty.
struct GridProx {
  double similar_cost = 0, dissimilar_cost = 0;
  double margin = 0;  // of the hinge
};

// The model that gives D, and which pairs are similar.
struct GridTerms {
  Index rows = 0, features = 0;
  const double* points = nullptr;     // features x rows: a feature of all points is contiguous
  const double* label = nullptr;      // of each point, as a number
  const double* z = nullptr;          // value at each point
  const double* slopes = nullptr;     // rows x features
  const double* intercept = nullptr;  // of each piece: D(k, l) = z_l - intercept_k - <slope_k, x_l>
};

// Sums of the wishes v = 2 s - t: the right-hand side of block one.
struct GridSums {
  double* of_piece = nullptr;  // rows
  double* of_point = nullptr;  // rows: of the pieces of the pass only
  double* weighted = nullptr;  // rows x features: sum_l v_kl x_l
};

// t += relaxation (D - s) for pieces begin .. end - 1; sums of the moved copies. Residuals, a tenth of the work, only
// if a place for them is given.
template <class Number>
void move_copies(const GridTerms& terms, const GridProx& prox, double relaxation, Index begin, Index end,
                 Number* copies, const GridSums& sums, ResidualSums* residuals = nullptr,
                 Instructions use = best_instructions());

// t = s + factor (t - s): the same multipliers over another penalty, to which `after` belongs.
template <class Number>
void rescale_copies(const GridTerms& terms, const GridProx& before, const GridProx& after, double factor, Index begin,
                    Index end, Number* copies, const GridSums& sums, Instructions use = best_instructions());

// The slack of one copy.
double slack_of(const GridProx& prox, bool similar, double copy);

}  // namespace bregmax::internal
