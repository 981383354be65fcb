#include "paper/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "bregmax/data/split.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"
#include "paper/scripted.hpp"

namespace bregmax {
namespace {

constexpr std::uint64_t kSplitStream = 1;
constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();
// Smaller than any method's own tolerance, which then holds for the fits whose scores are reported.
constexpr double kLeastTolerance = std::numeric_limits<double>::min();

// The data of a run, and the seed of everything random in it except the split.
struct RunParts {
  const Table& train;
  const Table& test;
  std::uint64_t seed = 0;
  EvaluationOptions evaluation = {};

  TrainingData data() const { return {train.features, train.labels->of_row}; }
  TuneOptions tuning() const { return {Measure::kAveragePrecision, evaluation, 1, 0}; }
};

// ---- What a row of the table asks for ----

FitRequest request_of(const ProtocolRow& row, std::uint64_t seed) {
  if (row.of == ProtocolRow::Of::kDefaults) {
    FitRequest request;
    request.method = row.name == "defaults" ? "pbdl" : row.name;
    request.seed = seed;
    if (request.method == "pbdl") request.solver.solver = Solver::kExact;
    return request;
  }
  const bool pbdl = row.name.starts_with("pbdl");
  FitRequest request = paper_request(pbdl ? "pbdl" : row.name, seed);
  // The paper's NCA is diagonal.
  if (row.name == "nca") request.parameters["form"] = method_named("nca").parameter("form").parse("diagonal");
  if (row.name == "pbdl-smoothed" || row.name == "pbdl-standardised") request.parameters["smoothing"] = Wish::choose();
  if (row.name == "pbdl-standardised") request.scales = {Scale::kStandard};
  return request;
}

Plan plan_of(const ProtocolRow& row, const RunParts& parts) {
  Plan planned = plan(request_of(row, parts.seed), parts.data());
  planned.evaluation = parts.evaluation;
  if (!planned.automatic) planned.methods.resize(1);  // the Euclidean distance has a row of its own
  if (row.name == "pbdl-few-pieces") {                // a fold with fewer rows than pieces has a piece per row
    planned.methods[0].settings.parameters.erase("pieces");
    planned.methods[0].tried["pieces"] = {10, 20, 40};
  }
  return planned;
}

// The smoothings that a row may choose from; empty: its method has none, or chooses from all.
std::vector<double> smoothings_of(const Plan& planned) {
  return planned.main().method->learns_from_items ? planned.main().values("smoothing") : std::vector<double>();
}

// ---- Candidates ----

std::string settings_text(const Settings& settings) {
  std::string text;
  for (const Setting& one : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", one.name,
                        one.word.empty() ? fmt::format("{:g}", one.value) : one.word);
  }
  return text;
}

double smoothing_of(const Settings& settings) {
  const Setting* found = find_setting(settings, "smoothing");
  return found == nullptr ? 0 : found->value;
}

// Removes the scores of candidates with other smoothings, so that they are not chosen.
TuneResult restricted(TuneResult result, const std::vector<double>& smoothings) {
  if (smoothings.empty()) return result;
  for (std::size_t c = 0; c < result.record.candidates.size(); ++c) {
    if (std::ranges::find(smoothings, smoothing_of(result.record.candidates[c])) != smoothings.end()) continue;
    for (Matrix& scores : result.fold_scores) scores.row(static_cast<Index>(c)).setConstant(kNoScore);
  }
  return result;
}

// What each row chooses by cross-validation for each of kTableMeasures; empty when stopped.
std::vector<std::vector<Settings>> choose(const std::vector<ProtocolRow>& rows, const Plan& planned,
                                          const RunParts& parts, const RunControl& control) {
  PlannedFamilies candidates = families_of(planned, parts.data());
  if (!planned.has_choice()) return {{kTableMeasures.size(), candidates.families.front()->candidates().front()}};
  TuneOptions options = parts.tuning();
  options.roles = std::move(candidates.roles);
  const TuneResult cross = tune(folds_of(planned, parts.data()), candidates.families, options, control);
  std::vector<std::vector<Settings>> chosen;
  for (const ProtocolRow& row : rows) {
    if (control.stop_requested()) return {};
    const TuneResult own = restricted(cross, smoothings_of(plan_of(row, parts)));
    chosen.emplace_back();
    for (const Measure measure : kTableMeasures) {
      chosen.back().push_back(own.record.candidates[best_candidate(own, measure)]);
    }
  }
  return chosen;
}

// ---- Test scores ----

// One fit: a method with the values of its parameters, but for the smoothing, which costs no fit.
struct ChosenFit {
  std::string method;
  std::map<std::string, double> parameters;

  auto operator<=>(const ChosenFit&) const = default;
};

const PlannedMethod& planned_named(const Plan& planned, const std::string& name) {
  const auto has_name = [&](const PlannedMethod& one) { return one.method->name == name; };
  const auto found = std::ranges::find_if(planned.methods, has_name);
  internal::require(found != planned.methods.end(), "{} was chosen, but not planned", name);
  return *found;
}

ChosenFit fit_of(const Settings& settings, const Plan& planned) {
  const Setting* method = find_setting(settings, "method");
  ChosenFit fit{method != nullptr ? method->word : planned.main().method->name, {}};
  for (const Setting& one : settings) {
    // A word is the method, the features' scale or the supervision, which the plan has, or the name of a choice.
    const bool planned_too =
        one.name == "method" || (!one.word.empty() && (one.name == "scale" || one.name == "supervision"));
    if (one.name == "smoothing" || planned_too) continue;
    const MethodParameter& parameter = method_named(fit.method).parameter(one.name);
    fit.parameters[one.name] = one.word.empty() ? one.value : parameter.parse(one.word);
  }
  return fit;
}

// Learns the chosen candidates on the whole training part, as a fold whose held-out part is the test part. Candidates
// that differ only in smoothing share a fit. All others are separate families: on a lambda path the optimum of one
// lambda may be used for another, so the scores of a row would depend on what other rows chose.
TuneResult test_scores(const std::vector<std::vector<Settings>>& chosen, const Plan& planned, const RunParts& parts,
                       const RunControl& control) {
  std::map<ChosenFit, std::set<double>> smoothings;
  for (const std::vector<Settings>& of_row : chosen) {
    for (const Settings& settings : of_row) smoothings[fit_of(settings, planned)].insert(smoothing_of(settings));
  }
  std::vector<Plan> plans;  // which the families refer to
  plans.reserve(smoothings.size());
  CandidateFamilies families;
  for (const auto& [fit, temperatures] : smoothings) {
    Plan& one = plans.emplace_back(planned);
    one.methods = {planned_named(planned, fit.method)};
    one.methods[0].fold_tolerance = one.proof_tolerance = kLeastTolerance;
    // Listed as tried, so that they become part of the settings of the candidate.
    for (const auto& [name, value] : fit.parameters) one.methods[0].tried[name] = {value};
    if (one.main().method->learns_from_items) {
      one.methods[0].tried["smoothing"] = {temperatures.begin(), temperatures.end()};
    }
    families.push_back(families_of(one, parts.data()).families.front());
  }
  Fold fold;
  fold.train_rows = parts.train.features;
  fold.train_classes = parts.train.labels->of_row;
  fold.loss_rows = fold.held_out_rows = parts.test.features;
  fold.held_out_classes = parts.test.labels->of_row;
  fold.loss_items = Comparisons{};
  return tune({fold}, families, parts.tuning(), control);
}

// The cells of a row. `whole` has all settings of `chosen`.
RunScores row_scores(const std::vector<Settings>& chosen, const TuneResult& whole) {
  RunScores scores;
  std::vector<std::string> notes;
  const auto position = [&whole](const Settings& settings) {
    const auto found = std::ranges::find(whole.record.candidates, settings);
    if (found == whole.record.candidates.end()) throw Error(settings_text(settings) + " was not learned");
    return found - whole.record.candidates.begin();
  };
  for (std::size_t m = 0; m < kTableMeasures.size(); ++m) {
    const auto column = static_cast<Index>(kTableMeasures[m]);
    const auto own = position(chosen[m]), one_model = position(chosen[kAveragePrecisionColumn]);
    scores.per_measure[m] = whole.fold_scores.front()(own, column);
    scores.one_model[m] = whole.fold_scores.front()(one_model, column);
    notes.push_back(settings_text(chosen[m]) + (whole.constant[own] ? " CONSTANT" : ""));
  }
  const bool alike = std::ranges::all_of(notes, [&](const std::string& note) { return note == notes.front(); });
  scores.note = alike ? notes.front() : internal::joined(notes, "; ");
  if (whole.record.unproved > 0) scores.note += fmt::format("; {} fits not converged", whole.record.unproved);
  return scores;
}

std::vector<RunScores> run_rows(const std::vector<ProtocolRow>& rows, const RunParts& parts,
                                const RunControl& control) {
  Plan planned = plan_of(rows.front(), parts);
  std::set<double> smoothings;  // of all rows, which differ in nothing else
  for (const ProtocolRow& row : rows) {
    for (const double smoothing : smoothings_of(plan_of(row, parts))) smoothings.insert(smoothing);
  }
  if (!smoothings.empty()) planned.methods[0].tried["smoothing"] = {smoothings.begin(), smoothings.end()};
  std::vector<RunScores> scores;
  try {
    const std::vector<std::vector<Settings>> chosen = choose(rows, planned, parts, control);
    if (control.stop_requested()) return {};
    const TuneResult whole = test_scores(chosen, planned, parts, control);
    if (control.stop_requested()) return {};
    for (const std::vector<Settings>& of_row : chosen) scores.push_back(row_scores(of_row, whole));
  } catch (const CandidateFailure& failure) {
    // A method may be unable to learn on some data; such a run has no scores, and says why.
    RunScores failed{{}, {}, std::string("FAILED: ") + failure.what()};
    failed.per_measure.fill(kNoScore);
    failed.one_model.fill(kNoScore);
    scores.assign(rows.size(), failed);
  }
  return scores;
}

}  // namespace

const std::vector<ProtocolRow>& protocol_rows() {
  constexpr auto kEuclidean = KMeansStart::kEuclidean, kDivergence = KMeansStart::kDivergence;
  constexpr auto kPaper = ProtocolRow::Of::kPaper, kOurs = ProtocolRow::Of::kOurs,
                 kDefaults = ProtocolRow::Of::kDefaults;
  static const std::vector<ProtocolRow> kRows = {
      {"pbdl", "PBDL", "pbdl-raw", kPaper, kEuclidean, 60},
      {"itml", "ITML", "itml", kPaper, kEuclidean, 10},
      {"lmnn", "LMNN", "lmnn", kPaper, kEuclidean, 20},
      {"gb-lmnn", "GB-LMNN", "gb-lmnn", kPaper, kEuclidean, 60},
      {"gmml", "GMML", "gmml", kPaper, kEuclidean, 1},
      {"nca", "NCA, diagonal", "nca", kPaper, kEuclidean, 2},
      {"kernel-nca", "kernel NCA", "kernel-nca", kPaper, kEuclidean, 30},
      {"mlr-auc", "MLR-AUC", "mlr-auc", kPaper, kEuclidean, 60},
      {"euclidean", "Euclidean", "euclidean", kPaper, kEuclidean, 0.1},
      {"pbdl-smoothed", "PBDL, smoothed", "pbdl-raw", kOurs, kEuclidean, 60},
      {"pbdl-standardised", "PBDL, standardised, smoothed", "pbdl-standardised", kOurs, kEuclidean, 80},
      {"pbdl-as-scripted", "PBDL, as scripted", "pbdl-as-scripted", kOurs, kEuclidean, 60},
      {"pbdl-few-pieces", "PBDL, K < n", "pbdl-few-pieces", kOurs, kEuclidean, 60},
      {"defaults", "PBDL, our settings", "defaults", kDefaults, kDivergence, 80},
      {"smooth", "smooth", "smooth", kDefaults, kDivergence, 10},
      {"deep", "deep", "deep", kDefaults, kDivergence, 40},
      {"auto", "bregmax fit, defaults", "auto", kDefaults, kDivergence, 50},
  };
  return kRows;
}

const ProtocolRow& protocol_row(const std::string& name) {
  return internal::item_named(protocol_rows(), name, "the tables have no method");
}

FitRequest paper_request(const std::string& method, std::uint64_t seed) {
  FitRequest request;
  request.method = method;
  request.scales = {Scale::kNone};
  request.repeats = 1;
  request.seed = seed;
  if (method == "pbdl") {
    request.solver.solver = Solver::kExact;
    request.supervision = {LabelSupervision::kComparisons};
    request.parameters["smoothing"] = 0;
  }
  return request;
}

std::vector<RunScores> run_protocol(const Table& table, const std::vector<ProtocolRow>& rows, const RunRequest& request,
                                    const RunControl& control) {
  internal::require(table.labels.has_value(), "{}: the protocol needs labels, and there are none", table.source);
  internal::require(request.run >= 0, "run is {}; allowed: 0 or more", request.run);
  internal::require(!rows.empty(), "there are no rows to run; at least one is needed");
  for (const ProtocolRow& row : rows) {
    internal::require(row.group == rows.front().group, "{} and {} are not learned together", rows.front().name,
                      row.name);
  }
  const Random of_run =
      Random(request.seed).fork(stream_of(request.dataset)).fork(static_cast<std::uint64_t>(request.run));
  Random of_split = of_run.fork(kSplitStream);
  const Split split = random_split(table.features.rows(), kTrainFraction, of_split);
  const Table train = select_rows(table, split.train), test = select_rows(table, split.test);
  const std::uint64_t seed = of_run.fork(stream_of(rows.front().group)).next_bits();
  if (rows.front().name == "pbdl-as-scripted") return run_scripted(train, test, seed, request.start, control);
  RunParts parts{train, test, seed};
  parts.evaluation.start = request.start;
  parts.evaluation.seed = parts.seed;
  return run_rows(rows, parts, control);
}

}  // namespace bregmax
