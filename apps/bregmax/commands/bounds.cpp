#include "bregmax/theory/bounds.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/supervision/files.hpp"
#include "bregmax/supervision/sample.hpp"
#include "commands/commands.hpp"
#include "reports/bounds_report.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kBoundsExamples = R"(
Examples:
  bregmax bounds wine.bregmax builtin:wine
  bregmax bounds wine.bregmax train.csv --test test.csv --json
  bregmax bounds people.bregmax people.csv --comparisons-file train.csv --held-out-file held_out.csv
  bregmax bounds points.bregmax points.csv --targets-file targets.csv --noise 0.1 --beta 4

DATA are the rows that the model was learned from. Comparisons that fit made from labels, hard ones included, are made
again. A bound that no error can exceed anyway is called vacuous. On data of most sizes these bounds are vacuous: look
at the held-out error instead.)";

// Where pieces tie, applying a model may choose another piece than the fit did, so that the losses differ a little.
// Other comparisons differ by more.
constexpr double kAlike = 0.01;

const MaxAffine& pieces_of_model(const BoundsRequest& request, const Model& model) {
  if (const auto* pieces = dynamic_cast<const MaxAffine*>(model.divergence.get())) return *pieces;
  const bool smoothed = dynamic_cast<const SmoothedMaxAffine*>(model.divergence.get()) != nullptr;
  throw Error(fmt::format("{}: the divergence is {}; there are bounds for max_affine only, {}", request.model,
                          model.divergence->name(),
                          smoothed ? "which fit learns with --smoothing 0" : "which fit learns without --method"));
}

void check_unweighted(const auto& items, const std::string& path) {
  for (const auto& item : items) {
    if (item.weight == 1) continue;
    throw Error(fmt::format("{}: found the weight {}; there are bounds only for items of weight 1", path, item.weight));
  }
}

void check_request(const BoundsRequest& request, const Model& model, const Table& table) {
  const std::string& learned_from = model.record.supervision;
  const bool targets = !request.targets_file.empty();
  if (learned_from == "pairs") {
    throw Error(
        fmt::format("{}: it was learned from pairs; there are bounds for comparisons and targets only", request.model));
  }
  if (!learned_from.empty() && (learned_from == "targets") != targets) {
    throw Error(fmt::format("{}: it was learned from {}; give {}", request.model, learned_from,
                            targets ? "--comparisons-file, or labels" : "--targets-file"));
  }
  if (!targets && learned_from == "comparisons" && model.record.drawn == "given" && request.comparisons_file.empty()) {
    throw Error(fmt::format("{}: it was learned from given comparisons; name their file with --comparisons-file",
                            request.model));
  }
  if (model.record.rows != 0 && table.features.rows() != model.record.rows) {
    throw Error(fmt::format("{}: found {}; needed are the {} that the model was learned from", request.data,
                            count_of(table.features.rows(), "row"), model.record.rows));
  }
  if (!targets && !(std::isnan(request.noise) && std::isnan(request.beta))) {
    throw Error("--noise and --beta are for targets; give --targets-file");
  }
  if (targets && !request.test.empty()) {
    throw Error("--test is for comparisons drawn from labels; for targets give --held-out-file");
  }
}

// Calls draw(classes of the rows). Errors name the file and the label column.
template <class Draw>
Comparisons drawn_from_labels(const std::string& source, const Table& table, const Draw& draw) {
  if (!table.labels) {
    throw Error(
        fmt::format("{}: there is no label column to draw comparisons from; name it with --label, or give "
                    "--comparisons-file or --targets-file",
                    source));
  }
  try {
    return draw(table.labels->of_row);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {} (labels are in column {})", source, error.what(), table.labels->column));
  }
}

bool has_hard_comparisons(const Model& model) {
  return model.record.drawn == to_string(LabelSupervision::kHardComparisons);
}

// The comparisons that fit learned from. Models that do not say how they were drawn are older than hard comparisons.
Comparisons drawn_again(const BoundsRequest& request, const Model& model, const ModelInput& input) {
  const TrainingRecord& record = model.record;
  return drawn_from_labels(request.data, input.table, [&](const std::vector<int>& classes) {
    if (!has_hard_comparisons(model)) {
      return sample_comparisons(classes, record.items, record.drawn.empty() ? record.seed : record.drawn_seed);
    }
    return hard_comparisons(input.rows, classes, record.neighbours, record.items, record.drawn_seed);
  });
}

// The paper's comparisons, from another random stream than those of the fit.
Comparisons fresh_comparisons(const BoundsRequest& request, const Model& model, const std::string& source,
                              const Table& table) {
  return drawn_from_labels(source, table, [&](const std::vector<int>& classes) {
    return sample_comparisons(classes, static_cast<Index>(request.fresh),
                              Random(model.record.seed).fork(1).next_bits());
  });
}

void report_held_out_comparisons(const BoundsRequest& request, const Model& model, const ModelInput& input,
                                 ComparisonReport& report) {
  const auto add = [&](const std::string& source, const Matrix& rows, const Comparisons& comparisons) {
    report.held_out.push_back({source, static_cast<Index>(comparisons.size()),
                               comparison_losses(*model.divergence, rows, comparisons).error});
  };
  if (!request.held_out_file.empty()) {
    const Comparisons held_out = read_comparisons(request.held_out_file, input.rows.rows());
    check_unweighted(held_out, request.held_out_file);
    add(request.held_out_file, input.rows, held_out);
  } else if (input.table.labels) {
    add("fresh comparisons of the same rows", input.rows, fresh_comparisons(request, model, request.data, input.table));
  }
  if (request.test.empty()) return;
  const ModelInput test = read_labelled(model, request.test, request.layout);
  add(fmt::format("comparisons of the rows of {}", request.test), test.rows,
      fresh_comparisons(request, model, request.test, test.table));
}

BoundInputs inputs_of(const BoundsRequest& request, const Model& model, const ModelInput& input) {
  const MaxAffine& pieces = pieces_of_model(request, model);
  BoundInputs inputs;
  inputs.pieces = pieces.pieces();
  inputs.lipschitz = pieces.slopes().cwiseAbs().rowwise().sum().maxCoeff();
  inputs.radius = input.rows.cwiseAbs().maxCoeff();
  inputs.features = input.rows.cols();
  inputs.delta = request.delta;
  return inputs;
}

ExitCode run_for_comparisons(const BoundsRequest& request, const Model& model, const ModelInput& input) {
  ComparisonReport report;
  report.inputs = inputs_of(request, model, input);
  report.drawn_again = request.comparisons_file.empty();
  report.hard = report.drawn_again && has_hard_comparisons(model);
  const Comparisons train = report.drawn_again ? drawn_again(request, model, input)
                                               : read_comparisons(request.comparisons_file, input.rows.rows());
  check_unweighted(train, request.comparisons_file);
  report.inputs.items = static_cast<Index>(train.size());
  report.losses = comparison_losses(*model.divergence, input.rows, train);
  const double counted = model.record.loss, found = report.losses.hinge * static_cast<double>(train.size());
  report.loss_of_fit = counted;
  report.same_as_fit = std::abs(found - counted) <= kAlike * (1 + std::abs(counted));
  report.bound = comparison_bound(report.inputs, report.losses.ramp, Constants::kStated);
  report.proved = comparison_bound(report.inputs, report.losses.ramp, Constants::kProved);
  report_held_out_comparisons(request, model, input, report);
  print_bounds(request, report);
  return kDone;
}

ExitCode run_for_targets(const BoundsRequest& request, const Model& model, const ModelInput& input) {
  RegressionReport report;
  report.inputs = inputs_of(request, model, input);
  // In the theorem L is fixed before the data is seen, as with fit --lipschitz.
  report.lipschitz_was_fixed = std::isfinite(model.record.lipschitz_bound);
  if (report.lipschitz_was_fixed) report.inputs.lipschitz = model.record.lipschitz_bound;
  const Targets train = read_targets(request.targets_file, input.rows.rows());
  check_unweighted(train, request.targets_file);
  report.inputs.items = static_cast<Index>(train.size());
  if (!std::isnan(request.noise)) report.noise = request.noise;
  report.residual = residual_bound(report.inputs, report.noise);
  report.trivial = report.residual * report.residual;
  report.bound = regression_bound(report.inputs, squared_loss(*model.divergence, input.rows, train), report.noise);
  if (!std::isnan(request.beta)) {
    report.approximation = regression_approximation_bound(report.inputs, request.beta, report.noise);
  }
  report.suggested_pieces = regression_pieces(report.inputs.items, report.inputs.features);
  if (!request.held_out_file.empty()) {
    const Targets held_out = read_targets(request.held_out_file, input.rows.rows());
    check_unweighted(held_out, request.held_out_file);
    report.held_out.push_back({request.held_out_file, static_cast<Index>(held_out.size()),
                               squared_loss(*model.divergence, input.rows, held_out)});
  }
  print_bounds(request, report);
  return kDone;
}

ExitCode run_bounds(const BoundsRequest& request) {
  const Model model = load_model(request.model);
  pieces_of_model(request, model);
  const ModelInput input = read_for_model(model, request.data, request.layout);
  check_request(request, model, input.table);
  if (!request.targets_file.empty()) return run_for_targets(request, model, input);
  return run_for_comparisons(request, model, input);
}

}  // namespace

void add_bounds(CLI::App& program, Action& chosen) {
  const auto [command, request] = add_command(
      program, {"bounds", "what the theorems promise for a learned model, next to its held-out error", kBoundsExamples},
      run_bounds, chosen);
  OptionAdder options(*command);
  options.model(request->model);
  options.text("DATA", request->data, "", "the rows that it was learned from: CSV, .npy or builtin:NAME")->required();
  CLI::Option* comparisons = options.text("--comparisons-file", request->comparisons_file, "F",
                                          "the comparisons that it was learned from, unless they came from labels");
  options.text("--targets-file", request->targets_file, "F", "the targets that it was learned from")
      ->excludes(comparisons);
  options.text("--held-out-file", request->held_out_file, "F",
               "comparisons or targets of the same rows that it was not learned from");
  options.text("--test", request->test, "T", "other rows with labels, for comparisons among them");
  options.whole("--fresh", request->fresh, "N", {1, 1'000'000'000},
                "comparisons to draw from the labels for the held-out error");
  options.number("--delta", request->delta, "P", {1e-300, 1 - 1e-12, true, "a number > 0 and < 1"},
                 "probability that a bound may fail");
  const NumberRange at_least_zero{0, std::numeric_limits<double>::infinity(), true, "a finite number >= 0"};
  options
      .number("--noise", request->noise, "S", at_least_zero, "targets: how far at most a value is from its expectation")
      ->default_str("0");
  options
      .number("--beta", request->beta, "B", at_least_zero,
              "targets: smoothness of the true generator on the scaled features; bounds the distance from it")
      ->default_str("");
  options.layout(request->layout);
  options.json(request->json);
}

}  // namespace bregmax::app
