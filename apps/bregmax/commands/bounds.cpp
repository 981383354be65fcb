#include "bregmax/theory/bounds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/supervision/files.hpp"
#include "bregmax/supervision/sample.hpp"
#include "commands/commands.hpp"
#include "options/options.hpp"
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
again. A bound at or above what could happen anyway is called vacuous: with the sizes of most data these bounds are, and
the held-out error is the number to look at.)";

// Rows at which pieces tie may change their piece when a model is applied, so that its loss differs from the fit's a
// little; other comparisons differ by more.
constexpr double kAlike = 0.01;

const MaxAffine& pieces_of_model(const BoundsRequest& request, const Model& model) {
  if (const auto* pieces = dynamic_cast<const MaxAffine*>(model.divergence.get())) return *pieces;
  const bool smoothed = dynamic_cast<const SmoothedMaxAffine*>(model.divergence.get()) != nullptr;
  throw Error(fmt::format("{}: the divergence is {}; the bounds are about max_affine ones, {}", request.model,
                          model.divergence->name(),
                          smoothed ? "which fit learns with --smoothing 0" : "which fit learns without --method"));
}

void check_unweighted(const auto& items, const std::string& path) {
  for (const auto& item : items) {
    if (item.weight == 1) continue;
    throw Error(fmt::format("{}: found the weight {}; the bounds are about items that all count 1", path, item.weight));
  }
}

void check_request(const BoundsRequest& request, const Model& model, const Table& table) {
  const std::string& learned_from = model.record.supervision;
  const bool targets = !request.targets_file.empty();
  if (learned_from == "pairs") {
    throw Error(
        fmt::format("{}: it was learned from pairs; the bounds are about comparisons and targets", request.model));
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
    throw Error(fmt::format("{}: found {}; the model was learned from {}, and these are needed", request.data,
                            count_of(table.features.rows(), "row"), model.record.rows));
  }
  if (!targets && (request.noise_given || request.beta)) {
    throw Error("--noise and --beta belong to the bounds for targets; give --targets-file");
  }
  if (targets && !request.test.empty()) {
    throw Error("--test is for comparisons drawn from labels; for targets give --held-out-file");
  }
}

// Calls draw(classes of the rows); a mistake of the labels is told with the file and the column that they are in.
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

// Those that fit learned from. A model that does not say how they were drawn is older than hard comparisons.
Comparisons drawn_again(const BoundsRequest& request, const Model& model, const ModelInput& input) {
  const TrainingRecord& record = model.record;
  return drawn_from_labels(request.data, input.table, [&](const std::vector<int>& classes) {
    if (!has_hard_comparisons(model)) {
      return sample_comparisons(classes, record.items, record.drawn.empty() ? record.seed : record.drawn_seed);
    }
    return hard_comparisons(input.rows, classes, record.neighbours, record.items, record.drawn_seed);
  });
}

// The paper's comparisons, from another stream than the one that those of the fit came from.
Comparisons fresh_comparisons(const BoundsRequest& request, const Model& model, const std::string& source,
                              const Table& table) {
  return drawn_from_labels(source, table, [&](const std::vector<int>& classes) {
    return sample_comparisons(classes, static_cast<Index>(request.fresh),
                              Random(model.record.seed).fork(1).next_bits());
  });
}

void report_held_out_comparisons(const BoundsRequest& request, const Model& model, const ModelInput& input,
                                 ComparisonReport& report) {
  if (!request.held_out_file.empty()) {
    const Comparisons held_out = read_comparisons(request.held_out_file, input.rows.rows());
    check_unweighted(held_out, request.held_out_file);
    report.held_out.push_back({request.held_out_file, static_cast<Index>(held_out.size()),
                               comparison_losses(*model.divergence, input.rows, held_out).error});
  } else if (input.table.labels) {
    const Comparisons fresh = fresh_comparisons(request, model, request.data, input.table);
    report.held_out.push_back({"fresh comparisons of the same rows", static_cast<Index>(fresh.size()),
                               comparison_losses(*model.divergence, input.rows, fresh).error});
  }
  if (request.test.empty()) return;
  const ModelInput test = read_labelled(model, request.test, request.layout);
  const Comparisons of_test = fresh_comparisons(request, model, request.test, test.table);
  report.held_out.push_back({fmt::format("comparisons of the rows of {}", request.test),
                             static_cast<Index>(of_test.size()),
                             comparison_losses(*model.divergence, test.rows, of_test).error});
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
  report.rademacher = rademacher_bound(report.inputs);
  report.stated = comparison_bound(report.inputs, report.losses.ramp, Constants::kStated);
  report.proved = comparison_bound(report.inputs, report.losses.ramp, Constants::kProved);
  report_held_out_comparisons(request, model, input, report);
  print_report(request, report);
  return kDone;
}

ExitCode run_for_targets(const BoundsRequest& request, const Model& model, const ModelInput& input) {
  RegressionReport report;
  report.inputs = inputs_of(request, model, input);
  // The theorem fixes L before the data is seen, as --lipschitz of fit does.
  report.lipschitz_was_fixed = std::isfinite(model.record.lipschitz_bound);
  if (report.lipschitz_was_fixed) report.inputs.lipschitz = model.record.lipschitz_bound;
  const Targets train = read_targets(request.targets_file, input.rows.rows());
  check_unweighted(train, request.targets_file);
  report.inputs.items = static_cast<Index>(train.size());
  report.noise = request.noise;
  report.rademacher = rademacher_bound(report.inputs);
  report.residual = residual_bound(report.inputs, request.noise);
  report.generalisation =
      regression_bound(report.inputs, squared_loss(*model.divergence, input.rows, train), request.noise);
  if (request.beta) {
    report.approximation = regression_approximation_bound(report.inputs, *request.beta, request.noise);
  }
  report.suggested_pieces = regression_pieces(report.inputs.items, report.inputs.features);
  if (!request.held_out_file.empty()) {
    const Targets held_out = read_targets(request.held_out_file, input.rows.rows());
    check_unweighted(held_out, request.held_out_file);
    report.held_out.push_back({request.held_out_file, static_cast<Index>(held_out.size()),
                               squared_loss(*model.divergence, input.rows, held_out)});
  }
  print_report(request, report);
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
      program, {"bounds", "what the theorems promise for a learned model, beside its held-out error", kBoundsExamples},
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
                "comparisons to draw from labels for the held-out error");
  options.number("--delta", request->delta, "P", {1e-300, 1 - 1e-12, true, "a number > 0 and < 1"},
                 "probability with which a bound may fail");
  options
      .number("--noise", request->noise, "S",
              {0, std::numeric_limits<double>::infinity(), true, "a finite number >= 0"},
              "targets: the most by which a value is off its expectation")
      ->each([request = request.get()](const std::string&) { request->noise_given = true; });
  const auto accept_beta = [request = request.get()](const std::string& given) {
    request->beta =
        parse_number("--beta", given, {0, std::numeric_limits<double>::infinity(), true, "a finite number >= 0"});
  };
  command
      ->add_option_function<std::string>("--beta", accept_beta,
                                         "targets: smoothness of the true generator on the scaled features, for the "
                                         "distance from it [a finite number >= 0]")
      ->type_name("B");
  options.layout(request->layout);
  options.json(request->json);
}

}  // namespace bregmax::app
