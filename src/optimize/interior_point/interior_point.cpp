#include "bregmax/optimize/interior_point.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <optional>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "optimize/interior_point/extended_method.hpp"
#include "optimize/interior_point/extended_solve.hpp"
#include "optimize/interior_point/primal_dual_method.hpp"
#include "optimize/interior_point/solve.hpp"
#include "optimize/problem/feature_units.hpp"
#include "optimize/proof/certified_point.hpp"
#include "optimize/proof/solve_support.hpp"
#include "optimize/proof/zero_model.hpp"

namespace bregmax {
namespace {

using internal::certify_into_report;
using internal::Remedy;
using internal::Stopwatch;

void check_options(const InteriorPointOptions& options) {
  if (!(options.tolerance >= 1e-12 && options.tolerance <= 0.1)) {
    throw Error(fmt::format("tolerance is {}; allowed: 1e-12 to 0.1", options.tolerance));
  }
  if (options.max_iterations < 1) {
    throw Error(fmt::format("max_iterations is {}; allowed: 1 or more", options.max_iterations));
  }
  if (!(options.time_limit >= 0)) {
    throw Error(fmt::format("time_limit is {}; allowed: 0 (none) or more seconds", options.time_limit));
  }
}

// Why the iterations ended, or nothing yet.
using Verdict = std::optional<Status>;

// One of the runs that share the iterations of a call.
struct Try {
  double least_unit;  // see feature_units
  int first_iteration, last_iteration;
};

class Run {
 public:
  Run(const LearningProblem& problem, const InteriorPointOptions& options, const RunControl& control,
      const Stopwatch& watch, internal::Recovery& recovery, const Try& attempt)
      : problem_(problem),
        options_(options),
        control_(control),
        watch_(watch),
        recovery_(recovery),
        canonical_(internal::canonicalize(problem, attempt.least_unit)),
        method_(canonical_, recovery),
        iteration_(attempt.first_iteration),
        last_iteration_(attempt.last_iteration) {}

  Solution solve() {
    Solution solution;
    method_.start();
    // The iterate's own measures decide when it may be optimal; the certificate, which is computed from the problem's
    // data alone, has the last word.
    for (int attempt = 1;; ++attempt) {
      const Status status = iterate();
      const bool refined = status == Status::kOptimal && recovery_.use(Remedy::kRefineDual);
      if (refined) method_.refine_dual();
      keep_best(export_solution(status), solution);
      if (status != Status::kOptimal) {
        if (proved(solution) && recovery_.use(Remedy::kAcceptProved)) solution.report.status = Status::kOptimal;
        break;
      }
      if (refined) method_.restore_dual();
      if (internal::has_gap_within(solution, options_.tolerance)) break;
      if (attempt % 4 == 0 && recovery_.use(Remedy::kRelaxUnproved)) method_.relax_proximal();
      if (const Verdict verdict = advance()) {
        solution.report.status = *verdict;
        break;
      }
    }
    if (solution.report.status == Status::kOptimal) clear_kinks(solution);
    return solution;
  }

 private:
  static constexpr int kMostCentering = 6;
  static constexpr double kStalledStep = 1e-6;
  static constexpr int kMostStalled = 5;

  // Until the iterate looks optimal, or the run ends otherwise.
  Status iterate() {
    while (true) {
      const internal::IterateMeasures& now = method_.measure();
      const double gap = std::abs(now.primal - now.dual) / unit();
      report_progress(now);
      if (!std::isfinite(gap)) return Status::kNumericalError;
      const bool feasible = now.violation <= internal::kFeasible * now.divergence_scale;
      if (gap <= 0.9 * options_.tolerance && feasible) return Status::kOptimal;
      if (const Verdict verdict = advance()) return *verdict;
    }
  }

  // However the iterations ended.
  bool proved(const Solution& solution) const {
    return internal::is_proved(solution, options_.tolerance,
                               method_.measures().divergence_scale * canonical_.value_unit);
  }

  // A model and multipliers need not be of one iterate: the lowest objective and the highest bound prove the most.
  void keep_best(Solution latest, Solution& best) const {
    if (best.slopes.size() > 0 && recovery_.is_on(Remedy::kKeepBest)) {
      const bool keep_dual =
          best.report.lower_bound > latest.report.lower_bound && !internal::has_gap_within(latest, options_.tolerance);
      const bool keep_model = best.report.objective < latest.report.objective &&
                              best.report.convexity_violation <= latest.report.convexity_violation;
      if (keep_dual) latest.dual = std::move(best.dual);
      if (keep_model) {
        latest.slopes = std::move(best.slopes);
        latest.offsets = std::move(best.offsets);
      }
      if (keep_dual || keep_model) recovery_.use(Remedy::kKeepBest);
      if (keep_dual || keep_model) certify_into_report(problem_, latest);
    }
    best = std::move(latest);
  }

  // At the solution many pieces meet at a row, and which one is ahead there by rounding decides what divergence the
  // model gives when it is applied. Each row's own should be, as the certificate takes it to be. So the slacks get the
  // size that the tolerance leaves room for, and the constraints are met.
  void clear_kinks(Solution& solution) {
    const internal::ConvexRepair repair(problem_);
    const auto leads = [&](const Solution& one) { return repair.own_pieces_lead({one.slopes, one.offsets}); };
    if (leads(solution)) return;
    const bool centre = recovery_.use(Remedy::kCenter);
    const double gap = std::max(std::abs(solution.report.relative_gap), 1e-3 * options_.tolerance);
    const double target = method_.measure().mu * std::max(1.0, 0.3 * options_.tolerance / gap);
    Solution candidate = solution;
    last_iteration_ = options_.max_iterations;  // what a try may not use, its last steps may
    for (int step = 0; centre && step < kMostCentering && !leads(candidate) && !interrupted(); ++step) {
      if (!method_.center(target)) break;
      ++iteration_;
      report_progress(method_.measure());
      internal::export_feasible_model(problem_, canonical_, method_.primal_point(), candidate);
    }
    if (centre) internal::take_if_sound(problem_, repair, options_.tolerance, candidate, solution);
    if (!leads(solution) && recovery_.use(Remedy::kMixConvex))
      internal::lead_by_mixing(problem_, repair, options_.tolerance, solution);
    solution.report.iterations = iteration_;
  }

  Verdict advance() {
    if (const Verdict verdict = interrupted()) return verdict;
    const auto weight = static_cast<double>(std::max<Index>(1, method_.product_weight()));
    if (!method_.advance(0.1 * options_.tolerance * unit() / weight, unit())) return Status::kNumericalError;
    ++iteration_;
    stalled_ = method_.last_step() < kStalledStep ? stalled_ + 1 : 0;
    if (stalled_ == kMostStalled && recovery_.use(Remedy::kEndStalled)) return Status::kNumericalError;
    return std::nullopt;
  }

  // What the gap is relative to, in canonical units.
  double unit() const {
    const double objective = method_.measures().primal + canonical_.constant / canonical_.objective_unit;
    return std::max({std::abs(objective), 1e-3 * canonical_.zero_objective / canonical_.objective_unit, 1e-300});
  }

  Verdict interrupted() const {
    return internal::interruption(control_, watch_, options_.time_limit, iteration_, last_iteration_);
  }

  void report_progress(const internal::IterateMeasures& now) const {
    if (!control_.on_progress) return;
    Progress progress;
    progress.phase = "solve";
    progress.iteration = iteration_;
    progress.objective = now.primal * canonical_.objective_unit + canonical_.constant;
    progress.relative_gap = (std::abs(now.primal - now.dual) + now.dual_damage) / unit();
    progress.primal_residual = now.primal_residual;
    progress.dual_residual = now.dual_residual;
    progress.seconds = watch_.seconds();
    control_.report(progress);
  }

  Solution export_solution(Status status) {
    // A polish may take as long as several iterations: it is not tried at each of those that look optimal.
    ++exports_;
    const bool at_limit = status == Status::kIterationLimit || status == Status::kNumericalError;
    const bool polish = at_limit || (status == Status::kOptimal && std::has_single_bit(exports_));
    int polishes = 0;
    Solution solution = internal::certified_point(problem_, canonical_, method_.primal_point(), method_.dual_point(),
                                                  options_.tolerance, polish, internal::PolishEffort::kUsual, control_,
                                                  recovery_.is_on(Remedy::kPolishMultipliers) ? &polishes : nullptr);
    if (polishes > 0) recovery_.use(Remedy::kPolishMultipliers);
    const internal::IterateMeasures& last = method_.measure();
    solution.report.status = status;
    solution.report.iterations = iteration_;
    solution.report.primal_residual = last.primal_residual;
    solution.report.dual_residual = last.dual_residual;
    return solution;
  }

  const LearningProblem& problem_;
  const InteriorPointOptions& options_;
  const RunControl& control_;
  const Stopwatch& watch_;
  internal::Recovery& recovery_;
  internal::CanonicalProblem canonical_;
  internal::PrimalDualMethod method_;
  int iteration_, last_iteration_, stalled_ = 0;
  unsigned exports_ = 0;
};

// Where features differ by many powers of ten, no units of theirs suit every problem: what is not solved in the usual
// ones, or fails, may well be in others.
constexpr double kOtherLeastUnit = 1e-5;

bool has_other_units(const Matrix& points) {
  return internal::feature_units(points, kOtherLeastUnit).feature_unit != internal::feature_units(points).feature_unit;
}

bool is_unsolved(const Solution& solution) {
  const Status status = solution.report.status;
  return status == Status::kIterationLimit || status == Status::kNumericalError;
}

// The later one where it is better; iterations and status are always its.
Solution better_of(Solution before, Solution later) {
  const bool better = later.report.status == Status::kOptimal ||
                      (std::abs(later.report.relative_gap) < std::abs(before.report.relative_gap) &&
                       later.report.convexity_violation <= std::max(1e-9, before.report.convexity_violation));
  if (better) return later;
  before.report.status = later.report.status;
  before.report.iterations = later.report.iterations;
  return before;
}

// Up to three tries, which share the iterations: the usual units; others; and, for what doubles are too coarse for,
// more digits. Where fewer iterations are allowed than by default there is only the first: parts could be too few.
Solution solve_by_tries(const LearningProblem& problem, const InteriorPointOptions& options, const RunControl& control,
                        const Stopwatch& watch, internal::Recovery& recovery) {
  constexpr int kEnoughForTries = InteriorPointOptions{}.max_iterations;
  const int all = options.max_iterations;
  const bool several = all >= kEnoughForTries;
  const bool other_units = several && recovery.is_on(Remedy::kOtherUnits) && has_other_units(problem.points);
  const bool more_digits =
      several && recovery.is_on(Remedy::kMoreDigits) && internal::ExtendedMethod::can_afford(problem);
  const int in_doubles = more_digits ? all / 2 : all;
  Solution solution = Run(problem, options, control, watch, recovery,
                          {internal::kLeastFeatureUnit, 0, other_units ? in_doubles / 2 : in_doubles})
                          .solve();
  if (other_units && is_unsolved(solution)) {
    recovery.use(Remedy::kOtherUnits);
    const Try second = {kOtherLeastUnit, solution.report.iterations, in_doubles};
    solution = better_of(std::move(solution), Run(problem, options, control, watch, recovery, second).solve());
  }
  if (more_digits && is_unsolved(solution)) {
    recovery.use(Remedy::kMoreDigits);
    const int first_iteration = solution.report.iterations;
    solution =
        better_of(std::move(solution), internal::solve_extended(problem, options, control, watch, first_iteration));
  }
  return solution;
}

// Where items contradict each other the zero model is optimal at any lambda, and it takes the iterations to prove it.
// What they leave of the slopes is then noise, by which rows must not be ranked. It stays where the multipliers prove
// less of the zero model: without a price their bound is one for Lipschitz constants like the model's.
void take_zero_model_if_proved(const LearningProblem& problem, double tolerance, Solution& solution) {
  Solution zero = solution;
  zero.slopes.setZero();
  zero.offsets.setZero();
  certify_into_report(problem, zero);
  if (internal::has_gap_within(zero, tolerance)) solution = std::move(zero);
}

}  // namespace

Solution solve_interior_point(const LearningProblem& problem, const InteriorPointOptions& options,
                              const RunControl& control) {
  internal::Recovery recovery;
  return internal::solve_interior_point(problem, options, control, recovery);
}

Solution internal::solve_interior_point(const LearningProblem& problem, const InteriorPointOptions& options,
                                        const RunControl& control, Recovery& recovery) {
  const Stopwatch watch;
  validate(problem);
  check_options(options);
  // Above some lambda the zero model is optimal, and cheap to prove so.
  Solution solution = internal::zero_model(problem);
  certify_into_report(problem, solution);
  solution.report.status = Status::kOptimal;
  if (solution.report.relative_gap > options.tolerance) {
    std::optional<ThreadLimit> limit;
    internal::limit_threads(problem, limit);
    const double zero_objective = solution.report.objective;
    solution = solve_by_tries(problem, options, control, watch, recovery);
    const bool no_better = solution.report.objective >= zero_objective;
    if (no_better && solution.report.status == Status::kOptimal && recovery.use(Remedy::kZeroModel)) {
      take_zero_model_if_proved(problem, options.tolerance, solution);
    }
  }
  solution.report.seconds = watch.seconds();
  return solution;
}

}  // namespace bregmax
