// Learning from a number per row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/learn/compare.hpp"
#include "bregmax/learn/run.hpp"
#include "bregmax/tasks/nearest_neighbours.hpp"
#include "bregmax/tasks/scores.hpp"

namespace bregmax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct NumberedRows {
  Matrix rows;
  Vector numbers;

  TrainingData data() const { return {rows, {}, {}, numbers}; }
};

// The number depends on the first of eight features; the last has ten times the spread.
NumberedRows numbered_rows(Index count, std::uint64_t seed = 1) {
  Random random(seed);
  NumberedRows made{Matrix(count, 8), Vector(count)};
  for (Index i = 0; i < count; ++i) {
    for (double& value : made.rows.row(i)) value = random.normal();
    made.rows(i, 7) *= 10;
    made.numbers(i) = 100 + 5 * std::sin(made.rows(i, 0)) + 0.2 * random.normal();
  }
  return made;
}

FitRequest request_of(const std::string& method) {
  FitRequest request;
  request.method = method;
  return request;
}

Plan plan_of(const std::string& method, const TrainingData& data) { return plan(request_of(method), data); }

TEST(RowTargets, ThePlanSaysHowManyPairsAreDrawn) {
  for (const auto& [rows, pairs] : {std::pair<Index, Index>{20, 380}, {100, 2000}, {500, 5000}, {3000, 20000}}) {
    const NumberedRows data = numbered_rows(rows);
    const Plan planned = plan_of("smooth", data.data());
    EXPECT_EQ(planned.target_pairs, pairs) << rows;
    EXPECT_THAT(planned.to_text(), HasSubstr("target_pairs   " + std::to_string(pairs)));
    EXPECT_THAT(planned.summary(1), HasSubstr(std::to_string(pairs) + " pairs of rows"));
    EXPECT_EQ(planned.tune_for, Measure::kR2);
    EXPECT_EQ(planned.folds, 3);
    EXPECT_EQ(planned.repeats, rows <= 200 ? 3 : 1);
  }
}

TEST(RowTargets, FoldsHoldOutRowsAndLearnFromTheOthersAlone) {
  const NumberedRows data = numbered_rows(60);
  const std::vector<Fold> folds = folds_of(plan_of("smooth", data.data()), data.data());
  ASSERT_EQ(folds.size(), 9u);
  for (const Fold& fold : folds) {
    ASSERT_EQ(fold.train_rows.rows(), 40);
    ASSERT_EQ(fold.held_out_rows.rows(), 20);
    EXPECT_NEAR((fold.train_targets.sum() + fold.held_out_targets.sum()) / 60, data.numbers.mean(), 1e-9);
    const auto& items = std::get<Targets>(*fold.train_items);
    EXPECT_EQ(items.size(), 1334u) << "two thirds of 2000, rounded up";
    for (const Target& item : items) EXPECT_TRUE(item.i < 40 && item.j < 40);
    for (Index row = 0; row < 20; ++row) {
      EXPECT_FALSE((MatrixView(fold.train_rows).rowwise() - fold.held_out_rows.row(row)).rowwise().norm().minCoeff() ==
                   0);
    }
  }
  EXPECT_NE(folds[0].held_out_targets, folds[3].held_out_targets) << "of another division";
}

TEST(RowTargets, LearnsWhatTheNumberDependsOn) {
  const NumberedRows train = numbered_rows(150), test = numbered_rows(100, 2);
  const auto r2 = [&](const FitOutcome& outcome) {
    const Model& model = outcome.model;
    return regression_scores(test.numbers, regress_nearest(*model.divergence, model.scaled(train.rows), train.numbers,
                                                           model.scaled(test.rows)))
        .r2;
  };
  const double euclidean = r2(fit(request_of("euclidean"), train.data()));
  for (const char* method : {"smooth", "pbdl", "mahalanobis"}) {
    FitRequest request = request_of(method);
    if (request.method == "pbdl") {
      request.parameters = {{"lambda", 10.0}, {"smoothing", 1.0}, {"pieces", 30.0}};
    }
    const FitOutcome outcome = fit(request, train.data());
    EXPECT_GT(r2(outcome), euclidean + 0.1) << method;
    EXPECT_EQ(outcome.model.record.supervision, "targets");
    EXPECT_EQ(outcome.model.record.drawn, kTargetDifferences);
    EXPECT_EQ(outcome.model.record.items, 2000);
  }
}

TEST(RowTargets, ChoosesByTheNumbersOfHeldOutRows) {
  const NumberedRows data = numbered_rows(120);
  FitRequest request = request_of("euclidean");
  request.scales = {Scale::kNone, Scale::kStandard};
  const FitOutcome outcome = fit(request, data.data());
  EXPECT_EQ(outcome.chosen_scale, Scale::kStandard) << "on raw features the noise drowns everything";
  EXPECT_EQ(outcome.tuning.record.tuned_for, "r2");
  EXPECT_EQ(outcome.tuning.record.measures.back(), "r2");
  const ClassOfRow classes = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  const FitOutcome labelled = fit(request, {data.rows.topRows(10), classes});
  EXPECT_EQ(labelled.tuning.record.measures.back(), "agreement");
  for (const Matrix& scores : outcome.tuning.fold_scores) {
    EXPECT_GT(scores(1, static_cast<Index>(Measure::kR2)), scores(0, static_cast<Index>(Measure::kR2)));
    EXPECT_TRUE(std::isfinite(scores(0, static_cast<Index>(Measure::kLoss))));
    EXPECT_TRUE(std::isnan(scores(0, static_cast<Index>(Measure::kKnn))));
  }
}

TEST(RowTargets, LambdaIsChosen) {
  const NumberedRows data = numbered_rows(30);
  EXPECT_TRUE(plan_of("pbdl", data.data()).main().tried.contains("lambda")) << "given targets have lambda 0";
}

TEST(RowTargets, AreTheSameForOneSeed) {
  const NumberedRows data = numbered_rows(80);
  FitRequest request = request_of("smooth");
  request.parameters = {{"decay", 0.1}, {"feature_price", 0}};
  const auto divergences = [&](std::uint64_t seed) {
    request.seed = seed;
    return Matrix(fit(request, data.data()).model.divergences(data.rows, data.rows));
  };
  EXPECT_EQ(divergences(1), divergences(1));
  EXPECT_NE(divergences(1), divergences(2));
}

TEST(RowTargets, FewRowsAreLearnedWithoutAChoice) {
  const NumberedRows data = numbered_rows(11);
  const Plan planned = plan(FitRequest(), data.data());
  EXPECT_FALSE(planned.has_choice());
  EXPECT_THAT(planned.notes, ElementsAre(HasSubstr("too few rows to choose by cross-validation (11; 12 would do)")));
}

TEST(RowTargetsBadInput, DetectsWhatCannotBeLearned) {
  NumberedRows data = numbered_rows(20);
  const auto refused = [&](const FitRequest& request, const char* message) {
    EXPECT_THAT([&] { plan(request, data.data()); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  FitRequest by_labels;
  by_labels.tune_for = Measure::kKnn;
  refused(by_labels, "tune_for is 'knn'; allowed with a number per row: r2 or loss");
  FitRequest request;
  request.names.row_targets = "f.csv: column price";
  data.numbers.setConstant(7);
  refused(request, "f.csv: column price: all 20 numbers are 7");
  data.numbers(3) = std::nan("");
  refused(request, "f.csv: column price: the number of row 3 is nan");
  data.numbers.resize(3);
  refused(request, "there are 3 numbers for 20 rows");
  EXPECT_THAT([&] { plan_comparison({}, data.data()); }, ThrowsMessage<Error>(HasSubstr("not by a number per row")));
  request.tune_for = Measure::kR2;
  EXPECT_THAT(
      [&] {
        plan(request, {data.rows, ClassOfRow{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}});
      },
      ThrowsMessage<Error>(HasSubstr("which is about numbers")));
}

}  // namespace
}  // namespace bregmax
