#pragma once

#include "bregmax/divergence/embedding.hpp"
#include "core/checks.hpp"

namespace bregmax::internal {

// Beyond this, squares and products of three numbers overflow and infinity - infinity would follow.
inline constexpr double kLargestEntry = 1e100;

std::string_view role_name(RowRole role);

// The number of features (dimension 0: any, but at least 1) and the size of every entry.
void check_rows(const MatrixView& rows, Index dimension, std::string_view divergence, RowRole role);
// The same for the parameters of a generator; `what` names them.
void check_parameters(const MatrixView& values, std::string_view what);
// At least one piece and one feature, as many offsets as slopes, every entry usable.
void check_pieces(const MatrixView& slopes, const VectorView& offsets);
// The part `name`; `embedding` is for messages. Throws Error if it is missing or has not `columns` columns (0: any).
const Matrix& embedding_part(const EmbeddingParts& parts, std::string_view embedding, const std::string& name,
                             Index columns);
void check_output(const MatrixSpan& out, Index points, Index references);

// Entries of a row as a column vector, without a copy.
inline Eigen::Map<const Vector> row_vector(const MatrixView& rows, Index row) {
  return {rows.data() + row * rows.outerStride(), rows.cols()};
}

// One vector as a matrix of one row, without a copy.
inline Eigen::Map<const Matrix> as_row(const VectorView& vector) { return {vector.data(), 1, vector.size()}; }

// Threads cost some microseconds to start: below this many elementary operations one is faster.
inline constexpr double kWorkForThreads = 1e5;

}  // namespace bregmax::internal
