#include "learn/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/checkpoint_file.hpp"
#include "core/checks.hpp"
#include "methods/item_losses.hpp"
#include "methods/training_rows.hpp"
#include "optimize/problem/items.hpp"

namespace bregmax {
namespace {

using internal::require;

// ---- The candidates of a method that defines no families ----

struct Candidate {
  Scale scale;
  std::map<std::string, double> parameters;  // those that are given and those that are tried
  Settings settings;                         // what distinguishes it, for the table
};

// Every combination; the last parameter changes fastest.
std::vector<Candidate> candidates_of(const FamilyOptions& options) {
  std::vector<Candidate> candidates;
  candidates.reserve(options.scales.size());
  for (const Scale scale : options.scales) candidates.push_back({scale, options.settings.parameters, {}});
  for (const MethodParameter& parameter : options.method.parameters) {
    const auto tried = options.tried.find(parameter.name);
    if (tried == options.tried.end()) continue;
    std::vector<Candidate> longer;
    for (const Candidate& candidate : candidates) {
      for (const double value : tried->second) {
        longer.push_back(candidate);
        longer.back().parameters[parameter.name] = value;
        longer.back().settings.push_back(
            {parameter.name, value, parameter.choices.empty() ? "" : parameter.text(value)});
      }
    }
    candidates = std::move(longer);
  }
  for (Candidate& candidate : candidates) candidate.settings.push_back({"scale", 0, to_string(candidate.scale)});
  return candidates;
}

class GridLearner final : public FoldLearner {
 public:
  GridLearner(const FamilyOptions& options, const std::vector<Candidate>& candidates, const Fold& fold)
      : options_(options), candidates_(candidates), fold_(fold), models_(candidates.size()) {}

  std::vector<LearnStep> steps() const override {
    std::vector<LearnStep> steps(models_.size());
    for (std::size_t c = 0; c < steps.size(); ++c) steps[c].candidates = {c};
    return steps;
  }

  FoldFit run(std::size_t step, const RunControl& control) override {
    const Candidate& candidate = candidates_[step];
    MethodSettings settings = options_.settings;
    settings.parameters = candidate.parameters;
    settings.seed ^= fold_.seed;
    settings.row_weights = fold_.train_weights;
    try {
      MethodFit fit = fit_with(options_.method, fold_.train_rows, supervision(),
                               make_scaling(fold_.train_rows, candidate.scale), settings, control);
      models_[step] = std::move(fit.model);
      return is_success(fit.report.status) ? FoldFit::kSolved : FoldFit::kUnproved;
    } catch (const Error& error) {
      throw CandidateFailure(error.what());
    }
  }

  Model model(std::size_t candidate) const override { return models_[candidate]; }

 private:
  MethodSupervision supervision() const {
    if (fold_.train_items) return as_method_supervision(*fold_.train_items);
    if (options_.supervision.empty()) return fold_.train_classes;
    return all_pairs(fold_.train_classes);
  }

  const FamilyOptions& options_;
  const std::vector<Candidate>& candidates_;
  const Fold& fold_;
  std::vector<Model> models_;
};

// Every combination of scale and tried values is a candidate that is learned by itself; all are one family.
class GridFamily final : public CandidateFamily {
 public:
  explicit GridFamily(const FamilyOptions& options) : options_(options) {}

  std::vector<Settings> candidates() const override {
    std::vector<Settings> all(candidates_.size());
    std::ranges::transform(candidates_, all.begin(), &Candidate::settings);
    return all;
  }
  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override {
    return std::make_unique<GridLearner>(options_, candidates_, fold);
  }

 private:
  const FamilyOptions options_;
  const std::vector<Candidate> candidates_ = candidates_of(options_);
};

// ---- Candidates of several methods ----

// The candidates of a family, with the name of their method as their first setting.
class NamedFamily final : public CandidateFamily {
 public:
  NamedFamily(std::string method, std::shared_ptr<const CandidateFamily> family)
      : method_(std::move(method)), family_(std::move(family)) {}

  std::vector<Settings> candidates() const override {
    std::vector<Settings> all = family_->candidates();
    for (Settings& settings : all) settings.insert(settings.begin(), {"method", 0, method_});
    return all;
  }
  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override { return family_->learner(fold); }

 private:
  std::string method_;
  std::shared_ptr<const CandidateFamily> family_;
};

CandidateFamilies families_of_method(const PlannedMethod& planned, const Plan& plan, const TrainingData& data) {
  FamilyOptions options{*planned.method, planned.settings, planned.tried, planned.scales};
  const double own = planned.settings.tolerance.value_or(planned.method->limits.tolerance);
  options.settings.tolerance = std::max(own, planned.fold_tolerance);
  options.settings.time_limit = 0;             // tune() has the clock
  options.settings.solver.checkpoint.clear();  // are of the last fit
  options.settings.solver.resume.clear();
  options.proof_tolerance = std::max(own, plan.proof_tolerance);
  if (data.labelled()) options.supervision = planned.supervision;
  for (LabelSupervisionOptions& one : options.supervision) {
    if (plan.tuning_rows > 0 && one.comparisons > 0) {
      one.comparisons = std::min(one.comparisons, plan.tuning_comparisons);
    }
  }
  options.total_weight = [&planned, &data](Scale scale, std::size_t kind) {
    return internal::zero_model_losses(items_of(internal::draw_supervision(planned, data, scale, kind))).weight;
  };
  if (planned.method->families) return planned.method->families(options);
  return {std::make_shared<GridFamily>(options)};
}

}  // namespace

MethodSupervision internal::draw_supervision(const PlannedMethod& planned, const TrainingData& data, Scale scale,
                                             std::size_t kind) {
  if (!data.labelled() || planned.supervision.empty()) return data.supervision;
  const auto& class_of_row = std::get<ClassOfRow>(data.supervision);
  const LabelSupervisionOptions& options = planned.supervision[kind];
  if (!planned.method->learns_from_items) return all_pairs(class_of_row);
  // Only hard comparisons look at the rows.
  const bool hard = options.kind == LabelSupervision::kHardComparisons;
  const Matrix rows = hard ? make_scaling(data.rows, scale).apply(data.rows) : Matrix(0, 0);
  return as_method_supervision(supervision_from_labels(hard ? MatrixView(rows) : data.rows, class_of_row, options));
}

void internal::check_plan(const Plan& plan, const TrainingData& data) {
  check_bounded_rows(data.rows);
  if (const auto* classes = std::get_if<ClassOfRow>(&data.supervision)) {
    check_labels(*classes, data.rows.rows(), false);
  }
  check_given_items(data.supervision, data.rows.rows());
  require(!plan.methods.empty(), "there is no method to try; at least one is needed");
  for (const PlannedMethod& planned : plan.methods) {
    require(!planned.scales.empty(), "there is no scale to try; at least one is needed");
    for (const auto& [name, values] : planned.tried) {
      for (const double value : values) planned.method->parameter(name).check(value);
      require(!values.empty(), "there is no value of {} to try; at least one is needed", name);
    }
    require(planned.fold_tolerance > 0 && plan.proof_tolerance >= planned.fold_tolerance,
            "fold_tolerance is {} and proof_tolerance {}; allowed: a number > 0 and at least as much",
            planned.fold_tolerance, plan.proof_tolerance);
  }
}

std::string internal::mark_of(const Plan& plan, const TrainingData& data) {
  Plan unlimited = plan;
  unlimited.time_limit = 0;  // it changes no score
  Checksum sum;
  sum.add_all(unlimited.to_text());
  for (const PlannedMethod& planned : plan.methods) {
    if (planned.settings.piece_of) sum.add_all(*planned.settings.piece_of);
  }
  sum.add(data.rows.rows(), data.rows.cols());
  sum.add_all(data.row_targets);
  for (Index i = 0; i < data.rows.rows(); ++i) {
    sum.add_bytes(data.rows.row(i).data(), static_cast<std::size_t>(data.rows.cols()) * sizeof(double));
  }
  if (const auto* classes = std::get_if<ClassOfRow>(&data.supervision)) {
    sum.add_all(*classes);
    sum.add_all(data.row_weights);
  } else {
    for_each_item(items_of(data.supervision), [&](Index, const Item& item) { add_to(sum, item); });
  }
  return fmt::format("{:016x}", sum.value());
}

PlannedFamilies families_of(const Plan& plan, const TrainingData& data) {
  internal::check_plan(plan, data);
  PlannedFamilies planned_families;
  const Index folds = Index{plan.folds} * plan.repeats;
  for (std::size_t number = 0; number < plan.methods.size(); ++number) {
    const PlannedMethod& planned = plan.methods[number];
    CandidateFamilies families = families_of_method(planned, plan, data);
    const double known = std::isfinite(planned.seconds_of_folds) ? planned.seconds_of_folds : 1;
    const double seconds = (known + planned.seconds_of_scores) / static_cast<double>(folds * std::ssize(families));
    for (auto& family : families) {
      if (plan.automatic || plan.methods.size() > 1)
        family = std::make_shared<NamedFamily>(planned.method->name, std::move(family));
      planned_families.families.push_back(std::move(family));
      planned_families.roles.push_back({static_cast<int>(number), planned.yardstick, seconds});
    }
  }
  return planned_families;
}

}  // namespace bregmax
