#include "divergence/checks.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {
namespace {

// Row-major position of the first entry that is NaN, infinite or too large; -1: none.
Index first_unusable(const MatrixView& values) {
  for (Index i = 0; i < values.rows(); ++i) {
    const double* row = values.data() + i * values.outerStride();
    for (Index j = 0; j < values.cols(); ++j) {
      if (!(std::abs(row[j]) <= kLargestEntry)) return i * values.cols() + j;
    }
  }
  return -1;
}

}  // namespace

std::string_view role_name(RowRole role) { return role == RowRole::kPoint ? "point" : "reference"; }

void check_rows(const MatrixView& rows, Index dimension, std::string_view divergence, RowRole role) {
  if (dimension != 0 && rows.cols() != dimension) {
    throw Error(fmt::format("the {}s have {} features; this {} divergence takes {}", role_name(role), rows.cols(),
                            divergence, dimension));
  }
  if (rows.cols() == 0) throw Error(fmt::format("the {}s have no features; allowed: at least 1", role_name(role)));
  const Index bad = first_unusable(rows);
  if (bad >= 0) {
    const Index row = bad / rows.cols(), feature = bad % rows.cols();
    throw Error(fmt::format("{} row {}, feature {} is {}; allowed: finite numbers up to {:g}", role_name(role), row,
                            feature, rows(row, feature), kLargestEntry));
  }
}

void check_parameters(const MatrixView& values, std::string_view what) {
  const Index bad = first_unusable(values);
  if (bad >= 0) {
    const Index row = bad / values.cols(), column = bad % values.cols();
    throw Error(fmt::format("{}({}, {}) is {}; allowed: finite numbers up to {:g}", what, row, column,
                            values(row, column), kLargestEntry));
  }
}

void check_pieces(const MatrixView& slopes, const VectorView& offsets) {
  if (slopes.rows() == 0 || slopes.cols() == 0) {
    throw Error(
        fmt::format("slopes is {} x {}; allowed: at least one piece and one feature", slopes.rows(), slopes.cols()));
  }
  if (offsets.size() != slopes.rows()) {
    throw Error(
        fmt::format("there are {} offsets for {} pieces; allowed: one per piece", offsets.size(), slopes.rows()));
  }
  check_parameters(slopes, "slopes");
  check_parameters(as_row(offsets), "offsets");
}

const Matrix& embedding_part(const EmbeddingParts& parts, std::string_view embedding, const std::string& name,
                             Index columns) {
  const auto found = parts.find(name);
  if (found == parts.end()) throw Error(fmt::format("the {} has no '{}'", embedding, name));
  if (columns > 0 && found->second.cols() != columns) {
    throw Error(
        fmt::format("'{}' of the {} has {} columns; allowed: {}", name, embedding, found->second.cols(), columns));
  }
  return found->second;
}

void check_output(const MatrixSpan& out, Index points, Index references) {
  if (out.rows() != points || out.cols() != references) {
    throw Error(fmt::format("the output is {} x {}; allowed: {} x {}, points x references", out.rows(), out.cols(),
                            points, references));
  }
}

}  // namespace bregmax::internal
