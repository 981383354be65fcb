#pragma once

#include <Eigen/Cholesky>
#include <array>
#include <vector>

#include "optimize/problem/canonical_problem.hpp"
#include "oracle/sparse_row.hpp"

namespace bregmax::oracle {

using internal::CanonicalProblem;
using internal::DualPoint;
using internal::HingeItem;
using internal::PrimalPoint;

// Mehrotra's plain predictor-corrector method in double-double arithmetic on the canonical problem: no proximal terms,
// no refinement, no remedies, one dense factorization per iteration. It shares nothing with the fast solver but the
// canonical form, which it takes with features in units of their own deviations. For small problems.
class Method {
 public:
  // caller: the problem whose canonical form is `problem`; rows are taken from it, with all digits. slope_price: an
  // additional cost of each |a_kj|, for slopes that nothing else holds.
  Method(const LearningProblem& caller, const CanonicalProblem& problem, double slope_price);

  // One iteration, with a target of at least `least_mean_product`. False: the linear algebra failed, and the iterate
  // has not changed.
  bool advance(double least_mean_product);
  Index constraints() const;
  // From now on, in place of the problem's.
  void set_lambda(double lambda) { lambda_ = lambda; }

  struct Measures {
    double primal = 0, dual = 0;  // objectives, of the model and of the multipliers
    double lipschitz = 0;         // of the model
    double infeasibility = 0;     // what residuals may cost the bound
  };
  Measures measure();

  PrimalPoint primal_point() const;
  DualPoint dual_point() const;

 private:
  // Constraints s = G x + h >= 0 with multipliers y >= 0; r = G x + h - s.
  struct Constraints {
    Numbers s, y, r, c, ds, dy;

    explicit Constraints(Index size);
    Number weight(Index i) const { return y(i) / s(i); }
    // dy without the part that depends on dx.
    Number pull(Index i) const { return (c(i) - y(i) * r(i)) / s(i); }
    void finish(Index i, const Number& change);  // G dx of the member
    void aim(const Number& target, bool corrected);
    void longest_steps(Number& primal, Number& dual) const;
    void move(const Number& primal, const Number& dual);
  };

  void place_rows(const LearningProblem& caller);
  SparseRow make_row(Index entry) const;
  Index slope(Index piece, Index feature) const { return p_.z_count + piece * p_.features + feature; }
  Index lipschitz() const { return x_.size() - 1; }
  const HingeItem& hinge(Index t) const;

  void start();
  void start_multipliers();
  void set_residuals();
  bool factor();
  void solve();
  void reduce_norms(Numbers& rhs) const;
  void recover_norms();
  Number complementarity(const Number& primal, const Number& dual) const;

  const CanonicalProblem& p_;
  NumberMatrix location_, anchor_;
  Numbers norm_weight_;
  Number lambda_, slope_price_;
  std::vector<SparseRow> free_rows_, equality_rows_, quadratic_rows_, hinge_rows_;
  std::vector<Index> free_entries_, quadratic_entries_;
  Numbers linear_;  // derivative of the linear losses by x
  Constraints convexity_, upper_, lower_, norm_, bound_, over_, nonneg_;
  std::array<Constraints*, 7> all_;
  Numbers x_, t_, zeta_, nu_;  // nu: multipliers of the equality entries
  Numbers dx_, dt_, dzeta_, dnu_;
  Numbers equality_residual_, dual_residual_x_, dual_residual_t_, dual_residual_zeta_;
  NumberMatrix normal_;
  Eigen::LLT<NumberMatrix> factor_;
};

}  // namespace bregmax::oracle
