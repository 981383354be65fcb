#pragma once

namespace bregmax::internal {

// The tuning constants of the interior point method, set by hand. docs/solver.md (Settings) has a row for each: what a
// smaller and a larger value change. `make solver-settings` measures it again.
struct InteriorPointSettings {
  // The start.
  double start_slopes = 1;              // over the number of features
  double start_slopes_comparisons = 3;  // the same with comparisons
  double start_product = 0.1;           // least s y of a constraint
  double start_lipschitz = 2;           // times the largest norm of slopes
  double start_in_bound = 0.9;          // slopes start within this part of a bound on L
  double start_slack = 1e-3;            // least slack of a divergence
  double start_slack_of_mean = 0.01;    // the same, of the mean divergence
  double start_hinge = 0.5;             // of its margin: how far a hinge's variable starts above the hinge
  double low_divergence = 0.1;          // of a margin of 1: a constraint with less joins the working set

  // The bound on L that targets get if nothing else holds their slopes.
  double free_bound_price = 1e-6;  // no bound is set if lambda, relative to the zero model's objective, is above this
  double free_bound = 5;           // times the largest target
  double free_bound_rest = 0.5;    // of the bound: above this L the optimum may rest on it
  double free_bound_growth = 5;    // factor by which it is widened then
  double free_bound_worth = 0.1;   // of the gap: what the bound's multiplier may cost

  // Proximal terms.
  double primal_proximal = 1e-8;          // rho, the largest
  double dual_proximal = 1e-8;            // delta
  double coupled_dual_proximal = 1e-6;    // of comparisons as a low-rank downdate, which is then more accurate
  double refinement_proximal = 1e-13;     // of the refinement of multipliers, whose weights are about 1
  double least_slope_hold = 1e-5;         // of primal_proximal, where lambda is small
  double whole_step = 0.9;                // a longer step leaves only what a proximal term explains
  double unexplained = 0.3;               // of a residual: a whole step without a proximal term leaves less
  double explained = 2;                   // times what the proximal term explains
  double residual_worth = 0.1;            // of the gap: convexity residuals that cost less are ignored
  double relaxation = 0.1;                // factor for a proximal term that slows the iterations
  double least_dual_scale = 1e-4;         // of dual_proximal
  double near_end = 1e-4;                 // relative gap from which the dual term falls
  double dual_scale_near_end = 1e-2;      // of dual_proximal: what the dual term falls to
  double dual_relaxation_near_end = 0.3;  // the factor by which it falls in each iteration until then
  double centering_dual_scale = 1e-4;     // of dual_proximal, in the steps that clear ties
  int factor_attempts = 6;                // with a primal term that grows by factor_growth
  double factor_growth = 100;
  int strengthenings = 3;  // per iteration
  double primal_strengthening = 30;
  double dual_strengthening = 3;
  double most_dual_scale = 100;

  // Accuracy of directions.
  double residual_part = 0.3;              // of the dual residual that a direction may leave
  double flow_distance = 0.1;              // of the range of features: how far the certificate moves flow
  double price_reach = 10;                 // times the largest norm: the most L with which the certificate pays
  double residual_harm = 0.1;              // of the gap; 0.03 takes as many iterations, but more conjugate gradients
  double solve_accuracy = 1e-15;           // of the right-hand side, with a factorization that is exact
  double solve_accuracy_downdate = 1e-12;  // the same with a low-rank downdate
  double tolerated = 1e-9;                 // of the right-hand side: a direction with less is not poor
  double tolerated_downdate = 1e-6;        // the same with a downdate: larger, since a dense factorization is expensive
  double poor = 30;                        // times the residual asked for
  double harmful_growth = 3;               // of the dual residual, where that costs more than the gap
  int poor_in_a_row = 3;                   // poor directions after which the factorization is dense

  // Steps. Bold targets with correctors taken in parts: 54 to 39 iterations on all pairs of 500 rows.
  double to_boundary = 0.99;  // of the way to the first constraint
  double most_sigma = 0.3;    // the target, relative to the mean product; see above
  double least_sigma = 1e-6;
  int correctors = 6;               // at most, per iteration
  double long_step = 0.95;          // a longer step needs no corrector
  double worthwhile_growth = 0.02;  // of both steps together: a corrector that gains less is the last
  double aim_growth = 1.08;         // a corrector aims at a step of growth * step + more
  double aim_more = 0.3;
  double low_product = 0.1;   // of the target: products below are pulled up
  double high_product = 100;  // of the target: products above are pulled down

  // The end.
  double looks_optimal = 0.9;         // of the tolerance: the gap at which the certificate is asked
  double least_product = 0.1;         // of the tolerance, over the number of constraints
  int relax_each = 4;                 // unproved iterates that look optimal, between relaxations
  int centering_steps = 6;            // at most this many steps that clear ties
  double centering_gap = 0.3;         // of the tolerance that these steps may use
  double centering_least_gap = 1e-3;  // of the tolerance: a smaller gap counts as this
};

}  // namespace bregmax::internal
