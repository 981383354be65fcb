#pragma once

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// A divergence whose generator is differentiable. A subclass says what phi, its gradient and D are for single rows
// that were already checked; this class adds the checks, the loops and the blocked matrix form
// D = phi(point) - (<g(reference), point> + phi(reference) - <g(reference), reference>): one GEMM.
class SmoothDivergence : public Divergence {
 public:
  Vector generator_values(const MatrixView& points) const final;
  Matrix gradients(const MatrixView& references) const final;
  std::unique_ptr<ReferenceSet> prepare(const MatrixView& references) const final;

 protected:
  void check(const MatrixView& rows, RowRole role) const final;
  virtual double generator(const VectorView& point) const = 0;
  virtual void gradient(const VectorView& reference, VectorSpan out) const = 0;
  // The same for a block of rows, for generators that compute a block faster than row by row.
  virtual void gradients_of_block(const MatrixView& references, MatrixSpan out) const;
  virtual void divergences_of_block(const MatrixView& points, const VectorView& reference, VectorSpan out) const;
  // Throws Error naming `row_number` when the (finite) row lies outside the domain for its role.
  virtual void check_domain(const VectorView& row, Index row_number, RowRole role) const;

  // Whether the matrix form loses fewer digits when everything is measured from the mean of the references. Not so for
  // generators with a boundary at 0: near it the products <g(reference), point> are small, after a shift they are not.
  virtual bool centering_helps() const { return false; }

 private:
  friend class SmoothReferenceSet;
};

}  // namespace bregmax
