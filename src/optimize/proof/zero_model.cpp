#include "optimize/proof/zero_model.hpp"

#include "optimize/problem/at.hpp"

namespace bregmax::internal {

Solution zero_model(const LearningProblem& problem, DualForm form) {
  Solution solution;
  solution.slopes.setZero(problem.pieces, problem.points.cols());
  solution.offsets.setZero(problem.pieces);
  Matrix& convexity = solution.dual.convexity;
  Vector& items = solution.dual.items;
  if (form == DualForm::kMatrix) convexity.setZero(problem.points.rows(), problem.pieces);
  const auto push_down = [&](Index i, Index j, double slope) {
    const Index piece = problem.piece_of[at(j)];
    if (form == DualForm::kMatrix) {
      convexity(i, piece) += slope;
    } else {
      solution.dual.entries.push_back({i, piece, slope});
    }
  };
  const auto push_up = [&](Index i, Index j, double slope) { push_down(j, i, slope); };

  if (const auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
    items.resize(static_cast<Index>(comparisons->size()));
    for (std::size_t t = 0; t < comparisons->size(); ++t) {
      const Comparison& c = (*comparisons)[t];
      items(static_cast<Index>(t)) = c.weight;
      push_down(c.i, c.j, c.weight);
      push_up(c.k, c.l, c.weight);
    }
  } else if (is_pairs(problem.supervision)) {
    items.setZero(item_count(problem.supervision));
    Index t = 0;
    for_each_pair(problem.supervision, [&](const Pair& p) {
      if (!p.similar) {
        items(t) = p.weight;
        push_up(p.i, p.j, p.weight);
      }
      ++t;
    });
  } else {
    const auto& targets = std::get<Targets>(problem.supervision);
    items.resize(static_cast<Index>(targets.size()));
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const Target& g = targets[t];
      const double slope = -2 * g.weight * g.value;
      items(static_cast<Index>(t)) = slope;
      if (slope > 0) push_down(g.i, g.j, slope);
      if (slope < 0) push_up(g.i, g.j, -slope);
    }
  }
  return solution;
}

}  // namespace bregmax::internal
