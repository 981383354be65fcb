#include "methods/lmnn.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "core/blas.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/large_margin.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"
#include "optimize/gradient/lbfgs.hpp"

namespace bregmax {
namespace {

using internal::ImpostorSet;
using internal::LargeMarginLoss;

// Directions whose variance is this small relative to the largest have no extent.
constexpr double kNoExtent = 1e-12;
// Impostors whose hinge is above minus this are in the working set.
constexpr double kSlack = 0.5;
// The hinges are smoothed over this part of the margin at least: narrower ones make the smooth problems hard.
constexpr double kSmallestWidth = 0.1;
// Below this part of the objective of M = 0, at which every hinge is 1, the loss counts as 0. (Where classes are a
// thousand deviations apart, rounding keeps the gap from becoming small relative to a tenth of that.)
constexpr double kNegligible = 1e-5;
// We stop after this many rounds without a smaller gap: rounding prevents further progress.
constexpr int kStalledRounds = 50;
// A direction in which the derivative with respect to M is below minus this (the pull is 1) is missing from L.
constexpr double kMissingDirection = 1e-3;

// Coordinates u = from^T x in which the targets' part of the objective is the trace of the matrix, on the directions in
// which targets differ. In the others, `free` in number and first in order, only impostors differ.
struct PullCoordinates {
  Matrix rows;
  Eigen::MatrixXd from;  // features x coordinates
  Eigen::MatrixXd back;  // coordinates x features: x = back^T u for differences of rows
  Index free = 0;
};

// The directions in which rows differ, scaled to variance 1; then the axes of the pull there.
PullCoordinates pull_coordinates(const Matrix& centered, LargeMarginLoss& loss) {
  const internal::Whitening whitening(internal::covariance(centered), kNoExtent);
  const Index kept = whitening.from.cols();
  const ImpostorSet nothing{std::vector<Index>(static_cast<std::size_t>(centered.rows()) + 1, 0), {}, {0}};
  const internal::SymmetricEigen pull(loss.metric_gradient(internal::product(centered, whitening.from), nothing, {}));
  PullCoordinates coordinates;
  Vector extents = pull.values;
  while (coordinates.free < kept && extents(coordinates.free) <= kNoExtent * extents(kept - 1)) ++coordinates.free;
  // A free direction has no natural unit; it gets the smallest unit of the others.
  extents.head(coordinates.free).setConstant(coordinates.free < kept ? extents(coordinates.free) : 1.0);
  coordinates.from = internal::product(whitening.from, pull.vectors) * extents.cwiseSqrt().cwiseInverse().asDiagonal();
  coordinates.back = extents.cwiseSqrt().asDiagonal() * internal::transposed_product(pull.vectors, whitening.back);
  coordinates.rows = internal::product(centered, coordinates.from);
  return coordinates;
}

// The working set `fresh` with the impostors of `old` that still have multipliers, which are kept.
ImpostorSet merge(const ImpostorSet& fresh, const ImpostorSet& old, const std::vector<double>& old_multipliers,
                  const internal::TargetNeighbours& targets, std::vector<double>& multipliers) {
  ImpostorSet merged;
  merged.begin.push_back(0);
  merged.first_triplet.push_back(0);
  multipliers.clear();
  std::vector<std::pair<int, const double*>> impostors;  // of one row, with their multipliers; null: all 0
  for (std::size_t i = 0; i + 1 < fresh.begin.size(); ++i) {
    const Index count = targets.count(static_cast<Index>(i));
    impostors.clear();
    for (auto l = static_cast<std::size_t>(old.begin[i]); l < static_cast<std::size_t>(old.begin[i + 1]); ++l) {
      const double* values = old_multipliers.data() + old.first_triplet[l];
      if (std::any_of(values, values + count, [](double a) { return a > 0; })) {
        impostors.emplace_back(old.rows[l], values);
      }
    }
    const auto kept = static_cast<std::ptrdiff_t>(impostors.size());
    for (Index f = fresh.begin[i]; f < fresh.begin[i + 1]; ++f) {
      impostors.emplace_back(fresh.rows[f], nullptr);
    }
    // If an impostor is in both, the old entry comes first and is kept.
    const auto by_row = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::inplace_merge(impostors.begin(), impostors.begin() + kept, impostors.end(), by_row);
    int last = -1;
    for (const auto& [impostor, values] : impostors) {
      if (std::exchange(last, impostor) == impostor) continue;
      merged.rows.push_back(impostor);
      merged.first_triplet.push_back(merged.first_triplet.back() + count);
      for (Index j = 0; j < count; ++j) multipliers.push_back(values == nullptr ? 0 : values[j]);
    }
    merged.begin.push_back(merged.size());
  }
  return merged;
}

// L with L^T L = metric; eigenvalues that rounding made negative count as 0.
Matrix square_root(const Eigen::MatrixXd& metric) {
  const internal::SymmetricEigen eigen(metric);
  return eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal() * eigen.vectors.transpose();
}

class LmnnSolver {
 public:
  LmnnSolver(LargeMarginLoss& loss, const PullCoordinates& coordinates, const MethodLimits& limits,
             const internal::IterationWatch& watch)
      : loss_(loss),
        coordinates_(coordinates),
        limits_(limits),
        watch_(watch),
        negligible_(kNegligible * loss.mu() * loss.triplets()) {}

  // `start`: coordinates x coordinates. Returns the best transform.
  Matrix solve(const Matrix& start) {
    state_.at = best_multiple(Eigen::Map<const Vector>(start.data(), start.size()));
    set_ = loss_.find_impostors(embed(state_.at), kSlack);
    multipliers_.assign(set_.triplets(), 0.0);
    note_objective();
    std::optional<Status> end = watch_.end_after(0, best_objective_, gap());
    while (!end) end = improve();
    report_ = watch_.report(iterations_, best_objective_, gap());
    report_.status = *end;
    return Eigen::Map<const Matrix>(best_.data(), start.rows(), start.cols());
  }

  const MethodReport& report() const { return report_; }
  double lower_bound() const { return lower_bound_; }

 private:
  const Matrix& embed(const Vector& at) {
    const Matrix& u = coordinates_.rows;
    embedded_.resize(u.rows(), u.cols());
    internal::gemm(false, true, u.rows(), u.cols(), u.cols(), 1, u.data(), u.cols(), at.data(), u.cols(), 0,
                   embedded_.data(), u.cols());
    return embedded_;
  }

  // The objective over all triplets.
  double objective_at(const Vector& at) {
    const Matrix& embedded = embed(at);
    return loss_.evaluate(embedded, loss_.find_impostors(embedded, 0), 0, {}, embedded_gradient_);
  }

  // Scales by powers of two: where classes are far apart the start has no impostors, and without them L would become 0.
  Vector best_multiple(Vector at) {
    double value = objective_at(at);
    for (const double factor : {0.5, 2.0}) {
      for (Vector next = factor * at; objective_at(next) < value; next *= factor) {
        at = next;
        value = objective_at(at);
      }
    }
    return at;
  }

  double smooth_objective(const Vector& at, VectorSpan gradient) {
    const Matrix& u = coordinates_.rows;
    const double value = loss_.evaluate(embed(at), set_, width_, multipliers_, embedded_gradient_);
    internal::gemm(true, false, u.cols(), u.cols(), u.rows(), 1, embedded_gradient_.data(), u.cols(), u.data(),
                   u.cols(), 0, gradient.data(), u.cols());
    return value;
  }

  // One round: minimise the smooth problem, then look at all triplets and move the multipliers.
  std::optional<Status> improve() {
    std::optional<Status> end;
    state_.evaluations = 0;
    const int before = state_.iterations;
    internal::LbfgsOptions options{.memory = 20, .max_iterations = 300};
    options.decrease_tolerance = std::clamp(1e-5 * gap(), 1e-12, 1e-6);
    options.patience = 3;
    minimise_lbfgs([this](const Vector& at, VectorSpan gradient) { return smooth_objective(at, gradient); }, options,
                   [&](const internal::LbfgsState&) {
                     end = watch_.end_after(++iterations_, best_objective_, gap());
                     return !end;
                   },
                   state_);
    const bool moved = state_.iterations > before;
    std::vector<double> next;
    loss_.evaluate(embed(state_.at), set_, width_, multipliers_, embedded_gradient_, &next);
    note_lower_bound(next);
    note_objective();
    const ImpostorSet fresh = loss_.find_impostors(embed(state_.at), kSlack);
    set_ = merge(fresh, set_, next, loss_.targets(), multipliers_);
    if (gap() > 0.5 * last_gap_) width_ = std::max(0.5 * width_, kSmallestWidth);
    stalled_ = gap() < last_gap_ ? 0 : stalled_ + 1;
    last_gap_ = gap();
    if (gap() <= limits_.tolerance) return Status::kConverged;
    add_missing_direction();
    if (!moved && !end) end = watch_.end_after(iterations_, best_objective_, gap());
    if (stalled_ >= kStalledRounds && !end) return Status::kNumericalError;
    return end;
  }

  // If a row of L has become 0, so has its gradient, although the direction may lower the objective in M. We add the
  // direction again if that lowers the smooth objective.
  void add_missing_direction() {
    if (missing_.isZero(0)) return;
    const Index size = coordinates_.rows.cols();
    const Eigen::Map<const Matrix> transform(state_.at.data(), size, size);
    const Matrix metric = internal::transposed_product(transform, transform);
    Vector unused(state_.at.size());
    const double value = smooth_objective(state_.at, unused);
    // If L is 0, we begin with the length that gives the farthest rows a distance of 1.
    const double farthest = coordinates_.rows.rowwise().squaredNorm().maxCoeff();
    double length = std::max(metric.trace() / static_cast<double>(size), 1 / farthest);
    for (int trial = 0; trial < 12; ++trial, length /= 4) {
      const Matrix root = square_root(metric + length * missing_ * missing_.transpose());
      const Vector at = Eigen::Map<const Vector>(root.data(), root.size());
      if (smooth_objective(at, unused) >= value) continue;
      state_.at = at;
      return;
    }
  }

  void note_objective() {
    const double objective = objective_at(state_.at);
    if (!(objective < best_objective_)) return;
    best_objective_ = objective;
    best_ = state_.at;
  }

  // The dual problem is to maximise mu sum a over 0 <= a <= 1 with P + S(a) positive semidefinite, where P is the pull
  // (here the identity) and S is linear: t a is feasible for the largest t <= 1 with (1 - t) P + t (P + S(a)) so.
  void note_lower_bound(std::vector<double> multipliers) {
    if (coordinates_.free > 0) drop_free_directions(multipliers);
    const Eigen::MatrixXd gradient = loss_.metric_gradient(coordinates_.rows, set_, multipliers);
    const Index pulled = gradient.rows() - coordinates_.free;
    const internal::SymmetricEigen eigen(gradient.bottomRightCorner(pulled, pulled));
    const double smallest = pulled > 0 ? std::min(0.0, eigen.values(0)) : 0;
    missing_ = Vector::Zero(gradient.rows());
    if (smallest < -kMissingDirection) missing_.tail(pulled) = eigen.vectors.col(0);
    const double sum = std::accumulate(multipliers.begin(), multipliers.end(), 0.0);
    lower_bound_ = std::max(lower_bound_, loss_.mu() * sum / (1 - smallest));
  }

  // Where targets do not differ P is 0, so that the multiplier of an impostor that differs there must be 0.
  void drop_free_directions(std::vector<double>& multipliers) const {
    const auto free = coordinates_.rows.leftCols(coordinates_.free);
    const double extent = 1e-9 * free.cwiseAbs().maxCoeff();
    for (Index i = 0; i < loss_.rows(); ++i) {
      for (Index l = set_.begin[i]; l < set_.begin[i + 1]; ++l) {
        const Index impostor = set_.rows[l];
        if ((free.row(i) - free.row(impostor)).cwiseAbs().maxCoeff() <= extent) continue;
        const auto first = multipliers.begin() + set_.first_triplet[l];
        std::fill(first, first + loss_.targets().count(i), 0.0);
      }
    }
  }

  double gap() const { return std::max(0.0, best_objective_ - lower_bound_) / std::max(best_objective_, negligible_); }

  LargeMarginLoss& loss_;
  const PullCoordinates& coordinates_;
  const MethodLimits& limits_;
  const internal::IterationWatch& watch_;
  double negligible_;  // objective
  internal::LbfgsState state_;
  ImpostorSet set_;
  std::vector<double> multipliers_;  // one per triplet of the set
  double width_ = 1;
  double last_gap_ = 1;
  int stalled_ = 0;  // rounds since the gap became smaller
  int iterations_ = 0;
  Vector best_;
  double best_objective_ = std::numeric_limits<double>::infinity();
  double lower_bound_ = 0;
  Vector missing_;  // see add_missing_direction(); 0: none
  MethodReport report_;
  Matrix embedded_, embedded_gradient_;
};

}  // namespace

internal::LmnnResult internal::learn_lmnn(const MatrixView& rows, const ClassOfRow& class_of_row,
                                          const MethodChoices& choices, const RunControl& control,
                                          const Matrix* start) {
  if ((rows.rowwise() - rows.row(0)).isZero(0)) {
    throw Error("all rows are equal, so that no metric tells them apart; at least two different rows are needed");
  }
  const IterationWatch watch(choices.limits, control);
  const OrderedRows train = order_by_class(rows, class_of_row);
  const Matrix centered = internal::centered(train.rows);
  LargeMarginLoss loss(train.classes, nearest_of_class(centered, train.classes, choices.whole("neighbours")),
                       choices.number("push"));
  const PullCoordinates coordinates = pull_coordinates(centered, loss);

  const Matrix first =
      start == nullptr ? Matrix(coordinates.back.transpose()) : internal::product_transposed(*start, coordinates.back);
  LmnnSolver solver(loss, coordinates, choices.limits, watch);
  const Matrix best = solver.solve(square_root(internal::transposed_product(first, first)));

  LmnnResult result;
  result.transform = internal::product_transposed(best, coordinates.from);
  result.lower_bound = solver.lower_bound();
  result.learned.report = solver.report();
  result.learned.divergence =
      std::make_shared<Mahalanobis>(internal::transposed_product(result.transform, result.transform));
  return result;
}

Method internal::lmnn_method() {
  return {
      .name = "lmnn",
      .summary = "large margin nearest neighbours (Weinberger & Saul 2009)",
      .from_labels = true,
      .parameters = margin_parameters(),
      .limits = {1e-3, 5000, 0},
      .learn =
          [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
             const RunControl& control) {
            return learn_lmnn(rows, std::get<ClassOfRow>(supervision), choices, control).learned;
          },
      .predicted_seconds = [](const FitSize& size, const MethodChoices&) { return 7e-5 * size.rows * size.features; }};
}

}  // namespace bregmax
