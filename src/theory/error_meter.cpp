#include "theory/error_meter.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "bregmax/core/random.hpp"
#include "core/products.hpp"
#include "theory/placement.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kScoresAtOnce = 1 << 20;  // 8 MB
constexpr Index kClimbs = 4;

// The errors of a max-affine approximator at given points.
class ErrorMeter {
 public:
  ErrorMeter(const CoordinateGenerator& generator, const MaxAffine& approximator)
      : generator_(generator), approximator_(approximator) {}

  // |phi - h|
  Vector value_errors(const MatrixView& points) const {
    Vector errors = generator_.values(points);
    for_each_scores(points, [&](Index row, const auto& scores) { errors(row) -= scores.maxCoeff(); });
    return errors.cwiseAbs();
  }

  struct Gradients {
    Vector errors;            // ||grad phi - a_k||_1 for the worst piece k among those that attain h
    std::vector<int> pieces;  // that piece
    Matrix differences;       // grad phi - a_k
  };
  Gradients gradient_errors(const MatrixView& references) const {
    const Matrix gradients = generator_.gradients(references);
    Gradients out{Vector::Constant(references.rows(), -1), std::vector<int>(references.rows()),
                  Matrix(references.rows(), references.cols())};
    for_each_scores(references, [&](Index row, const auto& scores) {
      const double top = scores.maxCoeff();
      // Any subgradient counts: all pieces that attain the maximum up to rounding.
      const double attained = top - 1e-13 * (1 + std::abs(top));
      int& piece = out.pieces[row];
      for (Index k = 0; k < scores.size(); ++k) {
        if (scores(k) < attained) continue;
        const double error = (gradients.row(row) - approximator_.slopes().row(k)).template lpNorm<1>();
        if (error <= out.errors(row)) continue;
        out.errors(row) = error;
        piece = static_cast<int>(k);
      }
      out.differences.row(row) = gradients.row(row) - approximator_.slopes().row(piece);
    });
    return out;
  }

  // |D_phi - D_h| row by row, where row r of the references takes the subgradient of pieces[r].
  Vector divergence_errors(const MatrixView& points, const MatrixView& references,
                           const std::vector<int>& pieces) const {
    Vector errors = generator_.divergences(points, references);
    for_each_scores(points,
                    [&](Index row, const auto& scores) { errors(row) -= scores.maxCoeff() - scores(pieces[row]); });
    return errors.cwiseAbs();
  }

 private:
  // Calls use(row, scores <a_k, x> + b_k of that row), a few rows at a time.
  template <class Use>
  void for_each_scores(const MatrixView& points, const Use& use) const {
    const Index block = std::max<Index>(1, kScoresAtOnce / approximator_.pieces());
    for (Index begin = 0; begin < points.rows(); begin += block) {
      Matrix scores(std::min(block, points.rows() - begin), approximator_.pieces());
      internal::set_product_transposed(points.middleRows(begin, scores.rows()), approximator_.slopes(), scores);
      scores.rowwise() += approximator_.offsets().transpose();
      for (Index i = 0; i < scores.rows(); ++i) use(begin + i, scores.row(i));
    }
  }

  const CoordinateGenerator& generator_;
  const MaxAffine& approximator_;
};

// Points at which errors are measured. Up to half of them form a lattice, unless that is too large.
Matrix sample_points(const Box& box, Index cells, Index count, std::uint64_t seed) {
  Random random(seed);
  const Index most = count / 2;
  Index per_axis = cells + 1;
  if (cells == 0 || lattice_size(per_axis, box.dimension(), most) > most) per_axis = 2;
  const Index on_lattice = lattice_size(per_axis, box.dimension(), most);
  if (on_lattice > most) return random_points(box, count, random);
  Matrix points(count, box.dimension());
  points << lattice_points(box, per_axis), random_points(box, count - on_lattice, random);
  return points;
}

// Errors are largest where cells meet, but a lattice of the inner box would miss the corners of cells. So those corners
// that lie in the inner box replace up to half of the points.
void put_cell_corners(const Box& box, const Box& inner, Index cells, Matrix& points) {
  if (cells == 0 || lattice_size(cells + 1, box.dimension(), 1 << 20) > (1 << 20)) return;
  const Matrix corners = lattice_points(box, cells + 1);
  std::vector<Index> usable;
  for (Index r = 0; r < corners.rows(); ++r) {
    const double distance = (corners.row(r).transpose() - inner.center).lpNorm<Eigen::Infinity>();
    if (distance <= inner.radius) usable.push_back(r);
  }
  const Index room = points.rows() / 2;
  const auto found = std::ssize(usable);
  const Index step = std::max<Index>(1, (found + room - 1) / std::max<Index>(1, room));
  Index at = points.rows();
  for (Index u = 0; u < found && at > points.rows() - room; u += step) {
    points.row(--at) = corners.row(usable[u]);
  }
}

using Objective = std::function<double(const Vector&)>;

// Steps along the axes that shrink where none helps: finds a local maximum also where the objective jumps.
double climb(const Objective& objective, Vector at, const Box& box, double step) {
  const Vector low = box.lower(), high = box.upper();
  double best = objective(at);
  const double smallest = 1e-4 * step;
  while (step > smallest) {
    for (bool better = true; better;) {
      better = false;
      for (Index j = 0; j < at.size(); ++j) {
        for (const double side : {-1.0, 1.0}) {
          Vector trial = at;
          trial(j) = std::clamp(at(j) + side * step, low(j), high(j));
          const double value = objective(trial);
          if (value <= best * (1 + 1e-6)) continue;  // real gains only, or it would creep
          best = value;
          at = trial;
          better = true;
        }
      }
    }
    step /= 2;
  }
  return best;
}

double climb_from_worst(const Objective& objective, const Matrix& starts, const Vector& errors, const Box& box,
                        double step, const RunControl& control) {
  std::vector<Index> order(errors.size());
  std::iota(order.begin(), order.end(), 0);
  const Index climbs = std::min(kClimbs, errors.size());
  std::partial_sort(order.begin(), order.begin() + climbs, order.end(),
                    [&](Index a, Index b) { return errors(a) > errors(b); });
  double best = errors(order.front());
  for (Index c = 0; c < climbs && !control.stop_requested(); ++c) {
    best = std::max(best, climb(objective, starts.row(order[c]), box, step));
  }
  return best;
}

// For a fixed reference the difference of the divergences is nearly linear in the point, with the difference of the
// gradients as its slope: it is largest near one of two corners of the inner box.
double largest_divergence_error(const ErrorMeter& meter, const Box& inner, const Matrix& references,
                                const ErrorMeter::Gradients& gradients, double step, const RunControl& control) {
  const Index count = references.rows(), dimension = inner.dimension();
  const Matrix signs = gradients.differences.unaryExpr([](double e) { return e < 0 ? -1.0 : 1.0; });
  const Box both_inner{inner.center.replicate(2, 1), inner.radius};
  double best = 0;
  for (const double side : {-1.0, 1.0}) {
    Matrix corners = side * inner.radius * signs;
    corners.rowwise() += inner.center.transpose();
    const Vector errors = meter.divergence_errors(corners, references, gradients.pieces);
    Matrix starts(count, 2 * dimension);
    starts << corners, references;
    const auto at = [&](const Vector& both) {
      const Matrix point = both.head(dimension).transpose(), reference = both.tail(dimension).transpose();
      return meter.divergence_errors(point, reference, meter.gradient_errors(reference).pieces)(0);
    };
    best = std::max(best, climb_from_worst(at, starts, errors, both_inner, step, control));
  }
  // Also pairs of references: in random order, row i and row i from the end are as good as any pair.
  const Matrix reversed = references.colwise().reverse();
  return std::max(best, meter.divergence_errors(reversed, references, gradients.pieces).maxCoeff());
}

}  // namespace

ApproximationErrors largest_errors(const CoordinateGenerator& generator, const MaxAffine& approximator,
                                   const MeterPlan& plan, const RunControl& control) {
  const ErrorMeter meter(generator, approximator);
  ApproximationErrors largest;
  // A quarter of a cell, or of what a cell would be.
  const double step = plan.cells > 0 ? plan.box.radius / (2 * static_cast<double>(plan.cells)) : plan.box.radius / 16;
  const Matrix points = sample_points(plan.box, plan.cells, plan.samples, plan.seed);
  const auto value_at = [&](const Vector& x) { return meter.value_errors(x.transpose())(0); };
  largest.value = climb_from_worst(value_at, points, meter.value_errors(points), plan.box, step, control);
  const Box inner{plan.box.center, plan.box.radius - plan.margin};
  if (!(inner.radius > 0) || control.stop_requested()) return largest;

  Matrix references = sample_points(inner, 0, plan.samples, plan.seed + 1);
  put_cell_corners(plan.box, inner, plan.cells, references);
  const ErrorMeter::Gradients gradients = meter.gradient_errors(references);
  const auto gradient_at = [&](const Vector& x) { return meter.gradient_errors(x.transpose()).errors(0); };
  largest.gradient = climb_from_worst(gradient_at, references, gradients.errors, inner, step, control);
  if (control.stop_requested()) return largest;
  largest.divergence = largest_divergence_error(meter, inner, references, gradients, step, control);
  return largest;
}

}  // namespace bregmax::internal
