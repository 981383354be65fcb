#pragma once

#include <algorithm>
#include <vector>

#include "bregmax/divergence/mahalanobis.hpp"
#include "methods/training_rows.hpp"

namespace bregmax::internal {

// A cutting plane of metric learning to rank, averaged over the queries: loss(W) >= offset - <W, slope> for every W,
// with equality at the W that it was found for.
struct RankingCut {
  Matrix slope;
  double offset = 0;
};

// The rankings that violate most under a metric, for every row as a query.
class RankingQueries {
 public:
  // Rows that have no other row of their class, or only such, query nothing; at least one must.
  RankingQueries(const MatrixView& rows, const ClassOfRow& class_of_row)
      : rows_(centered(rows)), class_of_row_(class_of_row) {
    for (const int own : class_of_row_) {
      const auto size = std::ranges::count(class_of_row_, own);
      if (size >= 2 && size < std::ssize(class_of_row_)) ++queries_;
    }
  }

  RankingCut most_violated(const Matrix& metric) const {
    const Index count = rows_.rows();
    const Matrix divergences = Mahalanobis(metric).matrix(rows_, rows_);
    Matrix counts = Matrix::Zero(count, count);
    Vector losses = Vector::Zero(count);
#pragma omp parallel
    {
      Query query;
#pragma omp for schedule(static)
      for (Index q = 0; q < count; ++q) {
        query.collect(divergences, class_of_row_, q);
        if (query.relevant.empty() || query.irrelevant.empty()) continue;
        losses(q) = query.count_violations(counts.row(q));
      }
    }
    // psi(q, y*) - psi(q, y) = -sum_i counts_i (q - x_i)(q - x_i)^T, summed over all queries without forming any of
    // them.
    const double scale = 1 / static_cast<double>(queries_);
    const Vector degrees = counts.rowwise().sum() + counts.colwise().sum().transpose();
    const Matrix mixed = rows_.transpose() * counts * rows_;
    RankingCut cut;
    cut.slope = -scale * (rows_.transpose() * degrees.asDiagonal() * rows_ - mixed - mixed.transpose());
    cut.offset = scale * losses.sum();
    return cut;
  }

 private:
  // The candidates of one query, by their divergence.
  struct Query {
    std::vector<std::pair<double, Index>> relevant, irrelevant;  // divergence, row

    void collect(const Matrix& divergences, const ClassOfRow& class_of_row, Index query) {
      relevant.clear();
      irrelevant.clear();
      const int own = class_of_row[static_cast<std::size_t>(query)];
      for (Index row = 0; row < divergences.cols(); ++row) {
        if (row == query) continue;
        auto& list = class_of_row[static_cast<std::size_t>(row)] == own ? relevant : irrelevant;
        list.emplace_back(divergences(query, row), row);
      }
      std::ranges::sort(relevant);
      std::ranges::sort(irrelevant);
    }

    // The pair (i relevant, j irrelevant) is put in the wrong order where that gains: its loss 1 exceeds the margin
    // 2 (D_j - D_i) that it gives up. Returns the gained loss; `counts` gets 2 times the number of such pairs, positive
    // for relevant and negative for irrelevant candidates, over the number of all pairs.
    double count_violations(Eigen::Ref<Eigen::RowVectorXd> counts) const {
      const double unit = 1 / (static_cast<double>(relevant.size()) * static_cast<double>(irrelevant.size()));
      constexpr double kMargin = 0.5;
      double violated = 0;
      std::size_t below = 0;  // irrelevant candidates within the margin of the relevant one
      for (const auto& [divergence, row] : relevant) {
        while (below < irrelevant.size() && irrelevant[below].first < divergence + kMargin) ++below;
        counts(row) = 2 * unit * static_cast<double>(below);
        violated += static_cast<double>(below);
      }
      std::size_t above = relevant.size();  // relevant candidates that have this irrelevant one within the margin
      for (auto candidate = irrelevant.rbegin(); candidate != irrelevant.rend(); ++candidate) {
        while (above > 0 && candidate->first < relevant[above - 1].first + kMargin) --above;
        counts(candidate->second) = -2 * unit * static_cast<double>(relevant.size() - above);
      }
      return violated * unit;
    }
  };

  Matrix rows_;  // centred: differences are the same, and their squares lose fewer digits
  ClassOfRow class_of_row_;
  Index queries_ = 0;
};

}  // namespace bregmax::internal
