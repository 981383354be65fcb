// Going on from a model that was learned before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "bregmax/learn/run.hpp"
#include "bregmax/tasks/evaluate.hpp"
#include "data/expect_error.hpp"
#include "learn/cases.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::LabelledRows;
using testing::noisy_classes;

const LabelledRows kNinety = noisy_classes(90, 3);
const TrainingData kNinetyRows{kNinety.rows, kNinety.classes};

Comparisons some_comparisons() {
  Comparisons made;
  for (Index i = 0; i + 7 < kNinety.rows.rows(); ++i) made.push_back({i, i + 3, i, i + 7});  // three classes in turn
  return made;
}
Pairs some_pairs() {
  Pairs made;
  for (Index i = 0; i + 7 < kNinety.rows.rows(); ++i) {
    made.push_back({i, i + 3, true});
    made.push_back({i, i + 7, false});
  }
  return made;
}
Targets some_targets() {
  Targets made;
  for (Index i = 0; i + 5 < kNinety.rows.rows(); ++i) {
    made.push_back({i, i + 5, 100 * (kNinety.rows.row(i) - kNinety.rows.row(i + 5)).squaredNorm()});
  }
  return made;
}

// Small, and with nothing to choose.
FitRequest request_for(const std::string& method) {
  FitRequest request;
  request.method = method;
  request.parameters = {{"pieces", 8}, {"decay", 1e-2}, {"feature_price", 0}};
  if (method == "deep") {
    for (const auto& [name, value] : {std::pair{"hidden_layers", 1}, {"width", 12}, {"outputs", 4}}) {
      request.parameters[name] = value;
    }
  }
  return request;
}

FitRequest going_on(const Model& model) {
  FitRequest request;
  request.start = std::make_shared<Model>(model);
  return request;
}

class Start : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, Start, ::testing::Values("smooth", "deep"),
                         [](const auto& one) { return one.param; });

// With steps of length 0 the divergence stays what it is, whatever its unit: for targets that of the values, for pairs
// the threshold.
TEST_P(Start, IsTheModelItself) {
  for (const MethodSupervision& supervision :
       {MethodSupervision(kNinety.classes), MethodSupervision(some_comparisons()), MethodSupervision(some_pairs()),
        MethodSupervision(some_targets())}) {
    const TrainingData data{kNinety.rows, supervision};
    const Model model = fit(request_for(GetParam()), data).model;
    FitRequest request = going_on(model);
    request.parameters = {{"rate", 1e-12}, {"steps", 3}};
    const FitOutcome outcome = fit(request, data);
    const Matrix before = model.divergences(kNinety.rows, kNinety.rows);
    const Matrix after = outcome.model.divergences(kNinety.rows, kNinety.rows);
    EXPECT_LE((after - before).cwiseAbs().maxCoeff(), 1e-5 * before.maxCoeff()) << supervision_name(supervision);
    EXPECT_EQ(outcome.model.record.method, GetParam());
    EXPECT_EQ(outcome.model.record.parameters.at("pieces"), 8);
    EXPECT_EQ(outcome.model.scaling.scale, model.scaling.scale);
  }
}

TEST_P(Start, OnTheSameDataTheObjectiveDoesNotRise) {
  for (const MethodSupervision& supervision :
       {MethodSupervision(kNinety.classes), MethodSupervision(some_comparisons()), MethodSupervision(some_pairs()),
        MethodSupervision(some_targets())}) {
    const TrainingData data{kNinety.rows, supervision};
    const FitOutcome first = fit(request_for(GetParam()), data);
    const FitOutcome second = fit(going_on(first.model), data);
    EXPECT_LE(second.report.objective, 1.002 * first.report.objective) << supervision_name(supervision);
  }
}

TEST_P(Start, KeepsTheScalingOfTheFirstRows) {
  const Model model = fit(request_for(GetParam()), kNinetyRows).model;
  const Matrix moved = 3 * kNinety.rows.array() + 5;
  const FitOutcome outcome = fit(going_on(model), {moved, kNinety.classes});
  EXPECT_EQ(outcome.model.scaling.center, model.scaling.center);
  EXPECT_EQ(outcome.model.scaling.scale, model.scaling.scale);
}

// Two classes that differ only in a feature in which the first ones do not.
TEST_P(Start, LearnsNewClasses) {
  const LabelledRows apart = noisy_classes(120, 2, 5);
  LabelledRows others = noisy_classes(120, 2, 6, 0);
  for (Index i = 0; i < 120; ++i) others.rows(i, 2) = 40.0 * others.classes[i] + 10 * others.rows(i, 0);
  const auto precision = [&](const Model& model) {
    return evaluate_ranking(*model.divergence, model.scaled(others.rows), others.classes, 10, {}).average_precision;
  };
  const Model first = fit(request_for(GetParam()), {apart.rows, apart.classes}).model;
  FitRequest request = going_on(first);
  request.parameters = {{"steps", 1500}};
  const Model second = fit(request, {others.rows, others.classes}).model;
  EXPECT_GT(precision(second), precision(first) + 0.02);
}

TEST_P(Start, SameDataAndSeedGiveTheSameModel) {
  const Model model = fit(request_for(GetParam()), kNinetyRows).model;
  const Model once = fit(going_on(model), kNinetyRows).model, again = fit(going_on(model), kNinetyRows).model;
  EXPECT_EQ(once.divergences(kNinety.rows, kNinety.rows), again.divergences(kNinety.rows, kNinety.rows));
}

TEST(StartMistakes, AreNamed) {
  const Model model = fit(request_for("smooth"), kNinetyRows).model;
  const auto mistake = [&](const std::function<void(FitRequest&)>& change) {
    FitRequest request = going_on(model);
    change(request);
    return error_of([&] { plan(request, kNinetyRows); });
  };
  EXPECT_EQ(mistake([](FitRequest& request) { request.method = "deep"; }),
            "method=deep: the model to go on from is one of smooth");
  EXPECT_EQ(mistake([](FitRequest& request) { request.scales = {Scale::kNone}; }),
            "scales does not go with start: the scaling of the model is kept");
  EXPECT_EQ(mistake([](FitRequest& request) { request.parameters["pieces"] = 9; }),
            "pieces is 9, and the model to go on from has 8");
  EXPECT_EQ(mistake([](FitRequest& request) { request.parameters["decay"] = Wish::choose(); }),
            "decay is to be chosen, and with start nothing is; allowed: one value");
  EXPECT_THAT(mistake([](FitRequest& request) { request.candidates = {"smooth"}; }), HasSubstr("nothing is chosen"));
  EXPECT_THAT(mistake([](FitRequest& request) {
                request.start = std::make_shared<Model>(fit(FitRequest{.method = "gmml"}, kNinetyRows).model);
              }),
              HasSubstr("start is a model of the method gmml; allowed: one of smooth or deep"));
  const Matrix narrow = kNinety.rows.leftCols(2);
  EXPECT_EQ(error_of([&] {
              plan(going_on(model), {narrow, kNinety.classes});
            }),
            "the rows have 2 features, and the model to go on from 3");
}

// Without plan(), which refuses it earlier.
TEST(StartMistakes, OfAnotherShapeAreRefusedByTheMethod) {
  MethodSettings settings;
  settings.start = std::make_shared<Model>(fit(request_for("deep"), kNinetyRows).model);
  const auto mistake = [&](const char* method, std::map<std::string, double> parameters) {
    settings.parameters = std::move(parameters);
    return error_of([&] { learn_with(method_named(method), kNinety.rows, kNinety.classes, settings); });
  };
  EXPECT_EQ(mistake("deep", {}), "the layers have the sizes 3, 256, 256, 32, and the model to go on from has 3, 12, 4");
  const std::map<std::string, double> shape = {{"hidden_layers", 1}, {"width", 12}, {"outputs", 4}};
  std::map<std::string, double> other = shape;
  EXPECT_EQ(mistake("deep", other), "the number of pieces is 50, and the model to go on from has 8");
  other["pieces"] = 8;
  other["rank"] = 2;
  EXPECT_EQ(mistake("deep", other), "the rank of the quadratic part is 2, and the model to go on from has 4");
  other["rank"] = 4;
  other["activation"] = 1;
  EXPECT_EQ(mistake("deep", other), "the activation differs from that of the model to go on from");
  EXPECT_EQ(mistake("itml", {}), "itml cannot go on from a model");
  settings.start = std::make_shared<Model>(fit(FitRequest{.method = "gmml"}, kNinetyRows).model);
  EXPECT_THAT(mistake("smooth", {}), HasSubstr("is not one that smooth or deep has learned"));
}

}  // namespace
}  // namespace bregmax
