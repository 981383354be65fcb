#include "optimize/proof/model_scale.hpp"

#include <algorithm>
#include <vector>

#include "optimize/problem/items.hpp"

namespace bregmax::internal {
namespace {

// The objective along the ray is slope * s + curvature * s^2 + sum of weight * max(0, margin + s * value).
class Ray {
 public:
  explicit Ray(double slope) : slope_(slope) {}

  void add_cost(double slope, double curvature = 0) {
    slope_ += slope;
    curvature_ += curvature;
  }
  void add_hinge(double weight, double margin, double value) {
    slope_ += weight * value;
    if (value < 0) ends_.push_back({margin / -value, -weight * value});
  }

  // slope_ is the slope at 0, where every hinge is active; each ends where its margin is reached. After the last of
  // many, the slope that is left may be rounding only.
  double lowest() {
    std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) { return a.at < b.at; });
    double slope = slope_, rounding = 0;
    for (const End& end : ends_) rounding += kRounding * end.rise;
    for (const End& end : ends_) {
      const double curved = slope + 2 * curvature_ * end.at;
      if (curved >= 0) break;
      if (curved + end.rise >= -rounding) return end.at;
      slope += end.rise;
    }
    return curvature_ > 0 ? std::max(0.0, -slope / (2 * curvature_)) : 0;
  }

 private:
  static constexpr double kRounding = 1e-12;
  struct End {
    double at, rise;
  };
  double slope_, curvature_ = 0;
  std::vector<End> ends_;
};

}  // namespace

double best_scale(const LearningProblem& problem, const AffinePieces& pieces) {
  const auto value = [&](Index row, Index piece) {
    return problem.points.row(row).dot(pieces.slopes.row(piece)) + pieces.offsets(piece);
  };
  const auto divergence = [&](const DivergenceTerm& at_rows) {
    if (!at_rows.exists()) return 0.0;
    const Index own = problem.piece_of[at_rows.point], other = problem.piece_of[at_rows.reference];
    return own == other ? 0.0 : value(at_rows.point, own) - value(at_rows.point, other);
  };
  const double lipschitz = lipschitz_of(pieces);
  Ray ray(problem.lambda * lipschitz);
  for_each_item(problem.supervision, [&](Index, const Item& item) {
    const double d = divergence(item.plus) - divergence(item.minus);
    if (item.squared) {
      ray.add_cost(-2 * item.weight * item.value * d, item.weight * d * d);
    } else if (item.margin > 0) {
      ray.add_hinge(item.weight, item.margin, d);
    } else {
      ray.add_cost(item.weight * d);
    }
  });
  const double scale = ray.lowest();
  return scale * lipschitz > problem.lipschitz_bound ? problem.lipschitz_bound / lipschitz : scale;
}

}  // namespace bregmax::internal
