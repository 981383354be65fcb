#include "bregmax/optimize/learning_problem.hpp"

#include <array>
#include <cmath>

#include "core/checks.hpp"
#include "optimize/problem/items.hpp"

namespace bregmax {
namespace {

using internal::require;

bool is_weight(double value) { return value >= 0 && std::isfinite(value); }
void check_weight(const char* name, double value) {
  require(is_weight(value), "{} is {}; allowed: a finite number >= 0", name, value);
}

std::array<Index, 4> rows_of(const Comparison& item) { return {item.i, item.j, item.k, item.l}; }
template <class TwoRows>
std::array<Index, 2> rows_of(const TwoRows& item) {
  return {item.i, item.j};
}

template <class Items>
void check_each(const char* kind, const Items& items, Index rows) {
  for (std::size_t t = 0; t < items.size(); ++t) {
    for (const Index row : rows_of(items[t])) {
      require(row >= 0 && row < rows, "{} {}: row number {}; allowed: 0 to {}", kind, t, row, rows - 1);
    }
    const double weight = items[t].weight;
    require(is_weight(weight), "{} {}: weight is {}; allowed: a finite number >= 0", kind, t, weight);
  }
  require(items.size() > 0, "the supervision has no {}s; at least one is needed", kind);
}

void check_supervision(const Supervision& supervision, Index rows) {
  if (const auto* comparisons = std::get_if<Comparisons>(&supervision)) {
    internal::check_items(*comparisons, rows);
  } else if (const auto* pairs = std::get_if<Pairs>(&supervision)) {
    internal::check_items(*pairs, rows);
  } else if (const auto* labels = std::get_if<LabelPairs>(&supervision)) {
    require(labels->rows() == rows, "the pairs of labels have {} classes for {} rows", labels->rows(), rows);
    check_weight("the weight of similar pairs", labels->similar_weight);
    check_weight("the weight of dissimilar pairs", labels->dissimilar_weight);
    require(labels->size() > 0, "the supervision has no pairs; at least one is needed");
  } else {
    internal::check_items(std::get<Targets>(supervision), rows);
  }
}

void check_centres(const LearningProblem& problem) {
  if (problem.centres.empty()) return;
  require(std::ssize(problem.centres) == problem.pieces, "centres has {} rows for {} pieces", problem.centres.size(),
          problem.pieces);
  for (int k = 0; k < problem.pieces; ++k) {
    const Index row = problem.centres[k];
    require(row >= 0 && row < problem.points.rows() && problem.piece_of[row] == k,
            "the centre of piece {} is row {}; allowed: a row on that piece", k, row);
  }
}

}  // namespace

void internal::check_items(const Comparisons& comparisons, Index rows) { check_each("comparison", comparisons, rows); }

void internal::check_items(const Pairs& pairs, Index rows) { check_each("pair", pairs, rows); }

void internal::check_items(const Targets& targets, Index rows) {
  check_each("target", targets, rows);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    require(std::abs(targets[t].value) <= kLargestTarget,
            "target {}: value is {}; allowed: a number of at most {} in size", t, targets[t].value, kLargestTarget);
  }
}

void validate(const LearningProblem& problem) {
  const Index rows = problem.points.rows();
  require(problem.points.size() > 0, "points is {} x {}; at least one row and one feature are needed", rows,
          problem.points.cols());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < problem.points.cols(); ++j) {
      const double value = problem.points(i, j);
      require(std::isfinite(value), "points row {} feature {} is {}; allowed: finite numbers", i, j, value);
    }
  }
  require(problem.pieces >= 1, "pieces is {}; allowed: 1 or more", problem.pieces);
  require(std::ssize(problem.piece_of) == rows, "piece_of has {} entries for {} rows", problem.piece_of.size(), rows);
  std::vector<bool> seen(problem.pieces, false);
  for (Index i = 0; i < rows; ++i) {
    const int piece = problem.piece_of[i];
    require(piece >= 0 && piece < problem.pieces, "row {} is on piece {}; allowed: 0 to {}", i, piece,
            problem.pieces - 1);
    seen[piece] = true;
  }
  for (int k = 0; k < problem.pieces; ++k) require(seen[k], "piece {} has no row; every piece needs at least one", k);
  check_centres(problem);
  check_weight("lambda", problem.lambda);
  require(problem.lipschitz_bound > 0, "the Lipschitz bound is {}; allowed: a number > 0", problem.lipschitz_bound);
  check_supervision(problem.supervision, rows);
}

double lipschitz_of(const AffinePieces& pieces) { return pieces.slopes.cwiseAbs().rowwise().sum().maxCoeff(); }

}  // namespace bregmax
