// The choice among methods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/learn/run.hpp"
#include "data/temporary_directory.hpp"
#include "learn/cases.hpp"

namespace bregmax {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LabelledRows;
using testing::noisy_classes;
using testing::TemporaryDirectory;
using ::testing::ThrowsMessage;

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedMethod& planned : plan.methods) {
    names.push_back(planned.method->name + (planned.yardstick ? ", for comparison" : ""));
  }
  return names;
}

const LabelledRows kNoisy = noisy_classes(60);
const TrainingData kTwoClasses{kNoisy.rows, kNoisy.classes};

FitRequest choosing_from(std::vector<std::string> candidates) {
  FitRequest request;
  request.candidates = std::move(candidates);
  return request;
}

// ---- What competes ----

TEST(Automatic, TriesFourMethodsFromTheSimplestOn) {
  const Plan made = plan({}, kTwoClasses);
  EXPECT_TRUE(made.automatic);
  EXPECT_THAT(names_of(made), ElementsAre("euclidean", "smooth", "pbdl", "deep"));
  EXPECT_THAT(made.notes, IsEmpty());
}

TEST(Automatic, LeavesOutPbdlWhereItTakesLongAndSaysSo) {
  FitRequest request;
  request.names.prefix = "--";
  request.thresholds.auto_pbdl_seconds = 0;
  const Plan made = plan(request, kTwoClasses);
  EXPECT_THAT(names_of(made), ElementsAre("euclidean", "smooth", "deep"));
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("--candidates smooth,pbdl,deep lets it")));
  request.candidates = {"pbdl", "smooth"};
  EXPECT_THAT(names_of(plan(request, kTwoClasses)), ElementsAre("smooth", "pbdl", "euclidean, for comparison"));
}

TEST(Automatic, TakesTheCandidatesOfTheRequest) {
  EXPECT_THAT(names_of(plan(choosing_from({"lmnn", "deep"}), kTwoClasses)),
              ElementsAre("deep", "lmnn", "euclidean, for comparison"));
  EXPECT_THAT(names_of(plan(choosing_from({"euclidean", "smooth"}), kTwoClasses)), ElementsAre("euclidean", "smooth"));
  const auto refused = [](const FitRequest& request, const char* message) {
    EXPECT_THAT([&] { plan(request, kTwoClasses); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused(choosing_from({"smoth"}), "smoth");
  FitRequest fixed = choosing_from({"smooth"});
  fixed.method = "deep";
  refused(fixed, "do not go with method=deep");
  FitRequest of_pbdl = choosing_from({"smooth"});
  of_pbdl.parameters["lambda"] = 1;
  refused(of_pbdl, "another option is for pbdl alone");
}

TEST(Automatic, IsPbdlIfTheRequestHasWhatOnlyPbdlKnows) {
  const auto only_pbdl = [](void (*ask)(FitRequest&)) {
    FitRequest request;
    ask(request);
    return plan(request, kTwoClasses).main().method->name;
  };
  EXPECT_EQ(only_pbdl([](FitRequest& r) { r.parameters["lambda"] = 1; }), "pbdl");
  EXPECT_EQ(only_pbdl([](FitRequest& r) { r.comparisons = 100; }), "pbdl");
  EXPECT_EQ(only_pbdl([](FitRequest& r) { r.supervision = {LabelSupervision::kAllPairs}; }), "pbdl");
  EXPECT_EQ(only_pbdl([](FitRequest& r) { r.solver.solver = Solver::kExact; }), "pbdl");
}

TEST(Automatic, IsSmoothWhereNothingCanBeHeldOut) {
  const Plan made = plan({}, {kNoisy.rows, Pairs{{0, 1, true, 1}, {0, 2, false, 1}}});
  EXPECT_THAT(names_of(made), ElementsAre("smooth"));
  EXPECT_FALSE(made.has_choice());
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("smooth is learned with its standard parameters")));
}

TEST(Automatic, ComparesAMethodOfWhichSomethingIsChosenWithTheEuclideanDistance) {
  FitRequest request;
  request.method = "itml";
  EXPECT_THAT(names_of(plan(request, kTwoClasses)), ElementsAre("itml", "euclidean, for comparison"));
  request.parameters["gamma"] = 1;
  EXPECT_THAT(names_of(plan(request, kTwoClasses)), ElementsAre("itml"));
}

// ---- What is chosen ----

TuneResult result_of(const std::vector<std::vector<double>>& on_folds, const std::vector<FamilyRole>& roles) {
  TuneResult result;
  const auto candidates = static_cast<Index>(roles.size());
  result.record.candidates.resize(roles.size());
  result.role_of = roles;
  result.constant.assign(roles.size(), false);
  result.record.means = Matrix::Zero(candidates, kAllMeasures.size());
  for (const std::vector<double>& scores : on_folds) {
    Matrix fold = Matrix::Zero(candidates, kAllMeasures.size());
    fold.col(static_cast<Index>(Measure::kAuc)) = Eigen::Map<const Vector>(scores.data(), candidates);
    result.record.means += fold / static_cast<double>(on_folds.size());
    result.fold_scores.push_back(fold);
  }
  return result;
}

TEST(Automatic, TakesTheSimplerOfTwoThatAreWithinAStandardError) {
  const std::vector<FamilyRole> roles = {{0}, {1}, {2}};
  EXPECT_EQ(best_candidate(result_of({{0.5, 0.8, 0.82}, {0.6, 0.9, 0.88}, {0.5, 0.8, 0.82}}, roles), Measure::kAuc), 1);
  EXPECT_EQ(best_candidate(result_of({{0.5, 0.8, 0.83}, {0.6, 0.8, 0.84}, {0.5, 0.8, 0.83}}, roles), Measure::kAuc), 2);
  const std::vector<FamilyRole> of_one_method = {{0}, {1}, {1}};
  EXPECT_EQ(
      best_candidate(result_of({{0.5, 0.8, 0.82}, {0.6, 0.9, 0.89}, {0.5, 0.8, 0.82}}, of_one_method), Measure::kAuc),
      2)
      << "within a method the best mean wins";
}

TEST(Automatic, NeverTakesWhatIsThereForComparison) {
  const std::vector<FamilyRole> roles = {{0}, {1, true}};
  EXPECT_EQ(best_candidate(result_of({{0.5, 0.8}, {0.6, 0.9}}, roles), Measure::kAuc), 0);
}

FitRequest quick_choice() {
  FitRequest request = choosing_from({"euclidean", "smooth", "pbdl"});
  request.repeats = 1;
  return request;
}

TEST(Automatic, LearnsWhatItChoseWithItsSettings) {
  const FitOutcome outcome = fit(quick_choice(), kTwoClasses);
  const std::vector<MethodScore> scores = method_scores(outcome.tuning.record);
  ASSERT_EQ(scores.size(), 3U);
  const auto chosen = std::ranges::find_if(scores, &MethodScore::chosen);
  ASSERT_NE(chosen, scores.end());
  EXPECT_EQ(chosen->method, outcome.method().name);
  EXPECT_NE(chosen->method, "euclidean");
  EXPECT_GT(chosen->mean, scores.front().mean);
  EXPECT_EQ(outcome.find(Finding::Kind::kNotBetterThanEuclidean), nullptr);
  FitRequest alone;
  alone.method = outcome.method().name;
  for (const auto& [name, value] : outcome.chosen.parameters) alone.parameters[name] = value;
  EXPECT_EQ(fit(alone, kTwoClasses).model.divergence->matrix(kNoisy.rows, kNoisy.rows),
            outcome.model.divergence->matrix(kNoisy.rows, kNoisy.rows));
}

TEST(Automatic, SaysWhenNothingIsBetterThanTheEuclideanDistance) {
  Random random(3);
  Matrix apart(60, 3);  // classes so far apart that every method ranks them without a mistake
  for (double& value : apart.reshaped()) value = random.normal();
  for (Index row = 0; row < 60; ++row) apart.row(row).array() += 20 * kNoisy.classes[row];
  const FitOutcome outcome = fit(quick_choice(), {apart, kNoisy.classes});
  const Finding* finding = outcome.find(Finding::Kind::kNotBetterThanEuclidean);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->cause, "chosen");
  EXPECT_THAT(finding->text, HasSubstr("better than the Euclidean distance"));
  EXPECT_EQ(outcome.method().name, "euclidean");
}

// ---- Wishes that not all of them know ----

TEST(Automatic, KeepsCheckpointsOfThoseThatHaveThem) {
  const TemporaryDirectory directory;
  FitRequest request = quick_choice();
  request.solver.checkpoint = directory / "state";
  request.solver.early_stop = true;
  const Plan made = plan(request, kTwoClasses);
  for (const PlannedMethod& planned : made.methods) {
    const bool by_steps = planned.method->name == "smooth" || planned.method->name == "deep";
    EXPECT_EQ(planned.settings.solver.checkpoint.empty(), !by_steps) << planned.method->name;
    EXPECT_EQ(planned.settings.solver.early_stop, by_steps) << planned.method->name;
  }
  EXPECT_THAT(made.notes, Contains(HasSubstr("the checkpoint is of the last fit")));
  request.candidates = {"euclidean", "itml"};
  EXPECT_THAT([&] { plan(request, kTwoClasses); }, ThrowsMessage<Error>(HasSubstr("which are not among candidates")));
}

// Fits on folds end at the limit, too, but keep no checkpoints.
TEST(Automatic, TheLastFitGoesOnFromItsCheckpoint) {
  const TemporaryDirectory directory;
  FitRequest request = choosing_from({"smooth"});
  const FitOutcome whole = fit(request, kTwoClasses);
  Plan made = plan(request, kTwoClasses);
  SolverSettings& solver = made.methods.front().settings.solver;
  solver.checkpoint = directory / "state";
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  control.on_progress = [&](const Progress& progress) {
    const bool last_fit = progress.phase == "learn";
    EXPECT_TRUE(last_fit || !std::filesystem::exists(solver.checkpoint));
    stop = last_fit && progress.iteration >= 100;
  };
  EXPECT_EQ(run(made, kTwoClasses, control).report.status, Status::kStopped);
  solver.resume = solver.checkpoint;
  const FitOutcome continued = run(made, kTwoClasses);
  EXPECT_EQ(continued.report.status, Status::kConverged);
  EXPECT_EQ(continued.model.divergence->matrix(kNoisy.rows, kNoisy.rows),
            whole.model.divergence->matrix(kNoisy.rows, kNoisy.rows));
  const auto refused = [&](const std::string& message) {
    EXPECT_THAT([&] { run(made, kTwoClasses); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  solver.resume = directory / "missing";
  refused("it cannot be read");
  solver.resume.clear();
  solver.checkpoint = directory / "no folder/state";
  refused("no folder/state: No such file");
  solver.checkpoint = directory / "scores";
  made.scores_file = directory / "./scores";
  refused("is the file that keeps the scores of the cross-validation; give another name");
  EXPECT_FALSE(std::filesystem::exists(made.scores_file));
}

TEST(Automatic, RowsWithWeightsAreForMethodsThatWeighThem) {
  TrainingData weighted = kTwoClasses;
  weighted.row_weights = std::vector<double>(60, 1);
  const Plan made = plan({}, weighted);
  EXPECT_THAT(names_of(made), ElementsAre("euclidean", "smooth", "deep"));
  EXPECT_THAT(made.notes, ElementsAre("pbdl does not compete, since it does not weigh rows"));
  EXPECT_THAT(
      [&] {
        plan(choosing_from({"pbdl", "smooth"}), weighted);
      },
      ThrowsMessage<Error>("pbdl does not weigh rows; smooth and deep do"));
  FitRequest pairs;
  pairs.method = "smooth";
  pairs.supervision = {LabelSupervision::kAllPairs};
  EXPECT_THAT([&] { plan(pairs, weighted); },
              ThrowsMessage<Error>(HasSubstr("row_weights is for labelled rows; it does not go with all pairs")));
  const FitRequest request = choosing_from({"smooth"});
  const auto learned = [&] { return fit(request, weighted).model.divergence->matrix(kNoisy.rows, kNoisy.rows); };
  const Matrix even = learned();
  EXPECT_EQ(even, fit(request, kTwoClasses).model.divergence->matrix(kNoisy.rows, kNoisy.rows));
  for (std::size_t i = 0; i < 30; ++i) weighted.row_weights[i] = 0.01;
  EXPECT_NE(even, learned());
  weighted.row_weights.pop_back();
  EXPECT_THAT([&] { plan({}, weighted); }, ThrowsMessage<Error>(HasSubstr("there are 59 weights for 60 rows")));
}

TEST(Automatic, DoesNotDependOnTheNumberOfThreads) {
  const auto learned = [](int threads) {
    const ThreadLimit limit(threads);
    const FitOutcome outcome = fit(quick_choice(), kTwoClasses);
    return std::pair(outcome.tuning.record.means, outcome.model.divergence->matrix(kNoisy.rows, kNoisy.rows));
  };
  EXPECT_EQ(learned(1), learned(2));
}

// The Euclidean distance is always scored, which must not hide why there is nothing to choose.
TEST(Automatic, SaysWhyNoCandidateCouldBeLearned) {
  const LabelledRows few = noisy_classes(12, 4);  // early stopping holds out all that is left of a class
  FitRequest request;
  request.method = "smooth";
  request.solver.early_stop = true;
  const TrainingData data{few.rows, few.classes};
  ASSERT_TRUE(plan(request, data).has_choice());
  EXPECT_THAT([&] { fit(request, data); }, ThrowsMessage<Error>(HasSubstr("early stopping holds out a fifth")));
  const TemporaryDirectory directory;
  Plan made = plan(request, data);
  made.scores_file = directory / "scores";
  EXPECT_THROW(run(made, data), Error);
  EXPECT_FALSE(std::filesystem::exists(made.scores_file)) << "nothing can be gone on with";
}

TEST(Automatic, FitsThatStoppedEarlyReachedWhatWasAsked) {
  FitRequest request;
  request.method = "smooth";
  request.solver.early_stop = true;
  Pairs noise;  // without a pattern, so that the loss of what is held out soon rises
  for (Index p = 0; p < 60; ++p) noise.push_back({p % 20, (7 * p + 1) % 20, p % 3 == 0});
  const FitOutcome outcome = fit(request, {kNoisy.rows, noise});
  ASSERT_EQ(outcome.report.status, Status::kEarlyStopped);
  EXPECT_EQ(outcome.tuning.record.unproved, 0);
}

// ---- The file of scores ----

TEST(Automatic, ContinuesFromTheScoresOfAStoppedRun) {
  const TemporaryDirectory directory;
  Plan made = plan(quick_choice(), kTwoClasses);
  const FitOutcome whole = run(made, kTwoClasses);
  made.scores_file = directory / "scores";
  for (const int tasks : {5, 12}) {
    std::atomic<bool> stop = false;
    RunControl control;
    control.stop = &stop;
    control.on_progress = [&](const Progress& progress) { stop = progress.iteration >= tasks; };
    EXPECT_EQ(run(made, kTwoClasses, control).report.status, Status::kStopped);
    EXPECT_TRUE(std::filesystem::exists(made.scores_file));
  }
  const FitOutcome continued = run(made, kTwoClasses);
  EXPECT_LT(continued.tuning.record.solved, whole.tuning.record.solved) << "some scores were read";
  EXPECT_EQ(continued.tuning.record.means, whole.tuning.record.means);
  EXPECT_EQ(continued.tuning.record.chosen, whole.tuning.record.chosen);
  EXPECT_EQ(continued.model.divergence->matrix(kNoisy.rows, kNoisy.rows),
            whole.model.divergence->matrix(kNoisy.rows, kNoisy.rows));
}

TEST(Automatic, NoFitOfAStoppedRunIsRepeated) {
  const TemporaryDirectory directory;
  FitRequest request = choosing_from({"smooth"});  // one of each kind: its candidates do not depend on each other
  request.repeats = 1;
  Plan made = plan(request, kTwoClasses);
  const Index all = run(made, kTwoClasses).tuning.record.solved;
  made.scores_file = directory / "scores";
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  control.on_progress = [&](const Progress& progress) { stop = progress.iteration >= 8; };
  run(made, kTwoClasses, control);
  std::ifstream file(made.scores_file);
  const auto kept = std::count(std::istreambuf_iterator<char>(file), {}, '\n') - 2;  // less the two lines of the header
  ASSERT_GE(kept, 5);
  ASSERT_LT(kept, all);
  EXPECT_EQ(run(made, kTwoClasses).tuning.record.solved, all - kept);
}

TEST(Automatic, DoesNotTakeTheScoresOfAnotherFit) {
  const TemporaryDirectory directory;
  Plan made = plan(quick_choice(), kTwoClasses);
  made.scores_file = directory / "scores";
  run(made, kTwoClasses);
  Matrix other = kNoisy.rows;
  other(0, 0) += 1e-12;
  const FitOutcome again = run(made, {other, kNoisy.classes});
  EXPECT_GT(again.tuning.record.solved, 0) << "other data";
  made.seed = 1;
  EXPECT_GT(run(made, {other, kNoisy.classes}).tuning.record.solved, 0) << "another seed";
  EXPECT_EQ(run(made, {other, kNoisy.classes}).tuning.record.solved, 0) << "the same again";
  made.time_limit = 3600;
  EXPECT_EQ(run(made, {other, kNoisy.classes}).tuning.record.solved, 0) << "a time limit changes no score";
}

TEST(Automatic, DoesNotTakeTheScoresOfOtherPieces) {
  const TemporaryDirectory directory;
  Plan made = testing::small_plan();
  made.scores_file = directory / "scores";
  std::vector<int>& pieces = made.methods[0].settings.piece_of.emplace(kNoisy.classes.size());
  for (std::size_t row = 0; row < pieces.size(); ++row) pieces[row] = static_cast<int>(row % 2);
  EXPECT_GT(run(made, kTwoClasses).tuning.record.solved, 0);
  EXPECT_EQ(run(made, kTwoClasses).tuning.record.solved, 0) << "the same again";
  for (std::size_t row = 0; row < pieces.size(); ++row) pieces[row] = static_cast<int>(row % 3);
  EXPECT_GT(run(made, kTwoClasses).tuning.record.solved, 0);
}

}  // namespace
}  // namespace bregmax
