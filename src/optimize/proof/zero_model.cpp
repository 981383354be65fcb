#include "optimize/proof/zero_model.hpp"

#include "optimize/problem/items.hpp"

namespace bregmax::internal {

Solution zero_model(const LearningProblem& problem, DualForm form) {
  Solution solution;
  solution.slopes.setZero(problem.pieces, problem.points.cols());
  solution.offsets.setZero(problem.pieces);
  DualSolution& dual = solution.dual;
  if (form == DualForm::kByRow) {
    dual.by_row = [pairs = std::get<LabelPairs>(problem.supervision)](Index begin, Index end, MatrixSpan block) {
      for (Index i = begin; i < end; ++i) {
        for (Index j = 0; j < pairs.rows(); ++j) {
          const Pair pair = pairs.pair(i, j);
          block(i - begin, j) = (pair.similar ? 1 : 2) * pair.weight;
        }
      }
    };
    return solution;
  }
  if (form == DualForm::kMatrix) dual.convexity.setZero(problem.points.rows(), problem.pieces);
  const auto add = [&](Index i, Index j, double multiplier) {
    const Index piece = problem.piece_of[j];
    if (form == DualForm::kMatrix) {
      dual.convexity(i, piece) += multiplier;
    } else {
      dual.entries.push_back({i, piece, multiplier});
    }
  };
  dual.items.setZero(item_count(problem.supervision));
  for_each_item(problem.supervision, [&](Index t, const Item& item) {
    const double slope = item.squared ? -2 * item.weight * item.value : item.margin > 0 ? item.weight : 0;
    if (slope == 0) return;
    dual.items(t) = slope;
    if (item.plus.exists() && slope > 0) add(item.plus.point, item.plus.reference, slope);
    if (item.plus.exists() && slope < 0) add(item.plus.reference, item.plus.point, -slope);
    if (item.minus.exists()) add(item.minus.reference, item.minus.point, slope);
  });
  return solution;
}

}  // namespace bregmax::internal
