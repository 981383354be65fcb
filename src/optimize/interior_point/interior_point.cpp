#include "optimize/interior_point/interior_point.hpp"

#include <bit>
#include <cmath>
#include <optional>

#include "optimize/interior_point/primal_dual_method.hpp"
#include "optimize/proof/certified_point.hpp"
#include "optimize/proof/solve_support.hpp"
#include "optimize/proof/termination.hpp"
#include "optimize/proof/zero_model.hpp"

namespace bregmax::internal {
namespace {

class Run {
 public:
  Run(const LearningProblem& problem, const InteriorPointOptions& options, const RunControl& control,
      const Stopwatch& watch, const InteriorPointSettings& settings, Recovery& recovery)
      : problem_(problem),
        options_(options),
        control_(control),
        watch_(watch),
        settings_(settings),
        recovery_(recovery) {}

  Solution solve() {
    Solution solution;
    method_.start();
    for (int attempt = 1;; ++attempt) {
      const Status status = iterate_until_optimal();
      // The certificate, computed from the caller's data and the dual variables, has the last word.
      solution = prove(status);
      const double scale = method_.measures().divergence_scale * canonical_.value_unit;
      const bool proved = is_proved(solution, options_.tolerance, scale);
      if (proved) solution.report.status = Status::kOptimal;
      if (proved && status == Status::kOptimal) clear_ties(solution);
      if (proved || status != Status::kOptimal) break;
      if (attempt % settings_.relax_each == 0 && recovery_.use(Remedy::kRelaxUnproved)) method_.relax_proximal();
      if (const auto ended = next_iteration()) {
        solution.report.status = *ended;
        break;
      }
    }
    return solution;
  }

 private:
  // Iterates until the iterate looks optimal by its own measures, or the run ends for another reason.
  Status iterate_until_optimal() {
    while (true) {
      const IterateMeasures& now = method_.measure();
      report_progress(now);
      const double gap = now.gap() / unit();
      if (!std::isfinite(gap)) return Status::kNumericalError;
      const bool feasible = is_feasible(now.violation, now.divergence_scale);
      if (gap <= settings_.looks_optimal * options_.tolerance && feasible) return Status::kOptimal;
      if (const auto ended = next_iteration()) return *ended;
    }
  }

  // Takes one iteration. Returns the reason if the run ends instead.
  std::optional<Status> next_iteration() {
    if (const auto ended = interrupted()) return ended;
    const auto count = static_cast<double>(std::max<Index>(1, method_.iterate().product_count));
    const double least_mu = settings_.least_product * options_.tolerance * unit() / count;
    if (!method_.advance(least_mu, unit())) return Status::kNumericalError;
    ++iteration_;
    return std::nullopt;
  }

  // The unit of the relative gap (see termination.hpp), in canonical units.
  double unit() const {
    const double objective = method_.measures().primal + canonical_.constant / canonical_.objective_unit;
    return gap_unit(objective, canonical_.zero_objective / canonical_.objective_unit);
  }

  std::optional<Status> interrupted() const {
    return interruption(control_, watch_, options_.time_limit, iteration_, options_.max_iterations);
  }

  // Returns the iterate as a certified solution. The iterations can continue afterwards.
  Solution prove(Status status) {
    const bool refined = status == Status::kOptimal && recovery_.use(Remedy::kRefineDual);
    if (refined) method_.refine_dual();
    // A polish may take as long as several iterations. Of those that look optimal, only the 1st, 2nd, 4th, ... try it.
    ++proofs_;
    const bool at_limit = status == Status::kIterationLimit || status == Status::kNumericalError;
    const bool polish = at_limit || (status == Status::kOptimal && std::has_single_bit(proofs_));
    const Iterate& last = method_.iterate();
    Solution solution =
        certified_point(problem_, canonical_, last.primal_point(), last.dual_point(), options_.tolerance, control_,
                        [&](PolishCost cost) {
                          return (polish || cost == PolishCost::kQuick) && recovery_.use(Remedy::kPolishMultipliers);
                        });
    const IterateMeasures& measures = method_.measure();
    solution.report.status = status;
    solution.report.iterations = iteration_;
    solution.report.primal_residual = measures.primal_residual;
    solution.report.dual_residual = measures.dual_residual;
    if (refined) method_.restore_dual();
    return solution;
  }

  // At the solution many pieces tie at a row, and rounding decides which of them the model takes there when it is
  // applied. It should be the row's own, as in the certificate. So the slacks get the size that the tolerance leaves
  // room for; what then still ties gets a part of a strictly convex model.
  void clear_ties(Solution& solution) {
    const ConvexRepair repair(problem_);
    const auto leads = [&](const Solution& one) { return repair.own_pieces_lead(one); };
    if (leads(solution)) return;
    if (recovery_.use(Remedy::kCenter)) {
      const double gap =
          std::max(std::abs(solution.report.relative_gap), settings_.centering_least_gap * options_.tolerance);
      const double room = std::max(1.0, settings_.centering_gap * options_.tolerance / gap);
      const double target = method_.measure().mu * room;
      Solution candidate = solution;
      for (int step = 0; step < settings_.centering_steps && !leads(candidate) && !interrupted(); ++step) {
        if (!method_.center(target)) break;
        ++iteration_;
        report_progress(method_.measure());
        export_feasible_model(problem_, canonical_, method_.iterate().primal_point(), candidate);
      }
      take_if_sound(problem_, repair, options_.tolerance, candidate, solution);
    }
    if (!leads(solution) && recovery_.use(Remedy::kMixConvex)) {
      lead_by_mixing(problem_, repair, options_.tolerance, solution);
    }
    solution.report.iterations = iteration_;
  }

  void report_progress(const IterateMeasures& now) const {
    if (!control_.on_progress) return;
    control_.report({.phase = "solve",
                     .iteration = iteration_,
                     .objective = now.primal * canonical_.objective_unit + canonical_.constant,
                     .relative_gap = (now.gap() + now.dual_damage) / unit(),
                     .tolerance = options_.tolerance,
                     .primal_residual = now.primal_residual,
                     .dual_residual = now.dual_residual,
                     .seconds = watch_.seconds()});
  }

  const LearningProblem& problem_;
  const InteriorPointOptions& options_;
  const RunControl& control_;
  const Stopwatch& watch_;
  const InteriorPointSettings& settings_;
  Recovery& recovery_;
  CanonicalProblem canonical_ = canonicalize(problem_);
  PrimalDualMethod method_{canonical_, settings_, recovery_};
  int iteration_ = 0;
  unsigned proofs_ = 0;
};

// If items contradict each other, the zero model may be optimal although only the iterations prove it. The slopes that
// they leave are then noise, which must not rank rows. With lambda 0 the multipliers prove a bound only for Lipschitz
// constants near the model's, so the zero model is taken only if they prove it as well.
void take_zero_model_if_proved(const LearningProblem& problem, double tolerance, Solution& solution) {
  Solution zero = solution;
  zero.slopes.setZero();
  zero.offsets.setZero();
  certify_into_report(problem, zero);
  if (has_gap_within(zero, tolerance)) solution = std::move(zero);
}

}  // namespace

Solution run_interior_point(const LearningProblem& problem, const InteriorPointOptions& options,
                            const RunControl& control, const InteriorPointSettings& settings, Recovery& recovery) {
  const Stopwatch watch;
  // Above some lambda the zero model is optimal, which is cheap to prove.
  Solution solution = zero_model(problem);
  certify_into_report(problem, solution);
  solution.report.status = Status::kOptimal;
  if (solution.report.relative_gap > options.tolerance) {
    std::optional<ThreadLimit> limit;
    limit_threads(problem, limit);
    const Solution zero = std::move(solution);
    solution = Run(problem, options, control, watch, settings, recovery).solve();
    const bool finite_dual = solution.dual.convexity.allFinite() && solution.dual.items.allFinite();
    if (!is_finite(solution) || !finite_dual || !std::isfinite(solution.report.relative_gap)) {
      // Rounding errors broke the last iterate; the zero model and its bound are sound.
      const int iterations = solution.report.iterations;
      solution = zero;
      solution.report.status = Status::kNumericalError;
      solution.report.iterations = iterations;
    }
    const bool no_better = solution.report.objective >= zero.report.objective;
    if (no_better && solution.report.status == Status::kOptimal && recovery.use(Remedy::kZeroModel)) {
      take_zero_model_if_proved(problem, options.tolerance, solution);
    }
  }
  solution.report.seconds = watch.seconds();
  return solution;
}

}  // namespace bregmax::internal

namespace bregmax {

Solution solve_interior_point(const LearningProblem& problem, const InteriorPointOptions& options,
                              const RunControl& control) {
  validate(problem);
  internal::check_limits(options, 1e-12, "1e-12 to 0.1");
  internal::Recovery recovery;
  return internal::run_interior_point(problem, options, control, {}, recovery);
}

}  // namespace bregmax
