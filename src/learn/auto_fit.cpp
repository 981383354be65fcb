#include "bregmax/learn/auto_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/learn/pbdl_family.hpp"
#include "learn/learning_parts.hpp"
#include "learn/repeated_folds.hpp"

namespace bregmax {
namespace {

// What a family of candidates shares.
struct Variant {
  FitOptions fit;
  bool from_labels;
  LabelSupervisionOptions supervision;
};

std::vector<Variant> variants_of(const AutoFitOptions& options, bool from_labels) {
  std::vector<Variant> variants;
  const std::size_t kinds = from_labels ? options.supervision.size() : 1;
  for (const Scale scale : options.scales) {
    for (const int pieces : options.pieces) {
      for (std::size_t s = 0; s < kinds; ++s) {
        Variant variant{options.fit, from_labels, from_labels ? options.supervision[s] : LabelSupervisionOptions{}};
        variant.fit.scale = scale;
        variant.fit.pieces = pieces;
        variants.push_back(std::move(variant));
      }
    }
  }
  return variants;
}

void check_lists(const AutoFitOptions& options) {
  if (options.lambdas.empty() || options.temperatures.empty() || options.pieces.empty() || options.scales.empty() ||
      options.supervision.empty()) {
    throw Error("each of lambdas, temperatures, pieces, scales and supervision needs at least one value");
  }
  if (!(options.proof_tolerance >= options.tuning_tolerance)) {
    throw Error(fmt::format("proof_tolerance is {}; allowed: at least tuning_tolerance, {}", options.proof_tolerance,
                            options.tuning_tolerance));
  }
  if (options.tuning_rows < 10 || options.tuning_comparisons < 1) {
    throw Error(fmt::format("tuning_rows is {} and tuning_comparisons {}; allowed: 10 or more and 1 or more",
                            options.tuning_rows, options.tuning_comparisons));
  }
}

Supervision drawn_for(const Variant& variant, const MatrixView& rows, const std::vector<int>& class_of_row) {
  // Only hard comparisons look at the rows.
  if (variant.supervision.kind != LabelSupervision::kHardComparisons) {
    return supervision_from_labels(rows, class_of_row, variant.supervision);
  }
  const Scaling scaling = internal::make_scaling(rows, variant.fit.scale);
  return supervision_from_labels(scaling.apply(rows), class_of_row, variant.supervision);
}

// A random part of a large table, in the order of its rows.
struct RowSample {
  Matrix rows;
  std::vector<int> classes, pieces;  // pieces: renumbered from 0; may be empty
};

RowSample sample_rows(const MatrixView& rows, const std::vector<int>& classes, const std::vector<int>& pieces,
                      Index count, std::uint64_t seed) {
  constexpr std::uint64_t kSampleStream = 4;
  std::vector<Index> chosen = Random(seed).fork(kSampleStream).permutation(rows.rows());
  chosen.resize(static_cast<std::size_t>(count));
  std::ranges::sort(chosen);
  RowSample sample{Matrix(count, rows.cols()), {}, {}};
  for (Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(chosen[static_cast<std::size_t>(i)]);
    sample.rows.row(i) = rows.row(static_cast<Index>(row));
    sample.classes.push_back(classes[row]);
    if (!pieces.empty()) sample.pieces.push_back(pieces[row]);
  }
  return sample;
}

std::vector<double> decades(int first, int last) {
  std::vector<double> lambdas;
  for (int exponent = first; exponent <= last; ++exponent) lambdas.push_back(std::pow(10.0, exponent));
  return lambdas;
}

// The chosen candidate is constant on all items though it was not on most folds (whose few items may weigh
// differently): then so are all of its family with a lambda as large, and the best of the others is chosen. False:
// there is no other.
bool choose_again(TuneResult& tuning, Measure measure) {
  if (tuning.record.empty() || tuning.all_constant) return false;
  const auto lambda_of = [&](std::size_t candidate) { return tuning.record.candidates[candidate][0].value; };
  const auto chosen = static_cast<std::size_t>(tuning.record.chosen);
  for (std::size_t c = 0; c < tuning.constant.size(); ++c) {
    if (tuning.family_of[c] == tuning.family_of[chosen] && lambda_of(c) >= lambda_of(chosen)) tuning.constant[c] = true;
  }
  tuning.all_constant = std::ranges::find(tuning.constant, false) == tuning.constant.end();
  if (!tuning.all_constant) tuning.record.chosen = best_candidate(tuning, measure);
  return !tuning.all_constant;
}

void record_drawing(const LabelSupervisionOptions& supervision, TrainingRecord& record) {
  record.drawn = to_string(supervision.kind);
  record.drawn_seed = supervision.seed;
  record.neighbours = supervision.kind == LabelSupervision::kHardComparisons ? supervision.neighbours : 0;
}

class AutoFit {
 public:
  AutoFit(const MatrixView& rows, const AutoFitOptions& options, const RunControl& control)
      : rows_(rows), options_(options), control_(control) {
    internal::check_rows(rows);
    check_lists(options);
  }

  // supervision_of(variant): on all rows; folds(): made only if there is something to choose.
  template <class SupervisionOf, class MakeFolds>
  AutoFitResult run(const std::vector<Variant>& variants, const SupervisionOf& supervision_of,
                    const MakeFolds& make_folds) const {
    AutoFitResult result;
    if (variants.size() * options_.lambdas.size() * options_.temperatures.size() > 1) {
      result.tuning = tune(make_folds(), families(variants, supervision_of),
                           {options_.tune_for, options_.evaluation, 0, options_.fit.time_limit}, control_);
      result.tuning_ended_early = result.tuning.status != Status::kOptimal;
    }
    const Variant* variant = &take_chosen(variants, result);
    if (result.tuning_ended_early) {
      keep_best_so_far(result);
    } else {
      fit_chosen(supervision_of(*variant), result);
      // A fit that ended early may be constant only so far.
      while (result.fit.report.status == Status::kOptimal && result.fit.model.record.constant &&
             choose_again(result.tuning, options_.tune_for)) {
        variant = &take_chosen(variants, result);
        fit_chosen(supervision_of(*variant), result);
      }
    }
    result.fit.model.tuning = result.tuning.record;
    // Early stopping learns from a part of what is drawn, which cannot be drawn again.
    if (variant->from_labels && !options_.fit.early_stop) {
      record_drawing(variant->supervision, result.fit.model.record);
    }
    return result;
  }

  template <class SupervisionOf>
  CandidateFamilies families(const std::vector<Variant>& variants, const SupervisionOf& supervision_of) const {
    CandidateFamilies list;
    for (const Variant& one : variants) list.push_back(family(one, supervision_of(one)));
    return list;
  }

 private:
  std::shared_ptr<const CandidateFamily> family(const Variant& variant, const Supervision& supervision) const {
    PbdlFamilyOptions family_options;
    family_options.lambdas = options_.lambdas;
    family_options.temperatures = options_.temperatures;
    family_options.fit = variant.fit;
    family_options.fit.tolerance = std::max(options_.fit.tolerance, options_.tuning_tolerance);
    family_options.proof_tolerance = std::max(options_.fit.tolerance, options_.proof_tolerance);
    family_options.from_labels = variant.from_labels;
    family_options.supervision = variant.supervision;
    Index& comparisons = family_options.supervision.comparisons;
    const bool sampled = variant.from_labels && rows_.rows() > options_.tuning_rows;
    if (sampled) comparisons = comparisons > 0 ? std::min(comparisons, options_.tuning_comparisons) : 0;
    family_options.full_weight = internal::total_weight(supervision);
    return make_pbdl_family(std::move(family_options));
  }

  // Takes over the values of the chosen candidate, or of the only one there is.
  const Variant& take_chosen(const std::vector<Variant>& variants, AutoFitResult& result) const {
    const TuningRecord& record = result.tuning.record;
    std::size_t variant = 0;
    double lambda = options_.lambdas.front(), temperature = options_.temperatures.front();
    if (!record.empty() && record.chosen >= 0) {
      const auto chosen = static_cast<std::size_t>(record.chosen);
      variant = static_cast<std::size_t>(result.tuning.family_of[chosen]);
      lambda = record.candidates[chosen][0].value;
      temperature = record.candidates[chosen][1].value;
    }
    result.chosen = variants[variant].fit;
    result.chosen.lambda = lambda;
    result.chosen.smoothing = temperature;
    result.chosen_supervision = variants[variant].supervision;
    return variants[variant];
  }

  void fit_chosen(const Supervision& supervision, AutoFitResult& result) const {
    FitOptions last = result.chosen;
    if (last.time_limit > 0 && !result.tuning.record.empty()) {
      // A limit of 0 would be none: what is left, if only a little.
      last.time_limit = std::max(1e-9, last.time_limit - result.tuning.record.seconds);
    }
    result.fit = fit(rows_, supervision, last, control_);
  }

  static void keep_best_so_far(AutoFitResult& result) {
    result.fit.report.status = result.tuning.status;
    if (!result.tuning.best_so_far) return;
    result.fit.model = *result.tuning.best_so_far;
    TrainingRecord& record = result.fit.model.record;
    record.status = to_string(result.tuning.status);
    result.fit.report.objective = record.objective;
    result.fit.report.lower_bound = record.lower_bound;
    result.fit.report.relative_gap = record.relative_gap;
    result.fit.report.loss = record.loss;
    result.fit.report.lipschitz = record.lipschitz;
    result.fit.report.iterations = record.iterations;
    result.fit.report.seconds = record.seconds;
  }

  const MatrixView& rows_;
  const AutoFitOptions& options_;
  const RunControl& control_;
};

}  // namespace

std::vector<double> default_lambdas() { return decades(-8, 4); }

std::vector<double> all_pairs_lambdas() { return decades(-4, 6); }

std::vector<double> default_temperatures() { return {0, 0.03, 0.1, 0.3, 1, 3, 10}; }

AutoFitOptions recommended_options(Index rows) {
  constexpr Index kSmall = 200, kMedium = 400;
  AutoFitOptions options;
  options.evaluation.start = KMeansStart::kDivergence;
  options.repeats = rows <= kSmall ? 3 : (rows <= kMedium ? 2 : 1);
  if (rows <= kMostRowsForAllPairs) {
    options.supervision = {{LabelSupervision::kAllPairs, 2000, 3, 0}};
    options.lambdas = all_pairs_lambdas();
  }
  return options;
}

CandidateFamilies families_from_labels(const MatrixView& rows, const std::vector<int>& class_of_row,
                                       const AutoFitOptions& options) {
  const auto supervision_of = [&](const Variant& variant) { return drawn_for(variant, rows, class_of_row); };
  return AutoFit(rows, options, {}).families(variants_of(options, true), supervision_of);
}

AutoFitResult fit_from_labels(const MatrixView& rows, const std::vector<int>& class_of_row,
                              const AutoFitOptions& options, const RunControl& control) {
  if (static_cast<Index>(class_of_row.size()) != rows.rows()) {
    throw Error(fmt::format("there are {} classes for {} rows; allowed: one a row", class_of_row.size(), rows.rows()));
  }
  const auto supervision_of = [&](const Variant& variant) { return drawn_for(variant, rows, class_of_row); };
  const auto make_folds = [&] {
    const internal::FoldPlan plan{options.folds, options.repeats, options.fit.seed};
    const std::vector<int> pieces = options.fit.piece_of.value_or(std::vector<int>{});
    if (rows.rows() <= options.tuning_rows) return internal::repeated_folds(rows, class_of_row, plan, pieces);
    control.log(fmt::format("choosing on {} of the {} rows, drawn at random", options.tuning_rows, rows.rows()));
    const RowSample sample = sample_rows(rows, class_of_row, pieces, options.tuning_rows, options.fit.seed);
    return internal::repeated_folds(sample.rows, sample.classes, plan, sample.pieces);
  };
  return AutoFit(rows, options, control).run(variants_of(options, true), supervision_of, make_folds);
}

AutoFitResult fit_from_items(const MatrixView& rows, const Supervision& supervision, const AutoFitOptions& options,
                             const RunControl& control) {
  const std::vector<Variant> variants = variants_of(options, false);
  const auto make_folds = [&] {
    if (options.tune_for != Measure::kLoss) {
      throw Error(fmt::format("tune_for is {}; allowed for given supervision: loss (of held-out items)",
                              to_string(options.tune_for)));
    }
    return folds_of_items(rows, supervision, options.folds, options.fit.seed,
                          options.fit.piece_of.value_or(std::vector<int>{}));
  };
  return AutoFit(rows, options, control)
      .run(
          variants, [&](const Variant&) { return supervision; }, make_folds);
}

}  // namespace bregmax
