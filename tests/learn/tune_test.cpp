#include "bregmax/learn/tune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/factory.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/learn/auto_fit.hpp"
#include "bregmax/supervision/sample.hpp"
#include "learn/cases.hpp"
#include "learn/fold_scores.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using testing::LabelledRows;
using testing::noisy_classes;
using ::testing::ThrowsMessage;

AutoFitOptions small_plan() {
  AutoFitOptions options;
  options.lambdas = {0.01, 0.1, 1, 10, 100, 1000};
  options.temperatures = {0, 0.3, 1};
  options.scales = {Scale::kStandard, Scale::kNone};
  options.supervision = {{LabelSupervision::kAllPairs, 2000, 3, 0}};
  options.evaluation.restarts = 3;
  return options;
}

// A method that is not ours: weighted Euclidean distance, the weight of the noisy feature to be found.
class WeightLearner final : public FoldLearner {
 public:
  explicit WeightLearner(Index features) : features_(features) {}
  std::vector<LearnStep> steps() const override { return {{{}, {0}}, {{0}, {1, 2}}}; }
  StepOutcome run(std::size_t step, const RunControl&) override {
    ++runs_[step];
    return step == 0 ? StepOutcome::kSolved : StepOutcome::kProved;
  }
  Model model(std::size_t candidate) const override {
    EXPECT_EQ(runs_[candidate == 0 ? 0 : 1], 1);
    Matrix weights = Matrix::Identity(features_, features_);
    weights(features_ - 1, features_ - 1) = candidate == 0 ? 1 : 1e-4;
    if (candidate == 2) weights.setZero();
    Model model;
    model.scaling = Scaling::none(features_);
    model.divergence = std::make_shared<Mahalanobis>(weights);
    return model;
  }

 private:
  Index features_;
  int runs_[2] = {0, 0};
};

class WeightFamily final : public CandidateFamily {
 public:
  std::vector<Settings> candidates() const override {
    return {{{"weight", 1}}, {{"weight", 1e-4}}, {{"weight", 0, "none"}}};
  }
  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override {
    return std::make_unique<WeightLearner>(fold.train_rows.cols());
  }
};

TEST(Tune, ChoosesAmongTheCandidatesOfAnyMethod) {
  const LabelledRows data = noisy_classes(60);
  const TuneResult result = tune(folds_of_rows(data.rows, data.classes, 3, 5), {std::make_shared<WeightFamily>()}, {});
  EXPECT_EQ(result.record.chosen, 1) << "the one that ignores the noise";
  EXPECT_EQ(result.record.solved, 3);
  EXPECT_EQ(result.record.proved, 3);
  EXPECT_TRUE(result.constant[2]);
  EXPECT_FALSE(result.constant[0] || result.constant[1] || result.all_constant);
  const auto m = static_cast<Index>(Measure::kAveragePrecision);
  double sum = 0, squares = 0;
  for (const Matrix& scores : result.fold_scores) sum += scores(1, m) / 3;
  for (const Matrix& scores : result.fold_scores) squares += std::pow(scores(1, m) - sum, 2);
  EXPECT_NEAR(result.record.means(1, m), sum, 1e-12);
  EXPECT_NEAR(result.record.standard_errors(1, m), std::sqrt(squares / 2 / 3), 1e-12);
  EXPECT_EQ(best_candidate(result, Measure::kPurity), 1);
}

TEST(Tune, FoldsSplitTheRowsAndKeepTheClasses) {
  const LabelledRows data = noisy_classes(31, 3);
  std::multiset<double> seen;
  for (const Fold& fold : folds_of_rows(data.rows, data.classes, 3, 1)) {
    EXPECT_EQ(fold.train_rows.rows() + fold.held_out_rows.rows(), 31);
    EXPECT_EQ(std::set<int>(fold.held_out_classes.begin(), fold.held_out_classes.end()).size(), 3U);
    for (Index i = 0; i < fold.held_out_rows.rows(); ++i) seen.insert(fold.held_out_rows(i, 2));
    EXPECT_EQ(std::get<Comparisons>(fold.loss_items).size(), 2000U);
  }
  EXPECT_EQ(seen, std::multiset<double>(data.rows.col(2).begin(), data.rows.col(2).end()));
}

TEST(Tune, FoldsOfItemsHoldEachItemOutOnce) {
  const LabelledRows data = noisy_classes(10);
  Pairs pairs = all_pairs(data.classes);
  double held_out = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p) pairs[p].weight = static_cast<double>(p + 1);
  for (const Fold& fold : folds_of_items(data.rows, pairs, 4, 1)) {
    EXPECT_EQ(std::get<Pairs>(*fold.train_items).size() + std::get<Pairs>(fold.loss_items).size(), 90U);
    for (const Pair& pair : std::get<Pairs>(fold.loss_items)) held_out += pair.weight;
  }
  EXPECT_EQ(held_out, 90 * 91 / 2);
}

// Similar pairs alone teach nothing.
TEST(Tune, FoldsOfPairsKeepBothKinds) {
  const LabelledRows data = noisy_classes(10);
  const Pairs pairs = {{0, 2, true}, {1, 3, true}, {0, 1, false}, {2, 4, true}, {2, 3, false}, {4, 6, true}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const Fold& fold : folds_of_items(data.rows, pairs, 2, seed)) {
      const auto& train = std::get<Pairs>(*fold.train_items);
      EXPECT_EQ(std::count_if(train.begin(), train.end(), [](const Pair& pair) { return pair.similar; }), 2);
      EXPECT_EQ(train.size(), 3U);
    }
  }
}

// Also of candidates that were proved by the solution of another lambda.
TEST(Tune, RecordsOfFoldsBelongToTheirLambda) {
  const LabelledRows data = noisy_classes(30);
  const AutoFitOptions plan = small_plan();
  for (const auto& family : families_from_labels(data.rows, data.classes, plan)) {
    for (const Fold& fold : folds_of_rows(data.rows, data.classes, 2, 3)) {
      const auto learner = family->learner(fold);
      const auto candidates = family->candidates();
      const std::vector<LearnStep> steps = learner->steps();
      for (std::size_t step = 0; step < steps.size(); ++step) learner->run(step, {});
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        const Model model = learner->model(c);
        const TrainingRecord& record = model.record;
        const double share = static_cast<double>(record.items) / (30.0 * 29);
        EXPECT_NEAR(record.lambda, candidates[c][0].value * share, 1e-12 * record.lambda);
        EXPECT_NEAR(record.objective, record.loss + record.lambda * record.lipschitz, 1e-9 * (1 + record.objective));
        EXPECT_LE(record.lower_bound, record.objective * (1 + 1e-12));
        if (candidates[c][1].value > 0) continue;  // smoothing changes the loss
        const double mean =
            internal::mean_loss(*model.divergence, model.scaling.apply(fold.train_rows), all_pairs(fold.train_classes));
        EXPECT_NEAR(mean * static_cast<double>(record.items), record.loss, 1e-3 * (1 + record.loss));
      }
    }
  }
}

TEST(Tune, MeanLossIsThatOfTheDefinition) {
  const LabelledRows data = noisy_classes(12);
  const SquaredEuclidean d;
  const auto value = [&](Index i, Index j) { return (data.rows.row(i) - data.rows.row(j)).squaredNorm(); };
  const Comparisons comparisons = {{0, 1, 2, 3, 2.0}, {4, 5, 4, 7, 1.0}};
  double expected = 2 * std::max(0.0, 1 + value(0, 1) - value(2, 3)) + std::max(0.0, 1 + value(4, 5) - value(4, 7));
  EXPECT_NEAR(internal::mean_loss(d, data.rows, comparisons), expected / 3, 1e-9 * expected);
  const Pairs pairs = {{0, 1, true, 0.5}, {1, 2, false, 1}};
  expected = 0.5 * value(0, 1) + std::max(0.0, 2 - value(1, 2));
  EXPECT_NEAR(internal::mean_loss(d, data.rows, pairs), expected / 1.5, 1e-9 * expected);
  EXPECT_NEAR(internal::mean_loss(d, data.rows, Targets{{0, 1, 3}}), std::pow(value(0, 1) - 3, 2), 1e-8);
  EXPECT_TRUE(std::isnan(internal::mean_loss(d, data.rows, Comparisons{})));
}

TEST(Tune, TellsConstantDivergences) {
  const LabelledRows data = noisy_classes(20);
  EXPECT_FALSE(is_constant(SquaredEuclidean(), data.rows));
  Matrix slopes = Matrix::Zero(2, 3);
  EXPECT_TRUE(is_constant(*make_max_affine(slopes, Vector::Zero(2), 0), data.rows));
  EXPECT_TRUE(is_constant(*make_max_affine(slopes, Vector::Zero(2), 1), data.rows));
  slopes(0, 0) = 1;
  EXPECT_FALSE(is_constant(*make_max_affine(slopes, Vector::Zero(2), 0), data.rows));
  EXPECT_FALSE(is_constant(*make_max_affine(slopes, Vector::Zero(2), 100), data.rows)) << "only smooth";
  Vector offsets(2);
  offsets << -1e6, 1e6;  // one piece is above the other everywhere
  EXPECT_TRUE(is_constant(*make_max_affine(slopes, offsets, 0), data.rows));
}

TEST(Tune, RefusesWhatCannotBeScored) {
  const Matrix rows = Matrix::Random(6, 2);
  EXPECT_THAT([&] { usable_folds({0, 0, 1, 1}, 3); }, ThrowsMessage<Error>(HasSubstr("three rows")));
  EXPECT_THAT([&] { usable_folds({0, 0, 0, 0}, 3); }, ThrowsMessage<Error>(HasSubstr("two classes")));
  EXPECT_EQ(usable_folds({0, 0, 0, 1, 1, 1}, 3), 2);
  EXPECT_EQ(usable_folds({0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 3), 3);
  EXPECT_THAT([&] { tune({}, {std::make_shared<WeightFamily>()}); }, ThrowsMessage<Error>(HasSubstr("no folds")));
  EXPECT_THAT(
      [&] {
        tune(folds_of_rows(rows, {0, 1, 0, 1, 0, 1}, 3, 0), {});
      },
      ThrowsMessage<Error>(HasSubstr("no candidates")));
  EXPECT_THAT(
      [&] {
        tune(folds_of_rows(rows, {0, 1, 0, 1, 0, 1}, 3, 0), {std::make_shared<WeightFamily>()});
      },
      ThrowsMessage<Error>(HasSubstr("cannot choose by average_precision")));
  EXPECT_THAT([&] { measure_named("f1"); }, ThrowsMessage<Error>(HasSubstr("rand_index, purity, auc")));
}

TEST(AutoFit, ChoosesTheBestOfTheTableAndRemembersIt) {
  const LabelledRows data = noisy_classes(45, 3);
  const AutoFitOptions options = small_plan();
  const AutoFitResult result = fit_from_labels(data.rows, data.classes, options);
  const TuningRecord& record = result.fit.model.tuning;
  ASSERT_EQ(record.candidates.size(), 36U);
  const auto m = static_cast<Index>(Measure::kAveragePrecision);
  for (Index c = 0; c < 36; ++c) {
    if (result.tuning.constant[static_cast<std::size_t>(c)]) continue;
    EXPECT_LE(record.means(c, m), record.means(record.chosen, m) + 1e-12);
  }
  const Settings& chosen = record.candidates[static_cast<std::size_t>(record.chosen)];
  EXPECT_EQ(chosen[0].value, result.chosen.lambda);
  EXPECT_EQ(chosen[0].value, result.fit.model.record.lambda);
  EXPECT_EQ(chosen[1].value, result.chosen.smoothing);
  EXPECT_EQ(chosen[2].word, result.chosen.scale == Scale::kStandard ? "standard" : "none");
  EXPECT_EQ(record.solved + record.proved, 6 * 2 * 3);
  EXPECT_EQ(record.unproved, 0);
  // It is the fit that these options give.
  const FitResult again = fit(data.rows, all_pairs(data.classes), result.chosen);
  EXPECT_EQ(again.report.objective, result.fit.report.objective);
}

TEST(AutoFit, DoesNotDependOnTheThreads) {
  const LabelledRows data = noisy_classes(40);
  const auto folds = folds_of_rows(data.rows, data.classes, 3, 0);
  const CandidateFamilies families = families_from_labels(data.rows, data.classes, small_plan());
  TuneOptions options;
  options.evaluation.restarts = 2;
  options.threads = 1;
  const TuneResult one = tune(folds, families, options);
  options.threads = 4;
  const TuneResult four = tune(folds, families, options);
  EXPECT_EQ(one.record.chosen, four.record.chosen);
  EXPECT_EQ(one.record.means, four.record.means);
  EXPECT_EQ(one.record.solved, four.record.solved);
}

TEST(AutoFit, ScoresOfTheTableAreThoseOfSingleFits) {
  const LabelledRows data = noisy_classes(36);
  AutoFitOptions options = small_plan();
  options.lambdas = {1, 30};
  const auto folds = folds_of_rows(data.rows, data.classes, 3, 0);
  TuneOptions tune_options;
  tune_options.evaluation = options.evaluation;
  const TuneResult result = tune(folds, families_from_labels(data.rows, data.classes, options), tune_options);
  // Candidate 1: the larger lambda, the second temperature, standardised. All pairs of a fold of 24 rows weigh
  // 24 * 23 of 36 * 35.
  FitOptions fit_options;
  fit_options.lambda = 30 * (24.0 * 23) / (36 * 35);
  fit_options.smoothing = 0.3;
  fit_options.tolerance = options.tuning_tolerance;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const FitResult single = fit(folds[f].train_rows, all_pairs(folds[f].train_classes), fit_options);
    const auto scores = internal::score_on_fold(single.model, folds[f], options.evaluation, {});
    for (std::size_t m = 0; m < scores.size(); ++m) {
      EXPECT_NEAR(scores[m], result.fold_scores[f](1, static_cast<Index>(m)), 1e-12)
          << "fold " << f << " measure " << m;
    }
  }
}

TEST(AutoFit, TunesGivenItemsByTheirHeldOutLoss) {
  const LabelledRows data = noisy_classes(20);
  AutoFitOptions options = small_plan();
  options.scales = {Scale::kStandard};
  options.temperatures = {0};
  EXPECT_THAT([&] { fit_from_items(data.rows, all_pairs(data.classes), options); },
              ThrowsMessage<Error>(HasSubstr("loss")));
  options.tune_for = Measure::kLoss;
  const AutoFitResult result = fit_from_items(data.rows, all_pairs(data.classes), options);
  const auto m = static_cast<Index>(Measure::kLoss);
  EXPECT_EQ(result.tuning.record.tuned_for, "loss");
  for (Index c = 0; c < 6; ++c) {
    if (result.tuning.constant[static_cast<std::size_t>(c)]) continue;
    EXPECT_GE(result.tuning.record.means(c, m), result.tuning.record.means(result.tuning.record.chosen, m) - 1e-12);
  }
  EXPECT_TRUE(std::isnan(result.tuning.record.means(0, 0)));
}

TEST(AutoFit, WithOneCandidateIsAPlainFit) {
  const LabelledRows data = noisy_classes(20);
  AutoFitOptions options;
  options.lambdas = {2};
  options.temperatures = {0};
  const AutoFitResult result = fit_from_labels(data.rows, data.classes, options);
  EXPECT_TRUE(result.fit.model.tuning.empty());
  FitOptions plain;
  plain.lambda = 2;
  EXPECT_EQ(fit(data.rows, sample_comparisons(data.classes, 2000, 0), plain).report.objective,
            result.fit.report.objective);
}

TEST(AutoFit, KeepsTheBestSoFarWhenStopped) {
  const LabelledRows data = noisy_classes(60);
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  control.on_progress = [&](const Progress& progress) { stop = progress.iteration >= 8; };
  const AutoFitResult result = fit_from_labels(data.rows, data.classes, small_plan(), control);
  ASSERT_TRUE(result.tuning_ended_early);
  EXPECT_EQ(result.fit.report.status, Status::kStopped);
  ASSERT_NE(result.fit.model.divergence, nullptr);
  EXPECT_EQ(result.fit.model.record.rows, 40) << "two thirds of the rows";
  EXPECT_EQ(result.fit.model.record.status, "stopped");
  check_model(result.fit.model);
  AutoFitOptions hurried = small_plan();
  hurried.fit.time_limit = 1e-9;
  EXPECT_EQ(fit_from_labels(data.rows, data.classes, hurried).fit.report.status, Status::kTimeLimit);
}

// Values are chosen on some of the rows, with as many comparisons a fold as are allowed; the model is of all rows.
TEST(AutoFit, ChoosesOnASampleOfALargeTable) {
  const LabelledRows data = noisy_classes(90);
  AutoFitOptions options = small_plan();
  options.lambdas = {1, 1e6};
  options.temperatures = {0};
  options.scales = {Scale::kStandard};
  options.pieces = {1, 12};
  options.supervision = {{LabelSupervision::kComparisons, 3000, 3, 0}};
  options.tuning_rows = 45;
  options.tuning_comparisons = 50;
  std::string said;
  RunControl control;
  control.on_log = [&](std::string_view line) { said += line; };
  const AutoFitResult result = fit_from_labels(data.rows, data.classes, options, control);
  EXPECT_THAT(said, HasSubstr("choosing on 45 of the 90 rows"));
  EXPECT_EQ(result.chosen.lambda, 1) << "one piece, or so large a lambda, gives a constant";
  EXPECT_EQ(result.chosen.pieces, 12);
  EXPECT_EQ(result.fit.model.record.rows, 90);
  EXPECT_EQ(result.fit.model.record.items, 3000);
  // A fold's few comparisons, and lambda in proportion to them.
  const auto family = families_from_labels(data.rows, data.classes, options)[1];
  const Fold fold = folds_of_rows(data.rows, data.classes, 2, 3).front();
  const auto learner = family->learner(fold);
  const std::vector<LearnStep> steps = learner->steps();
  for (std::size_t step = 0; step < steps.size(); ++step) learner->run(step, {});
  const Model model = learner->model(0);
  EXPECT_EQ(model.record.items, 50);
  EXPECT_NEAR(model.record.lambda, family->candidates()[0][0].value * 50 / 3000, 1e-9 * model.record.lambda);
}

TEST(AutoFit, SaysThatADivergenceIsConstant) {
  const LabelledRows data = noisy_classes(20);
  AutoFitOptions options = small_plan();
  options.lambdas = {1e8, 1e9};
  const AutoFitResult result = fit_from_labels(data.rows, data.classes, options);
  EXPECT_TRUE(result.tuning.all_constant);
  EXPECT_TRUE(result.fit.model.record.constant);
  // With one lambda that is not too large, the constant ones are not chosen, however they score.
  options.lambdas = {1, 1e8, 1e9};
  options.tune_for = Measure::kPurity;
  const AutoFitResult better = fit_from_labels(data.rows, data.classes, options);
  EXPECT_EQ(better.chosen.lambda, 1);
  EXPECT_FALSE(better.fit.model.record.constant);
}

TEST(AutoFit, TakesFewerPiecesWhereAFoldHasFewerRows) {
  LabelledRows data = noisy_classes(24);
  for (Index i = 2; i < 24; i += 4) data.rows.row(i) = data.rows.row(0);  // duplicates
  AutoFitOptions options = small_plan();
  options.lambdas = {0.1, 1};
  options.pieces = {0, 6, 18};
  const AutoFitResult result = fit_from_labels(data.rows, data.classes, options);
  EXPECT_EQ(result.tuning.record.candidates.size(), 2U * 3 * 2 * 3);
  options.pieces = {0};
  options.fit.piece_of = std::vector<int>(24);
  for (int i = 0; i < 24; ++i) (*options.fit.piece_of)[static_cast<std::size_t>(i)] = i % 8;
  EXPECT_EQ(fit_from_labels(data.rows, data.classes, options).fit.report.status, Status::kOptimal);
}

}  // namespace
}  // namespace bregmax
