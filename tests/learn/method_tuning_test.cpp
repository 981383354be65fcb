#include "bregmax/learn/method_tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "learn/cases.hpp"

namespace bregmax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LabelledRows;
using testing::noisy_classes;
using ::testing::ThrowsMessage;

// A method of the test's own: the squared Euclidean distance times `factor`, with limits on what it accepts.
Method probe_method() {
  Method method = method_named("euclidean");
  method.name = "probe";
  method.parameters = {{.name = "factor", .help = "", .standard = 1, .grid = {1, 2, 3}, .tuned = true},
                       {.name = "idle", .help = "", .standard = 5}};
  return method;
}

MethodFitOptions quick() {
  MethodFitOptions options;
  options.evaluation.restarts = 3;
  return options;
}

double mean_of(const TuneResult& result, Index candidate, Measure measure) {
  return result.record.means(candidate, static_cast<Index>(measure));
}

TEST(MethodTuning, TriesTheGridOfWhatIsTunedAndNothingElse) {
  const Method& itml = method_named("itml");
  const MethodFitOptions standard;
  const auto tuned = tuned_parameters(itml, standard);
  ASSERT_EQ(tuned.size(), 1U);
  EXPECT_EQ(tuned[0].first, "gamma");
  EXPECT_EQ(tuned[0].second, itml.parameter("gamma").grid);
  EXPECT_TRUE(has_choice(itml, standard));

  MethodFitOptions options;
  options.settings.parameters = {{"gamma", 2}};
  EXPECT_TRUE(tuned_parameters(itml, options).empty());
  EXPECT_FALSE(has_choice(itml, options));
  options.tried = {{"prior", {0, 1}}};
  ASSERT_EQ(tuned_parameters(itml, options).size(), 1U);
  EXPECT_THAT(tuned_parameters(itml, options)[0].second, ElementsAre(0, 1));

  EXPECT_FALSE(has_choice(method_named("euclidean"), standard));
  EXPECT_FALSE(has_choice(method_named("lmnn"), standard));
  EXPECT_TRUE(has_choice(method_named("gmml"), standard));
  EXPECT_EQ(tuned_parameters(method_named("kernel-nca"), standard).size(), 2U);
}

TEST(MethodTuning, CandidatesAreAllCombinationsWithChoicesByName) {
  MethodFitOptions options;
  options.tried = {{"gamma", {1, 10}}, {"prior", {0, 1}}};
  options.scales = {Scale::kStandard, Scale::kNone};
  const CandidateFamilies families = method_families(method_named("itml"), options);
  ASSERT_EQ(families.size(), 1U);
  const std::vector<Settings> candidates = families[0]->candidates();
  ASSERT_EQ(candidates.size(), 8U);
  EXPECT_EQ(candidates[1], (Settings{{"gamma", 1}, {"prior", 1, "inverse-covariance"}, {"scale", 0, "standard"}}));
  EXPECT_EQ(candidates[6], (Settings{{"gamma", 10}, {"prior", 0, "identity"}, {"scale", 0, "none"}}));
}

// The noise has ten times the spread of the rest: on raw features the Euclidean distance sees nothing else.
TEST(MethodTuning, ChoosesWhatScoresBestOnHeldOutRowsAndLearnsItOnAllRows) {
  const LabelledRows data = noisy_classes(90);
  MethodFitOptions options = quick();
  options.scales = {Scale::kNone, Scale::kStandard};
  const Method& method = method_named("euclidean");
  const MethodFitResult result = fit_method_from_labels(method, data.rows, data.classes, options);
  EXPECT_EQ(result.chosen_scale, Scale::kStandard);
  EXPECT_EQ(result.tuning.record.chosen, 1);
  EXPECT_GT(mean_of(result.tuning, 1, Measure::kAveragePrecision),
            mean_of(result.tuning, 0, Measure::kAveragePrecision));
  EXPECT_EQ(result.fit.model.record.rows, 90);
  EXPECT_EQ(result.fit.model.tuning.candidates, result.tuning.record.candidates);
  EXPECT_EQ(result.fit.model.scaling.center, Scaling::standard(data.rows).center);
}

TEST(MethodTuning, TheLastFitHasTheChosenValuesAndTheGivenOnes) {
  const LabelledRows data = noisy_classes(60);
  MethodFitOptions options = quick();
  options.settings.parameters = {{"constraints", 50}};
  options.settings.seed = 3;
  options.tried = {{"gamma", {0.01, 1, 100}}};
  const Method& itml = method_named("itml");
  const MethodFitResult result = fit_method_from_labels(itml, data.rows, data.classes, options);
  const auto chosen = static_cast<std::size_t>(result.tuning.record.chosen);
  EXPECT_EQ(result.fit.report.status, Status::kConverged);
  EXPECT_EQ(result.chosen.parameters.at("gamma"), result.tuning.record.candidates[chosen][0].value);
  EXPECT_EQ(result.chosen.parameters.at("constraints"), 50);
  const MethodFit again = fit_with(itml, data.rows, data.classes, Scaling::standard(data.rows), result.chosen);
  EXPECT_EQ(result.fit.report.objective, again.report.objective);
  EXPECT_EQ(result.fit.model.record.parameters, again.model.record.parameters);
  for (Index c = 0; c < 3; ++c) EXPECT_TRUE(std::isfinite(mean_of(result.tuning, c, Measure::kKnn))) << c;
}

TEST(MethodTuning, DoesNotDependOnTheNumberOfRunsOfIt) {
  const LabelledRows data = noisy_classes(60, 3);
  MethodFitOptions options = quick();
  options.repeats = 2;
  const Method& gmml = method_named("gmml");
  const MethodFitResult first = fit_method_from_labels(gmml, data.rows, data.classes, options);
  const MethodFitResult second = fit_method_from_labels(gmml, data.rows, data.classes, options);
  EXPECT_EQ(first.tuning.record.folds, 6);
  EXPECT_EQ(first.tuning.record.means, second.tuning.record.means);
  EXPECT_EQ(first.chosen.parameters, second.chosen.parameters);
  EXPECT_EQ(first.tuning.record.candidates.size(), 21U);
  // Every measure can be asked of the one table.
  EXPECT_GE(mean_of(first.tuning, best_candidate(first.tuning, Measure::kAuc), Measure::kAuc),
            mean_of(first.tuning, first.tuning.record.chosen, Measure::kAuc));
}

TEST(MethodTuning, LearnsFromAllPairsOfTheFold) {
  const LabelledRows data = noisy_classes(45);
  MethodFitOptions options = quick();
  options.all_pairs = true;
  options.tried = {{"t", {0.25, 0.5}}};
  const MethodFitResult result = fit_method_from_labels(method_named("gmml"), data.rows, data.classes, options);
  EXPECT_EQ(result.fit.model.record.supervision, "pairs");
  EXPECT_EQ(result.fit.model.record.items, 45 * 44);
}

TEST(MethodTuning, ACandidateThatCannotBeLearnedIsLeftOut) {
  const LabelledRows data = noisy_classes(60);
  Method method = probe_method();
  const auto learn = method.learn;
  method.learn = [learn](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                         const RunControl& control) {
    if (choices.number("factor") < 3) throw Error("factor is too small for these rows");
    return learn(rows, supervision, choices, control);
  };
  const MethodFitResult result = fit_method_from_labels(method, data.rows, data.classes, quick());
  EXPECT_EQ(result.chosen.parameters.at("factor"), 3);
  EXPECT_TRUE(std::isnan(mean_of(result.tuning, 0, Measure::kAuc)));

  MethodFitOptions none = quick();
  none.tried = {{"factor", {1, 2}}};
  EXPECT_THAT([&] { fit_method_from_labels(method, data.rows, data.classes, none); },
              ThrowsMessage<Error>("factor is too small for these rows"));
}

TEST(MethodTuning, AStopAndATimeLimitEndItWithWhatThereIs) {
  const LabelledRows data = noisy_classes(60);
  std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  const MethodFitResult stopped =
      fit_method_from_labels(method_named("gmml"), data.rows, data.classes, quick(), control);
  EXPECT_TRUE(stopped.tuning_ended_early);
  EXPECT_EQ(stopped.fit.report.status, Status::kStopped);

  Method slow = probe_method();
  const auto learn = slow.learn;
  slow.learn = [learn](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                       const RunControl& inner) {
    while (choices.number("factor") > 1 && !inner.stop_requested()) {
    }
    return learn(rows, supervision, choices, inner);
  };
  MethodFitOptions limited = quick();
  limited.settings.time_limit = 1;
  const MethodFitResult late = fit_method_from_labels(slow, data.rows, data.classes, limited);
  EXPECT_TRUE(late.tuning_ended_early);
  EXPECT_EQ(late.fit.report.status, Status::kTimeLimit);
  ASSERT_NE(late.fit.model.divergence, nullptr) << "the first candidate was scored";
  EXPECT_LT(late.fit.model.record.rows, 60);
  EXPECT_EQ(late.fit.model.record.status, "time_limit");
}

TEST(MethodTuning, RefusesBadInput) {
  const LabelledRows data = noisy_classes(30);
  const auto refused = [&](const char* method, const MethodFitOptions& options, const char* message) {
    EXPECT_THAT([&] { fit_method_from_labels(method_named(method), data.rows, data.classes, options); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  MethodFitOptions options;
  options.tried = {{"gama", {1, 2}}};
  refused("itml", options, "itml has no parameter 'gama'; allowed: gamma");
  options.tried = {{"gamma", {0, 1}}};
  refused("itml", options, "gamma is 0; allowed: a number > 0");
  options.tried = {{"gamma", {}}};
  refused("itml", options, "no value of gamma to try");
  options.tried = {{"gamma", {1, 2}}};
  options.settings.parameters = {{"gamma", 1}};
  refused("itml", options, "gamma is given, and values to try are given, too");
  const auto refused_with = [&](const char* method, const auto& change, const char* message) {
    MethodFitOptions changed;
    change(changed);
    refused(method, changed, message);
  };
  refused_with(
      "gmml", [](MethodFitOptions& o) { o.scales.clear(); }, "there is no scale to try");
  refused_with(
      "gmml", [](MethodFitOptions& o) { o.repeats = 0; }, "repeats is 0; allowed: 1 or more");
  refused_with(
      "gmml", [](MethodFitOptions& o) { o.folds = 1; }, "folds is 1; allowed: 2 or more");
  refused_with(
      "gmml", [](MethodFitOptions& o) { o.tuning_tolerance = 0; }, "tuning_tolerance is 0");
  refused_with(
      "mlr-auc", [](MethodFitOptions& o) { o.all_pairs = true; }, "mlr-auc cannot learn from pairs");
  refused_with(
      "mahalanobis", [](MethodFitOptions&) {}, "mahalanobis cannot learn from labels");
  const MethodFitOptions standard;
  EXPECT_THAT(
      [&] {
        fit_method_from_labels(method_named("gmml"), data.rows, {0, 1}, standard);
      },
      ThrowsMessage<Error>(HasSubstr("there are 2 classes for 30 rows")));
}

TEST(MethodTuning, GivenItemsAreLearnedFromAsTheyAre) {
  const LabelledRows data = noisy_classes(30, 3);
  const Pairs pairs = {{0, 1, true, 1}, {0, 2, false, 1}, {3, 4, false, 1}};
  MethodFitOptions options;
  options.scales = {Scale::kNone};
  options.settings.parameters = {{"gamma", 2}};
  const Method& itml = method_named("itml");
  const MethodFitResult result = fit_method_from_items(itml, data.rows, pairs, options);
  const MethodFit plain = fit_with(itml, data.rows, pairs, Scaling::none(data.rows.cols()), options.settings);
  EXPECT_EQ(result.fit.model.divergence->matrix(data.rows, data.rows),
            plain.model.divergence->matrix(data.rows, data.rows));
  EXPECT_EQ(result.chosen.parameters, options.settings.parameters);
  EXPECT_EQ(result.chosen_scale, Scale::kNone);
  options.tried = {{"upper", {1, 2}}};
  EXPECT_THAT([&] { fit_method_from_items(itml, data.rows, pairs, options); },
              ThrowsMessage<Error>(HasSubstr("nothing to choose by")));
}

}  // namespace
}  // namespace bregmax
