#pragma once

#include "bregmax/divergence/embedding.hpp"

namespace bregmax {

enum class KernelKind { kRbf, kPolynomial };

// RBF: k(x, y) = exp(-||x - y||^2 / (2 bandwidth^2)). Polynomial: k(x, y) = (1 + <x, y> / bandwidth^2)^degree.
struct Kernel {
  KernelKind kind = KernelKind::kRbf;
  double bandwidth = 1;  // > 0
  int degree = 2;        // of the polynomial, 1 .. 10

  // k of each row and each support row. Throws Error where a polynomial leaves the range of numbers.
  Matrix values(const MatrixView& rows, const MatrixView& support) const;
};

// f(x) = sum over the support rows s of k(x, s) c_s.
//
// Parts: "kernel" (1 x 3: 0 for RBF or 1 for polynomial, bandwidth, degree), "support" (support rows x features) and
// "coefficients" (support rows x embedding dimension).
class KernelEmbedding final : public EmbeddingDivergence {
 public:
  KernelEmbedding(const Kernel& kernel, Matrix support, Matrix coefficients);
  static std::shared_ptr<const Divergence> from_parts(const EmbeddingParts& parts);

  std::string name() const override { return "kernel_embedding"; }
  Index dimension() const override { return support_.cols(); }
  EmbeddingParts parts() const override;

 protected:
  Matrix map(const MatrixView& rows) const override;

 private:
  Kernel kernel_;
  Matrix support_, coefficients_;
};

}  // namespace bregmax
