#pragma once

#include <Eigen/Core>

namespace bregmax {

using Index = Eigen::Index;

// A row is a sample; row-major, so that a sample is contiguous.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

// Views of the caller's memory. A row may have a stride, an element may not.
using MatrixView = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;
using MatrixSpan = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using VectorView = Eigen::Ref<const Vector>;
using VectorSpan = Eigen::Ref<Vector>;

}  // namespace bregmax
