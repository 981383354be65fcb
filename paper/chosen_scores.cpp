#include "paper/chosen_scores.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {
namespace {

constexpr std::size_t kAveragePrecisionColumn = 3;
static_assert(kTableMeasures[kAveragePrecisionColumn] == Measure::kAveragePrecision);

std::size_t position_of(const TuneResult& result, const Settings& settings) {
  const auto& candidates = result.record.candidates;
  const auto found = std::find(candidates.begin(), candidates.end(), settings);
  if (found == candidates.end()) throw Error(fmt::format("{} was not learned", settings_text(settings)));
  return static_cast<std::size_t>(found - candidates.begin());
}

}  // namespace

FitRequest paper_request(const std::string& method, std::uint64_t seed) {
  FitRequest request;
  request.method = method;
  request.scales = {Scale::kNone};
  request.repeats = 1;
  request.seed = seed;
  request.solver.solver = Solver::kExact;
  if (method == "pbdl") {
    request.supervision = {LabelSupervision::kComparisons};
    request.parameters["smoothing"] = 0;
  }
  return request;
}

std::string settings_text(const Settings& settings) {
  std::string text;
  for (const Setting& one : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", one.name,
                        one.word.empty() ? fmt::format("{:g}", one.value) : one.word);
  }
  return text;
}

Fold whole_run(const RunParts& parts) {
  Fold fold;
  fold.train_rows = parts.train_rows;
  fold.train_classes = parts.train_classes;
  fold.held_out_rows = fold.loss_rows = parts.test_rows;
  fold.held_out_classes = parts.test_classes;
  fold.loss_items = Comparisons{};
  return fold;
}

TuneResult restricted(const TuneResult& result, const std::function<bool(const Settings&)>& keep) {
  std::vector<Index> kept;
  for (std::size_t c = 0; c < result.record.candidates.size(); ++c) {
    if (keep(result.record.candidates[c])) kept.push_back(static_cast<Index>(c));
  }
  TuneResult part = result;
  part.record.candidates.clear();
  part.family_of.clear();
  part.constant.clear();
  for (const Index c : kept) {
    const auto at = static_cast<std::size_t>(c);
    part.record.candidates.push_back(result.record.candidates[at]);
    part.family_of.push_back(result.family_of[at]);
    part.constant.push_back(result.constant[at]);
  }
  part.record.means = Matrix(result.record.means(kept, Eigen::all));
  part.record.standard_errors = Matrix(result.record.standard_errors(kept, Eigen::all));
  for (std::size_t f = 0; f < result.fold_scores.size(); ++f)
    part.fold_scores[f] = Matrix(result.fold_scores[f](kept, Eigen::all));
  part.all_constant = std::all_of(part.constant.begin(), part.constant.end(), [](bool constant) { return constant; });
  return part;
}

std::vector<Settings> chosen_settings(const TuneResult& cross) {
  std::vector<Settings> chosen;
  chosen.reserve(kTableMeasures.size());
  for (const Measure measure : kTableMeasures) {
    chosen.push_back(cross.record.candidates[static_cast<std::size_t>(best_candidate(cross, measure))]);
  }
  return chosen;
}

TableScores scores_of(const TuneResult& whole, const Settings& settings) {
  const auto row = static_cast<Index>(position_of(whole, settings));
  TableScores scores{};
  for (std::size_t m = 0; m < kTableMeasures.size(); ++m) {
    scores[m] = whole.fold_scores.front()(row, static_cast<Index>(kTableMeasures[m]));
  }
  return scores;
}

RunScores row_scores(const std::vector<Settings>& chosen, const TuneResult& whole) {
  RunScores scores;
  std::vector<std::string> notes;
  for (std::size_t m = 0; m < kTableMeasures.size(); ++m) {
    scores.per_measure[m] = scores_of(whole, chosen[m])[m];
    const bool constant = whole.constant[position_of(whole, chosen[m])];
    notes.push_back(settings_text(chosen[m]) + (constant ? " CONSTANT" : ""));
  }
  scores.one_model = scores_of(whole, chosen[kAveragePrecisionColumn]);
  const bool alike = std::all_of(notes.begin(), notes.end(), [&](const auto& note) { return note == notes.front(); });
  scores.note = alike ? notes.front() : fmt::format("{}", fmt::join(notes, "; "));
  if (whole.record.unproved > 0) scores.note += fmt::format("; {} fits not converged", whole.record.unproved);
  return scores;
}

}  // namespace bregmax::internal
