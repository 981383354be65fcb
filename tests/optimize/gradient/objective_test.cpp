#include "optimize/gradient/objective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "bregmax/core/random.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "optimize/gradient/start.hpp"

namespace bregmax::internal {
namespace {

Matrix random_rows(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix result(rows, cols);
  for (double& value : result.reshaped()) value = random.normal();
  return result;
}

Vector random_parameters(const ParameterLayout& layout, std::uint64_t seed) {
  Random random(seed);
  Vector parameters(layout.size);
  for (double& value : parameters) value = 0.7 * random.normal();
  return parameters;
}

std::vector<Index> all_units(Index units) {
  std::vector<Index> all(static_cast<std::size_t>(units));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct Case {
  const char* name;
  LearnerShape shape;
};
const Case kCases[] = {
    {"smooth", {{4}, Activation::kRelu, 5, 3}},
    {"one_piece", {{4}, Activation::kRelu, 1, 4}},
    {"no_roots", {{4}, Activation::kRelu, 6, 0}},
    {"tanh_network", {{4, 7, 3}, Activation::kTanh, 5, 3}},
    {"relu_network", {{4, 9, 8, 3}, Activation::kRelu, 5, 2}},
    {"linear_network", {{4, 3}, Activation::kRelu, 5, 3}},
};

// D of the library: that of the pieces, and the squared distance after G.
double divergence(const ParameterLayout& layout, const Vector& parameters, const Vector& x, const Vector& y) {
  const Vector offsets = layout.offsets.in(parameters.data()).transpose();
  const SmoothedMaxAffine pieces(layout.slopes.in(parameters.data()), offsets, 1);
  return pieces.value(x, y) + (layout.roots.in(parameters.data()) * (x - y)).squaredNorm();
}

Vector embed(const ParameterLayout& layout, const Vector& parameters, Vector x) {
  for (std::size_t layer = 0; layer < layout.weights.size(); ++layer) {
    x = layout.weights[layer].in(parameters.data()) * x + layout.biases[layer].in(parameters.data()).transpose();
    if (layer + 1 == layout.weights.size()) break;
    x = layout.shape.activation == Activation::kRelu ? Vector(x.cwiseMax(0)) : Vector(x.array().tanh());
  }
  return x;
}

class GradientCase : public testing::TestWithParam<Case> {
 protected:
  ParameterLayout layout_{GetParam().shape};
  Vector parameters_ = random_parameters(layout_, 3);
  Matrix rows_ = random_rows(12, 4, 1);
  std::vector<int> classes_ = {0, 1, 0, 2, 1, 0, 2, 1, 0, 3, 1, 1};  // class 3 has one row
  std::vector<double> weights_ = {1, 2, 0.5, 1, 1, 3, 1, 0, 1, 1, 1, 1};

  double d(Index i, Index j) const {
    return divergence(layout_, parameters_, embed(layout_, parameters_, rows_.row(i)),
                      embed(layout_, parameters_, rows_.row(j)));
  }

  static double value(Objective<double>& objective, const Vector& at) {
    Vector unused(at.size());
    return objective.evaluate(at.data(), all_units(objective.units()), unused.data());
  }

  void expect_gradient_is_that_of_differences(const TrainingItems& training, const Prices& prices) const {
    const auto objective = make_objective<double>(layout_, training, prices, 40);
    Vector gradient(layout_.size);
    objective->evaluate(parameters_.data(), all_units(objective->units()), gradient.data());
    const double step = 1e-6;
    for (Index p = 0; p < layout_.size; ++p) {
      Vector up = parameters_, down = parameters_;
      up[p] += step;
      down[p] -= step;
      const double difference = (value(*objective, up) - value(*objective, down)) / (2 * step);
      EXPECT_NEAR(gradient[p], difference, 1e-7 * (1 + gradient.norm())) << "parameter " << p;
    }
    const auto in_floats = make_objective<float>(layout_, training, prices, 40);
    const VectorOf<float> floats = parameters_.cast<float>();
    VectorOf<float> float_gradient(layout_.size);
    const double loss = in_floats->evaluate(floats.data(), all_units(objective->units()), float_gradient.data());
    EXPECT_NEAR(loss, value(*objective, parameters_), 1e-4 * (1 + std::abs(loss)));
    EXPECT_LE((float_gradient.cast<double>() - gradient).norm(), 1e-4 * (1 + gradient.norm()));
  }
};
INSTANTIATE_TEST_SUITE_P(Shapes, GradientCase, testing::ValuesIn(kCases),
                         [](const auto& one) { return one.param.name; });

TEST_P(GradientCase, LabelLossIsThatOfItsDefinition) {
  const double share = 0.3;
  TrainingItems training{rows_, classes_, weights_};
  training.neighbour_share = share;
  double expected = 0, total = 0;
  for (Index i = 0; i < 12; ++i) {
    double all = 0, same = 0, logs = 0, count = 0;
    for (Index j = 0; j < 12; ++j) {
      if (j == i) continue;
      all += std::exp(-d(i, j));
      if (classes_[i] != classes_[j]) continue;
      same += std::exp(-d(i, j));
      logs += -d(i, j);
      count += 1;
    }
    if (count == 0) continue;
    total += weights_[i];
    expected += weights_[i] * ((1 - share) * (std::log(all) - logs / count) + share * std::log(all / same));
  }
  const auto objective = make_objective<double>(layout_, training, {}, 12);
  EXPECT_NEAR(value(*objective, parameters_), expected / total, 1e-9 * std::abs(expected));
}

TEST_P(GradientCase, GradientOfTheLabelLoss) {
  for (const double share : {0.0, 0.4, 1.0}) {
    TrainingItems training{rows_, classes_, weights_};
    training.neighbour_share = share;
    expect_gradient_is_that_of_differences(training, {});
  }
}

TEST_P(GradientCase, ItemLossesAreThoseOfTheirDefinition) {
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const double t = std::exp(parameters_[layout_.threshold.begin]);
  const TrainingItems comparisons{
      rows_, {}, {}, {item_of(Comparison{0, 1, 2, 3, 2}), item_of(Comparison{4, 1, 4, 0, 1})}};
  EXPECT_NEAR(value(*make_objective<double>(layout_, comparisons, {}, 9), parameters_),
              (2 * softplus(d(0, 1) - d(2, 3)) + softplus(d(4, 1) - d(4, 0))) / 3, 1e-9);
  const TrainingItems pairs{rows_, {}, {}, {item_of(Pair{0, 1, true}), item_of(Pair{3, 2, false})}};
  EXPECT_NEAR(value(*make_objective<double>(layout_, pairs, {}, 9), parameters_),
              (softplus(d(0, 1) - t) + softplus(t - d(3, 2))) / 2, 1e-9);
  TrainingItems targets{rows_, {}, {}, {item_of(Target{0, 1, 3.0}), item_of(Target{5, 2, 1.0})}};
  targets.target_unit = 4;
  EXPECT_NEAR(value(*make_objective<double>(layout_, targets, {}, 9), parameters_),
              (std::pow((d(0, 1) - 3) / 4, 2) + std::pow((d(5, 2) - 1) / 4, 2)) / 2, 1e-9 * (1 + d(0, 1) * d(0, 1)));
}

TEST_P(GradientCase, GradientsOfTheItemLosses) {
  Random random(5);
  std::vector<Item> comparisons, pairs, targets;
  for (int t = 0; t < 15; ++t) {
    const auto row = [&] { return random.uniform_index(12); };
    comparisons.push_back(item_of(Comparison{row(), row(), row(), row(), 1 + random.uniform()}));
    pairs.push_back(item_of(Pair{row(), row(), t % 2 == 0, 1 + random.uniform()}));
    targets.push_back(item_of(Target{row(), row(), 5 * random.uniform()}));
  }
  for (const auto& items : {comparisons, pairs, targets}) {
    TrainingItems training{rows_, {}, {}, items};
    training.target_unit = 2;
    expect_gradient_is_that_of_differences(training, {});
  }
}

TEST_P(GradientCase, GradientsOfThePrices) {
  const TrainingItems training{rows_, classes_};
  expect_gradient_is_that_of_differences(training, {0.3, 0});
  expect_gradient_is_that_of_differences(training, {0, 0.2});
  expect_gradient_is_that_of_differences(training, {0.3, 0.2});
}

TEST_P(GradientCase, AShiftOfAllSlopesChangesNothing) {
  const TrainingItems training{rows_, classes_};
  const auto objective = make_objective<double>(layout_, training, {0.3, 0.2}, 12);
  Vector shifted = parameters_;
  layout_.slopes.in(shifted.data()).rowwise() += Vector::LinSpaced(layout_.slopes.cols, -1, 2).transpose();
  EXPECT_NEAR(value(*objective, shifted), value(*objective, parameters_), 1e-9);
}

}  // namespace
}  // namespace bregmax::internal
