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

class GridFamily final : public CandidateFamily {
 public:
  explicit GridFamily(const FamilyOptions& options)
      : method(options.method),
        list(candidates_of(options)),
        settings(options.settings),
        from_pairs(!options.supervision.empty()) {}

  std::vector<Settings> candidates() const override {
    std::vector<Settings> all;
    for (const Candidate& candidate : list) all.push_back(candidate.settings);
    return all;
  }
  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override;

  const Method& method;
  const std::vector<Candidate> list;
  const MethodSettings settings;
  const bool from_pairs;  // all of them, which are made of the labels
};

class GridLearner final : public FoldLearner {
 public:
  GridLearner(const GridFamily& family, const Fold& fold)
      : family_(family),
        fold_(fold),
        supervision_(family.from_pairs ? MethodSupervision(all_pairs(fold.train_classes)) : fold.train_classes),
        models_(family.list.size()) {}

  std::vector<LearnStep> steps() const override {
    std::vector<LearnStep> steps(models_.size());
    for (std::size_t c = 0; c < steps.size(); ++c) steps[c].candidates = {c};
    return steps;
  }

  FoldFit run(std::size_t step, const RunControl& control) override {
    const Candidate& candidate = family_.list[step];
    MethodSettings settings = family_.settings;
    settings.parameters = candidate.parameters;
    settings.seed ^= fold_.seed;
    try {
      MethodFit fit = fit_with(family_.method, fold_.train_rows, supervision_,
                               make_scaling(fold_.train_rows, candidate.scale), settings, control);
      models_[step] = std::move(fit.model);
      return fit.report.status == Status::kConverged ? FoldFit::kSolved : FoldFit::kUnproved;
    } catch (const Error& error) {
      throw CandidateFailure(error.what());
    }
  }

  Model model(std::size_t candidate) const override { return models_[candidate]; }

 private:
  const GridFamily& family_;
  const Fold& fold_;
  MethodSupervision supervision_;
  std::vector<Model> models_;
};

std::unique_ptr<FoldLearner> GridFamily::learner(const Fold& fold) const {
  return std::make_unique<GridLearner>(*this, fold);
}

}  // namespace

CandidateFamilies grid_family(const FamilyOptions& options) { return {std::make_shared<GridFamily>(options)}; }

}  // namespace bregmax::internal
