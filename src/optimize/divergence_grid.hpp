#pragma once

#include "optimize/canonical_problem.hpp"

namespace bregmax::internal {

// The linear map (z, a) -> D of a canonical problem, and its adjoint. Grids are flat: piece * locations + location.
class DivergenceGrid {
 public:
  explicit DivergenceGrid(const CanonicalProblem& problem);

  // grid = D(z, slopes); slopes is pieces x features, row-major.
  void apply(const double* z, const double* slopes, double* grid);
  // z_out, slopes_out = D'(grid): overwritten.
  void adjoint(const double* grid, double* z_out, double* slopes_out);

 private:
  const CanonicalProblem& problem_;
  Vector owner_value_, piece_constant_, row_sum_, column_sum_;
};

}  // namespace bregmax::internal
