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
// Ties. The piece of a reference is the LOWEST-NUMBERED piece whose score is within 1e-14 (1 + |phi(reference)|), that
// is within rounding, of the maximum: one fixed subgradient per reference, so the mean of a set of points still
// minimises their summed divergence. Optimal solutions have many rows at which several pieces nearly attain the
// maximum. The tolerance is no larger than rounding because an interior solution leaves a row's own piece ahead there
// by a little, and only that piece gives the divergences that the solver counted. A divergence within the tolerance is
// reported as exactly 0.
//
// Every way to a divergence computes the scores of a row alike, to the last bit, wherever the row stands: references on
// one piece are at exactly the same divergence from a point, and so are the numbers of value() and matrix().
class MaxAffine final : public Divergence {
 public:
  MaxAffine(Matrix slopes, Vector offsets);

  const Matrix& slopes() const { return slopes_; }
  const Vector& offsets() const { return offsets_; }
  Index pieces() const { return slopes_.rows(); }

  std::vector<int> pieces_of(const MatrixView& references) const;
  // References of which only the pieces are known: each from 0 to pieces() - 1.
  std::unique_ptr<ReferenceSet> prepare_pieces(std::vector<int> pieces) const;

  const internal::AffineScores& scores() const { return *scores_; }  // the kernel behind all of this

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
  std::shared_ptr<const internal::AffineScores> scores_;
};

}  // namespace bregmax
