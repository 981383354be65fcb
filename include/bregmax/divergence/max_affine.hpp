#pragma once

#include <memory>
#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

namespace internal {
class AffineScores;
}

// phi(x) = max_k <slopes.row(k), x> + offsets(k).
//
// D(point, reference) = phi(point) - (<a_p, point> + b_p) with p = piece(reference): D depends on the reference only
// through its piece.
//
// Ties. The piece of a reference is the LOWEST-NUMBERED piece whose score is within 1e-14 (1 + |phi(reference)|) of the
// maximum. The tolerance is only that of rounding: where several pieces nearly attain the maximum, an interior solution
// leaves a row's own piece ahead by a little, and only that piece gives the divergences that the solver counted. A
// divergence within the tolerance is exactly 0.
//
// The scores of a row are the same to the last bit wherever the row stands: references on one piece are at exactly the
// same divergence from a point, and value() and matrix() agree exactly.
class MaxAffine final : public Divergence {
 public:
  // resolution: see Divergence::resolution(); finite, >= 0.
  MaxAffine(Matrix slopes, Vector offsets, double resolution = 0);

  const Matrix& slopes() const { return slopes_; }
  const Vector& offsets() const { return offsets_; }
  Index pieces() const { return slopes_.rows(); }

  std::vector<int> pieces_of(const MatrixView& references) const;
  // References of which only the pieces are known: each from 0 to pieces() - 1.
  std::unique_ptr<ReferenceSet> prepare_pieces(std::vector<int> pieces) const;

  const internal::AffineScores& scores() const { return *scores_; }  // the kernel behind all of this

  std::string name() const override { return "max_affine"; }
  Index dimension() const override { return slopes_.cols(); }
  double resolution() const override { return resolution_; }
  Vector generator_values(const MatrixView& points) const override;
  Matrix gradients(const MatrixView& references) const override;
  std::unique_ptr<ReferenceSet> prepare(const MatrixView& references) const override;

 protected:
  double divergence(const VectorView& point, const VectorView& reference) const override;

 private:
  Matrix slopes_;
  Vector offsets_;
  double resolution_;
  std::shared_ptr<const internal::AffineScores> scores_;
};

}  // namespace bregmax
