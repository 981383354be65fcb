#pragma once

#include "optimize/interior_point/hinge_passes.hpp"
#include "optimize/interior_point/iterate.hpp"
#include "optimize/problem/normal_equations.hpp"

namespace bregmax::internal {

// The Newton system at an iterate. t and zeta are eliminated in closed form, x = (z, a, L) by the normal equations.
//
// A direction is solved for in `change` and in each cone's ds, dy; accept() keeps it in `accepted` (ds_accepted,
// dy_accepted). A correction is solved for by itself and added to the accepted direction: it is small, and so are its
// errors.
class NewtonSystem {
 public:
  NewtonSystem(Iterate& iterate, const InteriorPointSettings& settings, Recovery& recovery);

  // Factors with a primal proximal term of at least `proximal`; proximal() returns the one that was used. The dual
  // terms must be set before. False: the system is not positive definite, whatever the term.
  bool factor(double proximal, bool with_quadratic = true);
  double proximal() const { return proximal_; }

  // Solves for the c that the cones were aimed at. Returns how fast the direction approaches the boundary.
  StepRates solve_direction();
  void accept();

  // The same for a correction: how long steps its parts allow. `accepted_rates`: those of the accepted direction.
  PartRates solve_correction(const StepRates& accepted_rates);
  void aim_correction(const CentralAim& aim);
  // Adds parts of the correction and, if `next` is given, aims the next one: one pass for both saves time.
  void add_correction(const CorrectionParts& parts, const CentralAim* next = nullptr);

  // Moves the iterate by these parts of the accepted direction. False: it is not finite, and nothing was moved.
  bool move(double primal_step, double dual_step);

  // After the last solve, the dual residual would grow and cost the bound more than the gap.
  bool is_harmful() const { return harmful_; }
  // How many directions in a row, up to the last one, were less accurate than asked for.
  int poor_directions() const { return poor_directions_; }

  bool uses_downdate() const { return normal_.uses_downdate(); }
  bool use_dense() { return normal_.use_dense(); }
  void forget_poor_directions() { poor_directions_ = 0; }

  Unknowns change, accepted;

 private:
  enum class Solve : bool { kDirection, kCorrection };
  // `right_side`: of D. Sets change, the norm cones' dy, and the iterate's divergence_change.
  void solve(Solve what, const double* right_side);
  void judge(Solve what, double reached, double wanted);
  void set_weights(double proximal, bool with_quadratic);
  void set_norm_weights();
  double harmless_residual() const;
  void reduce_norm_rhs(double residual_share);
  void recover_norm();
  HingeRows hinge_rows();

  Iterate& iterate_;
  const CanonicalProblem& problem_;
  const InteriorPointSettings& settings_;
  Recovery& recovery_;
  NormalEquations normal_;
  Vector rhs_;
  Vector inverse_sum_;  // of each hinge: 1 / (the sum of its two weights)
  double proximal_ = 0;
  double rhs_norm_ = 0;  // largest of the last direction and its corrections
  int poor_directions_ = 0;
  bool harmful_ = false;
};

}  // namespace bregmax::internal
