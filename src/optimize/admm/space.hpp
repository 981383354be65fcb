#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "optimize/problem/canonical_problem.hpp"

namespace bregmax::internal {

enum class EntryKind : std::uint8_t { kFree, kEqual, kZero };  // D >= 0; D = 0 by a constraint; by construction

// The losses and constraints of each entry of a set, by position, in canonical units. Empty: none.
struct EntryCosts {
  Vector linear;             // cost of D
  Vector hinge;              // weight of max(0, margin - D)
  double margin = 0;         // the same for all
  Vector quadratic, target;  // quadratic (D - target)^2
  std::vector<EntryKind> kind;
  Vector distance;  // of the row from the anchor of the piece, relative to the mean in the set: 1e-4 to 1

  double linear_of(Index p) const { return linear.size() > 0 ? linear(p) : 0; }
  double hinge_of(Index p) const { return hinge.size() > 0 ? hinge(p) : 0; }
  double distance_of(Index p) const { return distance.size() > 0 ? distance(p) : 1; }
  EntryKind kind_of(Index p) const { return kind.empty() ? EntryKind::kFree : kind[p]; }
};

// Multipliers by position; those of the coupled hinges in their order.
struct EntryMultipliers {
  Vector convexity;   // of D >= 0; equality entries: of D = 0, of any sign
  Vector hinge;       // of max(0, margin - D)
  Vector divergence;  // D of each entry; empty without targets
  Vector coupled;
};

// A working set of entries of the divergence grid as AdmmEntries sees it: linear functions of the unknowns
// x = (offsets, slopes), their losses, and the least squares problem of block one. The set can grow.
class AdmmSpace {
 public:
  virtual ~AdmmSpace() = default;

  virtual const CanonicalUnits& units() const = 0;
  Index offsets() const { return units().z_count; }
  virtual Index unknowns() const = 0;  // offsets, pieces x features slopes, perhaps unused ones

  virtual Index size() const = 0;
  virtual const EntryCosts& costs() const = 0;
  // Hinges on the difference of two entries, `plus` and `minus` being positions.
  virtual const std::vector<HingeItem>& coupled() const = 0;

  // values = D(x) of the set; x = D'(values).
  virtual void apply(const double* x, double* values) = 0;
  virtual void adjoint(const double* values, double* x) = 0;

  // The matrix sum_e weight_e m_e m_e' + diag(slope_weight of the piece) + proximal. False: not positive definite in
  // floating point.
  static constexpr int kMostFactorizations = 10;  // attempts, with ever larger proximal terms
  virtual bool factor(const Vector& weight, const Vector& slope_weight, double proximal) = 0;
  virtual void solve(const double* right, double* x) = 0;

  // Adds entries whose divergence at x is below the limit. Returns the new position of each old one; empty: no change.
  virtual std::vector<Index> grow(const double* x, double limit) = 0;

  virtual DualSolution dual_solution(const EntryMultipliers& multipliers) const = 0;

  // The members of the set as numbers, and the way back, for checkpoints.
  virtual std::vector<Index> members() const = 0;
  virtual void set_members(const std::vector<Index>& members) = 0;
};

std::unique_ptr<AdmmSpace> make_canonical_space(const LearningProblem& problem);
std::unique_ptr<AdmmSpace> make_row_space(const LearningProblem& problem);
double predict_canonical_memory(const LearningProblem& problem);
double predict_row_memory(const LearningProblem& problem);

}  // namespace bregmax::internal
