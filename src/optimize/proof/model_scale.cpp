#include "optimize/proof/model_scale.hpp"

#include <algorithm>
#include <vector>

#include "optimize/problem/at.hpp"

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

  // slope_ is that of the beginning, where every hinge pays; each ends where its margin is reached. After the last of
  // many the slope may be zero but for rounding.
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
  const auto divergence = [&](Index i, Index j) {
    const Index own = problem.piece_of[at(i)], other = problem.piece_of[at(j)];
    return own == other ? 0.0 : value(i, own) - value(i, other);
  };
  const double lipschitz = pieces.slopes.cwiseAbs().rowwise().sum().maxCoeff();
  Ray ray(problem.lambda * lipschitz);
  if (const auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
    for (const Comparison& c : *comparisons) ray.add_hinge(c.weight, 1, divergence(c.i, c.j) - divergence(c.k, c.l));
  } else if (const auto* targets = std::get_if<Targets>(&problem.supervision)) {
    for (const Target& t : *targets) {
      const double d = divergence(t.i, t.j);
      ray.add_cost(-2 * t.weight * t.value * d, t.weight * d * d);
    }
  } else {
    for_each_pair(problem.supervision, [&](const Pair& p) {
      const double d = divergence(p.i, p.j);
      if (p.similar) {
        ray.add_cost(p.weight * d);
      } else {
        ray.add_hinge(p.weight, 2, -d);
      }
    });
  }
  const double scale = ray.lowest();
  return scale * lipschitz > problem.lipschitz_bound ? problem.lipschitz_bound / lipschitz : scale;
}

}  // namespace bregmax::internal
