#include "bregmax/optimize/interior_point.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "bregmax/core/error.hpp"
#include "bregmax/optimize/certificate.hpp"
#include "optimize/primal_dual_method.hpp"
#include "optimize/zero_model.hpp"

namespace bregmax {
namespace {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

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

void certify_into_report(const LearningProblem& problem, Solution& solution) {
  const Certificate certificate = certify(problem, solution);
  SolveReport& report = solution.report;
  report.objective = certificate.objective;
  report.loss = certificate.loss;
  report.lipschitz = certificate.lipschitz;
  report.dual_objective = certificate.dual_objective;
  report.relative_gap = certificate.relative_gap;
  report.convexity_violation = certificate.convexity_violation;
}

// Why the iterations ended, or nothing yet.
using Verdict = std::optional<SolveStatus>;

class Run {
 public:
  Run(const LearningProblem& problem, const InteriorPointOptions& options, const RunControl& control,
      const Stopwatch& watch)
      : problem_(problem),
        options_(options),
        control_(control),
        watch_(watch),
        canonical_(internal::canonicalize(problem)),
        method_(canonical_),
        floor_(1e-3 * canonical_.zero_objective / canonical_.objective_unit) {}

  Solution solve() {
    Solution solution;
    method_.start();
    // The iterate's own measures decide when to stop; the certificate, which is computed from the problem's data
    // alone, has the last word.
    double tolerance = 0.5 * options_.tolerance;
    for (int attempt = 0;; ++attempt) {
      const SolveStatus status = iterate(tolerance);
      solution = export_solution(status);
      if (status != SolveStatus::kOptimal || solution.report.relative_gap <= options_.tolerance) break;
      if (attempt == kMostTightenings) {
        solution.report.status = SolveStatus::kNumericalError;
        break;
      }
      tolerance *= 0.1;
    }
    return solution;
  }

 private:
  static constexpr int kMostTightenings = 4;
  static constexpr double kFeasible = 1e-9;
  static constexpr double kStalledStep = 1e-6;

  SolveStatus iterate(double tolerance) {
    const double constant = canonical_.constant / canonical_.objective_unit;
    int stalled = 0;
    for (;; ++iteration_) {
      const internal::IterateMeasures& now = method_.measure();
      const double unit = std::max(std::abs(now.primal + constant), floor_);
      const double gap = (std::abs(now.primal - now.dual) + now.dual_damage) / unit;
      report_progress(now, constant, gap);
      if (!std::isfinite(gap)) return SolveStatus::kNumericalError;
      if (gap <= tolerance && now.primal_residual <= kFeasible) return SolveStatus::kOptimal;
      if (const Verdict verdict = interrupted()) return *verdict;
      const double least_mu =
          0.1 * tolerance * unit / static_cast<double>(std::max<Index>(1, method_.constraint_count()));
      if (!method_.advance(least_mu)) return SolveStatus::kNumericalError;
      stalled = method_.last_step() < kStalledStep ? stalled + 1 : 0;
      if (stalled == 5) return SolveStatus::kNumericalError;
    }
  }

  Verdict interrupted() const {
    if (control_.stop_requested()) return SolveStatus::kStopped;
    if (options_.time_limit > 0 && watch_.seconds() >= options_.time_limit) return SolveStatus::kTimeLimit;
    if (iteration_ >= options_.max_iterations) return SolveStatus::kIterationLimit;
    return std::nullopt;
  }

  void report_progress(const internal::IterateMeasures& now, double constant, double gap) const {
    if (!control_.on_progress) return;
    Progress progress;
    progress.phase = "solve";
    progress.iteration = iteration_;
    progress.objective = (now.primal + constant) * canonical_.objective_unit;
    progress.relative_gap = gap;
    progress.primal_residual = now.primal_residual;
    progress.dual_residual = now.dual_residual;
    progress.seconds = watch_.seconds();
    control_.report(progress);
  }

  Solution export_solution(SolveStatus status) {
    Solution solution;
    solution.slopes.setZero(problem_.pieces, problem_.points.cols());
    internal::export_model(canonical_, method_.primal_point(), solution);
    internal::export_dual(problem_, canonical_, method_.dual_point(), solution);
    certify_into_report(problem_, solution);
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
  internal::CanonicalProblem canonical_;
  internal::PrimalDualMethod method_;
  double floor_;  // of the unit that the gap is relative to
  int iteration_ = 0;
};

}  // namespace

Solution solve_interior_point(const LearningProblem& problem, const InteriorPointOptions& options,
                              const RunControl& control) {
  const Stopwatch watch;
  validate(problem);
  check_options(options);
  // Above some lambda the zero model is optimal, and cheap to prove so.
  Solution solution = internal::zero_model(problem);
  certify_into_report(problem, solution);
  solution.report.status = SolveStatus::kOptimal;
  if (solution.report.relative_gap > options.tolerance) {
    solution = Run(problem, options, control, watch).solve();
  }
  solution.report.seconds = watch.seconds();
  return solution;
}

}  // namespace bregmax
