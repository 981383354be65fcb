#pragma once

#include <memory>
#include <string>

#include "bregmax/core/matrix.hpp"

namespace bregmax {

enum class RowRole { kPoint, kReference };

// References (candidates, centroids, stored rows) prepared once, so that many points can be measured against them.
// The rows are copied; the divergence that prepared them must outlive the set.
class ReferenceSet {
 public:
  virtual ~ReferenceSet() = default;
  virtual Index size() const = 0;
  // out(p, r) = D(points.row(p), references.row(r)); out is points.rows() x size().
  virtual void divergences_from(const MatrixView& points, MatrixSpan out) const = 0;
};

// A Bregman divergence D(point, reference) = phi(point) - phi(reference) - <gradient(reference), point - reference>.
//
// D is not symmetric. The FIRST argument is always the point (query, sample), the SECOND always the reference
// (candidate, centroid); every function below says which is which. All of them throw Error when a row has the wrong
// number of features, is not finite (or beyond 1e100, where products overflow), or lies outside the generator's domain.
class Divergence {
 public:
  virtual ~Divergence() = default;

  virtual std::string name() const = 0;  // "max_affine", "kl", ...: also the name in model files
  virtual Index dimension() const = 0;   // number of features; 0: any

  // Divergences from one point that differ by at most this count as equal in rankings and votes, because the solver
  // that learned them does not tell them apart. 0: every digit counts, except for rounding.
  virtual double resolution() const { return 0; }

  virtual Vector generator_values(const MatrixView& points) const = 0;  // phi of each row
  virtual Matrix gradients(const MatrixView& references) const = 0;     // one (sub)gradient of phi per row

  // Points may lie where phi is finite (KL: zeros allowed), references where its gradient is, too.
  void check_points(const MatrixView& points) const { check(points, RowRole::kPoint); }
  void check_references(const MatrixView& references) const { check(references, RowRole::kReference); }

  // Never negative; exactly 0 for equal rows. Computed without the cancellation that the matrix form has.
  double value(const VectorView& point, const VectorView& reference) const;

  virtual std::unique_ptr<ReferenceSet> prepare(const MatrixView& references) const = 0;

  // D(points.row(p), references.row(r)), computed in blocks through BLAS with the threads that OpenMP allows. Never
  // negative; unlike value() it may carry rounding of the size of the generator's values times the machine epsilon.
  Matrix matrix(const MatrixView& points, const MatrixView& references) const;
  // D(points.row(i), references.row(i)).
  Vector rowwise(const MatrixView& points, const MatrixView& references) const;

 protected:
  // Throws Error unless the rows fit; a generator whose domain is smaller than the space checks that, too.
  virtual void check(const MatrixView& rows, RowRole role) const;
  // value() of rows that were already checked.
  virtual double divergence(const VectorView& point, const VectorView& reference) const = 0;
};

}  // namespace bregmax
