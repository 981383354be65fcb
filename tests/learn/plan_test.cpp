#include "bregmax/learn/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "bregmax/core/error.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "learn/method_planner.hpp"

namespace bregmax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

// Of two classes.
ClassOfRow alternating(std::size_t rows) {
  ClassOfRow classes(rows);
  for (std::size_t i = 0; i < rows; ++i) classes[i] = static_cast<int>(i % 2);
  return classes;
}

const Matrix kRows = Matrix::Zero(40, 2);
const TrainingData kLabels{kRows, alternating(40)};
const TrainingData kPairs{kRows, Pairs(5, Pair{0, 1, true, 1})};

TrainingData targets(Index count) { return {kRows, Targets(static_cast<std::size_t>(count), Target{0, 1, 1.0, 1.0})}; }

FitRequest of_method(const std::string& name) {
  FitRequest request;
  request.method = name;
  return request;
}

const FitRequest kAuto, kPbdl = of_method("pbdl");

FitRequest with(const std::string& name, const Wish& wish) {
  FitRequest request = kPbdl;
  request.parameters[name] = wish;
  return request;
}

TEST(Plan, OfLabelsChoosesLambdaAndSmoothing) {
  const Plan made = plan(kPbdl, kLabels);
  EXPECT_EQ(made.main().values("lambda"), all_pairs_lambdas());
  EXPECT_EQ(made.main().values("smoothing"), default_temperatures());
  EXPECT_THAT(made.main().values("pieces"), ElementsAre(0));
  EXPECT_THAT(made.main().scales, ElementsAre(Scale::kStandard));
  EXPECT_EQ(made.main().supervision.front().kind, LabelSupervision::kAllPairs);
  EXPECT_EQ(made.tune_for, Measure::kAveragePrecision);
  EXPECT_EQ(made.main().settings.solver.solver, Solver::kAuto);
  EXPECT_EQ(made.repeats, 3);
  EXPECT_TRUE(made.has_choice());
}

TEST(Plan, OfAGivenLambdaLeavesNothingToChoose) {
  FitRequest request = with("lambda", 3);
  const Plan made = plan(request, kLabels);
  EXPECT_THAT(made.main().values("lambda"), ElementsAre(3));
  EXPECT_THAT(made.main().values("smoothing"), ElementsAre(0));
  EXPECT_FALSE(made.has_choice());
  request.parameters["smoothing"] = Wish::choose();
  EXPECT_EQ(plan(request, kLabels).main().values("smoothing"), default_temperatures());
}

TEST(Plan, CountsEveryListAsAChoice) {
  FitRequest request = with("lambda", 3);
  request.supervision = {LabelSupervision::kComparisons, LabelSupervision::kHardComparisons};
  EXPECT_TRUE(plan(request, kLabels).has_choice());
  request.supervision.pop_back();
  EXPECT_FALSE(plan(request, kLabels).has_choice());
  request.scales = {Scale::kNone, Scale::kStandard};
  EXPECT_TRUE(plan(request, kLabels).has_choice());
}

TEST(Plan, TunesItemsForTheirAgreementAndTargetsNotAtAll) {
  const Plan few_pairs = plan(kPbdl, kPairs);
  EXPECT_EQ(few_pairs.main().values("lambda"), default_lambdas());
  EXPECT_THAT(few_pairs.main().values("smoothing"), ElementsAre(0));
  EXPECT_EQ(few_pairs.tune_for, Measure::kLoss) << "too few of each kind for five folds";
  const TrainingData comparisons{kPairs.rows, Comparisons(20, {0, 1, 0, 2})};
  EXPECT_EQ(plan(kPbdl, comparisons).tune_for, Measure::kAgreement);
  EXPECT_EQ(plan(kPbdl, comparisons).main().values("smoothing"), default_temperatures());
  EXPECT_EQ(plan(kPbdl, comparisons).folds, 5);
  EXPECT_FALSE(plan(kPbdl, targets(5)).has_choice());
  EXPECT_THAT(plan(kPbdl, targets(5)).main().values("lambda"), ElementsAre(0));
  EXPECT_EQ(plan(with("lambda", Wish::choose()), targets(5)).main().values("lambda"), default_lambdas());
  EXPECT_THAT(plan(with("lambda", Wish::choose({1, 2})), targets(5)).main().values("lambda"), ElementsAre(1, 2));
}

TEST(Plan, ANumberOfComparisonsAsksForThem) {
  FitRequest request = kPbdl;
  request.comparisons = 70;
  request.seed = 9;
  LabelSupervisionOptions drawn = plan(request, kLabels).main().supervision.front();
  EXPECT_EQ(drawn.kind, LabelSupervision::kComparisons);
  EXPECT_EQ(drawn.comparisons, 70);
  EXPECT_EQ(drawn.seed, 9);
  request.comparisons.reset();
  request.supervision = {LabelSupervision::kHardComparisons};
  request.hard_neighbours = 5;
  drawn = plan(request, kLabels).main().supervision.front();
  EXPECT_EQ(drawn.comparisons, 0);  // all
  EXPECT_EQ(drawn.neighbours, 5);
}

TEST(Plan, PredictsFitsOnFoldsScoresAndTheLastFit) {
  const Plan made = plan(of_method("smooth"), kLabels);
  double expected = 0;
  for (const PlannedMethod& planned : made.methods) {
    const auto models = static_cast<double>(planned.candidates() * made.folds * made.repeats);
    EXPECT_NEAR(planned.seconds_of_scores, models * internal::seconds_to_score(40.0 / 3), 1e-12);
    expected += planned.seconds_of_folds + planned.seconds_of_scores;
  }
  EXPECT_NEAR(made.predicted_seconds(1), expected + made.main().seconds_of_fit, 1e-9);
  EXPECT_GT(internal::seconds_to_score(2000), 0.1);
}

TEST(Plan, Pieces) {
  EXPECT_THAT(plan(with("pieces", Wish::choose()), kLabels).main().values("pieces"), ElementsAre(0, 20, 10, 5));
  FitRequest request = with("pieces", 7);
  EXPECT_THAT(plan(request, kLabels).main().values("pieces"), ElementsAre(7));
  request.piece_of = std::vector<int>(40, 0);
  EXPECT_THAT(plan(request, kLabels).main().values("pieces"), ElementsAre(0));
  request.parameters["pieces"] = Wish({7, 8});
  EXPECT_THAT(plan(request, kLabels).main().values("pieces"), ElementsAre(0));
  request = kPbdl;
  request.theory_pieces = true;
  EXPECT_THAT(plan(request, targets(300)).main().values("pieces"), ElementsAre(5));        // ceil(300^(2 / 8))
  EXPECT_THAT(plan(request, targets(5'000'000)).main().values("pieces"), ElementsAre(0));  // more than rows: one each
}

// Each of them at its value and one above it.
TEST(Plan, ChangesAtItsThresholds) {
  const auto at = [](const std::function<void(PlanThresholds&)>& change, FitRequest request = kPbdl) {
    change(request.thresholds);
    return plan(request, kLabels);
  };
  EXPECT_EQ(at([](PlanThresholds& t) { t.all_pairs_rows = 40; }).main().supervision[0].kind,
            LabelSupervision::kAllPairs);
  const PlannedMethod drawn = at([](PlanThresholds& t) { t.all_pairs_rows = 39; }).main();
  EXPECT_EQ(drawn.supervision[0].kind, LabelSupervision::kComparisons);
  EXPECT_EQ(drawn.supervision[0].comparisons, 2000);
  EXPECT_EQ(drawn.values("lambda"), default_lambdas());
  EXPECT_THAT(at([](PlanThresholds& t) { t.own_pieces_rows = 40; }).main().values("pieces"), ElementsAre(0));
  const auto few = [](PlanThresholds& t) { t.own_pieces_rows = 39; };
  EXPECT_THAT(at(few).main().values("pieces"), ElementsAre(20)) << "no more than rows";
  const Matrix many = Matrix::Zero(20'001, 1);
  EXPECT_THAT(plan(kPbdl, {many, alternating(20'001)}).main().values("pieces"), ElementsAre(20, 50, 100, 200));
  EXPECT_THAT(at(few, with("pieces", 0)).main().values("pieces"), ElementsAre(0)) << "one per row was asked for";
  EXPECT_EQ(at([](PlanThresholds& t) { t.tuning_rows = 40; }).tuning_rows, 0);
  EXPECT_EQ(at([](PlanThresholds& t) { t.tuning_rows = 39; }).tuning_rows, 39);
  EXPECT_EQ(at([](PlanThresholds& t) { t.tuning_rows = 39; }, of_method("smooth")).tuning_rows, 39);
  EXPECT_EQ(at([](PlanThresholds& t) { t.tuning_rows = 39; }, of_method("itml")).tuning_rows, 39);
  FitRequest of_items = of_method("smooth");
  of_items.thresholds.tuning_rows = 39;
  EXPECT_EQ(plan(of_items, targets(40)).tuning_rows, 39);
  EXPECT_EQ(at([](PlanThresholds& t) { t.three_repeats_rows = 39; }).repeats, 2);
  EXPECT_EQ(at([](PlanThresholds& t) { t.three_repeats_rows = t.two_repeats_rows = 39; }).repeats, 1);
  EXPECT_EQ(at([](PlanThresholds& t) { t.exact_seconds = 7; }).main().settings.solver.exact_seconds, 7);
}

TEST(Plan, ThresholdsMayBeGivenAsText) {
  FitRequest request = kPbdl;
  request.thresholds = parse_thresholds("all_pairs_rows=39,tuning_rows=12");
  EXPECT_EQ(plan(request, kLabels).main().supervision[0].kind, LabelSupervision::kComparisons);
  EXPECT_EQ(plan(request, kLabels).tuning_rows, 12);
  EXPECT_THAT([] { parse_thresholds("rows=39"); }, ThrowsMessage<Error>(HasSubstr("'rows=39'; allowed: NAME=NUMBER")));
  EXPECT_THAT([] { parse_thresholds("tuning_rows=x"); }, ThrowsMessage<Error>(HasSubstr("'tuning_rows=x'")));
}

// Only the program and the Python module read it.
TEST(Plan, DoesNotReadTheEnvironment) {
  ::setenv(kThresholdsVariable, "tuning_rows=12", 1);
  EXPECT_EQ(plan(kPbdl, kLabels).tuning_rows, 0);
  ::unsetenv(kThresholdsVariable);
}

TEST(Plan, RefusesWhatDoesNotGoTogetherInTheWordsOfItsInterface) {
  const auto refused = [](FitRequest request, const TrainingData& data, const auto& message) {
    request.names = {"--", {{"lambda", "l"}, {"lambdas", "ls"}, {"pieces", "p"}}};
    EXPECT_THAT([&] { plan(request, data); }, ThrowsMessage<Error>(message));
  };
  FitRequest both = with("lambda", Wish::choose({1, 2}));
  both.parameters["lambda"].values = {1};
  refused(both, kLabels, HasSubstr("--ls are the values that --l auto tries"));
  refused(with("lambda", Wish::choose({2, 1})), kLabels, StrEq("--ls is 2,1; allowed: rising numbers >= 0"));
  refused(with("lambda", Wish({1, 1})), kLabels, HasSubstr("rising numbers"));
  FitRequest drawn = kPbdl;
  drawn.comparisons = 5;
  refused(drawn, kPairs, HasSubstr("--comparisons is the number"));
  drawn.supervision = {LabelSupervision::kAllPairs};
  refused(drawn, kLabels, HasSubstr("--comparisons is the number"));
  FitRequest measured = kPbdl;
  measured.tune_for = Measure::kAuc;
  refused(measured, kPairs, HasSubstr("--tune-for is 'auc'"));
  refused(with("pieces", 41), kLabels, AllOf(HasSubstr("--p is 41"), HasSubstr("1 to 40")));
  FitRequest theory = kPbdl;
  theory.theory_pieces = true;
  refused(theory, kLabels, HasSubstr("for targets"));
  FitRequest large = kPbdl;
  large.solver.solver = Solver::kAdmm;
  refused(large, kLabels, AllOf(HasSubstr("--solver admm needs --l V"), HasSubstr("--solver auto")));
  large.solver = {.checkpoint = "state"};
  refused(large, kLabels, HasSubstr("--checkpoint, --resume and --early-stop go with --solver admm"));
  FitRequest folds = kPbdl;
  folds.folds = 6;
  refused(folds, kPairs, HasSubstr("--folds is 6, but the supervision has only 5 items"));
}

TEST(Plan, OfAClassicalMethodTriesTheGridOfWhatIsTuned) {
  const Plan made = plan(of_method("itml"), kLabels);
  EXPECT_EQ(made.main().tried.size(), 1U);
  EXPECT_EQ(made.main().values("gamma"), method_named("itml").parameter("gamma").grid);
  EXPECT_TRUE(made.has_choice());
  EXPECT_EQ(made.repeats, 3);
  EXPECT_EQ(made.tuning_rows, 0);
  EXPECT_FALSE(plan(of_method("lmnn"), kLabels).has_choice());
}

TEST(Plan, TakesOneValueAndTriesSeveral) {
  FitRequest request = of_method("itml");
  request.parameters = {{"gamma", 3}, {"prior", Wish({1, 0})}, {"upper", 0.5}};
  const Plan made = plan(request, kLabels);
  EXPECT_THAT(made.main().values("gamma"), ElementsAre(3));
  EXPECT_THAT(made.main().values("upper"), ElementsAre(0.5));
  EXPECT_THAT(made.main().values("prior"), ElementsAre(1, 0));
  request.parameters = {{"upper", Wish::choose()}};
  request.names.several_values = "several of them";
  EXPECT_THAT([&] { plan(request, kLabels); },
              ThrowsMessage<Error>("upper is 'auto'; allowed: a number >= 0, or several of them to choose from"));
  request.parameters = {{"colour", 1}};
  EXPECT_THAT([&] { plan(request, kLabels); }, ThrowsMessage<Error>(HasSubstr("itml has no parameter 'colour'")));
  request.parameters = {{"gamma", -1}};
  EXPECT_THAT([&] { plan(request, kLabels); }, ThrowsMessage<Error>(HasSubstr("gamma is -1; allowed: a number > 0")));
}

TEST(Plan, OfAClassicalMethodChoosesFromItemsIfThereAreEnough) {
  FitRequest request = of_method("itml");
  EXPECT_FALSE(plan(request, kPairs).has_choice());
  Pairs many(20, {0, 1, true});
  for (std::size_t p = 0; p < 5; ++p) many[p].similar = false;
  EXPECT_GT(plan(request, {kRows, many}).main().values("gamma").size(), 1U);
  EXPECT_EQ(plan(request, {kRows, many}).tune_for, Measure::kAgreement);
  many[0].similar = true;
  EXPECT_FALSE(plan(request, {kRows, many}).has_choice()) << "too few dissimilar pairs for five folds";
  request.scales = {Scale::kNone, Scale::kStandard};
  EXPECT_TRUE(plan(request, kPairs).has_choice()) << "it was asked for";
}

TEST(Plan, OfAClassicalMethodChecksItsSupervision) {
  FitRequest request = of_method("mlr-auc");
  request.supervision = {LabelSupervision::kAllPairs};
  EXPECT_THAT([&] { plan(request, kLabels); }, ThrowsMessage<Error>("mlr-auc cannot learn from pairs"));
  request.supervision = {LabelSupervision::kComparisons};
  EXPECT_THAT([&] { plan(request, kLabels); }, ThrowsMessage<Error>(HasSubstr("learns from the labels themselves")));
  EXPECT_THAT([&] { plan(of_method("mahalanobis"), kLabels); },
              ThrowsMessage<Error>("mahalanobis cannot learn from labels"));
}

TEST(Plan, OfAClassicalMethodRefusesWhatIsForPbdl) {
  const auto refused = [](const auto& change) {
    FitRequest request = of_method("itml");
    change(request);
    EXPECT_THAT([&] { plan(request, kLabels); }, ThrowsMessage<Error>(HasSubstr("they do not go with itml")));
  };
  refused([](FitRequest& r) { r.comparisons = 5; });
  refused([](FitRequest& r) { r.hard_neighbours = 5; });
  refused([](FitRequest& r) { r.theory_pieces = true; });
  refused([](FitRequest& r) { r.piece_of = std::vector<int>(40); });
}

TEST(Plan, RefusesWhatTheMethodDoesNotKnow) {
  const auto refused = [](const std::string& method, const auto& change, const char* message) {
    FitRequest request = of_method(method);
    change(request);
    EXPECT_THAT([&] { plan(request, kLabels); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  const char* no_checkpoints = "checkpoint, resume and early_stop do not go with itml; smooth, deep, and pbdl with";
  refused(
      "itml", [](FitRequest& r) { r.solver.checkpoint = "f"; }, no_checkpoints);
  refused(
      "itml", [](FitRequest& r) { r.solver.resume = "f"; }, no_checkpoints);
  refused(
      "itml", [](FitRequest& r) { r.solver.early_stop = true; }, no_checkpoints);
  refused(
      "itml", [](FitRequest& r) { r.solver.memory_limit = 1; }, "memory_limit does not go with itml");
  refused(
      "pbdl", [](FitRequest& r) { r.solver.early_stop = true; }, "go with solver=admm");
  refused(
      "smooth", [](FitRequest& r) { r.solver.checkpoint_every = -1; }, "checkpoint_every is -1; allowed: 0 or more");
  const auto huge = [](FitRequest& r) {
    r.parameters["width"] = 100000;
    r.parameters["hidden_layers"] = 20;
  };
  refused("deep", huge, "deep would need 1.");
  refused(
      "deep",
      [](FitRequest& r) {
        r.parameters["width"] = Wish({8, 100000});
        r.solver.memory_limit = 1e9;
      },
      "above the limit of 1 GB");
  refused(
      "smooth", [](FitRequest& r) { r.parameters["batch"] = 1; }, "batch is 1; allowed: ");
}

TEST(Plan, RefusesRowsAndLabelsThatCannotBeLearnedFrom) {
  const auto refused = [](const FitRequest& request, const TrainingData& data, const char* message) {
    EXPECT_THAT([&] { plan(request, data); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  ClassOfRow different(40);
  for (std::size_t i = 0; i < different.size(); ++i) different[i] = static_cast<int>(i);
  refused(kPbdl, {kRows, alternating(39)}, "there are 39 labels for 40 rows");
  refused(of_method("itml"), {kRows, ClassOfRow(40)}, "labels: found 1 class; two classes or more are needed");
  refused(of_method("itml"), {kRows, different}, "labels: each of the 40 rows has a different label");
  Matrix bad = kRows;
  bad(3, 1) = std::nan("");
  refused(kPbdl, {bad, alternating(40)}, "row 3 feature 1 is nan");
}

TEST(Plan, CanBeRead) {
  FitRequest request = with("lambda", Wish::choose({1, 10}));
  request.scales = {Scale::kStandard, Scale::kNone};
  const std::string text = plan(request, kLabels).to_text();
  EXPECT_THAT(text, AllOf(HasSubstr("lambda         1, 10\n"), HasSubstr("scale          standard, none\n"),
                          HasSubstr("supervision    all_pairs\n"), HasSubstr("pieces         all\n"),
                          HasSubstr("tune_for       average_precision\n")));
  request = of_method("itml");
  request.tune_for = Measure::kLoss;
  EXPECT_THAT(plan(request, kLabels).to_text(), HasSubstr("repeats        3\n"));
  EXPECT_THAT(plan(kPbdl, kPairs).to_text(), Not(HasSubstr("repeats")));
}

TEST(Plan, ScalesByName) {
  EXPECT_THAT(scales_named("auto"), ElementsAre(Scale::kStandard, Scale::kNone));
  EXPECT_THAT(scales_named("none"), ElementsAre(Scale::kNone));
  EXPECT_THAT([] { scales_named("log"); }, ThrowsMessage<Error>(HasSubstr("standard, none or auto")));
}

}  // namespace
}  // namespace bregmax
