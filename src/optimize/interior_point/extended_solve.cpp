#include "optimize/interior_point/extended_solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optimize/interior_point/extended_method.hpp"
#include "optimize/proof/certified_point.hpp"
#include "optimize/proof/multiplier_polish.hpp"

namespace bregmax::internal {
namespace {

// One of the two methods of a solve, until the objectives of its model and its multipliers agree, and on from there.
class Stage {
 public:
  Stage(const LearningProblem& problem, const InteriorPointOptions& options, const RunControl& control,
        const Stopwatch& watch, const CanonicalProblem& canonical, double slope_price)
      : options_(options),
        control_(control),
        watch_(watch),
        canonical_(canonical),
        free_(has_free_norm(problem)),
        method_(problem, canonical, slope_price) {}

  // True: they agree; false: the run ends, for the reason of status().
  bool advance_to_agreement(int& iteration) {
    constexpr double kLeastGap = 0.01, kEnough = 0.5;  // of the tolerance: aimed at, and enough for a proof
    constexpr double kNormCost = 0.01;                 // of the tolerance: what the norm may cost where it has no price
    const double constant = canonical_.constant / canonical_.objective_unit;
    const double least_unit = 1e-3 * canonical_.zero_objective / canonical_.objective_unit;
    while (true) {
      const ExtendedMethod::Measures now = method_.measure();
      const double unit = std::max(std::abs(now.primal + constant), least_unit);
      const double gap = std::abs(now.primal - now.dual) / unit;
      if (!agrees_)
        report(iteration, (now.primal + constant) * canonical_.objective_unit, gap + now.infeasibility / unit);
      // What is still infeasible may be no more than polishing mends: the certificate tells.
      if (gap <= kEnough * options_.tolerance && !agrees_) return agrees_ = true;
      agrees_ = false;
      if (const auto verdict =
              interruption(control_, watch_, options_.time_limit, iteration, options_.max_iterations)) {
        status_ = *verdict;
        return false;
      }
      // With a price in inverse proportion to the norm, the norm's logarithm is what it costs: slopes are as small as
      // they may be, however small or large that is.
      if (free_ && now.lipschitz > 0) method_.set_lambda(kNormCost * options_.tolerance * unit / now.lipschitz);
      const double least = kLeastGap * options_.tolerance * unit / static_cast<double>(method_.constraints());
      if (!method_.advance(least)) return false;
      ++iteration;
    }
  }

  Status status() const { return status_; }
  const ExtendedMethod& method() const { return method_; }

 private:
  void report(int iteration, double objective, double gap) const {
    if (!control_.on_progress) return;
    Progress progress;
    progress.phase = "solve";
    progress.iteration = iteration;
    progress.objective = objective;
    progress.relative_gap = gap;
    progress.seconds = watch_.seconds();
    control_.report(progress);
  }

  const InteriorPointOptions& options_;
  const RunControl& control_;
  const Stopwatch& watch_;
  const CanonicalProblem& canonical_;
  bool free_;
  ExtendedMethod method_;
  Status status_ = Status::kNumericalError;
  bool agrees_ = false;  // at the last return
};

}  // namespace

Solution solve_extended(const LearningProblem& problem, const InteriorPointOptions& options, const RunControl& control,
                        const Stopwatch& watch, int first_iteration) {
  constexpr double kSlopePrice = 1e-3;  // of the tolerance, for all slopes together where they are of the order of 1
  constexpr int kProofs = 20;           // of a stage
  // Where a thorough polish is quick: it may do at any iteration what it could not at the one before, but takes longer
  // than an iteration.
  constexpr int kProofsAtLast = 200, kSeldom = 10;
  const CanonicalProblem canonical = canonicalize(problem, 0);  // features in units of their own deviations
  const ConvexRepair repair(problem);
  const auto slopes = static_cast<double>(std::max<Index>(1, canonical.pieces * canonical.features));
  const double price =
      kSlopePrice * options.tolerance * 1e-3 * canonical.zero_objective / canonical.objective_unit / slopes;
  // Slopes that hardly anything holds may be so large in the middle of all optimal models that doubles cannot hold the
  // differences that divergences are: a price on them, far below the tolerance, gives a model that they can. Where the
  // multipliers of that are not good enough for a proof, those of the problem itself are.
  Stage priced(problem, options, control, watch, canonical, price),
      exact(problem, options, control, watch, canonical, 0);
  int polishes = 0;
  int iteration = first_iteration, last_proof = -1;
  Solution solution;  // the best that was proved of any
  const auto proves = [&](const Stage& of_dual, PolishEffort effort) {
    last_proof = iteration;
    Solution latest = certified_point(problem, canonical, priced.method().primal_point(), of_dual.method().dual_point(),
                                      options.tolerance, true, effort, control, &polishes);
    const double scale = repair.violation({latest.slopes, latest.offsets}).scale;
    const bool proved = is_proved(latest, options.tolerance, std::max(scale, canonical.value_unit));
    const bool better = std::abs(latest.report.relative_gap) < std::abs(solution.report.relative_gap);
    if (proved || better || solution.slopes.size() == 0) solution = std::move(latest);
    return proved;
  };
  Status status = Status::kNumericalError;
  for (Stage* stage : {&priced, &exact}) {
    bool proved = false;
    const int most_proofs = stage == &exact && polish_is_quick(problem) ? kProofsAtLast : kProofs;
    for (int proof = 0; proof < most_proofs && !proved && stage->advance_to_agreement(iteration); ++proof) {
      const bool thorough = proof < kProofs || proof % kSeldom == 0;
      proved = proves(*stage, thorough ? PolishEffort::kThorough : PolishEffort::kUsual);
    }
    // Where a run ends, what it has may do.
    if (!proved && iteration != last_proof) proved = proves(*stage, PolishEffort::kUsual);
    status = proved ? Status::kOptimal : stage->status();
    if (status != Status::kNumericalError) break;
  }
  if (status == Status::kOptimal) lead_by_mixing(problem, repair, options.tolerance, solution);
  solution.report.status = status;
  solution.report.iterations = iteration;
  return solution;
}

}  // namespace bregmax::internal
