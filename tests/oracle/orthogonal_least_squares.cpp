#include "oracle/orthogonal_least_squares.hpp"

namespace bregmax::oracle {
namespace {

constexpr double kRidge = 1e-22;  // of a column's length, so that there is a factor where columns depend on each other

}  // namespace

void OrthogonalLeastSquares::factor(const Rows& j) {
  rows_ = j.rows();
  scale_.resize(j.cols());
  Rows scaled = Rows::Zero(j.rows() + j.cols(), j.cols());
  for (Eigen::Index c = 0; c < j.cols(); ++c) {
    const DoubleDouble length = sqrt(j.col(c).squaredNorm());
    scale_(c) = length > 0 ? DoubleDouble(1) / length : DoubleDouble(0);
    scaled.col(c).head(rows_) = j.col(c) * scale_(c);
    scaled(rows_ + c, c) = kRidge;
  }
  factor_.compute(scaled);
}

OrthogonalLeastSquares::Numbers OrthogonalLeastSquares::solve(const Numbers& target) const {
  Numbers z = Numbers::Zero(rows_ + scale_.size());
  for (Eigen::Index c = 0; c < scale_.size(); ++c) {
    DoubleDouble sum = scale_(c) * target(c);
    for (Eigen::Index r = 0; r < c; ++r) sum -= factor_.matrixQR()(r, c) * z(r);
    z(c) = sum / factor_.matrixQR()(c, c);
  }
  z.applyOnTheLeft(factor_.householderQ());
  return z.head(rows_);
}

}  // namespace bregmax::oracle
