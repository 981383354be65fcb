#pragma once

#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// phi(x) = max_k <slopes.row(k), x> + offsets(k).
//
// D(point, reference) = phi(point) - (<a_p, point> + b_p) with p = piece(reference): D depends on the reference only
// through its piece.
//
// Ties. Optimal solutions have many rows at which several pieces attain the maximum, exactly or up to the solver's
// tolerance. The piece of a reference is the LOWEST-NUMBERED piece whose score is within 1e-9 (1 + |phi(reference)|) of
// the maximum. That is one fixed subgradient a reference (to that tolerance), so the mean of a set of points still
// minimises their summed divergence. Exact and near ties are decided alike by the blocked and the scalar path, whose
// rounding differs, as long as that rounding is below the tolerance: slopes and offsets that cancel to a phi more than
// about 1e6 times smaller than <a_k, x> are beyond it. In return, a divergence of at most 1e-9 (1 + |phi(point)|) is
// rounding and is reported as exactly 0.
class MaxAffine final : public Divergence {
 public:
  MaxAffine(Matrix slopes, Vector offsets);

  const Matrix& slopes() const { return slopes_; }
  const Vector& offsets() const { return offsets_; }
  Index pieces() const { return slopes_.rows(); }

  std::vector<int> pieces_of(const MatrixView& references) const;

  std::string name() const override { return "max_affine"; }
  Index dimension() const override { return slopes_.cols(); }
  Vector generator_values(const MatrixView& points) const override;
  Matrix gradients(const MatrixView& references) const override;
  void check_points(const MatrixView& points) const override;
  void check_references(const MatrixView& references) const override;
  double value(const VectorView& point, const VectorView& reference) const override;
  std::unique_ptr<ReferenceSet> prepare(const MatrixView& references) const override;

 private:
  Matrix slopes_;
  Vector offsets_;
};

}  // namespace bregmax
