#include "tasks/lloyd.hpp"

#include <algorithm>

#include "bregmax/divergence/smooth.hpp"
#include "core/products.hpp"
#include "search/tiled_search.hpp"

namespace bregmax::internal {
namespace {

struct Assignment {
  std::vector<int> cluster_of_row;
  Vector divergences;  // D(row, its centroid)
  double objective = 0;
};

void assign(const MeasuredRows& rows, const Matrix& centroids, Assignment& assignment) {
  const MeasuredRows::Centroids prepared = rows.prepare(centroids);
  const Index clusters = centroids.rows(), count = rows.rows().rows();
  const Index step = block_rows(clusters);
  Matrix block(std::min(step, count), clusters);
  for (Index first = 0; first < count; first += step) {
    const Index size = std::min(step, count - first);
    rows.divergences(prepared, first, block.topRows(size));
    for (Index i = 0; i < size; ++i) {
      const double* divergences = block.row(i).data();
      const double* nearest = std::min_element(divergences, divergences + clusters);  // the first of equal ones
      assignment.divergences(first + i) = *nearest;
      assignment.cluster_of_row[first + i] = static_cast<int>(nearest - divergences);
    }
  }
  assignment.objective = assignment.divergences.sum();
}

// Gives each empty cluster the row of largest divergence to its centroid, if any is positive: the objective falls by
// that divergence. A row that is alone in its cluster stays, since the next mean is the row itself.
void reseed_empty_clusters(Assignment& assignment, std::vector<Index>& sizes) {
  for (std::size_t empty = 0; empty < sizes.size(); ++empty) {
    if (sizes[empty] > 0) continue;
    Index farthest = -1;
    for (Index row = 0; row < assignment.divergences.size(); ++row) {
      const int cluster = assignment.cluster_of_row[row];
      if (sizes[cluster] < 2) continue;
      const double largest = farthest < 0 ? 0.0 : assignment.divergences(farthest);
      if (assignment.divergences(row) > largest) farthest = row;
    }
    if (farthest < 0) return;
    int& cluster = assignment.cluster_of_row[farthest];
    --sizes[cluster];
    cluster = static_cast<int>(empty);
    sizes[empty] = 1;
    assignment.divergences(farthest) = 0;
  }
}

// The centroid of an empty cluster stays where it is.
void update_means(const Matrix& rows, const Assignment& assignment, const std::vector<Index>& sizes,
                  Matrix& centroids) {
  for (Index c = 0; c < centroids.rows(); ++c) {
    if (sizes[c] > 0) centroids.row(c).setZero();
  }
  for (Index row = 0; row < rows.rows(); ++row) {
    centroids.row(assignment.cluster_of_row[row]) += rows.row(row);
  }
  for (Index c = 0; c < centroids.rows(); ++c) {
    if (sizes[c] > 0) centroids.row(c) /= static_cast<double>(sizes[c]);
  }
}

Index draw_proportionally(const Vector& weights, Random& random) {
  double left = random.uniform() * weights.sum();
  Index last_positive = 0;
  for (Index i = 0; i < weights.size(); ++i) {
    if (weights(i) <= 0) continue;
    last_positive = i;
    left -= weights(i);
    if (left < 0) break;
  }
  return last_positive;  // rounding may leave a remainder after all of them
}

Index draw_untaken(const std::vector<bool>& taken, Random& random) {
  std::vector<Index> untaken;
  for (Index i = 0; i < std::ssize(taken); ++i) {
    if (!taken[i]) untaken.push_back(i);
  }
  return untaken[random.uniform_index(std::ssize(untaken))];
}

}  // namespace

// For a smooth generator, with o the mean of the rows,
//   D(x, c) = D(x, o) - D(c, o) - <g(c) - g(o), x - c>:
// the generator tilted to be flat at o, so that little is lost when its values cancel. For max-affine divergences we
// use their reference sets, which keep equal divergences exactly equal.
MeasuredRows::MeasuredRows(const Divergence& divergence, const Matrix& rows)
    : divergence_(divergence), rows_(rows), smooth_(dynamic_cast<const SmoothDivergence*>(&divergence) != nullptr) {
  if (!smooth_) return;
  origin_ = rows.colwise().mean();
  slope_at_origin_ = divergence.gradients(origin_);
  heights_ = divergence.rowwise(rows, origin_.replicate(rows.rows(), 1));
}

MeasuredRows::Centroids MeasuredRows::prepare(const MatrixView& centroids) const {
  if (!smooth_) return {divergence_.prepare(centroids), {}, {}};
  Centroids prepared{nullptr, divergence_.gradients(centroids), {}};
  prepared.slopes.rowwise() -= slope_at_origin_.row(0);
  prepared.heights = prepared.slopes.cwiseProduct(centroids).rowwise().sum() -
                     divergence_.rowwise(centroids, origin_.replicate(centroids.rows(), 1));
  return prepared;
}

void MeasuredRows::divergences(const Centroids& centroids, Index first, MatrixSpan out) const {
  const auto block = rows_.middleRows(first, out.rows());
  if (!smooth_) return centroids.set->divergences_from(block, out);
  internal::set_product_transposed(block, centroids.slopes, out);
  out *= -1;
  out.colwise() += heights_.segment(first, out.rows());
  out.rowwise() += centroids.heights.transpose();
  out = out.cwiseMax(0.0);
}

Matrix plus_plus_centroids(const MeasuredRows& measured, Index clusters, Random& random) {
  const Matrix& rows = measured.rows();
  Matrix seeds(clusters, rows.cols());
  std::vector<bool> taken(rows.rows());
  Vector nearest;                    // divergence of each row from its nearest seed
  Matrix from_seed(rows.rows(), 1);  // and from the newest one
  for (Index c = 0; c < clusters; ++c) {
    const bool some_apart = c > 0 && nearest.maxCoeff() > 0;
    const Index row = some_apart ? draw_proportionally(nearest, random) : draw_untaken(taken, random);
    taken[row] = true;
    seeds.row(c) = rows.row(row);
    measured.divergences(measured.prepare(seeds.middleRows(c, 1)), 0, from_seed);
    if (c == 0) nearest = from_seed.col(0);
    nearest = nearest.cwiseMin(from_seed.col(0));
    nearest(row) = 0;  // exactly, whatever the rounding: a row is drawn once
  }
  return seeds;
}

KMeansRun lloyd(const MeasuredRows& measured, Matrix centroids, int max_iterations, const RunControl& control) {
  const Matrix& rows = measured.rows();
  Assignment current{std::vector<int>(rows.rows()), Vector(rows.rows())};
  assign(measured, centroids, current);
  KMeansRun run{current.cluster_of_row, centroids, current.objective, {current.objective}};
  for (int iteration = 1; iteration < max_iterations && !control.stop_requested(); ++iteration) {
    std::vector<Index> sizes(centroids.rows());
    for (const int cluster : current.cluster_of_row) ++sizes[cluster];
    reseed_empty_clusters(current, sizes);
    update_means(rows, current, sizes, centroids);
    assign(measured, centroids, current);
    // In exact arithmetic the objective never rises; where it no longer falls, only rounding or ties move the rows.
    run.converged = !(current.objective < run.objective);
    if (run.converged) break;
    run.cluster_of_row = current.cluster_of_row;
    run.centroids = centroids;
    run.objective = current.objective;
    run.objectives.push_back(current.objective);
  }
  return run;
}

}  // namespace bregmax::internal
