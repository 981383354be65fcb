#include "oracle/thorough_polish.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "optimize/proof/multiplier_system.hpp"
#include "oracle/orthogonal_least_squares.hpp"

namespace bregmax::oracle {
namespace {

using internal::Multiplier;
using System = internal::MultiplierSystem<DoubleDouble>;

constexpr double kNearlyAtEnd[] = {1e-11, 1e-9};  // of the largest multiplier: what is tried
constexpr double kMostWork = 4e7;                 // rows times unknowns squared

// Steps that minimise the sum of (change / room)^2, or of change^2 / curvature for free multipliers. A small multiplier
// then changes relatively less than a large one, which keeps it in its range. The squares of rooms differ by too much
// for the normal equations.
class OrthogonalSteps {
  using Number = DoubleDouble;

 public:
  explicit OrthogonalSteps(System& system) : system_(system) {}

  static double work(const System& system) {
    const auto movable = std::ranges::count_if(system.multipliers, [](const auto& one) { return one.room() > 0; });
    const auto unknowns = static_cast<double>(system.unknowns());
    return (static_cast<double>(movable) + 2 * unknowns) * unknowns * unknowns;
  }

  bool factor() {
    const Index unknowns = system_.unknowns(), width = system_.width();
    movable_.clear();
    for (std::size_t t = 0; t < system_.multipliers.size(); ++t) {
      const Multiplier& one = system_.multipliers[t];
      if (one.room() > 0) movable_.push_back({t, one.is_free() ? std::sqrt(one.room()) : one.room()});
    }
    const auto count = static_cast<Index>(movable_.size());
    OrthogonalLeastSquares::Rows j = OrthogonalLeastSquares::Rows::Zero(count + unknowns, unknowns);
    for (Index t = 0; t < count; ++t) {
      const auto& [multiplier, reach] = movable_[t];
      system_.for_each_piece(system_.multipliers[multiplier], [&, reach = reach](Index row, Index piece, double sign) {
        j.row(t).segment(piece * width, width) += system_.rows().row(row) * Number(reach * sign);
      });
    }
    for (Index u = 0; u < unknowns; ++u) j(count + u, u) = system_.slack(u);
    least_squares_.factor(j);
    return true;
  }

  void move() {
    OrthogonalLeastSquares::Numbers target(system_.unknowns());
    for (Index u = 0; u < target.size(); ++u) target(u) = -system_.residual(u);
    const OrthogonalLeastSquares::Numbers parts = least_squares_.solve(target);
    for (std::size_t t = 0; t < movable_.size(); ++t) {
      const auto& [multiplier, reach] = movable_[t];
      system_.multipliers[multiplier].change_by(reach * static_cast<double>(parts(static_cast<Index>(t))));
    }
  }

 private:
  struct Movable {
    std::size_t multiplier;
    double reach;  // as factored
  };

  System& system_;
  std::vector<Movable> movable_;
  OrthogonalLeastSquares least_squares_;
};

void go_to_ends(double nearly, std::vector<Multiplier>& multipliers) {
  double largest = 0;
  for (const Multiplier& one : multipliers) largest = std::max(largest, std::abs(one.high));
  for (Multiplier& one : multipliers) {
    if (one.is_free() || one.room() >= nearly * largest) continue;
    one.high = one.high < one.most - one.high ? 0 : one.most;
    one.low = 0;
  }
}

}  // namespace

void polish_thoroughly(const LearningProblem& problem, const Vector& price_of_piece, DualSolution& dual) {
  System system(problem, price_of_piece, dual);
  const std::vector<Multiplier> given = system.multipliers;
  std::vector<Multiplier> best = given;
  double least = std::numeric_limits<double>::infinity();
  for (const double nearly : kNearlyAtEnd) {
    system.multipliers = given;
    go_to_ends(nearly, system.multipliers);
    if (OrthogonalSteps::work(system) > kMostWork) continue;
    const double left = internal::take_rounds(system, OrthogonalSteps(system), {});
    if (!(left < least)) continue;
    least = left;
    best = system.multipliers;
  }
  system.multipliers = std::move(best);
  system.give(dual);
}

}  // namespace bregmax::oracle
