// The table of methods.
#include "bregmax/learn/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "data/temporary_directory.hpp"
#include "learn/cases.hpp"
#include "learn/compare_runs.hpp"

namespace bregmax {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LabelledRows;
using testing::noisy_classes;
using ::testing::Not;
using testing::TemporaryDirectory;
using ::testing::ThrowsMessage;

const LabelledRows kOverlapping = noisy_classes(60, 3);
const TrainingData kThreeClasses{kOverlapping.rows, kOverlapping.classes};

CompareRequest comparing(std::vector<std::string> methods) {
  CompareRequest request;
  request.methods = std::move(methods);
  request.names.prefix = "--";
  request.names.labels = "labels";
  return request;
}

std::vector<std::string> names_in(const ComparePlan& plan) {
  std::vector<std::string> names;
  for (const ComparePlan::Entry& entry : plan.methods) names.push_back(entry.method);
  return names;
}

MethodTable table_of(const CompareRequest& request, const TrainingData& data = kThreeClasses, int threads = 2) {
  return compare(plan_comparison(request, data), data, threads);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// ---- What is compared ----

TEST(ComparePlan, HasTheEuclideanDistanceAndTheMethodsInOneOrder) {
  EXPECT_THAT(names_in(plan_comparison(comparing({"itml", "smooth"}), kThreeClasses)),
              ElementsAre("euclidean", "smooth", "itml"));
  EXPECT_THAT(names_in(plan_comparison(comparing({"auto"}), kThreeClasses)),
              ElementsAre("euclidean", "smooth", "pbdl", "deep", "auto"));
}

TEST(ComparePlan, TakesAllThatLearnFromTheSupervisionAndAreShort) {
  const ComparePlan made = plan_comparison(comparing({}), kThreeClasses);
  EXPECT_THAT(names_in(made), ElementsAre("euclidean", "smooth", "pbdl", "deep", "auto", "itml", "gmml", "mlr-auc",
                                          "wu2009", "lmnn", "gb-lmnn", "nca", "kernel-nca"));
  EXPECT_THAT(made.notes, IsEmpty());
  EXPECT_THAT(made.members_of_auto(), ElementsAre("euclidean", "smooth", "pbdl", "deep"));
  EXPECT_EQ(made.measures.size(), 5U);
  CompareRequest hurried = comparing({});
  hurried.long_seconds = 1e-3;
  const ComparePlan shorter = plan_comparison(hurried, kThreeClasses);
  EXPECT_THAT(names_in(shorter), ElementsAre("euclidean", "smooth", "pbdl", "deep", "auto"));
  EXPECT_THAT(shorter.notes, ElementsAre(HasSubstr("--methods all compares them, too")));
  EXPECT_THAT(shorter.notes.front(), HasSubstr("mlr-auc ("));
  hurried.methods = {"all"};
  EXPECT_EQ(names_in(plan_comparison(hurried, kThreeClasses)), names_in(made));
}

TEST(ComparePlan, LeavesPbdlOutOfAutoWhereFitDoes) {
  CompareRequest request = comparing({"auto"});
  request.thresholds.auto_pbdl_seconds = 0;
  EXPECT_THAT(names_in(plan_comparison(request, kThreeClasses)), ElementsAre("euclidean", "smooth", "deep", "auto"));
}

TEST(ComparePlan, RefusesWhatCannotBeCompared) {
  const auto refused = [](const CompareRequest& request, const TrainingData& data, const char* message) {
    EXPECT_THAT([&] { plan_comparison(request, data); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused(comparing({"smoth"}), kThreeClasses, "--methods has 'smoth'; allowed: all, auto, euclidean, smooth");
  refused(comparing({"mahalanobis"}), kThreeClasses,
          "mahalanobis, which cannot learn from labels; it learns from targets");
  refused(comparing({"smooth", "smooth"}), kThreeClasses, "--methods has 'smooth' more than once");
  refused(comparing({"all", "smooth"}), kThreeClasses, "'all' beside other names");
  refused(comparing({}), {kOverlapping.rows, std::vector<int>(60, 0)},
          "labels: cross-validation needs two classes or more");
  CompareRequest folds = comparing({"gmml"});
  folds.folds = 61;
  refused(folds, kThreeClasses, "--folds is 61; allowed: 2 to 60, the number of rows");
  CompareRequest repeats = comparing({"itml"});
  repeats.repeats = 2;
  const Pairs similar(20, Pair{0, 1, true, 1});
  refused(repeats, {kOverlapping.rows, similar}, "--repeats is for labels");
  refused(comparing({"itml"}), {kOverlapping.rows, similar},
          "there are 20 similar and 0 dissimilar pairs; 5 folds need");
  refused(comparing({"lmnn"}), {kOverlapping.rows, similar}, "lmnn, which cannot learn from pairs");
  folds.folds = 5;
  refused(folds, {kOverlapping.rows, Pairs{{0, 1, true, 1}}}, "there are 1 pairs; 5 folds need as many");
}

TEST(ComparePlan, SaysWhereThereAreFewerFoldsOrRows) {
  CompareRequest request = comparing({"gmml"});
  request.folds = 30;
  const ComparePlan fewer = plan_comparison(request, kThreeClasses);
  EXPECT_EQ(fewer.folds, 10);
  EXPECT_THAT(fewer.notes, ElementsAre(HasSubstr("10 folds instead of 30")));
  request.folds.reset();
  request.rows = 40;
  const ComparePlan sampled = plan_comparison(request, kThreeClasses);
  EXPECT_THAT(sampled.notes, ElementsAre("40 of the 60 rows are used, drawn at random; --rows 0 uses all"));
  const std::vector<Fold> folds = internal::folds_of_comparison(sampled, kThreeClasses);
  EXPECT_EQ(folds[0].train_rows.rows() + folds[0].held_out_rows.rows(), 40);
  request.rows = 0;
  request.thresholds.tuning_rows = 40;  // is for the choice of settings
  const Fold whole = internal::folds_of_comparison(plan_comparison(request, kThreeClasses), kThreeClasses).front();
  EXPECT_EQ(whole.train_rows.rows() + whole.held_out_rows.rows(), 60);
}

// ---- Scores ----

// A row of the table is what fit() learns from the training part alone, scored on the rest.
void expect_scores_of_fits(const std::string& method, const ComparePlan& plan, const MethodTable& table) {
  const std::vector<Fold> folds = internal::folds_of_comparison(plan, kThreeClasses);
  const auto row = std::ranges::find(table.methods, method, &ComparedMethod::method) - table.methods.begin();
  ASSERT_LT(row, std::ssize(table.methods)) << method;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    FitRequest request;
    request.method = method;
    request.seed = internal::seed_of_fold(plan, f);
    const FitOutcome outcome = fit(request, {folds[f].train_rows, folds[f].train_classes});
    const Model& model = outcome.model;
    EvaluationOptions options;
    options.start = KMeansStart::kDivergence;
    const EvaluationScores scores =
        evaluate(*model.divergence, model.scaled(folds[f].held_out_rows), folds[f].held_out_classes,
                 model.scaled(folds[f].train_rows), folds[f].train_classes, options);
    EXPECT_EQ(table.fold_scores[f](row, 0), scores.rand_index) << method << ", fold " << f;
    EXPECT_EQ(table.fold_scores[f](row, 2), scores.auc) << method << ", fold " << f;
    EXPECT_EQ(table.fold_scores[f](row, 3), scores.average_precision) << method << ", fold " << f;
    EXPECT_EQ(table.fold_scores[f](row, 4), scores.knn_accuracy) << method << ", fold " << f;
    const std::string& settings = table.methods[row].settings[f];
    if (method == "auto") {
      EXPECT_TRUE(settings.starts_with(outcome.method().name)) << settings << ", fold " << f;
    } else if (!outcome.tuning.record.empty()) {
      const Setting& first = outcome.tuning.record.candidates[outcome.tuning.record.chosen][1];  // after the method
      EXPECT_THAT(settings, HasSubstr(first.name + " ")) << "fold " << f;
    }
  }
}

TEST(Compare, ScoresWhatIsChosenAndLearnedOnTheTrainingPartAlone) {
  CompareRequest request = comparing({"gmml", "smooth"});
  request.folds = 3;
  request.seed = 5;
  const ComparePlan plan = plan_comparison(request, kThreeClasses);
  const MethodTable table = compare(plan, kThreeClasses, 2);
  ASSERT_EQ(table.fold_scores.size(), 3U);
  for (const char* method : {"euclidean", "gmml", "smooth"}) expect_scores_of_fits(method, plan, table);
  EXPECT_EQ(table.status, Status::kOptimal);
  EXPECT_EQ(table.done, 9);
  EXPECT_EQ(table.means(0, 3),
            (table.fold_scores[0](0, 3) + table.fold_scores[1](0, 3) + table.fold_scores[2](0, 3)) / 3);
  EXPECT_GT(table.methods[1].seconds_of_choice, 0);
  EXPECT_THAT(table.methods[1].settings, Each(HasSubstr("decay ")));
}

TEST(Compare, AutoIsWhatFitTakesByDefault) {
  CompareRequest request = comparing({"auto"});
  request.folds = 2;
  const ComparePlan plan = plan_comparison(request, kThreeClasses);
  const TemporaryDirectory directory;
  ComparePlan kept = plan;
  kept.results_file = directory / "runs.csv";
  const MethodTable table = compare(kept, kThreeClasses, 2);
  expect_scores_of_fits("auto", plan, table);
  const MethodTable again = compare(kept, kThreeClasses, 2);
  EXPECT_EQ(again.from_file, 8);
  EXPECT_EQ(again.methods[4].settings, table.methods[4].settings);
  EXPECT_EQ(again.fold_scores, table.fold_scores);
}

TEST(Compare, DoesNotDependOnThreads) {
  CompareRequest request = comparing({"gmml", "smooth", "itml"});
  request.folds = 2;
  const MethodTable one = table_of(request, kThreeClasses, 1), two = table_of(request, kThreeClasses, 2);
  EXPECT_EQ(one.fold_scores, two.fold_scores);
  EXPECT_EQ(one.best, two.best);
  CompareRequest other = request;
  other.seed = 1;
  EXPECT_NE(table_of(other).fold_scores, one.fold_scores);
}

TEST(Compare, MarksTheBestAndWhatIsAsGood) {
  // The third feature is noise of ten times the size, so that the Euclidean distance of raw rows sees little else.
  CompareRequest request = comparing({"gmml", "nca"});
  request.scales = {Scale::kNone};
  const MethodTable table = table_of(request);
  for (std::size_t m = 0; m < table.measures.size(); ++m) {
    const Index best = table.best[m];
    EXPECT_NE(table.methods[best].method, "euclidean");
    EXPECT_FALSE(table.as_good[m][0]) << to_string(table.measures[m]);
    EXPECT_TRUE(table.as_good[m][best]);
    EXPECT_EQ(table.means(best, m), table.means.col(m).maxCoeff());
  }
  const std::string text = table.to_text();
  EXPECT_THAT(text, HasSubstr("avg. precision"));
  EXPECT_THAT(text, HasSubstr(" *"));
  EXPECT_THAT(text, HasSubstr("no choice has seen the rows"));
  EXPECT_THAT(text, Not(HasSubstr("failed")));
}

TEST(Compare, ReportsAMethodThatFailsAndGoesOn) {
  // Within three or four rows pbdl cannot choose lambda.
  const LabelledRows few = noisy_classes(7);
  const MethodTable table = table_of(comparing({"pbdl", "gmml"}), {few.rows, few.classes});
  const ComparedMethod& pbdl = table.methods[1];
  EXPECT_EQ(pbdl.method, "pbdl");
  EXPECT_EQ(pbdl.folds, 0);
  ASSERT_EQ(pbdl.failures.size(), 2U);
  EXPECT_THAT(pbdl.failures[0].reason, HasSubstr("cross-validation needs two classes or more"));
  EXPECT_TRUE(std::isnan(table.means(1, 0)));
  EXPECT_EQ(table.methods[2].folds, 2);
  EXPECT_EQ(table.done, table.runs);
  EXPECT_EQ(table.status, Status::kOptimal);
  EXPECT_THAT(table.to_text(), HasSubstr("pbdl failed on 2 of 2 folds: "));
}

// ---- Given supervision ----

struct Given {
  Matrix rows = Matrix(40, 3);
  Pairs pairs;
  Targets targets;
  Comparisons comparisons;
};

// By a Mahalanobis distance that hardly looks at the second and third feature.
Given given_items() {
  Random random(3);
  Given given;
  for (double& value : given.rows.reshaped()) value = random.normal();
  const auto distance = [&](Index i, Index j) {
    const Vector weights{{4.0, 0.1, 0.01}};
    return (given.rows.row(i) - given.rows.row(j)).array().square().matrix().dot(weights);
  };
  for (int m = 0; m < 200; ++m) {
    const Index i = random.uniform_index(40), j = random.uniform_index(40), k = random.uniform_index(40);
    given.pairs.push_back({i, j, distance(i, j) < 3, 1});
    given.targets.push_back({i, j, distance(i, j), 1});
    if (distance(i, j) != distance(i, k)) {
      given.comparisons.push_back(distance(i, j) < distance(i, k) ? Comparison{i, j, i, k, 1}
                                                                  : Comparison{i, k, i, j, 1});
    }
  }
  return given;
}

TEST(Compare, ScoresPairsAndComparisonsByAgreementAndTargetsByTheLoss) {
  const Given given = given_items();
  const MethodTable pairs = table_of(comparing({"itml"}), {given.rows, given.pairs});
  EXPECT_THAT(pairs.measures, ElementsAre(Measure::kAgreement));
  EXPECT_EQ(pairs.methods[pairs.best[0]].method, "itml");
  EXPECT_EQ(pairs.fold_scores.size(), 5U);

  const MethodTable targets = table_of(comparing({"mahalanobis"}), {given.rows, given.targets});
  EXPECT_THAT(targets.measures, ElementsAre(Measure::kLoss));
  EXPECT_EQ(targets.methods[targets.best[0]].method, "mahalanobis");
  EXPECT_LT(targets.means(1, 0), 1e-4 * targets.means(0, 0));
  EXPECT_FALSE(targets.as_good[0][0]);

  CompareRequest by_loss = comparing({"smooth"});
  by_loss.tune_for = Measure::kLoss;  // of settings; losses of distances of other units cannot be compared
  const MethodTable comparisons = table_of(by_loss, {given.rows, given.comparisons});
  EXPECT_THAT(comparisons.measures, ElementsAre(Measure::kAgreement));
  EXPECT_GT(comparisons.means(1, 0), comparisons.means(0, 0) + 0.05);
}

// ---- The file of finished runs ----

TEST(CompareFile, ContinuesAfterAKill) {
  const TemporaryDirectory directory;
  ComparePlan plan = plan_comparison(comparing({"gmml", "itml"}), kThreeClasses);
  plan.results_file = directory / "runs.csv";
  const MethodTable whole = compare(plan, kThreeClasses, 2);
  EXPECT_EQ(whole.from_file, 0);
  const std::string text = text_of(plan.results_file);
  // As a kill would leave it: some lines are missing, and one is incomplete.
  std::size_t cut = 0;
  for (int line = 0; line < 6; ++line) cut = text.find('\n', cut) + 1;
  std::ofstream(plan.results_file) << text.substr(0, cut + 20);
  const MethodTable rest = compare(plan, kThreeClasses, 2);
  EXPECT_EQ(rest.from_file, 4);
  EXPECT_EQ(rest.fold_scores, whole.fold_scores);
  EXPECT_EQ(rest.methods[1].settings, whole.methods[1].settings);
  EXPECT_EQ(rest.done, rest.runs);
}

TEST(CompareFile, TakesFurtherMethods) {
  const TemporaryDirectory directory;
  ComparePlan few = plan_comparison(comparing({"gmml"}), kThreeClasses);
  few.results_file = directory / "runs.csv";
  compare(few, kThreeClasses, 2);
  ComparePlan more = plan_comparison(comparing({"itml"}), kThreeClasses);
  more.results_file = few.results_file;
  EXPECT_EQ(compare(more, kThreeClasses, 2).from_file, 5) << "the Euclidean distance";
}

// Runs that were made without auto lack what it needs, and are made again once, not each time.
TEST(CompareFile, TakesWhatWasMadeAgainForAuto) {
  const TemporaryDirectory directory;
  CompareRequest request = comparing({"smooth"});
  request.thresholds.auto_pbdl_seconds = 0;
  ComparePlan plan = plan_comparison(request, kThreeClasses);
  plan.results_file = directory / "runs.csv";
  compare(plan, kThreeClasses, 2);
  request.methods = {"auto"};
  plan = plan_comparison(request, kThreeClasses);
  plan.results_file = directory / "runs.csv";
  EXPECT_EQ(compare(plan, kThreeClasses, 2).from_file, 0);
  EXPECT_EQ(compare(plan, kThreeClasses, 2).from_file, 15) << "all of euclidean, smooth and deep";
}

TEST(CompareFile, TakesFewerFoldsOfTheSameDivision) {
  const TemporaryDirectory directory;
  const Given given = given_items();
  const TrainingData data{given.rows, given.pairs};
  CompareRequest request = comparing({"euclidean"});
  request.folds = 10;
  ComparePlan plan = plan_comparison(request, data);
  plan.results_file = directory / "runs.csv";
  EXPECT_EQ(compare(plan, data, 2).runs, 10);
  request.folds.reset();
  plan = plan_comparison(request, data);
  plan.results_file = directory / "runs.csv";
  const MethodTable table = compare(plan, data, 2);
  EXPECT_EQ(table.runs, 5);
  EXPECT_EQ(table.from_file, 5);
}

TEST(CompareFile, RefusesOfSomethingElse) {
  const TemporaryDirectory directory;
  ComparePlan plan = plan_comparison(comparing({"gmml"}), kThreeClasses);
  plan.results_file = directory / "runs.csv";
  compare(plan, kThreeClasses, 2);
  const std::string before = text_of(plan.results_file);
  const auto refused = [&](const CompareRequest& request, const TrainingData& data) {
    ComparePlan other = plan_comparison(request, data);
    other.results_file = plan.results_file;
    EXPECT_THAT([&] { compare(other, data, 2); }, ThrowsMessage<Error>(HasSubstr("holds something else")));
    EXPECT_EQ(text_of(plan.results_file), before);
  };
  const LabelledRows others = noisy_classes(60, 3, 2);
  refused(comparing({"gmml"}), {others.rows, others.classes});
  CompareRequest changed = comparing({"gmml"});
  changed.seed = 1;
  refused(changed, kThreeClasses);
  changed = comparing({"gmml"});
  changed.folds = 4;
  refused(changed, kThreeClasses);
  changed = comparing({"gmml"});
  changed.tune_for = Measure::kAuc;
  refused(changed, kThreeClasses);
  changed = comparing({"gmml"});
  changed.scales = scales_named("auto");
  refused(changed, kThreeClasses);
}

// ---- An early end ----

TEST(Compare, KeepsWhatIsFinishedWhenItIsStopped) {
  std::atomic<bool> stop{false};
  RunControl control;
  control.stop = &stop;
  control.on_progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.phase, "compare");
    if (progress.iteration >= 2) stop = true;
  };
  CompareRequest request = comparing({"all"});
  const ComparePlan plan = plan_comparison(request, kThreeClasses);
  const MethodTable table = compare(plan, kThreeClasses, 1, control);
  EXPECT_EQ(table.status, Status::kStopped);
  EXPECT_GE(table.done, 2);
  EXPECT_LT(table.done, table.runs);
  EXPECT_EQ(table.methods[0].folds, 1) << "simple methods come first, fold by fold";
  EXPECT_GE(table.best[0], 0);
  EXPECT_THAT(table.to_text(), HasSubstr("kernel-nca is scored on 0 of 5 folds so far"));
}

TEST(Compare, EndsAtTheTimeLimit) {
  CompareRequest request = comparing({"gmml"});
  request.time_limit = 1e-9;
  const MethodTable table = table_of(request);
  EXPECT_EQ(table.status, Status::kTimeLimit);
  EXPECT_EQ(table.done, 0);
  EXPECT_THAT(table.best, Each(-1));
  EXPECT_THAT(table.to_text(), "No method is scored on any fold yet.\n");
}

}  // namespace
}  // namespace bregmax
