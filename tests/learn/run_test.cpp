#include "bregmax/learn/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "bregmax/supervision/sample.hpp"
#include "learn/cases.hpp"
#include "methods/item_losses.hpp"

namespace bregmax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LabelledRows;
using testing::noisy_classes;
using testing::small_plan;
using ::testing::ThrowsMessage;

// A method of the test's own: the squared Euclidean distance times `factor`, with limits on what it accepts.
Method probe_method() {
  Method method = method_named("euclidean");
  method.name = "probe";
  method.parameters = {{.name = "factor", .help = "", .standard = 1, .grid = {1, 2, 3}, .tuned = true},
                       {.name = "idle", .help = "", .standard = 5}};
  return method;
}

Plan quick(const Method& method) {
  Plan plan;
  plan.methods = {{.method = &method}};
  plan.evaluation.restarts = 3;
  for (const MethodParameter& parameter : method.parameters) {
    if (parameter.tuned) plan.methods[0].tried[parameter.name] = parameter.grid;
  }
  return plan;
}
Plan quick(const char* method) { return quick(method_named(method)); }

double mean_of(const TuneResult& result, Index candidate, Measure measure) {
  return result.record.means(candidate, static_cast<Index>(measure));
}

TEST(Run, CandidatesAreAllCombinationsWithChoicesByName) {
  const LabelledRows data = noisy_classes(30);
  Plan options = quick("itml");
  options.methods[0].tried = {{"gamma", {1, 10}}, {"prior", {0, 1}}};
  options.methods[0].scales = {Scale::kStandard, Scale::kNone};
  const CandidateFamilies families = families_of(options, {data.rows, data.classes}).families;
  ASSERT_EQ(families.size(), 1U);
  const std::vector<Settings> candidates = families[0]->candidates();
  ASSERT_EQ(candidates.size(), 8U);
  EXPECT_EQ(candidates[1], (Settings{{"gamma", 1}, {"prior", 1, "inverse-covariance"}, {"scale", 0, "standard"}}));
  EXPECT_EQ(candidates[6], (Settings{{"gamma", 10}, {"prior", 0, "identity"}, {"scale", 0, "none"}}));
}

// The noise has ten times the spread of the rest: on raw features the Euclidean distance sees nothing else.
TEST(Run, ChoosesWhatScoresBestOnHeldOutRowsAndLearnsItOnAllRows) {
  const LabelledRows data = noisy_classes(90);
  Plan options = quick("euclidean");
  options.methods[0].scales = {Scale::kNone, Scale::kStandard};
  const FitOutcome result = run(options, {data.rows, data.classes});
  EXPECT_EQ(result.chosen_scale, Scale::kStandard);
  EXPECT_EQ(result.tuning.record.chosen, 1);
  EXPECT_GT(mean_of(result.tuning, 1, Measure::kAveragePrecision),
            mean_of(result.tuning, 0, Measure::kAveragePrecision));
  EXPECT_EQ(result.model.record.rows, 90);
  EXPECT_EQ(result.model.tuning.candidates, result.tuning.record.candidates);
  EXPECT_EQ(result.model.scaling.center, Scaling::standard(data.rows).center);
}

TEST(Run, TheLastFitHasTheChosenValuesAndTheGivenOnes) {
  const LabelledRows data = noisy_classes(60);
  Plan options = quick("itml");
  options.methods[0].settings.parameters = {{"constraints", 50}};
  options.methods[0].settings.seed = 3;
  options.methods[0].tried = {{"gamma", {0.01, 1, 100}}};
  const Method& itml = method_named("itml");
  const FitOutcome result = run(options, {data.rows, data.classes});
  const auto chosen = static_cast<std::size_t>(result.tuning.record.chosen);
  EXPECT_EQ(result.report.status, Status::kConverged);
  EXPECT_EQ(result.chosen.parameters.at("gamma"), result.tuning.record.candidates[chosen][0].value);
  EXPECT_EQ(result.chosen.parameters.at("constraints"), 50);
  const MethodFit again = fit_with(itml, data.rows, data.classes, Scaling::standard(data.rows), result.chosen);
  EXPECT_EQ(result.report.objective, again.report.objective);
  EXPECT_EQ(result.model.record.parameters, again.model.record.parameters);
  for (Index c = 0; c < 3; ++c) EXPECT_GT(mean_of(result.tuning, c, Measure::kKnn), 0.5) << "chance, candidate " << c;
}

TEST(Run, DoesNotDependOnTheNumberOfRunsOfIt) {
  const LabelledRows data = noisy_classes(60, 3);
  Plan options = quick("gmml");
  options.repeats = 2;
  const FitOutcome first = run(options, {data.rows, data.classes});
  const FitOutcome second = run(options, {data.rows, data.classes});
  EXPECT_EQ(first.tuning.record.folds, 6);
  EXPECT_EQ(first.tuning.record.means, second.tuning.record.means);
  EXPECT_EQ(first.chosen.parameters, second.chosen.parameters);
  EXPECT_EQ(first.tuning.record.candidates.size(), 21U);
  // Every measure can be asked of the one table.
  EXPECT_GE(mean_of(first.tuning, best_candidate(first.tuning, Measure::kAuc), Measure::kAuc),
            mean_of(first.tuning, first.tuning.record.chosen, Measure::kAuc));
}

TEST(Run, LearnsFromAllPairsOfTheFold) {
  const LabelledRows data = noisy_classes(45);
  Plan options = quick("gmml");
  options.methods[0].supervision = {{LabelSupervision::kAllPairs, 0, 0, 0}};
  options.methods[0].tried = {{"t", {0.25, 0.5}}};
  const FitOutcome result = run(options, {data.rows, data.classes});
  EXPECT_EQ(result.model.record.supervision, "pairs");
  EXPECT_EQ(result.model.record.items, 45 * 44);
}

TEST(Run, ACandidateThatCannotBeLearnedIsLeftOut) {
  const LabelledRows data = noisy_classes(60);
  Method method = probe_method();
  const auto learn = method.learn;
  method.learn = [learn](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                         const RunControl& control) {
    if (choices.number("factor") < 3) throw Error("factor is too small for these rows");
    return learn(rows, supervision, choices, control);
  };
  const FitOutcome result = run(quick(method), {data.rows, data.classes});
  EXPECT_EQ(result.chosen.parameters.at("factor"), 3);
  EXPECT_TRUE(std::isnan(mean_of(result.tuning, 0, Measure::kAuc)));

  Plan none = quick(method);
  none.methods[0].tried = {{"factor", {1, 2}}};
  const TrainingData all{data.rows, data.classes};
  EXPECT_THAT([&] { run(none, all); }, ThrowsMessage<Error>("factor is too small for these rows"));
}

TEST(Run, AStopAndATimeLimitEndItWithWhatThereIs) {
  const LabelledRows data = noisy_classes(60);
  std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  const FitOutcome stopped = run(quick("gmml"), {data.rows, data.classes}, control);
  EXPECT_TRUE(stopped.tuning_ended_early);
  EXPECT_EQ(stopped.report.status, Status::kStopped);

  Method slow = probe_method();
  const auto learn = slow.learn;
  slow.learn = [learn](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                       const RunControl& inner) {
    while (choices.number("factor") > 1 && !inner.stop_requested()) {
    }
    return learn(rows, supervision, choices, inner);
  };
  Plan limited = quick(slow);
  limited.time_limit = 1;
  const FitOutcome late = run(limited, {data.rows, data.classes});
  EXPECT_TRUE(late.tuning_ended_early);
  EXPECT_EQ(late.report.status, Status::kTimeLimit);
  ASSERT_NE(late.model.divergence, nullptr) << "the first candidate was scored";
  EXPECT_LT(late.model.record.rows, 60);
  EXPECT_EQ(late.model.record.status, "time_limit");
}

// The constant candidate has scores on all folds, the other one on the first fold only.
TEST(Run, KeepsAConstantModelWhenOnlySuchWereComparedBeforeTheStop) {
  const LabelledRows data = noisy_classes(60);
  const ThreadLimit single(1);  // so that the folds come one after the other
  std::atomic<bool> stop = false;
  std::atomic<int> seen = 0;
  RunControl control;
  control.stop = &stop;
  Method method = probe_method();
  const auto learn = method.learn;
  method.learn = [&](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                     const RunControl& inner) {
    Learned learned = learn(rows, supervision, choices, inner);
    if (choices.number("factor") == 1) learned.divergence = std::make_shared<Mahalanobis>(Matrix::Zero(3, 3));
    if (choices.number("factor") == 2 && ++seen == 2) {
      stop = true;
      while (!inner.stop_requested()) {
      }
    }
    return learned;
  };
  const FitOutcome result = run(quick(method), {data.rows, data.classes}, control);
  EXPECT_EQ(result.report.status, Status::kStopped);
  EXPECT_EQ(result.tuning.constant, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(result.tuning.record.chosen, 0);
  EXPECT_NE(result.model.divergence, nullptr);
}

TEST(Run, RefusesBadInput) {
  const LabelledRows data = noisy_classes(30);
  const auto refused = [&](const auto& change, const char* message) {
    Plan changed = quick("gmml");
    change(changed);
    EXPECT_THAT([&] { run(changed, {data.rows, data.classes}); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused([](Plan& p) { p.methods[0].tried = {{"tt", {1, 2}}}; }, "gmml has no parameter 'tt'; allowed: t");
  refused([](Plan& p) { p.methods[0].tried = {{"t", {0, 2}}}; }, "t is 2; allowed");
  refused([](Plan& p) { p.methods[0].tried = {{"t", {}}}; }, "no value of t to try");
  refused([](Plan& p) { p.methods[0].scales.clear(); }, "there is no scale to try");
  refused([](Plan& p) { p.repeats = 0; }, "repeats is 0; allowed: 1 or more");
  refused([](Plan& p) { p.folds = 1; }, "folds is 1; allowed: 2 or more");
  refused([](Plan& p) { p.tuning_rows = 31; }, "tuning_rows is 31; allowed: 0 to 30");
  refused([](Plan& p) { p.methods[0].fold_tolerance = 0; }, "fold_tolerance is 0");
  const TrainingData no_such_row{data.rows, Pairs{{0, 1, true}, {0, 30, false}}};
  EXPECT_THAT([&] { run(quick("gmml"), no_such_row); }, ThrowsMessage<Error>(HasSubstr("30")));
  EXPECT_THAT([&] { plan({}, no_such_row); }, ThrowsMessage<Error>(HasSubstr("30")));
  const TrainingData two_labels{data.rows, ClassOfRow(2)};
  EXPECT_THAT([&] { run(quick("gmml"), two_labels); },
              ThrowsMessage<Error>(HasSubstr("there are 2 labels for 30 rows")));
}

TEST(Run, LearnsFromGivenItemsAsTheyAre) {
  const LabelledRows data = noisy_classes(30, 3);
  const Pairs pairs = {{0, 1, true, 1}, {0, 2, false, 1}, {3, 4, false, 1}};
  FitRequest request;
  request.method = "itml";
  request.scales = {Scale::kNone};
  request.parameters["gamma"] = 2;
  request.directed_pairs = true;
  const FitOutcome result = fit(request, {data.rows, pairs});
  const MethodFit plain =
      fit_with(method_named("itml"), data.rows, pairs, Scaling::none(data.rows.cols()), {.parameters = {{"gamma", 2}}});
  EXPECT_EQ(result.model.divergence->matrix(data.rows, data.rows),
            plain.model.divergence->matrix(data.rows, data.rows));
  EXPECT_EQ(result.chosen_scale, Scale::kNone);
}

TEST(Run, LearnsFromPairsInBothDirectionsUnlessTheyAreDirected) {
  const LabelledRows data = noisy_classes(12, 3);
  const Pairs pairs = {{0, 2, true, 1}, {2, 4, true, 1}, {0, 1, false, 3}, {4, 3, false, 1}};
  FitRequest request;
  request.method = "pbdl";
  request.parameters["lambda"] = 0.01;
  const FitOutcome symmetric = fit(request, {data.rows, pairs});
  request.directed_pairs = true;
  const FitOutcome listed = fit(request, {data.rows, in_both_directions(pairs)});
  const FitOutcome directed = fit(request, {data.rows, pairs});
  const auto divergences = [&](const FitOutcome& outcome) { return outcome.model.divergences(data.rows, data.rows); };
  EXPECT_EQ(divergences(symmetric), divergences(listed));
  EXPECT_GT(divergences(symmetric)(1, 0), 0.5) << "of the dissimilar pair (0, 1), the other way round";
  EXPECT_GT((divergences(symmetric) - divergences(directed)).cwiseAbs().maxCoeff(), 0.01);
  EXPECT_EQ(symmetric.model.record.items, 4) << "a pair counts once";
  EXPECT_EQ(listed.model.record.items, 8);
  EXPECT_NEAR(symmetric.report.objective, listed.report.objective, 1e-9);
}

// ---- What is said about the result ----

const Finding& only_finding(const FitOutcome& outcome, Finding::Kind kind) {
  EXPECT_EQ(outcome.diagnosis.size(), 1U);
  const Finding* found = outcome.find(kind);
  if (found == nullptr) throw std::runtime_error("there is no finding of kind " + to_string(kind));
  return *found;
}

TEST(Run, SaysWhyADivergenceIsConstant) {
  const LabelledRows data = noisy_classes(20);
  const auto cause = [&](const FitRequest& request, const MethodSupervision& supervision) {
    return only_finding(fit(request, {data.rows, supervision}), Finding::Kind::kConstant).cause;
  };
  FitRequest request;
  request.parameters["lambda"] = 1;
  EXPECT_EQ(cause(request, Pairs{{0, 1, true}}), "nothing_asked");
  EXPECT_EQ(cause(request, Comparisons{{0, 1, 2, 3}, {2, 3, 0, 1}}), "contradiction");
  FitRequest one_class = request;
  one_class.supervision = {LabelSupervision::kAllPairs};
  EXPECT_EQ(cause(one_class, ClassOfRow(20)), "one_label");
  FitRequest one_piece = request;
  one_piece.parameters["pieces"] = 1;
  EXPECT_EQ(cause(one_piece, data.classes), "one_piece");
  FitRequest tight = request;
  tight.parameters["lipschitz"] = 1e-9;
  EXPECT_EQ(cause(tight, data.classes), "lipschitz_bound");
  request.parameters["lambda"] = 1e9;
  request.names = {"--", {}, ""};
  const FitOutcome priced = fit(request, {data.rows, data.classes});
  EXPECT_EQ(only_finding(priced, Finding::Kind::kConstant).cause, "lambda");
  EXPECT_THAT(priced.diagnosis[0].text, HasSubstr("a --lambda smaller than 1e+09 may help"));
  request.parameters["lambda"] = Wish::choose({1e8, 1e9});
  EXPECT_EQ(cause(request, data.classes), "all_candidates");
}

TEST(Run, SaysOfEveryMethodThatADivergenceIsConstant) {
  const LabelledRows data = noisy_classes(20);
  FitRequest request;
  const auto cause = [&](const MatrixView& rows, const MethodSupervision& supervision) {
    return only_finding(fit(request, {rows, supervision}), Finding::Kind::kConstant).cause;
  };
  const Matrix equal = Matrix::Constant(20, 3, 4);
  for (const char* method : {"smooth", "deep"}) {
    SCOPED_TRACE(method);
    request.method = method;
    EXPECT_EQ(cause(data.rows, Pairs{{0, 1, true}, {2, 3, true}}), "nothing_asked");
    EXPECT_EQ(cause(data.rows, Targets{{0, 1, 0}, {2, 3, 0}}), "nothing_asked");
    EXPECT_EQ(cause(equal, Pairs{{0, 1, true}, {2, 3, false}}), "equal_rows");
    EXPECT_TRUE(fit(request, {equal, Pairs{{0, 1, true}, {2, 3, false}}}).model.record.constant);
    const FitOutcome learned = fit(request, {data.rows, Pairs{{0, 2, true}, {0, 1, false}}});
    EXPECT_FALSE(learned.model.record.constant);
    EXPECT_EQ(learned.find(Finding::Kind::kConstant), nullptr);
  }
  request.method = "euclidean";
  EXPECT_EQ(cause(equal, data.classes), "equal_rows");
}

TEST(Run, SaysWhyItEndedEarly) {
  const LabelledRows data = noisy_classes(30);
  FitRequest request;
  request.parameters["lambda"] = 1;
  request.max_iterations = 2;
  request.names.renamed["max_iterations"] = "max_iter";
  const FitOutcome limited = fit(request, {data.rows, data.classes});
  const Finding& early = only_finding(limited, Finding::Kind::kEarlyEnd);
  EXPECT_EQ(early.cause, "iteration_limit");
  EXPECT_THAT(early.text, HasSubstr("not optimal: max_iter=2 was reached at a relative gap of"));
  request = {};
  request.method = "itml";
  request.time_limit = 1e-9;
  request.names = {"--", {}, ""};
  EXPECT_EQ(only_finding(fit(request, {data.rows, data.classes}), Finding::Kind::kEarlyEnd).text,
            "not tuned: --time-limit 1e-09 was reached while the best candidate was being chosen");
}

// Rows 0 and 1 are one reference once the model is applied, whatever pieces they had.
TEST(Run, SaysWhereTheModelAppliesOtherwiseThanTheLossCounted) {
  Matrix rows(4, 1);
  rows << 0, 0, 1, 3;
  FitRequest request;
  request.parameters["lambda"] = 0.001;
  const Targets targets = {{2, 0, 1}, {2, 1, 5}, {3, 0, 9}};
  EXPECT_THAT(only_finding(fit(request, {rows, targets}), Finding::Kind::kAppliedLoss).text,
              HasSubstr("applied, the model has a loss of"));
  rows(1, 0) = 0.5;
  EXPECT_TRUE(fit(request, {rows, targets}).diagnosis.empty());
}

TEST(Run, ChoosesTheBestOfTheTableAndRemembersIt) {
  const LabelledRows data = noisy_classes(45, 3);
  const Plan options = small_plan();
  const FitOutcome result = run(options, {data.rows, data.classes});
  const TuningRecord& record = result.model.tuning;
  ASSERT_EQ(record.candidates.size(), 36U);
  const auto m = static_cast<Index>(Measure::kAveragePrecision);
  for (Index c = 0; c < 36; ++c) {
    if (result.tuning.constant[static_cast<std::size_t>(c)]) continue;
    EXPECT_LE(record.means(c, m), record.means(record.chosen, m) + 1e-12);
  }
  const Settings& chosen = record.candidates[static_cast<std::size_t>(record.chosen)];
  EXPECT_EQ(chosen[0].value, result.chosen.parameters.at("lambda"));
  EXPECT_EQ(chosen[0].value, result.model.record.lambda);
  EXPECT_EQ(chosen[1].value, result.chosen.parameters.at("smoothing"));
  EXPECT_EQ(chosen[2].word, to_string(result.chosen_scale));
  EXPECT_EQ(record.solved + record.proved, 6 * 2 * 3);
  EXPECT_EQ(record.unproved, 0);
  // It is the fit that these settings give.
  const MethodFit again = fit_with(*options.methods[0].method, data.rows, label_pairs(data.classes),
                                   make_scaling(data.rows, result.chosen_scale), result.chosen);
  EXPECT_EQ(again.report.objective, result.report.objective);
}

TEST(Run, DoesNotDependOnTheThreads) {
  const LabelledRows data = noisy_classes(40);
  const auto folds = folds_of_rows(data.rows, data.classes, 3, 0);
  const CandidateFamilies families = families_of(small_plan(), {data.rows, data.classes}).families;
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

TEST(Run, ScoresOfTheTableAreThoseOfSingleFits) {
  const LabelledRows data = noisy_classes(36);
  Plan options = small_plan();
  options.methods[0].tried["lambda"] = {1, 30};
  const auto folds = folds_of_rows(data.rows, data.classes, 3, 0);
  TuneOptions tune_options;
  tune_options.evaluation = options.evaluation;
  const TuneResult result = tune(folds, families_of(options, {data.rows, data.classes}).families, tune_options);
  // Candidate 1: the larger lambda, the second temperature, standardised. All pairs of a fold of 24 rows weigh
  // 24 * 23 of 36 * 35.
  PbdlOptions fit_options;
  fit_options.lambda = 30 * (24.0 * 23) / (36 * 35);
  fit_options.smoothing = 0.3;
  fit_options.tolerance = options.methods[0].fold_tolerance;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const Fold& fold = folds[f];
    const Model model = fit_pbdl(fold.train_rows, all_pairs(fold.train_classes), fit_options).model;
    const Matrix train = model.scaling.apply(fold.train_rows), held_out = model.scaling.apply(fold.held_out_rows);
    const EvaluationScores scores =
        evaluate(*model.divergence, held_out, fold.held_out_classes, train, fold.train_classes, options.evaluation);
    const double loss = internal::mean_loss(*model.divergence, model.scaling.apply(fold.loss_rows), fold.loss_items);
    const double agreement =
        internal::agreement(*model.divergence, model.scaling.apply(fold.loss_rows), fold.loss_items);
    const std::map<Measure, double> expected = {{Measure::kRandIndex, scores.rand_index},
                                                {Measure::kPurity, scores.purity},
                                                {Measure::kAuc, scores.auc},
                                                {Measure::kAveragePrecision, scores.average_precision},
                                                {Measure::kKnn, scores.knn_accuracy},
                                                {Measure::kLoss, loss},
                                                {Measure::kAgreement, agreement}};
    for (const auto& [measure, score] : expected) {
      EXPECT_NEAR(score, result.fold_scores[f](1, static_cast<Index>(measure)), 1e-12)
          << "fold " << f << " " << to_string(measure);
    }
  }
}

TEST(Run, TunesGivenItemsByTheirHeldOutLoss) {
  const LabelledRows data = noisy_classes(20);
  Plan options = small_plan();
  options.methods[0].scales = {Scale::kStandard};
  options.methods[0].tried["smoothing"] = {0};
  options.tune_for = Measure::kLoss;
  const FitOutcome result = run(options, {data.rows, all_pairs(data.classes)});
  const auto m = static_cast<Index>(Measure::kLoss);
  EXPECT_EQ(result.tuning.record.tuned_for, "loss");
  for (Index c = 0; c < 6; ++c) {
    if (result.tuning.constant[static_cast<std::size_t>(c)]) continue;
    EXPECT_GE(result.tuning.record.means(c, m), result.tuning.record.means(result.tuning.record.chosen, m) - 1e-12);
  }
  EXPECT_TRUE(std::isnan(result.tuning.record.means(0, 0)));
}

TEST(Run, WithOneCandidateIsAPlainFit) {
  const LabelledRows data = noisy_classes(20);
  FitRequest request;
  request.parameters["lambda"] = 2;
  request.supervision = {LabelSupervision::kComparisons};
  const FitOutcome result = fit(request, {data.rows, data.classes});
  EXPECT_TRUE(result.model.tuning.empty());
  PbdlOptions plain;
  plain.lambda = 2;
  EXPECT_EQ(fit_pbdl(data.rows, sample_comparisons(data.classes, 2000, 0), plain).report.objective,
            result.report.objective);
}

// Which supervision the labels become is chosen, too: two comparisons teach less than all pairs.
TEST(Run, ChoosesTheSupervision) {
  const LabelledRows data = noisy_classes(30);
  Plan options = small_plan();
  options.methods[0].tried = {{"lambda", {0.1}}, {"smoothing", {0}}};
  options.methods[0].scales = {Scale::kStandard};
  options.methods[0].supervision = {{LabelSupervision::kAllPairs, 2000, 3, 0},
                                    {LabelSupervision::kComparisons, 2, 3, 0}};
  for (const Index better : {0, 1}) {
    ASSERT_TRUE(options.has_choice());
    const FitOutcome result = run(options, {data.rows, data.classes});
    ASSERT_EQ(result.tuning.record.candidates.size(), 2U);
    EXPECT_EQ(result.tuning.record.chosen, better);
    EXPECT_EQ(result.chosen_supervision->kind, LabelSupervision::kAllPairs);
    EXPECT_EQ(result.model.record.items, 30 * 29);
    std::swap(options.methods[0].supervision[0], options.methods[0].supervision[1]);
  }
}

TEST(Run, KeepsTheBestSoFarWhenStopped) {
  const LabelledRows data = noisy_classes(60);
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  control.on_progress = [&](const Progress& progress) { stop = progress.iteration >= 8; };
  const FitOutcome result = run(small_plan(), {data.rows, data.classes}, control);
  ASSERT_TRUE(result.tuning_ended_early);
  EXPECT_EQ(result.report.status, Status::kStopped);
  ASSERT_NE(result.model.divergence, nullptr);
  EXPECT_EQ(result.model.record.rows, 40) << "two thirds of the rows";
  EXPECT_EQ(result.model.record.status, "stopped");
  EXPECT_EQ(result.model.record.drawn, "given") << "no seed would draw what the fold drew";
  check_model(result.model);
  Plan hurried = small_plan();
  hurried.time_limit = 1e-9;
  EXPECT_EQ(run(hurried, {data.rows, data.classes}).report.status, Status::kTimeLimit);
}

// Values are chosen on some of the rows, with as many comparisons per fold as are allowed; the model is of all rows.
TEST(Run, ChoosesOnASampleOfALargeTable) {
  const LabelledRows data = noisy_classes(90);
  Plan options = small_plan();
  options.methods[0].tried["lambda"] = {1, 1e6};
  options.methods[0].tried["smoothing"] = {0};
  options.methods[0].scales = {Scale::kStandard};
  options.methods[0].tried["pieces"] = {1, 12};
  options.methods[0].supervision = {{LabelSupervision::kComparisons, 3000, 3, 0}};
  options.tuning_rows = 45;
  options.tuning_comparisons = 50;
  std::string said;
  RunControl control;
  control.on_log = [&](std::string_view line) { said += line; };
  const FitOutcome result = run(options, {data.rows, data.classes}, control);
  EXPECT_THAT(said, HasSubstr("choosing on 45 of the 90 rows"));
  EXPECT_EQ(result.chosen.parameters.at("lambda"), 1) << "one piece, or so large a lambda, gives a constant";
  EXPECT_EQ(result.chosen.parameters.at("pieces"), 12);
  EXPECT_EQ(result.model.record.rows, 90);
  EXPECT_EQ(result.model.record.items, 3000);
  // A fold's few comparisons, and lambda in proportion to them.
  const auto family = families_of(options, {data.rows, data.classes}).families[1];
  const Fold fold = folds_of_rows(data.rows, data.classes, 2, 3).front();
  const auto learner = family->learner(fold);
  const std::vector<LearnStep> steps = learner->steps();
  for (std::size_t step = 0; step < steps.size(); ++step) learner->run(step, {});
  const Model model = learner->model(0);
  EXPECT_EQ(model.record.items, 50);
  EXPECT_NEAR(model.record.lambda, family->candidates()[0][0].value * 50 / 3000, 1e-9 * model.record.lambda);
}

TEST(Run, SaysThatADivergenceIsConstant) {
  const LabelledRows data = noisy_classes(20);
  Plan options = small_plan();
  options.methods[0].tried["lambda"] = {1e8, 1e9};
  const FitOutcome result = run(options, {data.rows, data.classes});
  EXPECT_TRUE(result.tuning.all_constant);
  EXPECT_TRUE(result.model.record.constant);
  // With one lambda that is not too large, the constant ones are not chosen, however they score.
  options.methods[0].tried["lambda"] = {1, 1e8, 1e9};
  options.tune_for = Measure::kPurity;
  const FitOutcome better = run(options, {data.rows, data.classes});
  EXPECT_EQ(better.chosen.parameters.at("lambda"), 1);
  EXPECT_FALSE(better.model.record.constant);
}

TEST(Run, TakesFewerPiecesWhereAFoldHasFewerRows) {
  LabelledRows data = noisy_classes(24);
  for (Index i = 2; i < 24; i += 4) data.rows.row(i) = data.rows.row(0);  // duplicates
  Plan options = small_plan();
  options.methods[0].tried["lambda"] = {0.1, 1};
  options.methods[0].tried["pieces"] = {0, 6, 18};
  const FitOutcome result = run(options, {data.rows, data.classes});
  EXPECT_EQ(result.tuning.record.candidates.size(), 2U * 3 * 2 * 3);
  EXPECT_EQ(result.tuning.record.compared, 2 * 3 * 2 * 3) << "have scores on as many folds as any";
  EXPECT_EQ(result.tuning.record.compared_folds, result.tuning.record.folds);
  options.methods[0].tried["pieces"] = {0};
  options.methods[0].settings.piece_of = std::vector<int>(24);
  for (int i = 0; i < 24; ++i) (*options.methods[0].settings.piece_of)[static_cast<std::size_t>(i)] = i % 8;
  EXPECT_EQ(run(options, {data.rows, data.classes}).report.status, Status::kOptimal);
}

}  // namespace
}  // namespace bregmax
