#include "bregmax/optimize/admm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/checkpoint_file.hpp"
#include "optimize/admm/checkpoint.hpp"
#include "optimize/admm/engine.hpp"
#include "optimize/proof/solve_support.hpp"
#include "optimize/proof/termination.hpp"

namespace bregmax {
namespace {

using internal::AdmmEngine;
using internal::require;

void check_options(const AdmmOptions& options) {
  internal::check_limits(options, 1e-8, "1e-8 to 0.1");
  require(options.memory_limit >= 0, "memory_limit is {}; allowed: 0 (none) or more bytes", options.memory_limit);
  require(options.checkpoint_every >= 0, "checkpoint_every is {}; allowed: 0 or more seconds",
          options.checkpoint_every);
}

void check_memory(const LearningProblem& problem, const AdmmOptions& options, const RunControl& control) {
  constexpr double kGiga = 1e9;
  const double needed = predict_admm_memory(problem, options);
  const bool could_halve = internal::grid_engine_applies(problem) && options.precision == StoragePrecision::kDouble;
  require(options.memory_limit == 0 || needed <= options.memory_limit,
          "solver admm would need {:.2g} GB of memory, above the limit of {:.2g} GB; fewer pieces or rows need less{}",
          needed / kGiga, options.memory_limit / kGiga, could_halve ? ", and so does precision float" : "");
  control.log(fmt::format("predicted memory: {:.2g} GB", needed / kGiga));
}

std::uint64_t key_of(const LearningProblem& problem, const AdmmOptions& options, const AdmmEngine& engine) {
  const bool needed = !options.checkpoint.empty() || !options.resume.empty();
  return needed ? internal::fingerprint(problem, options, engine.name()) : 0;
}

constexpr int kNever = std::numeric_limits<int>::max();

class Run {
 public:
  Run(AdmmEngine& engine, const LearningProblem& problem, const AdmmOptions& options, const RunControl& control)
      : engine_(engine),
        fingerprint_(key_of(problem, options, engine)),
        options_(options),
        control_(control),
        strictest_(std::holds_alternative<Targets>(problem.supervision) ? 1 : kStrictestForHinges) {
    if (!options.checkpoint.empty()) internal::check_checkpoint_target(options.checkpoint, internal::kAdmmMark);
  }

  Solution solve() {
    best_ = engine_.zero_solution();
    zero_objective_ = best_.report.objective;
    validated_ = best_.pieces();
    if (options_.resume.empty()) {
      engine_.start();
    } else {
      internal::CheckpointReader reader(options_.resume, internal::kAdmmMark, fingerprint_);
      set_shape(reader.shape());
      reader.read(raw_state());
      engine_.after_restore();
    }
    // A checkpoint of the grid engine has no dual variables, so they are computed again.
    if (closed() && !options_.resume.empty()) engine_.prove(best_);
    return finished(closed() ? Status::kOptimal : iterate());
  }

 private:
  // Hinge losses can often all be met, and then the optimum is far below the floor of the relative gap. A tolerance of
  // 1e-4 relative to the floor would say little there, so it shrinks with the objective, at most by this factor.
  static constexpr double kStrictestForHinges = 1e-3;

  Status iterate() {
    while (true) {
      report_progress();
      if (const std::optional<Status> verdict = interrupted()) {
        // Written before the last proof, which must not change what a resumed run does.
        if (!options_.checkpoint.empty()) write();
        engine_.prove(best_);
        return closed() ? Status::kOptimal : *verdict;
      }
      if (engine_.iteration() >= next_check_) {
        const auto stop = [&] {
          report_progress();
          write_if_due();
          return interrupted().has_value();
        };
        if (!engine_.prove_by_correction(allowed_gap(), stop, best_)) continue;
        const std::int64_t wait = std::max(internal::kCheckEvery, engine_.iteration() / 10);
        next_check_ = static_cast<int>(std::min<std::int64_t>(engine_.iteration() + wait, kNever));
        engine_.prove(best_);
        engine_.after_proof();
        if (closed()) return Status::kOptimal;
        if (options_.validation && no_longer_improves()) return Status::kEarlyStopped;
      }
      write_if_due();
      if (!engine_.iterate()) return Status::kNumericalError;
    }
  }

  double gap_unit() const { return internal::gap_unit(best_.report.objective, zero_objective_); }
  double relative_gap() const {
    return internal::relative_gap(best_.report.objective, best_.report.lower_bound, zero_objective_);
  }
  double tolerance() const {
    return options_.tolerance * std::max(std::abs(best_.report.objective) / gap_unit(), strictest_);
  }
  double allowed_gap() const { return tolerance() * gap_unit(); }
  bool closed() const { return relative_gap() <= tolerance(); }

  // Scores feasible models only, since these are returned. A check that found no better model does not count.
  bool no_longer_improves() {
    if (!(best_.report.objective < judged_objective_)) return false;
    judged_objective_ = best_.report.objective;
    const double score = options_.validation(best_);
    if (score < best_score_) {
      best_score_ = score;
      validated_ = best_.pieces();
      waited_ = 0;
      return false;
    }
    return ++waited_ >= internal::kPatience;
  }

  // What the sizes in raw_state() follow from: the members of the engine's set, and the number of listed multipliers.
  std::vector<Index> shape() const {
    std::vector<Index> members = engine_.members();
    members.push_back(std::ssize(best_.dual.entries));
    return members;
  }
  void set_shape(std::vector<Index> members) {
    best_.dual.entries.resize(members.back());
    members.pop_back();
    engine_.set_members(members);
  }

  // Everything that decides how the run goes on, and what it returns.
  internal::RawParts raw_state() {
    internal::RawParts parts = engine_.raw_state();
    Proof& proof = best_.report;
    internal::append(parts, best_.slopes, best_.offsets, validated_.slopes, validated_.offsets, best_.dual.convexity,
                     best_.dual.entries, best_.dual.items, proof.objective, proof.loss, proof.lipschitz,
                     proof.convexity_violation, proof.lower_bound, best_score_, judged_objective_, waited_,
                     next_check_);
    return parts;
  }

  void write_if_due() {
    if (!options_.checkpoint.empty() && watch_.seconds() - written_ >= options_.checkpoint_every) write();
  }
  void write() {
    internal::write_checkpoint(options_.checkpoint, internal::kAdmmMark, fingerprint_, shape(), raw_state());
    written_ = watch_.seconds();
  }

  std::optional<Status> interrupted() const {
    return internal::interruption(control_, watch_, options_.time_limit, engine_.iteration(), options_.max_iterations);
  }

  void report_progress() const {
    if (!control_.on_progress) return;
    control_.report({.phase = "solve",
                     .iteration = engine_.iteration(),
                     .objective = best_.report.objective,
                     .relative_gap = relative_gap(),
                     .tolerance = options_.tolerance,
                     .primal_residual = engine_.residuals().primal,
                     .dual_residual = engine_.residuals().dual,
                     .seconds = watch_.seconds()});
  }

  Solution finished(Status status) {
    if (status == Status::kEarlyStopped) engine_.choose_model(validated_, best_);
    SolveReport& report = best_.report;
    // What this may cost must not undo a proof.
    const double gap = report.objective - report.lower_bound, unused = allowed_gap() - gap;
    engine_.separate_pieces(report.objective + (closed() ? 0.9 * unused : 0.1 * gap), best_);
    report.status = status;
    report.iterations = engine_.iteration();
    report.seconds = watch_.seconds();
    report.relative_gap = relative_gap();
    report.primal_residual = engine_.residuals().primal;
    report.dual_residual = engine_.residuals().dual;
    return std::move(best_);
  }

  AdmmEngine& engine_;
  std::uint64_t fingerprint_;
  const AdmmOptions& options_;
  const RunControl& control_;
  internal::Stopwatch watch_;
  Solution best_;
  AffinePieces validated_;
  double best_score_ = std::numeric_limits<double>::infinity(), judged_objective_ = best_score_, written_ = 0;
  double strictest_, zero_objective_ = 0;
  int waited_ = 0, next_check_ = 1;
};

// Penalties of several levels need far fewer iterations. But they need ten times the memory, and a factorization each
// time they change, which is prohibitive for thousands of pieces.
bool takes_grid(const LearningProblem& problem, const AdmmOptions& options) {
  constexpr Index kMostEntryRows = 2000;
  if (!internal::grid_engine_applies(problem)) return false;
  const bool too_large = options.memory_limit > 0 && internal::predict_entry_memory(problem) > options.memory_limit;
  return problem.points.rows() > kMostEntryRows || too_large || options.precision == StoragePrecision::kFloat;
}

}  // namespace

Solution internal::run_admm(AdmmEngine& engine, const LearningProblem& problem, const AdmmOptions& options,
                            const RunControl& control) {
  return Run(engine, problem, options, control).solve();
}

double predict_admm_memory(const LearningProblem& problem, const AdmmOptions& options) {
  return takes_grid(problem, options) ? internal::predict_grid_memory(problem, options)
                                      : internal::predict_entry_memory(problem);
}

Solution solve_admm(const LearningProblem& problem, const AdmmOptions& options, const RunControl& control) {
  validate(problem);
  check_options(options);
  check_memory(problem, options, control);
  std::optional<ThreadLimit> limit;
  internal::limit_threads(problem, limit);
  const auto engine = takes_grid(problem, options) ? internal::make_grid_engine(problem, options)
                                                   : internal::make_entry_engine(problem);
  return internal::run_admm(*engine, problem, options, control);
}

}  // namespace bregmax
