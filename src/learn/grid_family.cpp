#include "learn/grid_family.hpp"

#include <utility>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {
namespace {

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

// What all candidates share on the folds.
struct FoldFits {
  const Method& method;
  std::vector<Candidate> candidates;
  MethodSettings settings;
  bool all_pairs;
};

class GridLearner final : public FoldLearner {
 public:
  GridLearner(const FoldFits& fits, const Fold& fold)
      : fits_(fits),
        fold_(fold),
        supervision_(fits.all_pairs ? MethodSupervision(all_pairs(fold.train_classes)) : fold.train_classes),
        models_(fits.candidates.size()) {}

  std::vector<LearnStep> steps() const override {
    std::vector<LearnStep> steps(models_.size());
    for (std::size_t c = 0; c < steps.size(); ++c) steps[c].candidates = {c};
    return steps;
  }

  FoldFit run(std::size_t step, const RunControl& control) override {
    const Candidate& candidate = fits_.candidates[step];
    MethodSettings settings = fits_.settings;
    settings.parameters = candidate.parameters;
    settings.seed ^= fold_.seed;
    try {
      MethodFit fit = fit_with(fits_.method, fold_.train_rows, supervision_,
                               make_scaling(fold_.train_rows, candidate.scale), settings, control);
      models_[step] = std::move(fit.model);
      return fit.report.status == Status::kConverged ? FoldFit::kSolved : FoldFit::kUnproved;
    } catch (const Error& error) {
      throw CandidateFailure(error.what());
    }
  }

  Model model(std::size_t candidate) const override { return models_[candidate]; }

 private:
  const FoldFits& fits_;
  const Fold& fold_;
  MethodSupervision supervision_;
  std::vector<Model> models_;
};

class GridFamily final : public CandidateFamily {
 public:
  explicit GridFamily(const FamilyOptions& options)
      : fits_{options.method, candidates_of(options), options.settings, !options.supervision.empty()} {}

  std::vector<Settings> candidates() const override {
    std::vector<Settings> list;
    list.reserve(fits_.candidates.size());
    for (const Candidate& candidate : fits_.candidates) list.push_back(candidate.settings);
    return list;
  }

  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override {
    return std::make_unique<GridLearner>(fits_, fold);
  }

 private:
  FoldFits fits_;
};

}  // namespace

CandidateFamilies grid_family(const FamilyOptions& options) { return {std::make_shared<GridFamily>(options)}; }

}  // namespace bregmax::internal
