#include "optimize/hard_problems.hpp"

#include <algorithm>
#include <cmath>

namespace bregmax::test {
namespace {

Index between(Random& random, Index low, Index high) { return low + random.uniform_index(high - low + 1); }

// Rows, pieces (own, cells or arbitrary) and items, before the family spoils something.
LearningProblem ordinary(Random& random, Kind kind) { return random_problem(random, kind); }

// The same with every row on a piece of its own.
LearningProblem on_rows(Random& random, Kind kind, Matrix points) {
  const double lambda = std::pow(10, -2 + 3 * random.uniform());
  auto supervision = random_supervision(random, kind, points.rows(), between(random, 1, 40));
  return make_problem(std::move(points), std::move(supervision), lambda);
}

LearningProblem duplicate_rows(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  for (Index copy = 0; copy < problem.points.rows(); ++copy) {
    if (random.uniform() < 0.4) {
      problem.points.row(copy) = problem.points.row(random.uniform_index(problem.points.rows())).eval();
    }
  }
  return problem;
}

LearningProblem all_rows_equal(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  problem.points.rowwise() = problem.points.row(0).eval();
  return problem;
}

LearningProblem constant_features(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  problem.points.col(random.uniform_index(problem.points.cols())).setConstant(random.normal());
  return problem;
}

LearningProblem nearly_constant_features(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  auto feature = problem.points.col(random.uniform_index(problem.points.cols()));
  feature.array() = 3 + 1e-9 * feature.array();
  return problem;
}

LearningProblem tiny_features(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  problem.points *= 1e-6;
  return problem;
}

LearningProblem huge_features(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  problem.points *= 1e6;
  return problem;
}

LearningProblem mixed_features(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  constexpr double kUnits[] = {1e-6, 1, 1e6};
  for (Index j = 0; j < problem.points.cols(); ++j) problem.points.col(j) *= kUnits[random.uniform_index(3)];
  return problem;
}

// Hardly anything holds the slopes of the feature with the largest unit: they may become as large as those of the
// feature with the smallest unit, which is 1e12 times what the rows need.
LearningProblem mixed_features_at(double lambda, Random& random, Kind kind) {
  LearningProblem problem = mixed_features(random, kind);
  problem.lambda = lambda;
  problem.lipschitz_bound = kNoBound;
  return problem;
}

LearningProblem mixed_features_lambda_zero(Random& random, Kind kind) { return mixed_features_at(0, random, kind); }

LearningProblem mixed_features_lambda_1e_minus_8(Random& random, Kind kind) {
  return mixed_features_at(1e-8, random, kind);
}

LearningProblem far_from_zero(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  for (Index j = 0; j < problem.points.cols(); ++j) problem.points.col(j).array() += 1e5 * random.normal();
  return problem;
}

LearningProblem integer_grid(Random& random, Kind kind) {
  Matrix points(between(random, 2, 14), between(random, 1, 3));
  for (double& x : points.reshaped()) x = static_cast<double>(random.uniform_index(4));
  return on_rows(random, kind, std::move(points));
}

LearningProblem rows_on_a_line(Random& random, Kind kind) {
  const Index rows = between(random, 2, 10), features = between(random, 1, 4);
  return on_rows(random, kind, normal_rows(random, rows, 1) * normal_rows(random, 1, features));
}

LearningProblem more_features_than_rows(Random& random, Kind kind) {
  const Index rows = between(random, 2, 5);
  return on_rows(random, kind, normal_rows(random, rows, rows + 5));
}

LearningProblem one_row(Random& random, Kind kind) {
  return on_rows(random, kind, normal_rows(random, 1, between(random, 1, 3)));
}

LearningProblem one_feature(Random& random, Kind kind) {
  return on_rows(random, kind, normal_rows(random, between(random, 1, 12), 1));
}

LearningProblem one_item(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  problem.supervision = random_supervision(random, kind, problem.points.rows(), 1);
  return problem;
}

LearningProblem self_items(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  if (auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
    for (auto& item : *comparisons) {
      if (random.uniform() < 0.4) item.j = item.i;
      if (random.uniform() < 0.4) item.l = item.k;
    }
  } else if (auto* pairs = std::get_if<Pairs>(&problem.supervision)) {
    for (auto& item : *pairs) item.j = random.uniform() < 0.5 ? item.i : item.j;
  } else {
    for (auto& item : std::get<Targets>(problem.supervision)) item.j = random.uniform() < 0.5 ? item.i : item.j;
  }
  return problem;
}

// Every item with its opposite.
LearningProblem contradictory_items(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  if (auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
    for (std::size_t t = 0, count = comparisons->size(); t < count; ++t) {
      const Comparison item = (*comparisons)[t];
      comparisons->push_back({item.k, item.l, item.i, item.j});
    }
  } else if (auto* pairs = std::get_if<Pairs>(&problem.supervision)) {
    for (std::size_t t = 0, count = pairs->size(); t < count; ++t) {
      const Pair item = (*pairs)[t];
      pairs->push_back({item.i, item.j, !item.similar});
    }
  } else {
    auto& targets = std::get<Targets>(problem.supervision);
    for (std::size_t t = 0, count = targets.size(); t < count; ++t) {
      const Target item = targets[t];
      targets.push_back({item.i, item.j, -item.value});
    }
  }
  return problem;
}

LearningProblem repeated_items(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  change_items(problem.supervision, [&](auto& items) {
    for (std::size_t t = 0, count = items.size(); t < 3 * count; ++t) {
      const auto item = items[static_cast<std::size_t>(random.uniform_index(static_cast<Index>(count)))];
      items.push_back(item);
    }
  });
  return problem;
}

LearningProblem uneven_weights(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  change_items(problem.supervision, [&](auto& items) {
    for (auto& item : items) item.weight = random.uniform() < 0.3 ? 0 : std::pow(10, -4 + 8 * random.uniform());
  });
  return problem;
}

LearningProblem zero_weights(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  change_items(problem.supervision, [&](auto& items) {
    for (auto& item : items) item.weight = 0;
  });
  return problem;
}

template <int exponent>
LearningProblem lambda_of_ten_to(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  problem.lambda = std::pow(10, exponent);
  problem.lipschitz_bound = kNoBound;
  return problem;
}

LearningProblem lambda_zero(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  problem.lambda = 0;
  problem.lipschitz_bound = kNoBound;
  return problem;
}

template <int exponent>
LearningProblem bound_of_ten_to(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  if (random.uniform() < 0.5) problem.lambda = 0;
  problem.lipschitz_bound = std::pow(10, exponent);
  return problem;
}

LearningProblem arbitrary_pieces(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  const Index rows = problem.points.rows();
  problem.pieces = static_cast<int>(between(random, 1, rows));
  problem.piece_of = random_pieces(random, rows, problem.pieces);
  return problem;
}

LearningProblem duplicates_across_pieces(Random& random, Kind kind) {
  LearningProblem problem = arbitrary_pieces(random, kind);
  const Index locations = between(random, 1, problem.points.rows());
  for (Index i = locations; i < problem.points.rows(); ++i) {
    problem.points.row(i) = problem.points.row(random.uniform_index(locations)).eval();
  }
  return problem;
}

LearningProblem one_piece(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  problem.pieces = 1;
  std::fill(problem.piece_of.begin(), problem.piece_of.end(), 0);
  return problem;
}

LearningProblem targets_of_any_size(Random& random, Kind kind) {
  LearningProblem problem = ordinary(random, kind);
  const double unit = std::pow(10, -6 + 12 * random.uniform());
  if (auto* targets = std::get_if<Targets>(&problem.supervision)) {
    for (auto& item : *targets) item.value = unit * random.normal();
    // The same problem in other units, so that the norm still matters.
    problem.lambda *= unit;
    problem.lipschitz_bound *= unit;
  }
  return problem;
}

// Far fewer items than divergences, and neither lambda nor a bound on L: nothing holds what the items leave open.
LearningProblem few_items_and_no_price(Random& random, Kind kind) {
  const Index rows = 20 + static_cast<Index>(random.uniform_index(20)), items = rows / 2;
  Matrix points = normal_rows(random, rows, 1 + static_cast<Index>(random.uniform_index(3)));
  Supervision supervision = random_supervision(random, kind, rows, items);
  if (auto* targets = std::get_if<Targets>(&supervision)) {
    for (auto& item : *targets) {
      item.value = (points.row(item.i) - points.row(item.j)).squaredNorm() + 0.3 * random.normal();
    }
  }
  return make_problem(std::move(points), std::move(supervision), 0);
}

constexpr Family kFamilies[] = {
    {"ordinary", ordinary},
    {"duplicate_rows", duplicate_rows},
    {"all_rows_equal", all_rows_equal},
    {"constant_features", constant_features},
    {"nearly_constant_features", nearly_constant_features},
    {"tiny_features", tiny_features},
    {"huge_features", huge_features},
    {"mixed_features", mixed_features, true, true},
    {"mixed_features_lambda_zero", mixed_features_lambda_zero, false, true},
    {"mixed_features_lambda_1e_minus_8", mixed_features_lambda_1e_minus_8, false, true},
    {"far_from_zero", far_from_zero},
    {"integer_grid", integer_grid},
    {"rows_on_a_line", rows_on_a_line},
    {"more_features_than_rows", more_features_than_rows},
    {"one_row", one_row},
    {"one_feature", one_feature},
    {"one_item", one_item},
    {"self_items", self_items},
    {"contradictory_items", contradictory_items},
    {"repeated_items", repeated_items},
    {"uneven_weights", uneven_weights},
    {"zero_weights", zero_weights},
    {"lambda_zero", lambda_zero},
    {"few_items_and_no_price", few_items_and_no_price},
    {"lambda_1e_minus_8", lambda_of_ten_to<-8>},
    {"lambda_1e8", lambda_of_ten_to<8>},
    {"bound_1e_minus_6", bound_of_ten_to<-6>},
    {"bound_1e6", bound_of_ten_to<6>},
    {"arbitrary_pieces", arbitrary_pieces},
    {"duplicates_across_pieces", duplicates_across_pieces},
    {"one_piece", one_piece},
    {"targets_of_any_size", targets_of_any_size},
};

}  // namespace

std::span<const Family> hard_families() { return kFamilies; }

}  // namespace bregmax::test
