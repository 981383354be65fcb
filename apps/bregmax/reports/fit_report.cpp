#include "reports/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "reports/tuning_report.hpp"

namespace bregmax::app {
namespace {

std::string data_line(const FitOutcome& outcome) {
  const Table& table = outcome.table;
  std::string line = fmt::format("{}: {}, {}", table.source, count_of(table.features.rows(), "row"),
                                 count_of(table.features.cols(), "feature"));
  if (table.labels) line += fmt::format(", {}", count_of(table.labels->classes(), "class", "classes"));
  return line + (outcome.result.chosen.scale == Scale::kStandard ? ", standardised" : ", not scaled");
}

std::string supervision_line(const FitOutcome& outcome) {
  const FitRequest& request = outcome.request;
  const TrainingRecord& record = outcome.result.fit.model.record;
  std::string origin;
  for (const std::string* file : {&request.comparisons_file, &request.pairs_file, &request.targets_file}) {
    if (!file->empty()) origin = "from " + *file;
  }
  if (origin.empty()) {
    const LabelSupervisionOptions& drawn = outcome.result.chosen_supervision;
    origin = drawn.kind == LabelSupervision::kAllPairs ? "all ordered pairs of rows, from the labels"
             : drawn.kind == LabelSupervision::kHardComparisons
                 ? fmt::format("of each row's {} nearest of its class and of others", drawn.neighbours)
                 : fmt::format("drawn from the labels, seed {}", request.seed);
  }
  return fmt::format("{}, {}", items_text(record), origin);
}

// The certificate is of the model before it is smoothed.
std::string smoothing_phrase(const FitOutcome& outcome) {
  const double temperature = outcome.result.chosen.smoothing;
  if (temperature == 0) return "";
  const auto& loss = outcome.result.fit.applied_loss;
  return fmt::format("; then smoothed with T = {}{}", short_number(temperature),
                     loss ? fmt::format(", which makes the loss {}", short_number(*loss)) : "");
}

std::string certificate_line(const Certificate& certificate) {
  std::string line = fmt::format(
      "recomputed from the data: objective {}, lower bound {}, relative gap {:.1e}, largest convexity violation {:.1e}",
      short_number(certificate.objective), short_number(certificate.lower_bound), certificate.relative_gap,
      certificate.convexity_violation);
  if (std::isfinite(certificate.valid_up_to_lipschitz)) {
    line += fmt::format("; the bound holds for Lipschitz constants up to {}",
                        short_number(certificate.valid_up_to_lipschitz));
  }
  return line;
}

bool all_rows_equal(const Matrix& rows) { return (rows.rowwise() - rows.row(0)).isZero(0); }

// How the summed loss begins to change with each divergence, where all of them are 0.
struct FirstChanges {
  bool some_fall = false;  // an item wants a divergence above 0
  std::map<std::pair<Index, Index>, double> of_pair;

  void add(Index point, Index reference, double change) {
    if (point == reference) return;  // always 0
    some_fall = some_fall || change < 0;
    of_pair[{point, reference}] += change;
  }
  // Losses are convex and divergences never negative: if none falls, no divergence has a smaller loss than 0 has.
  bool sums_fall() const {
    return std::ranges::any_of(of_pair, [](const auto& entry) { return entry.second < 0; });
  }
};

FirstChanges first_changes(const Supervision& supervision) {
  FirstChanges changes;
  if (const auto* comparisons = std::get_if<Comparisons>(&supervision)) {
    for (const Comparison& c : *comparisons) {
      changes.add(c.i, c.j, c.weight);
      changes.add(c.k, c.l, -c.weight);
    }
  } else if (is_pairs(supervision)) {
    for_each_pair(supervision, [&](const Pair& p) { changes.add(p.i, p.j, p.similar ? p.weight : -p.weight); });
  } else {
    for (const Target& t : std::get<Targets>(supervision)) changes.add(t.i, t.j, -2 * t.weight * t.value);
  }
  return changes;
}

// A divergence is at most twice the Lipschitz constant times the largest difference in a feature.
bool bound_leaves_no_room(const FitOutcome& outcome) {
  const Model& model = outcome.result.fit.model;
  if (model.record.lipschitz >= 0.999 * model.record.lipschitz_bound) return true;
  const Matrix rows = model.scaled(outcome.table.features);
  const double widest = (rows.colwise().maxCoeff() - rows.colwise().minCoeff()).maxCoeff();
  constexpr double kNothing = 1e-5;  // of the margin
  return 2 * model.record.lipschitz_bound * widest <= kNothing;
}

// `supervision`: given by a file; none: labels.
std::string cause_of_constant(const FitOutcome& outcome, const std::optional<Supervision>& supervision) {
  const TrainingRecord& record = outcome.result.fit.model.record;
  if (all_rows_equal(outcome.table.features)) return "all rows of the data are equal, so that none could";
  if (!supervision && outcome.table.labels->classes() < 2) return "all rows have the same label: nothing asks for more";
  if (supervision) {
    const FirstChanges changes = first_changes(*supervision);
    if (!changes.some_fall) return fmt::format("none of the {} asks for a divergence above 0", record.supervision);
    if (!changes.sums_fall()) {
      return fmt::format("the {} contradict each other: no divergence has a smaller loss, whatever lambda is",
                         record.supervision);
    }
  }
  if (pieces_of(*outcome.result.fit.model.divergence) == 1) {
    return fmt::format("one piece is one affine function, and its divergence is 0 everywhere; {}",
                       outcome.table.pieces ? "the piece column has to name more" : "--pieces 2 or more");
  }
  if (bound_leaves_no_room(outcome)) {
    return fmt::format("--lipschitz {} allows no more; a larger bound may help", short_number(record.lipschitz_bound));
  }
  if (record.lambda == 0) return "no divergence has a smaller loss, and lambda is 0 already";
  if (outcome.result.tuning.all_constant && outcome.result.tuning.record.candidates.size() > 1) {
    return fmt::format("so are all candidates that were tried, down to lambda {}; smaller values of --lambdas may help",
                       short_number(outcome.plan.lambdas.front()));
  }
  return fmt::format("a --lambda smaller than {} may help", short_number(record.lambda));
}

double asked_tolerance(const FitOutcome& outcome, const FitOptions& options) {
  return outcome.result.fit.model.record.solver == "admm" ? options.admm.tolerance : options.tolerance;
}

std::string next_steps(const FitOutcome& outcome) {
  const std::string& model = outcome.request.out;
  if (model.empty()) return "add --out MODEL to save it\n";
  if (!outcome.saved) return "";
  return fmt::format("next        bregmax show {0}\n            bregmax divergence {0} NEW.csv --out D.csv\n", model);
}

}  // namespace

Index pieces_of(const Divergence& divergence) {
  if (const auto* plain = dynamic_cast<const MaxAffine*>(&divergence)) return plain->pieces();
  if (const auto* smooth = dynamic_cast<const SmoothedMaxAffine*>(&divergence)) return smooth->pieces();
  return 0;
}

double smoothing_of(const Divergence& divergence) {
  const auto* smooth = dynamic_cast<const SmoothedMaxAffine*>(&divergence);
  return smooth != nullptr ? smooth->temperature() : 0;
}

Json fit_as_json(const FitOutcome& outcome) {
  const SolveReport& report = outcome.result.fit.report;
  const Certificate& certificate = outcome.result.fit.certificate;
  const Model& model = outcome.result.fit.model;
  const FitOptions& options = outcome.result.chosen;
  // A run that ended while tuning has a model of a part of the rows, without a certificate, or none at all.
  const bool learned = model.divergence != nullptr, certified = !outcome.result.tuning_ended_early;
  const auto known = [learned](Json value) { return learned ? std::move(value) : Json(nullptr); };
  const auto proved = [certified](double value) { return certified ? Json(value) : Json(nullptr); };
  return {
      {"status", to_string(report.status)},
      {"objective", known(report.objective)},
      {"dual_objective", known(report.lower_bound)},
      {"relative_gap", known(report.relative_gap)},
      {"tolerance", asked_tolerance(outcome, options)},
      {"loss", known(report.loss)},
      {"applied_loss", outcome.result.fit.applied_loss ? Json(*outcome.result.fit.applied_loss) : Json(nullptr)},
      {"lipschitz", known(report.lipschitz)},
      {"lambda", known(model.record.lambda)},
      {"lipschitz_bound", options.lipschitz_bound},
      {"convexity_violation", proved(report.convexity_violation)},
      {"certificate",
       {{"objective", proved(certificate.objective)},
        {"loss", proved(certificate.loss)},
        {"lipschitz", proved(certificate.lipschitz)},
        {"dual_objective", proved(certificate.lower_bound)},
        {"relative_gap", proved(certificate.relative_gap)},
        {"convexity_violation", proved(certificate.convexity_violation)},
        {"valid_up_to_lipschitz", proved(certificate.valid_up_to_lipschitz)}}},
      {"pieces", learned ? Json(pieces_of(*model.divergence)) : Json(nullptr)},
      {"n", outcome.table.features.rows()},
      {"d", outcome.table.features.cols()},
      {"supervision", known(model.record.supervision)},
      {"items", known(model.record.items)},
      {"solver", known(model.record.solver)},
      {"solver_reason",
       outcome.result.fit.solver_reason.empty() ? Json(nullptr) : Json(outcome.result.fit.solver_reason)},
      {"primal_residual", proved(report.primal_residual)},
      {"dual_residual", proved(report.dual_residual)},
      {"iterations", known(report.iterations)},
      {"seconds", known(report.seconds)},
      {"scale", known(options.scale == Scale::kStandard ? "standard" : "none")},
      {"smoothing", known(options.smoothing)},
      {"constant", known(model.record.constant)},
      {"tuning", tuning_as_json(outcome.result.tuning.record)},
      {"seed", outcome.request.seed},
      {"data", outcome.table.source},
      {"model", outcome.saved ? Json(outcome.request.out) : Json(nullptr)},
  };
}

std::string fit_as_text(const FitOutcome& outcome) {
  const SolveReport& report = outcome.result.fit.report;
  const Model& model = outcome.result.fit.model;
  std::string out;
  const auto line = [&out](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11} {}\n", name, text);
  };
  line("data", data_line(outcome));
  if (model.divergence == nullptr) return out;
  line("supervision", supervision_line(outcome));
  if (!model.tuning.empty()) out += tuning_summary(model.tuning);
  line("solver",
       fmt::format("{}, {}, {:.2f} s", model.record.solver, count_of(report.iterations, "iteration"), report.seconds));
  if (model.record.solver == "admm" && !outcome.result.fit.solver_reason.empty()) {
    line("", "chosen since " + outcome.result.fit.solver_reason);
  }
  line("status", proof_text(to_string(report.status), report.objective, report.lower_bound, report.relative_gap));
  if (!outcome.result.tuning_ended_early) line("certificate", certificate_line(outcome.result.fit.certificate));
  line("model",
       fmt::format("{}, loss {}, Lipschitz constant {}, lambda {}{}",
                   count_of(pieces_of(*model.divergence), "affine piece"), short_number(report.loss),
                   short_number(report.lipschitz), short_number(model.record.lambda), smoothing_phrase(outcome)));
  if (model.record.constant) line("warning", "the divergence is constant: it does not tell the rows apart");
  if (outcome.result.chosen.smoothing == 0 && !outcome.result.fit.applies_as_counted()) {
    line("note",
         fmt::format("applied, the model has a loss of {}: rows at one location share a piece then, and rows at "
                     "which pieces tie take one of them",
                     short_number(*outcome.result.fit.applied_loss)));
  }
  if (outcome.saved) line("saved", outcome.request.out);
  return out + next_steps(outcome);
}

std::string explain_early_end(const FitOutcome& outcome) {
  const SolveReport& report = outcome.result.fit.report;
  const FitOptions& options = outcome.plan.fit;
  std::string reason;
  switch (report.status) {
    case Status::kOptimal:
      return "";
    case Status::kIterationLimit:
      reason = fmt::format("--max-iterations {} was reached", report.iterations);
      break;
    case Status::kTimeLimit:
      reason = fmt::format("--time-limit {} was reached", short_number(options.time_limit));
      break;
    case Status::kStopped:
      reason = "stopped by an interrupt";
      break;
    case Status::kEarlyStopped:
      return "";
    case Status::kNumericalError:
      reason = "rounding errors ended the progress";
      break;
  }
  const bool tuning = outcome.result.tuning_ended_early, scored = outcome.result.fit.model.divergence != nullptr;
  std::string message = tuning ? fmt::format("bregmax: not tuned: {} while the best candidate was being chosen", reason)
                               : fmt::format("bregmax: not optimal: {} at a relative gap of {:.1e} ({} was asked for)",
                                             reason, report.relative_gap, asked_tolerance(outcome, options));
  if (!tuning && std::filesystem::exists(outcome.request.large.checkpoint)) {
    message += fmt::format("; --resume {} continues", outcome.request.large.checkpoint);
  }
  if (outcome.request.out.empty()) return message;
  if (outcome.saved) {
    return message +
           fmt::format("; {} holds {}", outcome.request.out,
                       tuning ? "the best model so far, learned on a part of the rows" : "the unfinished model");
  }
  return message + fmt::format("; {} was not written ({})", outcome.request.out,
                               scored ? "--keep-partial would" : "no model was scored yet");
}

void refuse_scales_beyond_doubles(const FitOutcome& outcome) {
  const SolveReport& report = outcome.result.fit.report;
  const bool unlimited = report.status == Status::kNumericalError ||
                         (report.status == Status::kIterationLimit && report.iterations >= FitOptions{}.max_iterations);
  const bool raw = outcome.result.chosen.scale == Scale::kNone && !outcome.result.tuning_ended_early;
  if (!unlimited || !raw || outcome.request.keep_partial || outcome.result.fit.model.record.solver != "exact") return;
  double narrowest = std::numeric_limits<double>::infinity(), widest = 0;
  for (const auto& column : outcome.table.features.colwise()) {
    const double spread = column.maxCoeff() - column.minCoeff();
    if (spread > 0) narrowest = std::min(narrowest, spread);
    widest = std::max(widest, spread);
  }
  constexpr double kTooFarApart = 1e6;
  if (!(widest >= kTooFarApart * narrowest)) return;
  throw Error(fmt::format(
      "{}: features range over {:.0e} in one column and {:.0e} in another, too far apart to learn from as they "
      "are with lambda {}: the relative gap stays at {:.1e}; --scale standard, or a larger --lambda",
      outcome.table.source, narrowest, widest, short_number(outcome.result.fit.model.record.lambda),
      report.relative_gap));
}

std::string explain_constant(const FitOutcome& outcome, const std::optional<Supervision>& supervision) {
  return fmt::format(
      "bregmax: warning: the learned divergence is constant: it does not tell the rows apart, and every ranking by it "
      "is "
      "a tie; {}",
      cause_of_constant(outcome, supervision));
}

}  // namespace bregmax::app
