#pragma once

#include "bregmax/divergence/embedding.hpp"

namespace bregmax {

enum class Activation { kRelu, kTanh };

// f(x) = a network of dense layers: z -> activation(weights z + bias), without the activation in the last layer. The
// divergence of the embedded rows is any divergence.
//
// Parts: "activation" (1 x 1: 0 for ReLU, 1 for tanh), and of each layer, counted from 0, "weights.0" (outputs x
// inputs) and "bias.0" (1 x outputs).
class NetworkEmbedding final : public EmbeddingDivergence {
 public:
  struct Layer {
    Matrix weights;
    Vector bias;
  };
  // inner: of rows with as many numbers as the last layer has outputs.
  NetworkEmbedding(std::vector<Layer> layers, Activation activation, std::shared_ptr<const Divergence> inner);
  static std::shared_ptr<const Divergence> from_parts(const EmbeddingParts& parts,
                                                      const std::shared_ptr<const Divergence>& inner);

  const std::vector<Layer>& layers() const { return layers_; }
  Activation activation() const { return activation_; }

  std::string name() const override { return "network_embedding"; }
  Index dimension() const override { return layers_.front().weights.cols(); }
  EmbeddingParts parts() const override;
  const Divergence& inner() const override { return *inner_; }

 protected:
  Matrix map(const MatrixView& rows) const override;

 private:
  std::vector<Layer> layers_;
  Activation activation_;
  std::shared_ptr<const Divergence> inner_;
};

}  // namespace bregmax
