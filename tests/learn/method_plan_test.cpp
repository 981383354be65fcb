#include "bregmax/learn/method_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Method& itml() { return method_named("itml"); }

TEST(MethodPlan, WithoutWishesIsWhatTheLibraryRecommends) {
  const MethodWishes none;
  const MethodFitOptions plan = plan_method(none, itml(), 40, true), recommended = recommended_method_options(40);
  EXPECT_TRUE(plan.settings.parameters.empty());
  EXPECT_TRUE(plan.tried.empty());
  EXPECT_EQ(plan.scales, recommended.scales);
  EXPECT_EQ(plan.tune_for, recommended.tune_for);
  EXPECT_EQ(plan.folds, recommended.folds);
  EXPECT_EQ(plan.repeats, recommended.repeats);
  EXPECT_EQ(plan.evaluation.start, recommended.evaluation.start);
  EXPECT_TRUE(has_choice(itml(), plan));
}

TEST(MethodPlan, OneValueIsTakenSeveralAreTried) {
  MethodWishes wishes;
  wishes.parameters = {{"gamma", {{3}}}, {"prior", {{1, 0}}}, {"upper", {{0.5}}}};
  const MethodFitOptions plan = plan_method(wishes, itml(), 40, true);
  EXPECT_THAT(plan.settings.parameters,
              ElementsAre(std::pair<const std::string, double>("gamma", 3), std::pair("upper", 0.5)));
  ASSERT_EQ(plan.tried.size(), 1U);
  EXPECT_THAT(plan.tried.at("prior"), ElementsAre(1, 0));
}

TEST(MethodPlan, AutoIsTheGrid) {
  MethodWishes wishes;
  wishes.parameters = {{"gamma", {{}, true}}};
  EXPECT_EQ(plan_method(wishes, itml(), 40, true).tried.at("gamma"), itml().parameter("gamma").grid);
  wishes.parameters = {{"upper", {{}, true}}};
  wishes.names.several_values = "several of them";
  EXPECT_THAT([&] { plan_method(wishes, itml(), 40, true); },
              ThrowsMessage<Error>("upper is 'auto'; allowed: a number >= 0, or several of them to choose from"));
}

TEST(MethodPlan, TakesOverWhatIsAskedFor) {
  MethodWishes wishes;
  wishes.settings.parameters["colour"] = 1;  // which does not count
  wishes.settings.tolerance = 1e-4;
  wishes.settings.max_iterations = 7;
  wishes.settings.time_limit = 2;
  wishes.settings.seed = 9;
  wishes.scales = {Scale::kNone};
  wishes.all_pairs = true;
  wishes.tune_for = Measure::kPurity;
  wishes.folds = 5;
  wishes.repeats = 11;
  const MethodFitOptions plan = plan_method(wishes, itml(), 40, true);
  EXPECT_TRUE(plan.settings.parameters.empty());
  EXPECT_EQ(plan.settings.tolerance, 1e-4);
  EXPECT_EQ(plan.settings.max_iterations, 7);
  EXPECT_EQ(plan.settings.time_limit, 2);
  EXPECT_EQ(plan.settings.seed, 9U);
  EXPECT_THAT(plan.scales, ElementsAre(Scale::kNone));
  EXPECT_TRUE(plan.all_pairs);
  EXPECT_EQ(plan.tune_for, Measure::kPurity);
  EXPECT_EQ(plan.folds, 5);
  EXPECT_EQ(plan.repeats, 11);
}

TEST(MethodPlan, WithoutLabelsThereIsNothingToChooseBy) {
  const auto plan = [](const MethodWishes& wishes) { return [=] { plan_method(wishes, itml(), 40, false); }; };
  MethodWishes wishes;
  EXPECT_NO_THROW(plan(wishes)());
  wishes.names.scale = "--scale";
  wishes.scales = {Scale::kNone, Scale::kStandard};
  EXPECT_THAT(plan(wishes), ThrowsMessage<Error>(HasSubstr("--scale is to be chosen by cross-validation")));
  wishes.parameters = {{"gamma", {{1, 2}}}};
  EXPECT_THAT(plan(wishes), ThrowsMessage<Error>(HasSubstr("gamma is to be chosen by cross-validation")));
}

TEST(MethodPlan, RefusesWhatTheMethodDoesNotAllow) {
  const auto plan = [](const std::string& name, double value) {
    MethodWishes wishes;
    wishes.parameters[name].values = {value};
    return [=] { plan_method(wishes, itml(), 40, true); };
  };
  EXPECT_THAT(plan("colour", 1), ThrowsMessage<Error>(HasSubstr("itml has no parameter 'colour'")));
  EXPECT_THAT(plan("gamma", -1), ThrowsMessage<Error>(HasSubstr("gamma is -1; allowed: a number > 0")));
}

}  // namespace
}  // namespace bregmax
