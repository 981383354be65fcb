#pragma once

#include <array>

#include "optimize/interior_point/cone.hpp"
#include "optimize/interior_point/hinge_passes.hpp"
#include "optimize/interior_point/recovery.hpp"
#include "optimize/problem/canonical_problem.hpp"
#include "optimize/problem/divergence_grid.hpp"
#include "optimize/problem/entry_set.hpp"
#include "optimize/problem/normal_equations.hpp"

namespace bregmax::internal {

// What is known about the current iterate, in canonical units.
struct IterateMeasures {
  double primal = 0;           // objective of the model, hinges and norm recomputed
  double dual = 0;             // objective of the multipliers
  double dual_damage = 0;      // what their infeasibility may take off a proved bound
  double primal_residual = 0;  // largest, over all slacks
  double violation = 0;        // of convexity by the model itself: losses and norm are recomputed, so it is what counts
  double dual_residual = 0;
  double divergence_scale = 1;  // largest D, at least the margin
  double mu = 0;                // complementarity products over product_weight()
};

// Mehrotra's predictor-corrector method with Gondzio's centrality correctors on the canonical problem:
//
//   minimise  linear D + sum quadratic (D - target)^2 + sum weight zeta + lambda L
//   s.t.      D >= 0                                       (convexity_)
//             t - a >= 0, t + a >= 0, L - sum q t >= 0     (upper_, lower_, norm_)
//             bound - L >= 0                               (bound_)
//             zeta - margin - D[plus] + D[minus] >= 0, zeta >= 0   (over_, nonneg_)
//
// Unknowns are x = (z, a, L), t and zeta; t and zeta are eliminated in closed form, x by the normal equations.
// The constraints D >= 0 are those of an EntrySet, which grows while the iterations go on; vectors over entries are in
// the order of its positions.
class PrimalDualMethod {
 public:
  explicit PrimalDualMethod(const CanonicalProblem& problem, Recovery& recovery);

  void start();
  // Brings residuals and measures up to date with the iterate.
  const IterateMeasures& measure();
  const IterateMeasures& measures() const { return measures_; }
  // One iteration; complementarity is not driven below `least_mu`; `unit` is what gaps are relative to. False: the
  // linear algebra broke down, and the iterate is what it was.
  bool advance(double least_mu, double unit);

  // Another iteration of the kind, towards products of `target` and constraints that are met to rounding: late in the
  // iterations slacks are as small as what the proximal term lets constraints be violated by.
  bool center(double target);

  // About the number of constraints; see bind_entries().
  Index product_weight() const { return count_; }
  double last_step() const { return last_step_; }
  // Moves the multipliers, and nothing else, towards dual feasibility. Late in the iterations their residual is
  // rounding: a multiplier follows its slack by a weight y / s of up to 1e8. Weights y do not have that, and change
  // every multiplier in proportion to itself. What this leaves proves more, but is no iterate to go on from.
  void refine_dual();
  // Undoes that; nothing may have moved since.
  void restore_dual();
  // For an end game in which only the proximal term keeps the multipliers from becoming feasible.
  void relax_proximal();
  PrimalPoint primal_point() const;
  DualPoint dual_point() const;

 private:
  const HingeItem& hinge(Index t) const;
  // D[plus] - D[minus]
  double hinge_argument(const Cone::View& values, Index t) const {
    const Index plus = plus_[static_cast<std::size_t>(t)];
    return (plus == kNoEntry ? 0 : values(plus)) - values(minus_[static_cast<std::size_t>(t)]);
  }
  void add_hinge_to_field(Index t, double value);
  void clear_non_constraints(Cone::View& values) const {
    for (const Index i : non_constraints_) values(i) = 0;
  }
  void bind_entries();
  void measure_divergences();
  void add_low_entries();
  double& lipschitz() { return x_(x_.size() - 1); }
  Index slopes() const { return p_.pieces * p_.features; }
  auto slopes_of(Vector& x) const { return x.segment(p_.z_count, slopes()); }
  auto slopes_of(const Vector& x) const { return x.segment(p_.z_count, slopes()); }

  double start_slope_limit() const;
  void start_norm(double& mu);
  void start_hinges();
  void measure_norm(double& dual, double& largest_norm, double& damage);
  void measure_hinges(double& loss, double& dual);

  void set_proximal_terms();
  double slopes_held_by() const;
  void strengthen_proximal();
  bool factor(bool with_quadratic = true);
  void set_weights(bool with_quadratic = true);
  void set_norm_weights();
  double harmless_residual() const;
  void solve_direction();
  void aim_correction(const CentralAim& aim);
  void add_unknowns_of_correction(const CorrectionParts& parts);
  void add_correction(const CorrectionParts& parts);
  void add_and_aim_correction(const CorrectionParts& parts, const CentralAim& aim);
  PartRates solve_correction();
  // What is solved for: a direction, which removes the residuals, or a correction of one, which leaves them.
  enum class Solve : bool { kDirection, kCorrection };
  void solve_newton(Solve what, const double* field);
  void reduce_norm_rhs();
  void recover_norm();
  HingeRows hinge_rows();
  void take_steps(const StepRates& rates);
  void accept_direction();
  CorrectionParts choose_parts(const PartRates& rates);
  void widen_free_bound();
  void adapt_proximal_terms(double unit);
  // What may still be tried in an iteration.
  struct Remedies {
    int weakenings = 2, strengthenings = 3;
  };
  bool remedy(Remedies& left);
  double target_product(double least_mu) const;
  void predict();
  void correct(double target);
  void correct_centrality(double target);
  void move();

  static constexpr double kToBoundary = 0.99;  // of the way to the first constraint

  const CanonicalProblem& p_;
  Recovery& recovery_;
  EntrySet entries_;
  DivergenceGrid grid_;
  NormalEquations normal_;
  IterateMeasures measures_;
  Index hinges_, count_ = 0;
  // Where targets ask little of the slopes and nothing but a small price holds them, their centre is far out, and what
  // is infeasible in the multipliers costs the proof that far. A bound on L then holds them, which is widened where it
  // would matter.
  bool free_bound_ = false;
  double bound_value_;
  Cone convexity_, upper_, lower_, norm_, bound_, over_, nonneg_;
  std::array<Cone*, 7> cones_;
  std::array<Cone*, 4> norm_cones_;  // those of the slopes and L
  // The iterate, its change (dx_ ...) and the change that is kept while another is tried.
  Vector x_, t_, zeta_, nu_, kept_nu_;  // nu: multipliers of the equality entries
  Vector dx_, dt_, dzeta_, dnu_;
  Vector dx_accepted_, dt_accepted_, dzeta_accepted_, dnu_accepted_;
  Vector rhs_, dual_residual_x_, dual_residual_t_, dual_residual_zeta_;
  Vector divergence_storage_, field_storage_;
  Cone::View divergence_{nullptr, 0}, field_{nullptr, 0};
  Vector linear_, everywhere_, kept_slack_, kept_multiplier_;  // the last three: of every entry, flat
  Vector inverse_sum_;                                         // of each hinge: 1 / (the sum of its two weights)
  std::vector<Index> plus_, minus_;                            // positions of the entries of each hinge
  std::vector<Index> non_constraints_, equalities_;            // positions
  double proximal_ = 0, proximal_scale_ = 1, delta_scale_ = 1, least_delta_scale_ = 1e-4;
  double hinge_delta_scale_ = 1;  // where couplings are taken as an update
  double flow_reach_ = 0;         // what moving one unit of flow between pieces may cost in the dual norm
  StepRates rates_;               // of the direction that was solved for last
  double primal_step_ = 0, dual_step_ = 0, last_step_ = 0;
  double proximal_residual_ = 0, convexity_residual_ = 0;  // what the proximal terms left of the last step
  double previous_dual_residual_ = 0, previous_convexity_residual_ = 0;
  double residual_share_ = 1;  // how much of the residuals the direction that is solved for removes
  double rhs_norm_ = 0;        // largest of the direction that was solved for last and its corrections
  int poor_solves_ = 0;
  bool harmful_solve_ = false;
};

}  // namespace bregmax::internal
