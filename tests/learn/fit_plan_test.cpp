#include "bregmax/learn/fit_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Matrix kRows = Matrix::Zero(40, 2);
const Supervision kPairs = Pairs{{0, 1, true, 1}};

Supervision some_targets(Index count) { return Targets(static_cast<std::size_t>(count), Target{0, 1, 1.0, 1.0}); }

TEST(FitPlan, ChoosesLambdaAndSmoothingFromLabels) {
  const AutoFitOptions plan = plan_fit({}, kRows, nullptr);
  EXPECT_EQ(plan.lambdas, all_pairs_lambdas());
  EXPECT_EQ(plan.temperatures, default_temperatures());
  EXPECT_THAT(plan.pieces, ElementsAre(0));
  EXPECT_THAT(plan.scales, ElementsAre(Scale::kStandard));
  EXPECT_EQ(plan.supervision.front().kind, LabelSupervision::kAllPairs);
  EXPECT_EQ(plan.tune_for, Measure::kAveragePrecision);
  EXPECT_EQ(plan.repeats, recommended_options(40).repeats);
  EXPECT_TRUE(has_choice(plan));
}

TEST(FitPlan, AGivenLambdaLeavesNothingToChoose) {
  FitWishes wishes;
  wishes.lambda.value = 3;
  const AutoFitOptions plan = plan_fit(wishes, kRows, nullptr);
  EXPECT_THAT(plan.lambdas, ElementsAre(3));
  EXPECT_THAT(plan.temperatures, ElementsAre(0));
  EXPECT_FALSE(has_choice(plan));
  wishes.smoothing.automatic = true;
  EXPECT_EQ(plan_fit(wishes, kRows, nullptr).temperatures, default_temperatures());
}

TEST(FitPlan, ItemsAreTunedForTheirLossAndTargetsNotAtAll) {
  const AutoFitOptions pairs = plan_fit({}, kRows, &kPairs);
  EXPECT_EQ(pairs.lambdas, default_lambdas());
  EXPECT_THAT(pairs.temperatures, ElementsAre(0));
  EXPECT_EQ(pairs.tune_for, Measure::kLoss);
  const Supervision targets = some_targets(5);
  EXPECT_FALSE(has_choice(plan_fit({}, kRows, &targets)));
  EXPECT_THAT(plan_fit({}, kRows, &targets).lambdas, ElementsAre(0));
  FitWishes wishes;
  wishes.lambda.automatic = true;
  EXPECT_EQ(plan_fit(wishes, kRows, &targets).lambdas, default_lambdas());
  wishes = {};
  wishes.lambdas = {1, 2};
  EXPECT_THAT(plan_fit(wishes, kRows, &targets).lambdas, ElementsAre(1, 2));
}

TEST(FitPlan, ANumberOfComparisonsAsksForThem) {
  FitWishes wishes;
  wishes.comparisons = 70;
  wishes.fit.seed = 9;
  LabelSupervisionOptions drawn = plan_fit(wishes, kRows, nullptr).supervision.front();
  EXPECT_EQ(drawn.kind, LabelSupervision::kComparisons);
  EXPECT_EQ(drawn.comparisons, 70);
  EXPECT_EQ(drawn.seed, 9);
  wishes.comparisons.reset();
  wishes.supervision = LabelSupervision::kHardComparisons;
  wishes.hard_neighbours = 5;
  drawn = plan_fit(wishes, kRows, nullptr).supervision.front();
  EXPECT_EQ(drawn.comparisons, 0);  // all
  EXPECT_EQ(drawn.neighbours, 5);
}

TEST(FitPlan, Pieces) {
  FitWishes wishes;
  wishes.pieces.automatic = true;
  EXPECT_THAT(plan_fit(wishes, kRows, nullptr).pieces, ElementsAre(0, 20, 10, 5));
  wishes.pieces = {7.0, false};
  EXPECT_THAT(plan_fit(wishes, kRows, nullptr).pieces, ElementsAre(7));
  wishes.fit.piece_of = std::vector<int>(40, 0);
  EXPECT_THAT(plan_fit(wishes, kRows, nullptr).pieces, ElementsAre(0));
  wishes = {};
  wishes.theory_pieces = true;
  const Supervision few = some_targets(300), many = some_targets(5'000'000);
  EXPECT_THAT(plan_fit(wishes, kRows, &few).pieces, ElementsAre(5));   // ceil(300^(2 / 8))
  EXPECT_THAT(plan_fit(wishes, kRows, &many).pieces, ElementsAre(0));  // more than rows: one each
}

TEST(FitPlan, PiecesOfALargeTableAreFew) {
  const Matrix rows = Matrix::Zero(kMostRowsWithOwnPieces + 1, 1);
  EXPECT_THAT(plan_fit({}, rows, nullptr).pieces, ElementsAre(20, 50, 100, 200));
  EXPECT_THAT(plan_fit({}, rows.topRows(kMostRowsWithOwnPieces), nullptr).pieces, ElementsAre(0));
  FitWishes wishes;
  wishes.own_pieces = true;
  EXPECT_THAT(plan_fit(wishes, rows, nullptr).pieces, ElementsAre(0));
}

TEST(FitPlan, RefusesWhatDoesNotGoTogetherInTheWordsOfItsInterface) {
  const auto plan = [](const FitWishes& wishes, const Supervision* given) {
    return [=] { plan_fit(wishes, kRows, given); };
  };
  FitWishes wishes;
  wishes.names = {"--l", "--ls", "--p", "--t", "--c"};
  FitWishes both = wishes;
  both.lambda.value = 1;
  both.lambdas = {1, 2};
  EXPECT_THAT(plan(both, nullptr), ThrowsMessage<Error>(HasSubstr("--ls are the values that --l auto tries")));
  FitWishes drawn = wishes;
  drawn.comparisons = 5;
  EXPECT_THAT(plan(drawn, &kPairs), ThrowsMessage<Error>(HasSubstr("--c is the number")));
  drawn.supervision = LabelSupervision::kAllPairs;
  EXPECT_THAT(plan(drawn, nullptr), ThrowsMessage<Error>(HasSubstr("--c is the number")));
  FitWishes measured = wishes;
  measured.tune_for = Measure::kAuc;
  EXPECT_THAT(plan(measured, &kPairs), ThrowsMessage<Error>(HasSubstr("--t is 'auc'")));
  FitWishes pieces = wishes;
  for (const double number : {0.0, 41.0}) {
    pieces.pieces.value = number;
    EXPECT_THAT(plan(pieces, nullptr), ThrowsMessage<Error>(AllOf(HasSubstr("--p is"), HasSubstr("1 to 40"))));
  }
  FitWishes theory = wishes;
  theory.theory_pieces = true;
  EXPECT_THAT(plan(theory, nullptr), ThrowsMessage<Error>(HasSubstr("for targets")));
}

TEST(FitPlan, ScalesByName) {
  EXPECT_THAT(scales_named("auto"), ElementsAre(Scale::kStandard, Scale::kNone));
  EXPECT_THAT(scales_named("none"), ElementsAre(Scale::kNone));
  EXPECT_THAT([] { scales_named("log"); }, ThrowsMessage<Error>(HasSubstr("standard, none or auto")));
}

}  // namespace
}  // namespace bregmax
