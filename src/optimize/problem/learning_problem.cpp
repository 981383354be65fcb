#include "bregmax/optimize/learning_problem.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

bool is_weight(double value) { return value >= 0 && std::isfinite(value); }
void check_weight(const char* name, double value) {
  if (!is_weight(value)) throw Error(fmt::format("{} is {}; allowed: a finite number >= 0", name, value));
}

std::array<Index, 4> rows_of(const Comparison& item) { return {item.i, item.j, item.k, item.l}; }
template <class TwoRows>
std::array<Index, 2> rows_of(const TwoRows& item) {
  return {item.i, item.j};
}

template <class Items>
void check_items(const char* kind, const Items& items, Index rows) {
  for (std::size_t t = 0; t < items.size(); ++t) {
    for (const Index row : rows_of(items[t])) {
      if (row >= 0 && row < rows) continue;
      throw Error(fmt::format("{} {}: row number {}; allowed: 0 to {}", kind, t, row, rows - 1));
    }
    if (!is_weight(items[t].weight)) check_weight(fmt::format("{} {}: weight", kind, t).c_str(), items[t].weight);
  }
  if (items.size() == 0) throw Error(fmt::format("the supervision has no {}s; at least one is needed", kind));
}

void check_supervision(const Supervision& supervision, Index rows) {
  if (const auto* comparisons = std::get_if<Comparisons>(&supervision)) {
    check_items("comparison", *comparisons, rows);
  } else if (const auto* pairs = std::get_if<Pairs>(&supervision)) {
    check_items("pair", *pairs, rows);
  } else if (const auto* labels = std::get_if<LabelPairs>(&supervision)) {
    if (labels->rows() != rows) {
      throw Error(fmt::format("the pairs of labels have {} classes for {} rows", labels->rows(), rows));
    }
    check_weight("the weight of similar pairs", labels->similar_weight);
    check_weight("the weight of dissimilar pairs", labels->dissimilar_weight);
    if (labels->size() == 0) throw Error("the supervision has no pairs; at least one is needed");
  } else {
    const auto& targets = std::get<Targets>(supervision);
    check_items("target", targets, rows);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (std::abs(targets[t].value) <= kLargestTarget) continue;
      throw Error(fmt::format("target {}: value is {}; allowed: a number of at most {} in size", t, targets[t].value,
                              kLargestTarget));
    }
  }
}

void check_centres(const LearningProblem& problem) {
  if (problem.centres.empty()) return;
  if (static_cast<int>(problem.centres.size()) != problem.pieces) {
    throw Error(fmt::format("centres has {} rows for {} pieces", problem.centres.size(), problem.pieces));
  }
  for (std::size_t k = 0; k < problem.centres.size(); ++k) {
    const Index row = problem.centres[k];
    if (row >= 0 && row < problem.points.rows() &&
        problem.piece_of[static_cast<std::size_t>(row)] == static_cast<int>(k)) {
      continue;
    }
    throw Error(fmt::format("the centre of piece {} is row {}; allowed: a row on that piece", k, row));
  }
}

}  // namespace

void validate(const LearningProblem& problem) {
  const Index rows = problem.points.rows();
  if (rows == 0 || problem.points.cols() == 0) {
    throw Error(
        fmt::format("points is {} x {}; at least one row and one feature are needed", rows, problem.points.cols()));
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < problem.points.cols(); ++j) {
      if (!std::isfinite(problem.points(i, j))) {
        throw Error(fmt::format("points row {} feature {} is {}; allowed: finite numbers", i, j, problem.points(i, j)));
      }
    }
  }
  if (problem.pieces < 1) throw Error(fmt::format("pieces is {}; allowed: 1 or more", problem.pieces));
  if (static_cast<Index>(problem.piece_of.size()) != rows) {
    throw Error(fmt::format("piece_of has {} entries for {} rows", problem.piece_of.size(), rows));
  }
  std::vector<bool> seen(static_cast<std::size_t>(problem.pieces), false);
  for (std::size_t i = 0; i < problem.piece_of.size(); ++i) {
    const int piece = problem.piece_of[i];
    if (piece < 0 || piece >= problem.pieces) {
      throw Error(fmt::format("row {} is on piece {}; allowed: 0 to {}", i, piece, problem.pieces - 1));
    }
    seen[static_cast<std::size_t>(piece)] = true;
  }
  for (std::size_t k = 0; k < seen.size(); ++k) {
    if (!seen[k]) throw Error(fmt::format("piece {} has no row; every piece needs at least one", k));
  }
  check_centres(problem);
  check_weight("lambda", problem.lambda);
  if (!(problem.lipschitz_bound > 0)) {
    throw Error(fmt::format("the Lipschitz bound is {}; allowed: a number > 0", problem.lipschitz_bound));
  }
  check_supervision(problem.supervision, rows);
}

}  // namespace bregmax
