#include "bregmax/divergence/network_embedding.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/products.hpp"
#include "divergence/checks.hpp"

namespace bregmax {

using internal::require;

namespace {

// A part that belongs to no layer shows that one is missing.
void check_layer_names(const EmbeddingParts& parts, std::size_t layers) {
  for (const auto& [name, part] : parts) {
    bool known = !name.starts_with("weights.") && !name.starts_with("bias.");
    for (std::size_t l = 0; l < layers && !known; ++l) {
      known = name == fmt::format("weights.{}", l) || name == fmt::format("bias.{}", l);
    }
    require(known, "the network embedding of {} layers has '{}', which belongs to no layer", layers, name);
  }
}

}  // namespace

NetworkEmbedding::NetworkEmbedding(std::vector<Layer> layers, Activation activation,
                                   std::shared_ptr<const Divergence> inner)
    : layers_(std::move(layers)), activation_(activation), inner_(std::move(inner)) {
  require(!layers_.empty() && inner_ != nullptr, "the network has {} layers{}; allowed: at least one, and a divergence",
          layers_.size(), inner_ == nullptr ? " and no divergence" : "");
  Index inputs = layers_.front().weights.cols();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& [weights, bias] = layers_[l];
    require(weights.size() > 0 && weights.cols() == inputs && bias.size() == weights.rows(),
            "layer {} of the network has {} x {} weights and {} biases; allowed: {} columns, and one bias per row", l,
            weights.rows(), weights.cols(), bias.size(), inputs);
    internal::check_parameters(weights, fmt::format("the weights of layer {} of the network", l));
    internal::check_parameters(internal::as_row(bias), fmt::format("the biases of layer {} of the network", l));
    inputs = weights.rows();
  }
  require(inner_->dimension() == 0 || inner_->dimension() == inputs,
          "the network has {} outputs, and the divergence on it {} features; allowed: as many", inputs,
          inner_->dimension());
}

std::shared_ptr<const Divergence> NetworkEmbedding::from_parts(const EmbeddingParts& parts,
                                                               const std::shared_ptr<const Divergence>& inner) {
  constexpr const char* kName = "network embedding";
  const Matrix& activation = internal::embedding_part(parts, kName, "activation", 1);
  require(activation.rows() == 1, "the activation of the network has {} rows; allowed: 1", activation.rows());
  require(activation(0) == 0 || activation(0) == 1, "the activation of the network is {}; allowed: 0 or 1",
          activation(0));
  std::vector<Layer> layers;
  do {
    const Matrix& bias = internal::embedding_part(parts, kName, fmt::format("bias.{}", layers.size()), 0);
    require(bias.rows() == 1, "'bias.{}' has {} rows; allowed: 1", layers.size(), bias.rows());
    layers.push_back(
        {internal::embedding_part(parts, kName, fmt::format("weights.{}", layers.size()), 0), bias.row(0).transpose()});
  } while (parts.contains(fmt::format("weights.{}", layers.size())));
  check_layer_names(parts, layers.size());
  return std::make_shared<NetworkEmbedding>(std::move(layers),
                                            activation(0) == 0 ? Activation::kRelu : Activation::kTanh, inner);
}

EmbeddingParts NetworkEmbedding::parts() const {
  EmbeddingParts parts = {{"activation", Matrix::Constant(1, 1, activation_ == Activation::kRelu ? 0 : 1)}};
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    parts[fmt::format("weights.{}", l)] = layers_[l].weights;
    parts[fmt::format("bias.{}", l)] = layers_[l].bias.transpose();
  }
  return parts;
}

Matrix NetworkEmbedding::map(const MatrixView& rows) const {
  Matrix out = rows;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    out = internal::product_transposed(out, layers_[l].weights);
    out.rowwise() += layers_[l].bias.transpose();
    if (l + 1 == layers_.size()) break;
    if (activation_ == Activation::kRelu) {
      out = out.cwiseMax(0);
    } else {
      out = out.array().tanh();
    }
  }
  return out;
}

}  // namespace bregmax
