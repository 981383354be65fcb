#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "optimize/interior_point/cone.hpp"
#include "optimize/interior_point/recovery.hpp"
#include "optimize/interior_point/settings.hpp"
#include "optimize/problem/canonical_problem.hpp"
#include "optimize/problem/divergence_grid.hpp"
#include "optimize/problem/entry_set.hpp"

namespace bregmax::internal {

// What is known about the current iterate, in canonical units.
struct IterateMeasures {
  double primal = 0;           // objective of the model, hinges and norm recomputed
  double dual = 0;             // objective of the multipliers
  double dual_damage = 0;      // what their infeasibility may take off a proved bound
  double primal_residual = 0;  // largest, over all slacks
  double violation = 0;        // of convexity, by the model itself; slacks do not count
  double dual_residual = 0;
  double divergence_scale = 1;  // largest D, at least the margin
  double mu = 0;                // sum of the products s y, over Iterate::product_count

  double gap() const { return std::abs(primal - dual); }
};

// The unknowns of an iterate, or how a direction changes them.
struct Unknowns {
  Vector x;     // (z, a, L)
  Vector t;     // >= |a|
  Vector zeta;  // hinge losses
  Vector nu;    // multipliers of the equality entries
};

// An iterate of the interior point method on the canonical problem:
//
//   minimise  linear D + sum quadratic (D - target)^2 + sum weight zeta + lambda L
//   s.t.      D >= 0                                                (convexity)
//             t - a >= 0, t + a >= 0, L - sum q t >= 0              (upper, lower, norm)
//             bound - L >= 0                                        (bound)
//             zeta - margin - D[plus] + D[minus] >= 0, zeta >= 0    (over, nonneg)
//
// The constraints D >= 0 are those of a working set, which grows while the iterations go on; vectors over entries are
// in the order of its positions. Nothing is allocated after construction.
struct Iterate {
  Iterate(const CanonicalProblem& problem, const InteriorPointSettings& settings, Recovery& recovery);

  void start();
  // Brings residuals and measures up to date.
  void measure();
  // Widens the bound on L of Remedy::kFreeBound if the optimum rests on it.
  void widen_free_bound();

  PrimalPoint primal_point() const;
  DualPoint dual_point() const;

  Unknowns zero_unknowns() const;
  Index slopes() const { return problem.pieces * problem.features; }
  auto slopes_of(Vector& x) const { return x.segment(problem.z_count, slopes()); }
  auto slopes_of(const Vector& x) const { return x.segment(problem.z_count, slopes()); }
  double& lipschitz() { return value.x(value.x.size() - 1); }
  Index hinges() const { return std::ssize(plus); }

  const CanonicalProblem& problem;
  EntrySet entries;
  DivergenceGrid grid;
  Unknowns value;
  Cone convexity, upper, lower, norm, bound, over, nonneg;
  std::array<Cone*, 7> cones;
  std::array<Cone*, 4> norm_cones;  // those of the slopes and L
  IterateMeasures measures;
  Vector residual_x, residual_t, residual_zeta;  // dual
  Cone::View divergence{nullptr, 0};
  // Of the Newton system, per entry: the right-hand sides of D, and then, in the same memory, the change of D.
  Cone::View right_side{nullptr, 0}, divergence_change{nullptr, 0};
  std::vector<Index> plus, minus;  // positions of the entries of each hinge
  std::vector<Index> equalities;   // positions
  Index product_count = 0;         // constraints, of which some count twice; see bind_entries()

 private:
  const HingeItem& hinge(Index t) const;
  // D[plus] - D[minus]
  double hinge_argument(Index t) const;
  void bind_entries();
  void clear_non_constraints(Cone::View& values) const;
  double start_slope_limit() const;
  void start_norm(double& mu);
  void start_hinges();
  void measure_divergences();
  void add_low_entries();
  void measure_norm(double& dual, double& largest_norm, double& damage);
  void measure_hinges(double& loss, double& dual);

  const InteriorPointSettings& settings_;
  Recovery& recovery_;
  // Whether L has a bound that the problem does not have (Remedy::kFreeBound). If only a tiny lambda holds the slopes,
  // the centre of the optimal models is far out, where small dual residuals cost the proof much.
  bool free_bound_ = false;
  double bound_value_;
  double flow_reach_ = 0;              // what moving one unit of flow between pieces may cost in the dual norm
  Cone::View derivative_{nullptr, 0};  // of the Lagrangian by D, in measure(); in the memory of the right-hand sides
  Vector divergence_storage_, newton_storage_, linear_;
  Vector everywhere_, kept_slack_, kept_multiplier_;  // of every entry, flat
  std::vector<Index> non_constraints_;                // positions
};

}  // namespace bregmax::internal
