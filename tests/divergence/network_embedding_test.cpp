#include "bregmax/divergence/network_embedding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/log_sum_exp_quadratic.hpp"
#include "bregmax/divergence/max_affine.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Layers = std::vector<NetworkEmbedding::Layer>;

Matrix random_weights(Random& random, Index rows, Index cols) {
  Matrix out(rows, cols);
  for (double& value : out.reshaped()) value = random.normal();
  return out;
}

// 3 features, hidden layers of 5 and 4, 2 outputs.
Layers random_layers() {
  Random random(1);
  Layers layers;
  for (const auto& [inputs, outputs] : {std::pair<Index, Index>{3, 5}, {5, 4}, {4, 2}}) {
    layers.push_back({random_weights(random, outputs, inputs), random_weights(random, outputs, 1)});
  }
  return layers;
}

Vector forward(const Layers& layers, Activation activation, const Vector& row) {
  std::vector<double> values(row.begin(), row.end());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    std::vector<double> next;
    for (Index out = 0; out < layers[l].weights.rows(); ++out) {
      double sum = layers[l].bias(out);
      for (Index in = 0; in < layers[l].weights.cols(); ++in) sum += layers[l].weights(out, in) * values[in];
      if (l + 1 < layers.size()) sum = activation == Activation::kRelu ? std::max(sum, 0.0) : std::tanh(sum);
      next.push_back(sum);
    }
    values = std::move(next);
  }
  return Eigen::Map<const Vector>(values.data(), std::ssize(values));
}

std::shared_ptr<const Divergence> generator_of_two() {
  Random random(2);
  return std::make_shared<LogSumExpQuadratic>(random_weights(random, 6, 2), random_weights(random, 6, 1), 1,
                                              random_weights(random, 2, 2));
}

TEST(NetworkEmbedding, MatchesNumbersWorkedOutByHand) {
  // Hidden: (x, -x) + (0, 1); output: their difference. ReLU: f(3) = 3 - 0, f(-2) = 0 - 3.
  Matrix first(2, 1), second(1, 2);
  first << 1, -1;
  second << 1, -1;
  Vector bias(2);
  bias << 0, 1;
  const Layers layers = {{first, bias}, {second, Vector::Zero(1)}};
  const NetworkEmbedding relu(layers, Activation::kRelu, make_closed_form("squared_euclidean"));
  const NetworkEmbedding tanh(layers, Activation::kTanh, make_closed_form("squared_euclidean"));
  Matrix rows(2, 1);
  rows << 3, -2;
  EXPECT_EQ(relu.embed(rows)(0, 0), 3);
  EXPECT_EQ(relu.embed(rows)(1, 0), -3);
  EXPECT_EQ(relu.value(rows.row(0), rows.row(1)), 36);
  EXPECT_NEAR(tanh.embed(rows)(0, 0), std::tanh(3.0) - std::tanh(-2.0), 1e-15);
}

TEST(NetworkEmbedding, IsAForwardPassAndThenTheInnerDivergence) {
  Random random(3);
  const Matrix x = random_weights(random, 20, 3), y = random_weights(random, 20, 3);
  const auto inner = generator_of_two();
  for (const Activation activation : {Activation::kRelu, Activation::kTanh}) {
    const Layers layers = random_layers();
    const NetworkEmbedding network(layers, activation, inner);
    const Matrix embedded = network.embed(x), matrix = network.matrix(x, y);
    const Vector rowwise = network.rowwise(x, y), values = network.generator_values(x);
    ASSERT_EQ(embedded.cols(), 2);
    EXPECT_EQ(values, inner->generator_values(embedded));
    for (Index i = 0; i < 20; ++i) {
      const Vector z = forward(layers, activation, x.row(i));
      EXPECT_LE((embedded.row(i).transpose() - z).norm(), 1e-13 * (1 + z.norm()));
      for (Index j = 0; j < 20; ++j) {
        const double expected = inner->value(z, forward(layers, activation, y.row(j)));
        EXPECT_NEAR(matrix(i, j), expected, 1e-10 * (1 + expected));
        EXPECT_NEAR(network.value(x.row(i), y.row(j)), expected, 1e-10 * (1 + expected));
      }
      EXPECT_EQ(rowwise(i), network.value(x.row(i), y.row(i)));
    }
  }
}

TEST(NetworkEmbedding, TellsItsShapeAndHasNoGradient) {
  const auto inner = generator_of_two();
  const NetworkEmbedding network(random_layers(), Activation::kTanh, inner);
  EXPECT_EQ(network.name(), "network_embedding");
  EXPECT_EQ(network.dimension(), 3);
  EXPECT_EQ(&network.inner(), inner.get());
  const Matrix rows = Matrix::Ones(2, 3);
  EXPECT_EQ(network.value(rows.row(0), rows.row(1)), 0);
  EXPECT_THAT([&] { network.gradients(rows); }, ThrowsMessage<Error>(HasSubstr("has no gradient in the features")));
  EXPECT_THAT([&] { network.embed(Matrix::Ones(2, 4)); }, ThrowsMessage<Error>(HasSubstr("have 4 features")));
}

TEST(NetworkEmbedding, IsRestoredFromItsParts) {
  Random random(4);
  const Matrix x = random_weights(random, 9, 3), y = random_weights(random, 7, 3);
  const auto inner = generator_of_two();
  for (const Activation activation : {Activation::kRelu, Activation::kTanh}) {
    const NetworkEmbedding network(random_layers(), activation, inner);
    const auto restored = make_embedding("network_embedding", network.parts(), inner);
    EXPECT_EQ(restored->matrix(x, y), network.matrix(x, y));
    const auto& again = dynamic_cast<const NetworkEmbedding&>(*restored);
    EXPECT_EQ(again.activation(), activation);
    EXPECT_EQ(again.parts(), network.parts());
  }
}

TEST(NetworkEmbedding, RefusesLayersThatDoNotFit) {
  const auto refused = [](const auto& change, const char* message, std::shared_ptr<const Divergence> inner) {
    Layers layers = random_layers();
    change(layers);
    EXPECT_THAT([&] { NetworkEmbedding(layers, Activation::kRelu, inner); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  const auto inner = generator_of_two();
  const auto nothing = [](Layers&) {};
  refused([](Layers& layers) { layers.clear(); }, "the network has 0 layers; allowed: at least one", inner);
  refused(nothing, "the network has 3 layers and no divergence", nullptr);
  refused([](Layers& layers) { layers.erase(layers.begin() + 1); },
          "layer 1 of the network has 2 x 4 weights and 2 biases; allowed: 5 columns", inner);
  refused([](Layers& layers) { layers[0].bias = Vector::Zero(4); }, "layer 0 of the network has 5 x 3 weights and 4",
          inner);
  refused([](Layers& layers) { layers[0].weights = Matrix(); }, "layer 0 of the network has 0 x 0 weights", inner);
  refused([](Layers& layers) { layers[1].weights(2, 3) = NAN; }, "the weights of layer 1 of the network(2, 3) is nan",
          inner);
  refused([](Layers& layers) { layers[2].bias(1) = INFINITY; }, "the biases of layer 2 of the network(0, 1) is inf",
          inner);
  refused([](Layers& layers) { layers.pop_back(); },
          "the network has 4 outputs, and the divergence on it 2 features; allowed: as many", inner);
}

TEST(NetworkEmbedding, RefusesPartsThatDoNotFit) {
  const auto inner = generator_of_two();
  const EmbeddingParts parts = NetworkEmbedding(random_layers(), Activation::kRelu, inner).parts();
  const auto refused = [&](const std::string& name, const Matrix& value, const char* message) {
    EmbeddingParts changed = parts;
    changed.erase(name);
    if (value.size() > 0) changed[name] = value;
    EXPECT_THAT([&] { make_embedding("network_embedding", changed, inner); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused("activation", {}, "the network embedding has no 'activation'");
  refused("activation", Matrix::Constant(1, 1, 2), "the activation of the network is 2; allowed: 0 or 1");
  refused("activation", Matrix::Ones(2, 1), "the activation of the network has 2 rows; allowed: 1");
  refused("weights.0", {}, "has no 'weights.0'");
  refused("bias.1", {}, "has no 'bias.1'");
  refused("bias.1", Matrix::Ones(4, 1), "'bias.1' has 4 rows; allowed: 1");
  refused("weights.2", {}, "of 2 layers has 'bias.2', which belongs to no layer");
  refused("weights.7", Matrix::Ones(1, 1), "of 3 layers has 'weights.7', which belongs to no layer");
  EXPECT_THAT([&] { make_embedding("network_embedding", parts); }, ThrowsMessage<Error>(HasSubstr("no divergence")));
}

TEST(NetworkEmbedding, IsASquaredDistanceOnlyWithTheSquaredEuclideanInside) {
  Random random(5);
  const Matrix rows = random_weights(random, 6, 3);
  const NetworkEmbedding euclidean(random_layers(), Activation::kTanh, make_closed_form("squared_euclidean"));
  const Matrix embedded = embedded_rows(euclidean, rows);
  EXPECT_EQ(embedded, euclidean.embed(rows));
  EXPECT_NEAR((embedded.row(0) - embedded.row(1)).squaredNorm(), euclidean.value(rows.row(0), rows.row(1)), 1e-12);
  const NetworkEmbedding learned(random_layers(), Activation::kTanh, generator_of_two());
  EXPECT_THAT([&] { embedded_rows(learned, rows); },
              ThrowsMessage<Error>(HasSubstr("network_embedding is not a squared distance of embedded rows")));
}

}  // namespace
}  // namespace bregmax
