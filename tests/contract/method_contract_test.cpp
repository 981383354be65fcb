// What every method must do, run over the registry.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/methods/registry.hpp"
#include "bregmax/supervision/sample.hpp"
#include "bregmax/tasks/evaluate.hpp"
#include "bregmax/tasks/ranking.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct LabelledRows {
  Matrix rows;
  ClassOfRow classes;
};

// Three classes at the corners of a triangle in the first two features; two more features are noise of a larger scale,
// so that the Euclidean distance sees little else.
LabelledRows easy_problem(Index count, std::uint64_t seed) {
  constexpr double kCorners[3][2] = {{2, 0}, {-1, 1.8}, {-1, -1.8}};
  Random random(seed);
  LabelledRows data{Matrix(count, 4), ClassOfRow(static_cast<std::size_t>(count))};
  for (Index i = 0; i < count; ++i) {
    const Index row_class = i % 3;
    data.classes[static_cast<std::size_t>(i)] = static_cast<int>(row_class);
    data.rows.row(i) << kCorners[row_class][0] + 0.3 * random.normal(), kCorners[row_class][1] + 0.3 * random.normal(),
        4 * random.normal(), 4 * random.normal();
  }
  return data;
}

// Divergences that see the first two features only, with an error.
Targets informative_targets(const Matrix& rows) {
  Random random(5);
  Vector weights(rows.cols());
  weights << 1, 1, 0, 0;
  const Mahalanobis informative(weights.asDiagonal().toDenseMatrix());
  Targets targets;
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.rows(); ++j) {
      if (i != j) targets.push_back({i, j, informative.value(rows.row(i), rows.row(j)) + 0.1 * random.normal()});
    }
  }
  return targets;
}

double ranking_auc(const Divergence& divergence, const LabelledRows& data) {
  return evaluate_ranking(divergence, data.rows, data.classes).auc;
}

class MethodContract : public ::testing::TestWithParam<std::string> {
 protected:
  const Method& method() const { return method_named(GetParam()); }

  MethodSupervision supervise(const LabelledRows& data) const {
    if (method().from_labels) return data.classes;
    if (method().from_pairs) return all_pairs(data.classes);
    return informative_targets(data.rows);
  }

  Learned learn(const LabelledRows& data, const MethodSettings& settings = {}, const RunControl& control = {}) const {
    return learn_with(method(), data.rows, supervise(data), settings, control);
  }

  // There are no iterations to end.
  bool is_closed_form() const { return GetParam() == "euclidean" || GetParam() == "gmml"; }

  // Random batches end after a planned number of steps, whatever the stationarity.
  bool takes_planned_steps() const { return GetParam() == "smooth" || GetParam() == "deep"; }

  // The least gain in AUC over the Euclidean distance on the easy problem. The generator of wu2009 is a sum of convex
  // functions of all features, so it cannot ignore those that are noise.
  double least_gain() const { return GetParam() == "wu2009" ? 0.05 : 0.2; }

  // Whatever the status, what is returned can be used.
  static void expect_divergence(const Learned& learned, const Matrix& rows) {
    ASSERT_NE(learned.divergence, nullptr);
    const Matrix matrix = learned.divergence->matrix(rows, rows);
    EXPECT_TRUE(matrix.allFinite());
    EXPECT_GE(matrix.minCoeff(), 0);
    for (Index i = 0; i < rows.rows(); ++i) EXPECT_EQ(learned.divergence->value(rows.row(i), rows.row(i)), 0);
    EXPECT_TRUE(std::isfinite(learned.report.objective));
    EXPECT_FALSE(std::isnan(learned.report.stationarity));
    EXPECT_GE(learned.report.seconds, 0);
  }

 private:
  ThreadLimit single_{1};  // the problems are small
};

TEST_P(MethodContract, LearnsSomethingBetterThanEuclidean) {
  const LabelledRows train = easy_problem(90, 1), test = easy_problem(120, 2);
  const Learned learned = learn(train);
  EXPECT_EQ(to_string(learned.report.status), learned.proved ? "optimal" : "converged");
  const double reached = learned.proved ? learned.report.relative_gap : learned.report.stationarity;
  EXPECT_LE(reached, takes_planned_steps() ? 1 : method().limits.tolerance);
  expect_divergence(learned, test.rows);
  const double euclidean = ranking_auc(*make_closed_form("squared_euclidean"), test);
  if (GetParam() == "euclidean") {
    EXPECT_EQ(ranking_auc(*learned.divergence, test), euclidean);
  } else {
    EXPECT_GE(ranking_auc(*learned.divergence, test), euclidean + least_gain()) << euclidean;
  }
}

TEST_P(MethodContract, LearnsFromEveryKindOfSupervisionThatItNames) {
  const LabelledRows train = easy_problem(60, 1);
  const MethodSupervision kinds[] = {train.classes, all_pairs(train.classes), informative_targets(train.rows),
                                     sample_comparisons(train.classes, 50, 1), label_pairs(train.classes)};
  const bool accepted[] = {method().from_labels, method().from_pairs, method().from_targets, method().from_comparisons,
                           method().from_pairs};
  for (std::size_t kind = 0; kind < std::size(kinds); ++kind) {
    if (accepted[kind]) {
      expect_divergence(learn_with(method(), train.rows, kinds[kind]), train.rows);
    } else {
      EXPECT_THAT([&] { learn_with(method(), train.rows, kinds[kind]); },
                  ThrowsMessage<Error>(HasSubstr(GetParam() + " cannot learn from")));
    }
  }
}

TEST_P(MethodContract, IsTheSameForTheSameSeedAndAnyNumberOfThreads) {
  const LabelledRows train = easy_problem(60, 3);
  const MethodSettings settings{.seed = 7};
  const Learned first = learn(train, settings);
  const ThreadLimit two(2);
  const Learned second = learn(train, settings);
  EXPECT_EQ(first.report.iterations, second.report.iterations);
  EXPECT_EQ(first.report.objective, second.report.objective);
  EXPECT_EQ(first.divergence->matrix(train.rows, train.rows), second.divergence->matrix(train.rows, train.rows));
}

TEST_P(MethodContract, HonoursStopAndLimits) {
  const LabelledRows train = easy_problem(60, 4);
  const std::atomic<bool> stop = true;
  RunControl stopped;
  stopped.stop = &stop;
  const double least = GetParam() == "pbdl" ? 1e-12 : 1e-300;  // the solver takes no less
  struct Case {
    MethodSettings settings;
    RunControl control;
    Status expected;
  };
  const Case cases[] = {{{}, stopped, Status::kStopped},
                        {{.tolerance = least, .max_iterations = 1}, {}, Status::kIterationLimit},
                        {{.tolerance = least, .time_limit = 1e-9}, {}, Status::kTimeLimit}};
  for (const Case& each : cases) {
    const Learned learned = learn(train, each.settings, each.control);
    expect_divergence(learned, train.rows);
    EXPECT_LE(learned.report.iterations, 1);
    const Status expected = is_closed_form() ? Status::kConverged : each.expected;
    EXPECT_EQ(to_string(learned.report.status), to_string(expected));
  }
}

TEST_P(MethodContract, ReportsProgressFromTheCallingThread) {
  const LabelledRows train = easy_problem(60, 4);
  const ThreadLimit two(2);
  int reports = 0, last = -1;
  RunControl control;
  control.on_progress = [&, caller = std::this_thread::get_id()](const Progress& progress) {
    ++reports;
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_GE(progress.iteration, last);
    EXPECT_EQ(progress.tolerance, method().limits.tolerance);
    last = progress.iteration;
  };
  const Learned learned = learn(train, {}, control);
  EXPECT_GE(reports, learned.report.iterations > 0 ? 1 : 0);
}

TEST(MethodProgress, NamesTheToleranceOfTheSolverThatAutoTakes) {
  const LabelledRows train = easy_problem(30, 4);
  MethodSettings settings;
  settings.solver.exact_seconds = 0;
  std::vector<double> tolerances;
  RunControl control;
  control.on_progress = [&](const Progress& progress) { tolerances.push_back(progress.tolerance); };
  EXPECT_EQ(learn_with(method_named("pbdl"), train.rows, train.classes, settings, control).proved->solver, "admm");
  ASSERT_FALSE(tolerances.empty());
  EXPECT_THAT(tolerances, ::testing::Each(1e-4));
}

TEST_P(MethodContract, SurvivesTheModelFile) {
  const LabelledRows train = easy_problem(60, 5);
  const Scaling scaling = Scaling::standard(train.rows);
  const MethodFit fit = fit_with(method(), train.rows, supervise(train), scaling, {.seed = 3});
  const Model read = deserialize_model(serialize_model(fit.model), "test");
  const Matrix scaled = scaling.apply(train.rows);
  EXPECT_EQ(read.divergence->matrix(scaled, scaled), fit.model.divergence->matrix(scaled, scaled));
  EXPECT_EQ(serialize_model(read), serialize_model(fit.model));
  EXPECT_EQ(read.record.method, GetParam());
  EXPECT_EQ(read.record.status, to_string(fit.report.status));
  EXPECT_EQ(read.record.seed, 3U);
  // With a proof, the parameters are in other fields of the record.
  EXPECT_EQ(read.record.parameters.size(), fit.proved ? 0 : method().parameters.size());
}

TEST_P(MethodContract, WorksInEveryTask) {
  const LabelledRows train = easy_problem(60, 6), test = easy_problem(45, 7);
  const Learned learned = learn(train);
  EvaluationOptions options;
  options.restarts = 3;
  const EvaluationScores scores =
      evaluate(*learned.divergence, test.rows, test.classes, train.rows, train.classes, options);
  // What a divergence that knows nothing reaches with three equal classes. The Euclidean distance is little better.
  const double gain = GetParam() == "euclidean" ? 0 : 0.15;
  const std::pair<double, double> score_and_chance[] = {{scores.rand_index, 5.0 / 9},
                                                        {scores.purity, 0.45},
                                                        {scores.auc, 0.5},
                                                        {scores.average_precision, 0.35},
                                                        {scores.knn_accuracy, 1.0 / 3}};
  for (const auto& [score, chance] : score_and_chance) {
    EXPECT_GT(score, chance + gain);
    EXPECT_LE(score, 1);
  }
}

TEST_P(MethodContract, TakesDuplicateRowsAndConstantFeatures) {
  LabelledRows train = easy_problem(30, 8);
  Matrix rows(60, 5);
  rows.topLeftCorner(30, 4) = train.rows;
  rows.bottomLeftCorner(30, 4) = train.rows;
  rows.col(3) *= 1e4;
  rows.col(4).setConstant(12.5);
  train.rows = rows;
  train.classes.insert(train.classes.end(), train.classes.begin(), train.classes.end());
  // The last of the copies disagrees with the original about its class.
  train.classes.back() = (train.classes.back() + 1) % 3;
  MethodSupervision supervision = train.classes;
  if (!method().from_labels)
    supervision = method().from_pairs ? MethodSupervision(all_pairs(train.classes))
                                      : MethodSupervision(Targets{{0, 1, 1}, {0, 2, 3}});
  const Learned learned = learn_with(method(), rows, supervision);
  expect_divergence(learned, rows);
  EXPECT_NE(to_string(learned.report.status), "numerical_error");
}

TEST_P(MethodContract, RefusesWhatItCannotLearnFrom) {
  const LabelledRows good = easy_problem(30, 9);
  const MethodSupervision supervision = supervise(good);
  const auto message_of = [&](const Matrix& rows, const MethodSupervision& given, const MethodSettings& settings) {
    try {
      learn_with(method(), rows, given, settings);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Matrix rows = good.rows;
    rows(2, 1) = bad;
    EXPECT_THAT(message_of(rows, supervision, {}), HasSubstr("row 2 feature 1"));
  }
  EXPECT_THAT(message_of(Matrix(0, 4), supervision, {}), HasSubstr("0 x 4"));
  EXPECT_THAT(message_of(good.rows, supervision, {.tolerance = 0}), HasSubstr("the tolerance is 0"));
  EXPECT_THAT(message_of(good.rows, supervision, {.max_iterations = 0}), HasSubstr("the iteration limit is 0"));
  EXPECT_THAT(message_of(good.rows, supervision, {.time_limit = -1}), HasSubstr("the time limit is -1"));
  EXPECT_THAT(message_of(good.rows, supervision, {.parameters = {{"colour", 1}}}), HasSubstr("'colour'"));
  for (const MethodParameter& parameter : method().parameters) {
    EXPECT_THAT(message_of(good.rows, supervision, {.parameters = {{parameter.name, -1e9}}}),
                HasSubstr(parameter.name + " is -1"));
  }
  if (method().from_labels) {
    EXPECT_THAT(message_of(good.rows, ClassOfRow(29), {}), HasSubstr("29 labels for 30 rows"));
    if (GetParam() != "euclidean") {
      EXPECT_THAT(message_of(good.rows, ClassOfRow(30), {}), HasSubstr("1 class"));
    }
  }
  if (method().from_pairs) {
    EXPECT_THAT(message_of(good.rows, Pairs{}, {}), HasSubstr("no pairs"));
    EXPECT_THAT(message_of(good.rows, Pairs{{0, 30, true}}, {}), HasSubstr("pair 0: row number 30"));
    EXPECT_THAT(message_of(good.rows, Pairs{{0, 1, true, -1}}, {}), HasSubstr("pair 0: weight is -1"));
    EXPECT_THAT(message_of(good.rows, label_pairs(ClassOfRow(29)), {}), HasSubstr("29"));
  }
  if (method().from_targets) {
    EXPECT_THAT(message_of(good.rows, Targets{}, {}), HasSubstr("no targets"));
    EXPECT_THAT(message_of(good.rows, Targets{{-1, 0, 1}}, {}), HasSubstr("target 0: row number -1"));
    EXPECT_THAT(message_of(good.rows, Targets{{0, 1, std::nan("")}}, {}), HasSubstr("target 0: value is nan"));
    EXPECT_THAT(message_of(good.rows, Targets{{0, 1, 1e60}}, {}), HasSubstr("target 0: value is 1e+60"));
  }
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : all_methods()) names.push_back(method.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Every, MethodContract, ::testing::ValuesIn(method_names()), [](const auto& tested) {
  std::string label = tested.param;
  std::ranges::replace(label, '-', '_');
  return label;
});

}  // namespace
}  // namespace bregmax
