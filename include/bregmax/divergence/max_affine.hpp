#pragma once

#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// phi(x) = max_k <slopes.row(k), x> + offsets(k).
//
// D(point, reference) = phi(point) - (<a_p, point> + b_p) with p = piece(reference): D depends on the reference only
// through its piece. Where several pieces attain the maximum at a reference (optimal solutions have many such ties at
// training rows), the rule is: ...   [documented by the implementation; see docs/mathematics.md]
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
