#include "methods/model_start.hpp"

#include <cmath>

#include "bregmax/divergence/log_sum_exp_quadratic.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"

namespace bregmax::internal {
namespace {

const LogSumExpQuadratic* find_generator(const Divergence& model) {
  const auto* network = dynamic_cast<const NetworkEmbedding*>(&model);
  return dynamic_cast<const LogSumExpQuadratic*>(network != nullptr ? &network->inner() : &model);
}

const LogSumExpQuadratic& generator_of(const Divergence& model) {
  const LogSumExpQuadratic* generator = find_generator(model);
  require(generator != nullptr, "the divergence {} is not one that smooth or deep has learned", model.name());
  return *generator;
}

std::vector<Index> widths_of(const Divergence& model) {
  const auto* network = dynamic_cast<const NetworkEmbedding*>(&model);
  if (network == nullptr) return {model.dimension()};
  std::vector<Index> widths = {network->dimension()};
  for (const NetworkEmbedding::Layer& layer : network->layers()) widths.push_back(layer.weights.rows());
  return widths;
}

void check_shape(const LearnerShape& shape, const Divergence& model) {
  const std::vector<Index> widths = widths_of(model);
  const LogSumExpQuadratic& generator = generator_of(model);
  const auto check = [](const char* what, const auto& asked, const auto& found) {
    require(asked == found, "{} {}, and the model to go on from has {}", what, asked, found);
  };
  check("the layers have the sizes", joined(shape.widths, ", "), joined(widths, ", "));
  check("the number of pieces is", shape.pieces, generator.slopes().rows());
  check("the rank of the quadratic part is", shape.rank, generator.roots().rows());
  const auto* network = dynamic_cast<const NetworkEmbedding*>(&model);
  require(network == nullptr || network->activation() == shape.activation,
          "the activation differs from that of the model to go on from");
}

}  // namespace

bool is_learned_by_gradients(const Divergence& model) { return find_generator(model) != nullptr; }

double unit_of(const Divergence& model) { return generator_of(model).temperature(); }

Vector parameters_of(const ParameterLayout& layout, const Divergence& model) {
  check_shape(layout.shape, model);
  const LogSumExpQuadratic& generator = generator_of(model);
  const double unit = unit_of(model);
  Vector parameters = Vector::Zero(layout.size);
  double* at = parameters.data();
  layout.slopes.in(at) = generator.slopes() / unit;
  layout.offsets.in(at) = generator.offsets().transpose() / unit;
  layout.roots.in(at) = generator.roots() / std::sqrt(unit);
  parameters[layout.threshold.begin] = -std::log(unit);  // of pairs, where the model has it at D = 1
  if (const auto* network = dynamic_cast<const NetworkEmbedding*>(&model)) {
    for (std::size_t l = 0; l < layout.weights.size(); ++l) {
      layout.weights[l].in(at) = network->layers()[l].weights;
      layout.biases[l].in(at) = network->layers()[l].bias.transpose();
    }
  }
  return parameters;
}

}  // namespace bregmax::internal
