#pragma once

#include "optimize/problem/canonical_problem.hpp"
#include "optimize/problem/entry_set.hpp"
#include "optimize/problem/feature_grid.hpp"

namespace bregmax::internal {

// The linear map (z, a) -> D of a canonical problem on a set of entries, and its adjoint. Values are in the order of
// the set's positions.
class DivergenceGrid {
 public:
  DivergenceGrid(const CanonicalProblem& problem, const EntrySet& entries) : problem_(problem), entries_(entries) {}

  // values = D(z, slopes) of the set; slopes is pieces x features, row-major.
  void apply(const double* z, const double* slopes, double* values);
  // The same for every entry of the grid: number piece * locations + location.
  void apply_everywhere(const double* z, const double* slopes, double* grid);
  // z_out, slopes_out = D'(values): overwritten.
  void adjoint(const double* values, double* z_out, double* slopes_out);

 private:
  void set_constants(const double* z, const double* slopes);
  void sum_members(const double* values, double* slopes_out);

  const CanonicalProblem& problem_;
  const EntrySet& entries_;
  FeatureGrid whole_{problem_.location, problem_.pieces};
  Vector owner_value_ = Vector(problem_.locations), column_sum_ = owner_value_;
  Vector piece_constant_ = Vector(problem_.pieces), row_sum_ = piece_constant_;
};

}  // namespace bregmax::internal
