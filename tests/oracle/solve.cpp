#include "oracle/solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bregmax/optimize/certificate.hpp"
#include "optimize/proof/certified_point.hpp"
#include "optimize/proof/solve_support.hpp"
#include "oracle/method.hpp"
#include "oracle/thorough_polish.hpp"

namespace bregmax::oracle {
namespace {

constexpr double kTolerance = 1e-8;
constexpr int kMostIterations = 200;       // of a stage
constexpr double kLeastGap = 0.01;         // of the tolerance, aimed at
constexpr double kEnough = 0.5;            // of the tolerance: then a proof is tried
constexpr double kNormCost = 0.01;         // of the tolerance: what the norm may cost where it has no price
constexpr double kSlopePrice = 1e-3;       // of the tolerance, for all slopes together where they are about 1
constexpr int kProofs = 20, kSeldom = 10;  // proofs in a row; then every tenth is thorough, which takes longer

// Runs a method until the objectives of its model and its multipliers agree, and can continue from there.
class Stage {
 public:
  Stage(const LearningProblem& problem, const CanonicalProblem& canonical, double slope_price)
      : canonical_(canonical), free_(internal::has_free_norm(problem)), method_(problem, canonical, slope_price) {}

  bool advance_to_agreement() {
    const double constant = canonical_.constant / canonical_.objective_unit;
    const double least_unit = 1e-3 * canonical_.zero_objective / canonical_.objective_unit;
    while (true) {
      const Method::Measures now = method_.measure();
      const double unit = std::max(std::abs(now.primal + constant), least_unit);
      const double gap = std::abs(now.primal - now.dual) / unit;
      // A polish may repair what is still infeasible: the certificate decides.
      if (gap <= kEnough * kTolerance && !agrees_) return agrees_ = true;
      agrees_ = false;
      if (iterations_ == kMostIterations) return false;
      // With a price in inverse proportion to the norm, the norm costs its logarithm: slopes become as small as
      // possible.
      if (free_ && now.lipschitz > 0) method_.set_lambda(kNormCost * kTolerance * unit / now.lipschitz);
      if (!method_.advance(kLeastGap * kTolerance * unit / static_cast<double>(method_.constraints()))) return false;
      ++iterations_;
    }
  }

  const Method& method() const { return method_; }
  int iterations() const { return iterations_; }

 private:
  const CanonicalProblem& canonical_;
  bool free_;
  Method method_;
  int iterations_ = 0;
  bool agrees_ = false;  // at the last return
};

// Whether a certificate proves the gap, and for every model.
bool proves_all(const LearningProblem& problem, const Certificate& certificate) {
  return std::abs(certificate.relative_gap) <= kTolerance &&
         (internal::has_free_norm(problem) || certificate.valid_up_to_lipschitz >= problem.lipschitz_bound);
}

Solution certified(const LearningProblem& problem, const CanonicalProblem& canonical, const PrimalPoint& primal,
                   const DualPoint& dual, bool thorough) {
  const auto always = [](internal::PolishCost) { return true; };
  Solution solution = internal::certified_point(problem, canonical, primal, dual, kTolerance, {}, always);
  const Certificate usual = certify(problem, solution);
  if (!thorough || proves_all(problem, usual) || !internal::polish_is_quick(problem)) return solution;
  Solution polished = solution;
  internal::export_dual(problem, canonical, dual, polished);
  polish_thoroughly(problem, canonical.objective_unit / canonical.norm_unit * dual.price, polished.dual);
  const Certificate certificate = certify(problem, polished);
  internal::put_into_report(certificate, polished.report);
  const bool keep_usual = std::abs(usual.relative_gap) <= kTolerance && !proves_all(problem, certificate);
  return keep_usual || certificate.lower_bound < usual.lower_bound ? solution : polished;
}

}  // namespace

Solution solve(const LearningProblem& problem) {
  const CanonicalProblem canonical = internal::canonicalize(problem, 0);  // features in units of their own deviations
  const internal::ConvexRepair repair(problem);
  const auto slopes = static_cast<double>(std::max<Index>(1, canonical.pieces * canonical.features));
  const double price = kSlopePrice * kTolerance * 1e-3 * canonical.zero_objective / canonical.objective_unit / slopes;
  // Slopes that hardly anything holds may be so large in the middle of all optimal models that doubles cannot hold the
  // divergences, which are differences. A price on them, far below the tolerance, gives a model that they can. Where
  // its multipliers do not prove enough, those of the problem without the price do.
  Stage priced(problem, canonical, price), exact(problem, canonical, 0);
  Solution solution;
  bool proved = false;
  for (Stage* stage : {&priced, &exact}) {
    for (int proof = 0; !proved && stage->advance_to_agreement(); ++proof) {
      Solution latest = certified(problem, canonical, priced.method().primal_point(), stage->method().dual_point(),
                                  proof < kProofs || proof % kSeldom == 0);
      const double scale = std::max(repair.violation({latest.slopes, latest.offsets}).scale, canonical.value_unit);
      proved = internal::is_proved(latest, kTolerance, scale);
      const bool better = std::abs(latest.report.relative_gap) < std::abs(solution.report.relative_gap);
      if (proved || better || solution.slopes.size() == 0) solution = std::move(latest);
    }
    if (proved) break;
  }
  if (proved) internal::lead_by_mixing(problem, repair, kTolerance, solution);
  solution.report.status = proved ? Status::kOptimal : Status::kNumericalError;
  solution.report.iterations = priced.iterations() + exact.iterations();
  return solution;
}

}  // namespace bregmax::oracle
