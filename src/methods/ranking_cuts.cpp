#include "methods/ranking_cuts.hpp"

#include <algorithm>
#include <numeric>

#include "bregmax/divergence/mahalanobis.hpp"
#include "methods/training_rows.hpp"

namespace bregmax::internal {
namespace {

// The divergences of one query, sorted, and what each candidate contributes to the slope.
struct Query {
  std::vector<std::pair<double, Index>> relevant, irrelevant;  // divergence, row
};

void collect(const Matrix& divergences, const ClassOfRow& class_of_row, Index query, Query& out) {
  out.relevant.clear();
  out.irrelevant.clear();
  const int own = class_of_row[static_cast<std::size_t>(query)];
  for (Index row = 0; row < divergences.cols(); ++row) {
    if (row == query) continue;
    auto& list = class_of_row[static_cast<std::size_t>(row)] == own ? out.relevant : out.irrelevant;
    list.emplace_back(divergences(query, row), row);
  }
  std::ranges::sort(out.relevant);
  std::ranges::sort(out.irrelevant);
}

// The pair (i relevant, j irrelevant) is put in the wrong order where that gains: its loss 1 exceeds the margin
// 2 (D_j - D_i) that it gives up. Returns the gained loss; `counts` gets 2 times the number of such pairs, positive for
// relevant and negative for irrelevant candidates, over the number of all pairs.
double count_violations(const Query& query, Eigen::Ref<Eigen::RowVectorXd> counts) {
  const double unit = 1 / (static_cast<double>(query.relevant.size()) * static_cast<double>(query.irrelevant.size()));
  constexpr double kMargin = 0.5;
  double violated = 0;
  std::size_t below = 0;  // irrelevant candidates within the margin of the relevant one
  for (const auto& [divergence, row] : query.relevant) {
    while (below < query.irrelevant.size() && query.irrelevant[below].first < divergence + kMargin) ++below;
    counts(row) = 2 * unit * static_cast<double>(below);
    violated += static_cast<double>(below);
  }
  std::size_t above = query.relevant.size();  // relevant candidates that have this irrelevant one within the margin
  for (auto candidate = query.irrelevant.rbegin(); candidate != query.irrelevant.rend(); ++candidate) {
    while (above > 0 && candidate->first < query.relevant[above - 1].first + kMargin) --above;
    counts(candidate->second) = -2 * unit * static_cast<double>(query.relevant.size() - above);
  }
  return violated * unit;
}

}  // namespace

RankingQueries::RankingQueries(const MatrixView& rows, const ClassOfRow& class_of_row)
    : rows_(centered(rows)), class_of_row_(class_of_row) {
  for (const int own : class_of_row_) {
    const auto size = std::count(class_of_row_.begin(), class_of_row_.end(), own);
    if (size >= 2 && size < static_cast<std::ptrdiff_t>(class_of_row_.size())) ++queries_;
  }
}

RankingCut RankingQueries::most_violated(const Matrix& metric) const {
  const Index count = rows_.rows();
  const Matrix divergences = Mahalanobis(metric).matrix(rows_, rows_);
  Matrix counts = Matrix::Zero(count, count);
  Vector losses = Vector::Zero(count);
#pragma omp parallel
  {
    Query query;
#pragma omp for schedule(static)
    for (Index q = 0; q < count; ++q) {
      collect(divergences, class_of_row_, q, query);
      if (query.relevant.empty() || query.irrelevant.empty()) continue;
      losses(q) = count_violations(query, counts.row(q));
    }
  }
  // psi(q, y*) - psi(q, y) = -sum_i counts_i (q - x_i)(q - x_i)^T, summed over all queries without forming any of them.
  const double scale = 1 / static_cast<double>(queries_);
  const Vector degrees = counts.rowwise().sum() + counts.colwise().sum().transpose();
  const Matrix mixed = rows_.transpose() * counts * rows_;
  RankingCut cut;
  cut.slope = -scale * (rows_.transpose() * degrees.asDiagonal() * rows_ - mixed - mixed.transpose());
  cut.offset = scale * losses.sum();
  return cut;
}

}  // namespace bregmax::internal
