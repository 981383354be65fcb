#include "bregmax/divergence/kernel_embedding.hpp"

#include <cmath>

#include "bregmax/divergence/closed_forms.hpp"
#include "core/products.hpp"
#include "divergence/checks.hpp"

namespace bregmax {

constexpr int kLargestDegree = 10;

Matrix Kernel::values(const MatrixView& rows, const MatrixView& support) const {
  const double scale = bandwidth * bandwidth;
  if (kind == KernelKind::kRbf) {
    return (SquaredEuclidean().matrix(rows, support).array() / (-2 * scale)).exp();
  }
  const Matrix base = (1 + internal::product_transposed(rows, support).array() / scale).matrix();
  Matrix out = base;
  for (int power = 1; power < degree; ++power) out.array() *= base.array();
  internal::require(out.size() == 0 || out.cwiseAbs().maxCoeff() <= internal::kLargestEntry,
                    "a polynomial kernel of degree {} and bandwidth {} leaves the range of numbers", degree, bandwidth);
  return out;
}

KernelEmbedding::KernelEmbedding(const Kernel& kernel, Matrix support, Matrix coefficients)
    : kernel_(kernel), support_(std::move(support)), coefficients_(std::move(coefficients)) {
  internal::require(kernel.bandwidth > 0 && std::isfinite(kernel.bandwidth),
                    "the bandwidth of the kernel is {}; allowed: a finite number > 0", kernel.bandwidth);
  internal::require(kernel.degree >= 1 && kernel.degree <= kLargestDegree,
                    "the degree of the kernel is {}; allowed: 1 to {}", kernel.degree, kLargestDegree);
  internal::require(support_.size() > 0 && coefficients_.size() > 0 && support_.rows() == coefficients_.rows(),
                    "the kernel embedding has {} x {} support rows and {} x {} coefficients; allowed: as many rows of "
                    "each, at least one",
                    support_.rows(), support_.cols(), coefficients_.rows(), coefficients_.cols());
  internal::check_parameters(support_, "the support of the kernel embedding");
  internal::check_parameters(coefficients_, "the coefficients of the kernel embedding");
}

std::shared_ptr<const Divergence> KernelEmbedding::from_parts(const EmbeddingParts& parts) {
  const Matrix& kernel = internal::embedding_part(parts, "kernel embedding", "kernel", 0);
  internal::require(kernel.size() == 3, "'kernel' has {} numbers; allowed: 3", kernel.size());
  const double kind = kernel(0), degree = kernel(2);
  internal::require((kind == 0 || kind == 1) && degree >= 1 && degree <= kLargestDegree && degree == std::floor(degree),
                    "'kernel' is of the kind {} and the degree {}; allowed: 0 or 1, and 1 to {}", kind, degree,
                    kLargestDegree);
  return std::make_shared<KernelEmbedding>(
      Kernel{kind == 0 ? KernelKind::kRbf : KernelKind::kPolynomial, kernel(1), static_cast<int>(degree)},
      internal::embedding_part(parts, "kernel embedding", "support", 0),
      internal::embedding_part(parts, "kernel embedding", "coefficients", 0));
}

EmbeddingParts KernelEmbedding::parts() const {
  Matrix kernel(1, 3);
  kernel << (kernel_.kind == KernelKind::kRbf ? 0 : 1), kernel_.bandwidth, kernel_.degree;
  return {{"kernel", std::move(kernel)}, {"support", support_}, {"coefficients", coefficients_}};
}

// BLAS may round a row differently among other rows: D(x, x) is exactly 0 only in value(), which maps rows one by one.
Matrix KernelEmbedding::map(const MatrixView& rows) const {
  return internal::product(kernel_.values(rows, support_), coefficients_);
}

}  // namespace bregmax
