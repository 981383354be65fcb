#include "bregmax/learn/fit_plan.hpp"

#include <fmt/format.h>

#include "bregmax/core/error.hpp"
#include "bregmax/theory/bounds.hpp"

namespace bregmax {
namespace {

constexpr Index kComparisonsToDraw = 2000;

void check_combination(const FitWishes& wishes, const Supervision* given) {
  const FitWishes::Names& names = wishes.names;
  if (wishes.lambda.value && !wishes.lambdas.empty()) {
    throw Error(fmt::format("{} are the values that {} auto tries; it does not go with a number for {}", names.lambdas,
                            names.lambda, names.lambda));
  }
  if (wishes.comparisons && (given != nullptr || wishes.supervision == LabelSupervision::kAllPairs)) {
    throw Error(
        fmt::format("{} is the number of comparisons to draw from labels, or of hard ones to keep; it does not "
                    "go with another supervision",
                    names.comparisons));
  }
  if (given != nullptr && wishes.tune_for && *wishes.tune_for != Measure::kLoss) {
    throw Error(fmt::format("{} is '{}'; allowed with given supervision: loss, of its held-out items", names.tune_for,
                            to_string(*wishes.tune_for)));
  }
}

// 0: every row has its own, also where the theorem would have more pieces than there are rows.
int pieces_of_theory(const FitWishes& wishes, const MatrixView& rows, const Supervision* given) {
  const auto* targets = given != nullptr ? std::get_if<Targets>(given) : nullptr;
  if (targets == nullptr) {
    throw Error(
        fmt::format("{} is theory; that rule is for targets: give those, or a number of pieces", wishes.names.pieces));
  }
  const Index pieces = regression_pieces(static_cast<Index>(targets->size()), rows.cols());
  return pieces < rows.rows() ? static_cast<int>(pieces) : 0;
}

std::vector<int> pieces_to_try(const FitWishes& wishes, const MatrixView& rows, const Supervision* given) {
  if (wishes.fit.piece_of) return {0};
  if (wishes.theory_pieces) return {pieces_of_theory(wishes, rows, given)};
  if (wishes.pieces.value) {
    const double pieces = *wishes.pieces.value;
    if (!(pieces >= 1 && pieces <= static_cast<double>(rows.rows()))) {
      throw Error(fmt::format("{} is {}; allowed: 1 to {}, the number of rows, all, auto or theory",
                              wishes.names.pieces, pieces, rows.rows()));
    }
    return {static_cast<int>(pieces)};
  }
  // Of a large table shares are too many, and what the pieces can express no longer depends on the rows.
  if (rows.rows() > kMostRowsWithOwnPieces && !wishes.own_pieces) return {20, 50, 100, 200};
  std::vector<int> pieces = {0};
  for (const Index share : {2, 4, 8}) {
    if (wishes.pieces.automatic && rows.rows() / share > 1) pieces.push_back(static_cast<int>(rows.rows() / share));
  }
  return pieces;
}

LabelSupervisionOptions supervision_from_labels(const FitWishes& wishes, const LabelSupervisionOptions& recommended) {
  LabelSupervisionOptions options = recommended;
  if (wishes.supervision) {
    options.kind = *wishes.supervision;
  } else if (wishes.comparisons) {
    options.kind = LabelSupervision::kComparisons;
  }
  const bool hard = options.kind == LabelSupervision::kHardComparisons;
  options.comparisons = wishes.comparisons.value_or(hard ? 0 : kComparisonsToDraw);
  options.neighbours = wishes.hard_neighbours;
  options.seed = wishes.fit.seed;
  return options;
}

std::vector<double> lambdas_to_try(const FitWishes& wishes, bool pairs_of_rows, bool targets) {
  if (wishes.lambda.value) return {*wishes.lambda.value};
  if (!wishes.lambdas.empty()) return wishes.lambdas;
  if (targets && !wishes.lambda.given()) return {0};
  return pairs_of_rows ? all_pairs_lambdas() : default_lambdas();
}

}  // namespace

AutoFitOptions plan_fit(const FitWishes& wishes, const MatrixView& rows, const Supervision* given) {
  check_combination(wishes, given);
  AutoFitOptions plan = recommended_options(rows.rows());
  plan.fit = wishes.fit;
  plan.pieces = pieces_to_try(wishes, rows, given);
  plan.folds = wishes.folds;
  if (wishes.repeats) plan.repeats = *wishes.repeats;
  if (given == nullptr) plan.supervision = {supervision_from_labels(wishes, plan.supervision.front())};
  const bool pairs_of_rows = given == nullptr && plan.supervision.front().kind == LabelSupervision::kAllPairs;
  plan.lambdas = lambdas_to_try(wishes, pairs_of_rows, given != nullptr && std::holds_alternative<Targets>(*given));
  if (!wishes.scales.empty()) plan.scales = wishes.scales;
  const bool choose_smoothing = given == nullptr && plan.lambdas.size() > 1;
  if (wishes.smoothing.value) {
    plan.temperatures = {*wishes.smoothing.value};
  } else if (!wishes.smoothing.automatic && !choose_smoothing) {
    plan.temperatures = {0};
  }
  plan.tune_for = wishes.tune_for.value_or(given != nullptr ? Measure::kLoss : Measure::kAveragePrecision);
  return plan;
}

bool has_choice(const AutoFitOptions& plan) {
  return plan.lambdas.size() * plan.temperatures.size() * plan.pieces.size() * plan.scales.size() > 1;
}

std::vector<Scale> scales_named(const std::string& name) {
  if (name == "standard") return {Scale::kStandard};
  if (name == "none") return {Scale::kNone};
  if (name == "auto") return {Scale::kStandard, Scale::kNone};
  throw Error(fmt::format("scale is '{}'; allowed: standard, none or auto", name));
}

}  // namespace bregmax
