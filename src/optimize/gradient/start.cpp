#include "optimize/gradient/start.hpp"

#include <cmath>

namespace bregmax::internal {
namespace {

void start_network(const ParameterLayout& layout, Random& random, Vector& parameters) {
  for (std::size_t layer = 0; layer < layout.weights.size(); ++layer) {
    const double most = 1 / std::sqrt(static_cast<double>(layout.weights[layer].cols));
    for (const Block& block : {layout.weights[layer], layout.biases[layer]}) {
      for (double& value : parameters.segment(block.begin, block.size())) value = most * (2 * random.uniform() - 1);
    }
  }
}

// phi on top of a network, whose outputs are about as large as 1.
void start_on_network(const ParameterLayout& layout, Random& random, Vector& parameters) {
  constexpr double kSlopes = 0.5;
  for (double& value : layout.slopes.in(parameters.data()).reshaped()) value = kSlopes * random.normal();
  auto roots = layout.roots.in(parameters.data());
  for (Index r = 0; r < roots.rows(); ++r) roots(r, r) = 1;
}

void start_on_rows(const ParameterLayout& layout, const MatrixView& rows, Random& random, Vector& parameters) {
  const auto features = static_cast<double>(rows.cols());
  const std::vector<Index> order = random.permutation(rows.rows());
  auto slopes = layout.slopes.in(parameters.data());
  auto offsets = layout.offsets.in(parameters.data());
  for (Index k = 0; k < slopes.rows(); ++k) {
    const auto row = rows.row(order[k % rows.rows()]);
    slopes.row(k) = row / features;
    offsets(0, k) = -row.squaredNorm() / (2 * features);
  }
  auto roots = layout.roots.in(parameters.data());
  const double size = std::sqrt(0.5 / features);
  if (roots.rows() == roots.cols()) {
    roots.diagonal().setConstant(size);
  } else {
    for (double& value : roots.reshaped())
      value = size * random.normal() / std::sqrt(static_cast<double>(roots.rows()));
  }
}

}  // namespace

Vector start_parameters(const ParameterLayout& layout, const MatrixView& rows, Random random) {
  Vector parameters = Vector::Zero(layout.size);
  if (layout.shape.layers() > 0) {
    start_network(layout, random, parameters);
    start_on_network(layout, random, parameters);
  } else {
    start_on_rows(layout, rows, random, parameters);
  }
  return parameters;
}

}  // namespace bregmax::internal
