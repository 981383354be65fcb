#include "bregmax/optimize/learning_problem.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

class ItemCheck {
 public:
  explicit ItemCheck(Index rows) : rows_(rows) {}

  void operator()(const Comparisons& items) const {
    for (std::size_t t = 0; t < items.size(); ++t) {
      check_rows("comparison", t, {items[t].i, items[t].j, items[t].k, items[t].l});
      check_weight("comparison", t, items[t].weight);
    }
    check_count("comparisons", items.size());
  }
  void operator()(const Pairs& items) const {
    for (std::size_t t = 0; t < items.size(); ++t) {
      check_rows("pair", t, {items[t].i, items[t].j});
      check_weight("pair", t, items[t].weight);
    }
    check_count("pairs", items.size());
  }
  void operator()(const LabelPairs& items) const {
    if (items.rows() != rows_) {
      throw Error(fmt::format("the pairs of labels have {} classes for {} rows", items.rows(), rows_));
    }
    check_kind("similar", items.similar_weight);
    check_kind("dissimilar", items.dissimilar_weight);
    check_count("pairs", items.size());
  }
  void operator()(const Targets& items) const {
    for (std::size_t t = 0; t < items.size(); ++t) {
      check_rows("target", t, {items[t].i, items[t].j});
      check_weight("target", t, items[t].weight);
      if (!(std::abs(items[t].value) <= kLargestTarget)) {
        throw Error(fmt::format("target {}: value is {}; allowed: a number of at most {} in size", t, items[t].value,
                                kLargestTarget));
      }
    }
    check_count("targets", items.size());
  }

 private:
  void check_rows(const char* kind, std::size_t item, std::initializer_list<Index> members) const {
    for (const Index row : members) {
      if (row < 0 || row >= rows_) {
        throw Error(fmt::format("{} {}: row number {}; allowed: 0 to {}", kind, item, row, rows_ - 1));
      }
    }
  }
  static void check_weight(const char* kind, std::size_t item, double weight) {
    if (!(weight >= 0) || !std::isfinite(weight)) {
      throw Error(fmt::format("{} {}: weight is {}; allowed: a finite number >= 0", kind, item, weight));
    }
  }
  static void check_kind(const char* kind, double weight) {
    if (!(weight >= 0) || !std::isfinite(weight)) {
      throw Error(fmt::format("the weight of {} pairs is {}; allowed: a finite number >= 0", kind, weight));
    }
  }
  static void check_count(const char* kind, std::size_t count) {
    if (count == 0) throw Error(fmt::format("the supervision has no {}; at least one is needed", kind));
  }

  Index rows_;
};

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
  if (!(problem.lambda >= 0) || !std::isfinite(problem.lambda)) {
    throw Error(fmt::format("lambda is {}; allowed: a finite number >= 0", problem.lambda));
  }
  if (!(problem.lipschitz_bound > 0)) {
    throw Error(fmt::format("the Lipschitz bound is {}; allowed: a number > 0", problem.lipschitz_bound));
  }
  std::visit(ItemCheck(rows), problem.supervision);
}

}  // namespace bregmax
