// What smooth and deep do with bad data, bad parameters and training that diverges: an error, or a status and a model
// whose numbers are finite.

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/methods/registry.hpp"
#include "bregmax/supervision/sample.hpp"
#include "methods/hold_out.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Matrix random_table(Index count, Index features, std::uint64_t seed = 1) {
  Random random(seed);
  Matrix rows(count, features);
  for (double& value : rows.reshaped()) value = random.normal();
  return rows;
}

ClassOfRow alternating(Index count, int classes = 2) {
  ClassOfRow labels;
  for (Index i = 0; i < count; ++i) labels.push_back(static_cast<int>(i % classes));
  return labels;
}

class GradientLearning : public ::testing::TestWithParam<std::string> {
 protected:
  MethodFit fit(const Matrix& rows, const MethodSupervision& supervision, const MethodSettings& settings = {},
                Scale scale = Scale::kNone) const {
    return fit_with(method_named(GetParam()), rows, supervision, make_scaling(rows, scale), settings);
  }

  static void expect_finite(const MethodFit& fit, const Matrix& rows) {
    ASSERT_NE(fit.model.divergence, nullptr);
    EXPECT_TRUE(fit.model.divergences(rows, rows).allFinite());
    EXPECT_TRUE(std::isfinite(fit.model.record.objective));
    EXPECT_FALSE(std::isnan(fit.model.record.stationarity));
  }
};

// With one piece D is symmetric, so the losses of both directions are equal, and prices that count a pair once leave
// the same objective.
TEST(SmoothFromPairs, PricesCountAPairInBothDirectionsOnce) {
  const Matrix rows = random_table(30, 3);
  const Pairs pairs = sample_pairs(alternating(30), 60, 4);
  MethodSettings settings;
  settings.parameters = {{"pieces", 1}, {"decay", 0.1}, {"optimiser", 2}};
  const auto objective = [&](const Pairs& given) {
    return fit_with(method_named("smooth"), rows, given, make_scaling(rows, Scale::kNone), settings).report.objective;
  };
  EXPECT_NEAR(objective(in_both_directions(pairs)), objective(pairs), 1e-4 * objective(pairs));
}

TEST_P(GradientLearning, AHugeRateIsAStatusWithTheBestModelForAnySupervision) {
  const Matrix rows = random_table(40, 4);
  const ClassOfRow labels = alternating(40);
  const Pairs pairs = all_pairs(labels);
  Pairs dissimilar = pairs, similar = pairs;
  std::erase_if(dissimilar, [](const Pair& pair) { return pair.similar; });
  std::erase_if(similar, [](const Pair& pair) { return !pair.similar; });
  Targets targets;
  for (const Pair& pair : pairs) targets.push_back({pair.i, pair.j, pair.similar ? 1.0 : 3.0});
  for (const MethodSupervision& supervision :
       {MethodSupervision(labels), MethodSupervision(pairs), MethodSupervision(dissimilar), MethodSupervision(similar),
        MethodSupervision(targets), MethodSupervision(sample_comparisons(labels, 200, 1))}) {
    SCOPED_TRACE(supervision_name(supervision));
    for (const double rate : {1e6, 1e30}) {
      SCOPED_TRACE(rate);
      MethodSettings settings;
      settings.parameters = {{"rate", rate}, {"optimiser", 1}};  // adamw
      const MethodFit learned = fit(rows, supervision, settings);
      expect_finite(learned, rows);
      // A rate that falls from 1e6 to 0 may find back to where it began.
      const bool found_back = rate == 1e6 && learned.report.objective < 20;
      EXPECT_TRUE(found_back || learned.report.status == Status::kNumericalError)
          << to_string(learned.report.status) << " at " << learned.report.objective;
    }
  }
}

// Of large tables such copies are most of the memory.
TEST_P(GradientLearning, EarlyStoppingCopiesRowsOnlyWhereItDividesThem) {
  const Matrix rows = random_table(40, 4);
  const internal::HeldOut of_items = internal::hold_out(rows, Pairs(10, Pair{0, 1, true}), {}, 0);
  EXPECT_FALSE(of_items.train_rows.has_value());
  EXPECT_FALSE(of_items.rows.has_value());
  const internal::HeldOut of_labels = internal::hold_out(rows, alternating(40), {}, 0);
  EXPECT_EQ(of_labels.train_rows->rows(), 32);
  EXPECT_EQ(of_labels.rows->rows(), 8);
  const Method& method = method_named(GetParam());
  MethodSettings early;
  early.solver.early_stop = true;
  const auto more_bytes = [&](const FitSize& size) {
    return method.predicted_memory(size, resolve(method, early)) - method.predicted_memory(size, resolve(method, {}));
  };
  EXPECT_EQ(more_bytes({1e6, 20, 0}), 1e6 * 20 * sizeof(double));
  EXPECT_LT(more_bytes({1e6, 20, 1000}), 1e6);
}

TEST_P(GradientLearning, FeaturesBeyondSinglePrecisionNeedScaling) {
  const ClassOfRow labels = alternating(40);
  const Matrix rows = 1e30 * random_table(40, 4);
  const MethodFit raw = fit(rows, labels);
  expect_finite(raw, rows);
  EXPECT_EQ(to_string(raw.report.status), "numerical_error");
  for (const double size : {1e30, 1e90}) {
    const Matrix large = size * random_table(40, 4);
    const MethodFit scaled = fit(large, labels, {}, Scale::kStandard);
    expect_finite(scaled, large);
    EXPECT_EQ(to_string(scaled.report.status), "converged");
  }
  EXPECT_THAT(
      [&] { fit(1e60 * random_table(40, 4), labels); },
      ThrowsMessage<Error>(HasSubstr("squared, they leave the range of numbers; standardised features do not")));
  EXPECT_THAT([&] { fit(1e101 * random_table(40, 4), labels); }, ThrowsMessage<Error>(HasSubstr("allowed: finite")));
}

TEST_P(GradientLearning, TooFewRowsOrClassesAreRefused) {
  const auto message = [](const char* text) { return ThrowsMessage<Error>(HasSubstr(text)); };
  EXPECT_THAT([&] { fit(random_table(6, 2), ClassOfRow(6, 1)); }, message("found 1 class; two classes or more"));
  EXPECT_THAT([&] { fit(random_table(1, 2), ClassOfRow{0}); }, message("found 1 class; two classes or more"));
  EXPECT_THAT([&] { fit(random_table(2, 2), ClassOfRow{0, 1}); }, message("found 2 classes of one row"));
  EXPECT_THAT([&] { fit(Matrix(0, 2), ClassOfRow{}); }, message("at least one row and one feature"));
  EXPECT_THAT([&] { fit(random_table(6, 2), alternating(5)); }, message("5 labels for 6 rows"));
  EXPECT_THAT([&] { fit(random_table(6, 2), Comparisons{}); }, message("at least one"));
  EXPECT_THAT([&] { fit(random_table(6, 2), Pairs{{0, 6, true}}); }, message("6"));
}

TEST_P(GradientLearning, FewEqualAndContradictingRowsAreLearnedFrom) {
  const Matrix two = random_table(2, 2);
  expect_finite(fit(two, Pairs{{0, 1, true}}), two);
  expect_finite(fit(two, Pairs{{0, 1, false}}), two);
  expect_finite(fit(two, Comparisons{{0, 1, 1, 0}}), two);
  expect_finite(fit(two, Targets{{0, 1, 2.5}}), two);
  expect_finite(fit(two, Targets{{0, 1, 0}}), two);
  const Matrix one = random_table(1, 2);
  expect_finite(fit(one, Pairs{{0, 0, true}}), one);
  const Matrix three = random_table(3, 2);
  expect_finite(fit(three, ClassOfRow{0, 0, 1}), three);
  const Matrix equal = Matrix::Constant(8, 3, 4);
  expect_finite(fit(equal, alternating(8), {}, Scale::kStandard), equal);
  const Matrix doubled = random_table(10, 3).replicate(2, 1);  // each row with either label
  ClassOfRow labels(20, 0);
  std::fill(labels.begin() + 10, labels.end(), 1);
  const MethodFit contradicting = fit(doubled, labels);
  expect_finite(contradicting, doubled);
  EXPECT_EQ(to_string(contradicting.report.status), "converged");
}

TEST_P(GradientLearning, AConstantFeatureSaysNothing) {
  Matrix rows = random_table(40, 3);
  rows.col(1).setConstant(7);
  const MethodFit learned = fit(rows, alternating(40), {}, Scale::kStandard);
  expect_finite(learned, rows);
  EXPECT_EQ(to_string(learned.report.status), "converged");
}

TEST_P(GradientLearning, RefusesParametersThatAreNotNumbersOrOutOfRange) {
  const Matrix rows = random_table(10, 2);
  for (const char* name :
       {"pieces", "rank", "decay", "feature_price", "neighbour_share", "rate", "weight_decay", "batch", "steps"}) {
    SCOPED_TRACE(name);
    for (const double value : {std::nan(""), HUGE_VAL, -1.0, 1e300}) {
      const bool allowed = value == 1e300 && method_named(GetParam()).parameter(name).high > 1e300;
      if (allowed) continue;
      MethodSettings settings;
      settings.parameters = {{name, value}};
      EXPECT_THAT([&] { fit(rows, alternating(10), settings); },
                  ThrowsMessage<Error>(AllOf(HasSubstr(name), HasSubstr("allowed"))));
    }
  }
}

TEST_P(GradientLearning, HugePricesLeaveFiniteModels) {
  const Matrix rows = random_table(40, 3);
  for (const char* name : {"decay", "feature_price", "weight_decay"}) {
    for (const double value : {1e10, 1e300}) {
      SCOPED_TRACE(fmt::format("{} {}", name, value));
      MethodSettings settings;
      settings.parameters = {{name, value}};
      expect_finite(fit(rows, alternating(40), settings), rows);
    }
  }
}

TEST_P(GradientLearning, MoreMemoryThanAllowedIsRefusedBeforeTheWork) {
  const Matrix rows = random_table(40, 1000);
  MethodSettings settings;
  settings.parameters = {{"pieces", 10000}};
  if (GetParam() == "deep") {
    settings.parameters["width"] = 100000;
    settings.parameters["hidden_layers"] = 20;
  }
  settings.solver.memory_limit = 1e8;
  EXPECT_THAT([&] { fit(rows, alternating(40), settings); },
              ThrowsMessage<Error>(HasSubstr(GetParam() + " would need")));
  settings.parameters = {{"pieces", 2}, {"rank", 2}};
  if (GetParam() == "deep") settings.parameters["width"] = 8;
  EXPECT_NO_THROW(fit(rows, alternating(40), settings));
}

TEST_P(GradientLearning, EarlyStoppingNeedsEnoughToHoldOut) {
  MethodSettings settings;
  settings.solver.early_stop = true;
  const auto message = [](const char* text) { return ThrowsMessage<Error>(HasSubstr(text)); };
  EXPECT_THAT([&] { fit(random_table(4, 2), alternating(4), settings); }, message("holds out a fifth of the rows"));
  EXPECT_THAT([&] { fit(random_table(10, 2), alternating(10), settings); }, message("which is too few here"));
  EXPECT_THAT(
      [&] {
        fit(random_table(4, 2), Pairs{{0, 1, true}, {2, 3, false}}, settings);
      },
      message("holds out a fifth of the supervision, which has 2; at least 5"));
  const Matrix rows = random_table(60, 3);
  for (const MethodSupervision& supervision :
       {MethodSupervision(alternating(60)), MethodSupervision(all_pairs(alternating(60))),
        MethodSupervision(sample_comparisons(alternating(60), 200, 1)), MethodSupervision(Targets(20, {0, 1, 1.0}))}) {
    const MethodFit learned = fit(rows, supervision, settings);
    expect_finite(learned, rows);
    EXPECT_TRUE(is_success(learned.report.status));
  }
}

// Divergences between rows of one class relative to those between classes, among `count` rows from `begin` on.
double mixing(const Model& model, const Matrix& rows, const ClassOfRow& labels, Index begin, Index count) {
  const Matrix divergences = model.divergences(rows.middleRows(begin, count), rows.middleRows(begin, count));
  double same = 0, other = 0;
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      (labels[begin + i] == labels[begin + j] ? same : other) += divergences(i, j);
    }
  }
  return same / other;
}

// In the first half of the rows the first feature says the class, in the second half the second.
TEST_P(GradientLearning, RowsCountByTheirWeights) {
  Matrix rows = random_table(200, 2);
  const ClassOfRow labels = alternating(200);
  for (Index i = 0; i < 200; ++i) rows(i, i < 100 ? 0 : 1) += 3 * labels[i];
  const auto learned = [&](const std::vector<double>& weights, bool early_stop) {
    MethodSettings settings;
    settings.row_weights = weights;
    settings.solver.early_stop = early_stop;
    MethodFit found = fit(rows, labels, settings);
    expect_finite(found, rows);
    return found.model;
  };
  std::vector<double> first(200, 1), second(200, 1);
  std::fill(first.begin() + 100, first.end(), 1e-3);
  std::fill(second.begin(), second.begin() + 100, 1e-3);
  for (const bool early_stop : {false, true}) {
    const Model of_first = learned(first, early_stop), of_second = learned(second, early_stop);
    EXPECT_LT(mixing(of_first, rows, labels, 0, 100), 0.9 * mixing(of_second, rows, labels, 0, 100));
    EXPECT_LT(mixing(of_second, rows, labels, 100, 100), 0.9 * mixing(of_first, rows, labels, 100, 100));
    const Matrix even = learned({}, early_stop).divergences(rows, rows);
    EXPECT_EQ(learned(std::vector<double>(200, 8), early_stop).divergences(rows, rows), even)
        << "only their ratios count";
    EXPECT_EQ(learned(std::vector<double>(200, 1e300), early_stop).divergences(rows, rows), even);
  }
}

TEST_P(GradientLearning, RefusesWeightsThatSayNothing) {
  const Matrix rows = random_table(10, 2);
  const auto with = [&](std::vector<double> weights, const MethodSupervision& supervision) {
    MethodSettings settings;
    settings.row_weights = std::move(weights);
    return [this, rows, settings, supervision] { fit(rows, supervision, settings); };
  };
  const auto message = [](const char* text) { return ThrowsMessage<Error>(HasSubstr(text)); };
  EXPECT_THAT(with({1, 2}, alternating(10)), message("there are 2 weights for 10 rows"));
  EXPECT_THAT(with(std::vector<double>(10, 0), alternating(10)), message("every row has weight 0"));
  EXPECT_THAT(with(std::vector<double>(10, -1), alternating(10)), message("the weight of row 0 is -1"));
  EXPECT_THAT(with(std::vector<double>(10, std::nan("")), alternating(10)), message("the weight of row 0 is nan"));
  EXPECT_THAT(with(std::vector<double>(10, 1), Pairs{{0, 1, true}}), message("pairs have weights of their own"));
}

INSTANTIATE_TEST_SUITE_P(Both, GradientLearning, ::testing::Values("smooth", "deep"),
                         [](const auto& tested) { return tested.param; });

TEST(GradientLearningOfOthers, MethodsWithoutStepsSayThatTheyKeepNone) {
  MethodSettings settings;
  settings.solver.checkpoint = "state";
  EXPECT_THAT([&] { learn_with(method_named("itml"), random_table(10, 2), alternating(10), settings); },
              ThrowsMessage<Error>(HasSubstr("itml keeps no checkpoints and does not stop early on held-out data; "
                                             "smooth, deep, and pbdl with the solver admm do")));
}

TEST(GradientLearningOfOthers, MethodsThatDoNotWeighRowsSaySo) {
  MethodSettings settings;
  settings.row_weights = std::vector<double>(10, 1);
  EXPECT_THAT([&] { learn_with(method_named("itml"), random_table(10, 2), alternating(10), settings); },
              ThrowsMessage<Error>(HasSubstr("itml does not weigh rows; smooth and deep do")));
}

}  // namespace
}  // namespace bregmax
