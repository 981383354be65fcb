#include <fmt/format.h>

#include <algorithm>

#include "bregmax/core/error.hpp"
#include "bregmax/theory/bounds.hpp"

namespace bregmax {
namespace {

void check_row(Index row, Index rows, std::size_t item) {
  if (row < 0 || row >= rows) {
    throw Error(fmt::format("item {} has the row number {}; allowed: 0 to {}", item, row, rows - 1));
  }
}

// D(row first(t), row second(t)) of every item t.
template <class Items, class First, class Second>
Vector divergences_of(const Divergence& divergence, const MatrixView& rows, const Items& items, First first,
                      Second second) {
  const auto count = static_cast<Index>(items.size());
  Matrix points(count, rows.cols()), references(count, rows.cols());
  for (std::size_t t = 0; t < items.size(); ++t) {
    check_row(items[t].*first, rows.rows(), t);
    check_row(items[t].*second, rows.rows(), t);
    points.row(static_cast<Index>(t)) = rows.row(items[t].*first);
    references.row(static_cast<Index>(t)) = rows.row(items[t].*second);
  }
  return divergence.rowwise(points, references);
}

}  // namespace

ComparisonLosses comparison_losses(const Divergence& divergence, const MatrixView& rows,
                                   const Comparisons& comparisons) {
  if (comparisons.empty()) throw Error("there are no comparisons; at least one is needed");
  const Vector near = divergences_of(divergence, rows, comparisons, &Comparison::i, &Comparison::j);
  const Vector far = divergences_of(divergence, rows, comparisons, &Comparison::k, &Comparison::l);
  const Vector hinge = (1 + near.array() - far.array()).cwiseMax(0.0);
  ComparisonLosses losses;
  losses.hinge = hinge.mean();
  losses.ramp = hinge.cwiseMin(1.0).mean();
  losses.error = static_cast<double>((near.array() >= far.array()).count()) / static_cast<double>(near.size());
  return losses;
}

double squared_loss(const Divergence& divergence, const MatrixView& rows, const Targets& targets) {
  if (targets.empty()) throw Error("there are no targets; at least one is needed");
  Vector values(static_cast<Index>(targets.size()));
  for (std::size_t t = 0; t < targets.size(); ++t) values(static_cast<Index>(t)) = targets[t].value;
  return (divergences_of(divergence, rows, targets, &Target::i, &Target::j) - values).squaredNorm() /
         static_cast<double>(targets.size());
}

}  // namespace bregmax
