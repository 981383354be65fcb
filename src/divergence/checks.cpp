#include "divergence/checks.hpp"

#include <cmath>

namespace bregmax::internal {
namespace {

// Calls refuse(row, column) for the first entry that is NaN, infinite or too large.
template <class Refuse>
void check_entries(const MatrixView& values, const Refuse& refuse) {
  for (Index i = 0; i < values.rows(); ++i) {
    const double* row = values.data() + i * values.outerStride();
    for (Index j = 0; j < values.cols(); ++j) {
      if (!(std::abs(row[j]) <= kLargestEntry)) refuse(i, j);
    }
  }
}

}  // namespace

std::string_view role_name(RowRole role) { return role == RowRole::kPoint ? "point" : "reference"; }

void check_rows(const MatrixView& rows, Index dimension, std::string_view divergence, RowRole role) {
  require(dimension == 0 || rows.cols() == dimension, "the {}s have {} features; this {} divergence takes {}",
          role_name(role), rows.cols(), divergence, dimension);
  require(rows.cols() > 0, "the {}s have no features; allowed: at least 1", role_name(role));
  check_entries(rows, [&](Index row, Index feature) {
    fail("{} row {}, feature {} is {}; allowed: finite numbers up to {:g}", role_name(role), row, feature,
         rows(row, feature), kLargestEntry);
  });
}

void check_parameters(const MatrixView& values, std::string_view what) {
  check_entries(values, [&](Index row, Index column) {
    fail("{}({}, {}) is {}; allowed: finite numbers up to {:g}", what, row, column, values(row, column), kLargestEntry);
  });
}

void check_pieces(const MatrixView& slopes, const VectorView& offsets) {
  require(slopes.size() > 0, "slopes is {} x {}; allowed: at least one piece and one feature", slopes.rows(),
          slopes.cols());
  require(offsets.size() == slopes.rows(), "there are {} offsets for {} pieces; allowed: one per piece", offsets.size(),
          slopes.rows());
  check_parameters(slopes, "slopes");
  check_parameters(as_row(offsets), "offsets");
}

const Matrix& embedding_part(const EmbeddingParts& parts, std::string_view embedding, const std::string& name,
                             Index columns) {
  const auto found = parts.find(name);
  require(found != parts.end(), "the {} has no '{}'", embedding, name);
  const Matrix& part = found->second;
  require(columns == 0 || part.cols() == columns, "'{}' of the {} has {} columns; allowed: {}", name, embedding,
          part.cols(), columns);
  return part;
}

void check_output(const MatrixSpan& out, Index points, Index references) {
  require(out.rows() == points && out.cols() == references,
          "the output is {} x {}; allowed: {} x {}, points x references", out.rows(), out.cols(), points, references);
}

}  // namespace bregmax::internal
