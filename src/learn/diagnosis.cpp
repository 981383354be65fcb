#include "learn/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "bregmax/methods/pbdl.hpp"
#include "bregmax/supervision/sample.hpp"
#include "optimize/problem/items.hpp"

namespace bregmax::internal {
namespace {

std::string short_number(double value) { return fmt::format("{:.6g}", value); }

// The derivative of the summed loss with respect to each divergence, at the zero model.
struct FirstChanges {
  std::map<std::pair<Index, Index>, double> of_pair;

  void add(const DivergenceTerm& pair, double change) {
    if (pair.point == pair.reference) return;  // D(x, x), always 0, or a divergence that the item lacks
    of_pair[{pair.point, pair.reference}] += change;
  }
  // Losses are convex and divergences never negative: if no derivative is negative, no model beats the zero model.
  bool sums_fall() const {
    return std::ranges::any_of(of_pair, [](const auto& entry) { return entry.second < 0; });
  }
};

bool asks_for_more(const Item& item) {  // than divergences of 0
  if (item.weight <= 0) return false;
  if (item.squared) return item.value > 0 && item.plus.point != item.plus.reference;
  return item.minus.exists() && item.minus.point != item.minus.reference;
}

FirstChanges first_changes(const Supervision& supervision) {
  FirstChanges changes;
  for_each_item(supervision, [&](Index, const Item& item) {
    changes.add(item.plus, item.squared ? -2 * item.weight * item.value : item.weight);
    changes.add(item.minus, -item.weight);
  });
  return changes;
}

class Diagnosis {
 public:
  Diagnosis(const Plan& plan, const TrainingData& data, const FitOutcome& outcome)
      : plan_(plan), data_(data), outcome_(outcome), names_(plan.names) {}

  std::vector<Finding> make() {
    if (!is_success(outcome_.report.status)) {
      add(Finding::Kind::kEarlyEnd, to_string(outcome_.report.status), early_end());
    }
    find_scales_beyond_doubles();
    if (outcome_.model.record.constant) {
      const auto [cause, text] = cause_of_constant();
      add(Finding::Kind::kConstant, cause,
          "the learned divergence is constant: it does not tell the rows apart, and every ranking by it is a tie; " +
              text);
    } else if (learns_by_gradients() && nothing_is_asked()) {
      add(Finding::Kind::kConstant, "nothing_asked",
          fmt::format("the best divergence is a constant one, since none of the {} asks for one above 0: what the "
                      "learned one tells apart is left over from its start",
                      outcome_.model.record.supervision));
    }
    find_applied_loss();
    if (!outcome_.model.record.constant) compare_with_euclidean();
    return std::move(findings_);
  }

 private:
  void add(Finding::Kind kind, std::string cause, std::string text) {
    findings_.push_back({kind, std::move(cause), std::move(text)});
  }

  std::string early_end() const {
    const MethodReport& report = outcome_.report;
    std::string reason = "rounding errors ended the progress";
    if (learns_by_gradients()) {
      const bool raw = outcome_.chosen_scale == Scale::kNone;
      reason = fmt::format("the training diverged (a smaller rate helps{}), and the best model so far was kept",
                           raw ? ", or " + names_.with("scales", "standard") : "");
    }
    if (report.status == Status::kStopped) reason = "stopped by an interrupt";
    if (report.status == Status::kTimeLimit) {
      reason = names_.with("time_limit", short_number(plan_.time_limit)) + " was reached";
    } else if (report.status == Status::kIterationLimit) {
      const int limit =
          outcome_.proved ? report.iterations : resolve(outcome_.method(), outcome_.chosen).limits.max_iterations;
      reason = names_.with("max_iterations", fmt::format("{}", limit)) + " was reached";
    }
    if (outcome_.tuning_ended_early) {
      return fmt::format("not tuned: {} while the best candidate was being chosen", reason);
    }
    return outcome_.proved ? fmt::format("not optimal: {} at a relative gap of {:.1e} ({} was asked for)", reason,
                                         report.relative_gap, outcome_.tolerance)
                           : fmt::format("not converged: {} at a stationarity of {:.1e} ({:g} was asked for)", reason,
                                         report.stationarity, outcome_.tolerance);
  }

  bool learns_by_gradients() const { return outcome_.method().resumable && !outcome_.method().learns_from_items; }

  // No limit of the user ended the run, yet it has no proof, and the unscaled features differ widely in scale.
  void find_scales_beyond_doubles() {
    const MethodReport& report = outcome_.report;
    const bool unlimited =
        report.status == Status::kNumericalError ||
        (report.status == Status::kIterationLimit && report.iterations >= kPbdlLimits.max_iterations);
    if (!unlimited || outcome_.chosen_scale != Scale::kNone || !outcome_.proved || outcome_.proved->solver != "exact") {
      return;
    }
    double narrowest = std::numeric_limits<double>::infinity(), widest = 0;
    for (const auto& column : data_.rows.colwise()) {
      const double spread = column.maxCoeff() - column.minCoeff();
      if (spread > 0) narrowest = std::min(narrowest, spread);
      widest = std::max(widest, spread);
    }
    constexpr double kTooFarApart = 1e6;
    if (!(widest >= kTooFarApart * narrowest)) return;
    add(Finding::Kind::kScalesBeyondDoubles, "scale_none",
        fmt::format("features range over {:.0e} in one column and {:.0e} in another, too far apart to learn from as "
                    "they are with lambda {}: the relative gap stays at {:.1e}; {}, or a larger {}",
                    narrowest, widest, short_number(outcome_.proved->lambda), report.relative_gap,
                    names_.with("scales", "standard"), names_("lambda")));
  }

  std::pair<std::string, std::string> cause_of_constant() const {
    const TrainingRecord& record = outcome_.model.record;
    if ((data_.rows.rowwise() - data_.rows.row(0)).isZero(0)) {
      return {"equal_rows", "all rows of the data are equal, so that none could"};
    }
    if (const auto* classes = std::get_if<ClassOfRow>(&data_.supervision)) {
      if (std::set<int>(classes->begin(), classes->end()).size() < 2) {
        return {"one_label", "all rows have the same label: nothing asks for more"};
      }
    } else {
      if (nothing_is_asked()) {
        return {"nothing_asked", fmt::format("none of the {} asks for a divergence above 0", record.supervision)};
      }
      if (!first_changes(given_items()).sums_fall()) {
        return {"contradiction", fmt::format("the {} contradict each other: no divergence has a smaller loss{}",
                                             record.supervision, outcome_.proved ? ", whatever lambda is" : "")};
      }
    }
    if (learns_by_gradients()) return {"prices", "a smaller decay or feature_price may help"};
    if (!outcome_.method().learns_from_items) {
      return {"method", fmt::format("{} found no other", outcome_.method().name)};
    }
    return cause_in_parameters();
  }

  // As they were learned from.
  Supervision given_items() const {
    Supervision items = items_of(data_.supervision);
    return plan_.both_directions ? in_both_directions(std::move(items)) : items;
  }

  bool nothing_is_asked() const {
    if (data_.labelled()) return false;
    bool asks = false;
    for_each_item(items_of(data_.supervision), [&](Index, const Item& item) { asks = asks || asks_for_more(item); });
    return !asks;
  }

  std::pair<std::string, std::string> cause_in_parameters() const {
    const TrainingRecord& record = outcome_.model.record;
    if (pieces_of(*outcome_.model.divergence) == 1) {
      return {"one_piece", fmt::format("one piece is one affine function, and its divergence is 0 everywhere; {}",
                                       outcome_.chosen.piece_of ? names_("piece_of") + " has to name more"
                                                                : names_.with("pieces", "2") + " or more")};
    }
    if (bound_leaves_no_room()) {
      return {"lipschitz_bound", fmt::format("{} allows no more; a larger bound may help",
                                             names_.with("lipschitz", short_number(record.lipschitz_bound)))};
    }
    if (record.lambda == 0) return {"no_smaller_loss", "no divergence has a smaller loss, and lambda is 0 already"};
    if (outcome_.tuning.all_constant && outcome_.tuning.record.candidates.size() > 1) {
      return {"all_candidates",
              fmt::format("so are all candidates that were tried, down to lambda {}; smaller values of {} may help",
                          short_number(outcome_.planned.values("lambda").front()), names_("lambdas"))};
    }
    return {"lambda", fmt::format("a {} smaller than {} may help", names_("lambda"), short_number(record.lambda))};
  }

  // A divergence is at most twice the Lipschitz constant times the largest difference in a feature.
  bool bound_leaves_no_room() const {
    const Model& model = outcome_.model;
    if (model.record.lipschitz >= 0.999 * model.record.lipschitz_bound) return true;
    const Matrix rows = model.scaling.apply(data_.rows);
    const double widest = (rows.colwise().maxCoeff() - rows.colwise().minCoeff()).maxCoeff();
    constexpr double kNothing = 1e-5;  // of the margin
    return 2 * model.record.lipschitz_bound * widest <= kNothing;
  }

  void find_applied_loss() {
    constexpr double kRounding = 1e-6;
    if (!outcome_.proved || !outcome_.proved->applied_loss) return;
    if (resolve(outcome_.method(), outcome_.chosen).parameters["smoothing"] != 0)
      return;  // the report says what that does
    const double applied = *outcome_.proved->applied_loss, counted = outcome_.report.loss;
    if (std::abs(applied - counted) <= kRounding * (1 + std::abs(counted))) return;
    add(Finding::Kind::kAppliedLoss, "shared_pieces",
        fmt::format("applied, the model has a loss of {}: rows at one location share a piece then, and rows at which "
                    "pieces tie take one of them",
                    short_number(applied)));
  }

  // By the loss of comparisons and pairs, which ask for margins, a distance of another unit cannot be compared.
  void compare_with_euclidean() {
    const bool targets = std::holds_alternative<Targets>(data_.supervision);
    if (plan_.tune_for == Measure::kLoss && !targets) return;
    const TuningRecord& record = outcome_.tuning.record;
    const std::vector<MethodScore> scores = method_scores(record);
    const auto euclidean = std::ranges::find(scores, "euclidean", &MethodScore::method);
    if (euclidean == scores.end() || record.chosen < 0) return;
    const bool better = is_clearly_better(outcome_.tuning, record.chosen, euclidean->candidate, plan_.tune_for);
    if (scores.size() < 2 || better) return;
    const auto best = std::ranges::find_if(scores, &MethodScore::chosen);
    const std::string found = best != euclidean && best != scores.end()
                                  ? fmt::format("{} against {}", short_score(best->mean), short_score(euclidean->mean))
                                  : fmt::format("{}", short_score(euclidean->mean));
    add(Finding::Kind::kNotBetterThanEuclidean, best == euclidean ? "chosen" : "within_standard_error",
        fmt::format("on held-out data nothing that was tried is better than the Euclidean distance by more than the "
                    "standard error of the difference ({} {})",
                    record.tuned_for, found));
  }
  static std::string short_score(double value) { return fmt::format("{:.4f}", value); }

  const Plan& plan_;
  const TrainingData& data_;
  const FitOutcome& outcome_;
  const Names& names_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> diagnose(const Plan& plan, const TrainingData& data, const FitOutcome& outcome) {
  return Diagnosis(plan, data, outcome).make();
}

}  // namespace bregmax::internal
