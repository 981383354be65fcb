#include "bregmax/theory/bounds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "bregmax/core/random.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/supervision/sample.hpp"
#include "commands/commands.hpp"
#include "options/supervision_files.hpp"

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

constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();

// What `bregmax bounds` was asked.
struct BoundsRequest : ModelRequest {
  std::string data;
  std::string comparisons_file, targets_file, held_out_file, test;
  std::optional<Index> first_row;
  Index fresh = 10000;
  double delta = 0.05, noise = kNotGiven, beta = kNotGiven;
};

struct HeldOut {
  std::string source;
  Index items;
  double error;  // comparisons: the fraction violated; targets: the mean squared error
};

struct BoundsReport {
  BoundInputs inputs;
  BoundTerms bound = {};  // of Theorem 2 as stated, or of Theorem 3
  double trivial = 1;     // no error is larger: a bound that is not below it says nothing
  std::vector<HeldOut> held_out = {};
};

// ---- Reports ----

std::string number(double value) { return fmt::format("{:.4g}", value); }

// The terms of a bound, one per line, and their sum.
std::string terms_as_text(const BoundTerms& terms, const std::string& loss, const std::string& complexity,
                          const std::string& confidence, const std::string& verdict) {
  return fmt::format(
      "              {:>10}   {}\n            + {:>10}   {}\n            + {:>10}   {}\n            = {:>10}   {}\n",
      number(terms.loss), loss, number(terms.complexity), complexity, number(terms.confidence), confidence,
      number(terms.total()), verdict);
}

Json terms_as_json(const BoundTerms& terms, double trivial) {
  return {{"loss_term", terms.loss},
          {"complexity_term", terms.complexity},
          {"confidence_term", terms.confidence},
          {"bound", terms.total()},
          {"vacuous", terms.total() >= trivial}};
}

std::string inputs_as_text(const BoundsRequest& request, const BoundInputs& inputs, const std::string& items) {
  return fmt::format(
      "model       K = {} pieces, Lipschitz constant L = {}, d = {} features ({})\n"
      "data        R = {}, the largest feature after scaling; m = {} {}\n\n"
      "Lemma 2     the Rademacher complexity is at most {}\n",
      inputs.pieces, number(inputs.lipschitz), inputs.features, request.model, number(inputs.radius), inputs.items,
      items, number(rademacher_bound(inputs)));
}

std::string held_out_as_text(const std::vector<HeldOut>& all, std::string_view what, std::string_view how_to) {
  if (all.empty()) return fmt::format("held out    unknown: {}\n", how_to);
  std::string out;
  for (const HeldOut& each : all) {
    out += fmt::format("held out    {:>12}   {}: {} ({})\n", number(each.error), what, each.source, each.items);
  }
  return out;
}

// The members that bounds for comparisons and for targets share.
Json common_json(const BoundsRequest& request, const BoundsReport& report, const char* supervision) {
  const BoundInputs& inputs = report.inputs;
  Json object = {{"model", request.model},     {"data", request.data},
                 {"pieces", inputs.pieces},    {"lipschitz", inputs.lipschitz},
                 {"radius", inputs.radius},    {"d", inputs.features},
                 {"m", inputs.items},          {"delta", inputs.delta},
                 {"supervision", supervision}, {"rademacher_bound", rademacher_bound(inputs)}};
  object.update(terms_as_json(report.bound, report.trivial));
  object["held_out_error"] = report.held_out.empty() ? Json(nullptr) : Json(report.held_out.back().error);
  object["held_out"] = Json::array();
  for (const HeldOut& each : report.held_out) {
    object["held_out"].push_back({{"source", each.source}, {"items", each.items}, {"error", each.error}});
  }
  return object;
}

// Where pieces tie, applying a model may choose another piece than the fit did, so that the losses differ a little.
// Losses of other comparisons differ by more.
constexpr double kAlike = 0.01;

bool is_loss_of_fit(const Model& model, double summed_loss) {
  return std::abs(summed_loss - model.record.loss) <= kAlike * (1 + std::abs(model.record.loss));
}

std::string probability_text(std::string_view theorem, const BoundInputs& inputs, std::string_view claim) {
  return fmt::format("{:<11} with probability {}, {} at most\n", theorem, 1 - inputs.delta, claim);
}

// ---- The bounds ----

const MaxAffine& pieces_of_model(const BoundsRequest& request, const Model& model) {
  if (const auto* pieces = dynamic_cast<const MaxAffine*>(model.divergence.get())) return *pieces;
  const bool smoothed = dynamic_cast<const SmoothedMaxAffine*>(model.divergence.get()) != nullptr;
  fail("{}: the divergence is {}; there are bounds for max_affine only, {}", request.model, model.divergence->name(),
       smoothed ? "which fit learns with --smoothing 0" : "which fit learns without --method");
}

void check_unweighted(const auto& items, const std::string& path) {
  for (const auto& item : items) {
    require(item.weight == 1, "{}: found the weight {}; there are bounds only for items of weight 1", path,
            item.weight);
  }
}

void check_request(const BoundsRequest& request, const Model& model, const Table& table) {
  const std::string& learned_from = model.record.supervision;
  const bool targets = !request.targets_file.empty();
  require(learned_from != "pairs", "{}: it was learned from pairs; there are bounds for comparisons and targets only",
          request.model);
  require(learned_from.empty() || (learned_from == "targets") == targets, "{}: it was learned from {}; give {}",
          request.model, learned_from, targets ? "--comparisons-file, or labels" : "--targets-file");
  require(
      targets || learned_from != "comparisons" || model.record.drawn != "given" || !request.comparisons_file.empty(),
      "{}: it was learned from given comparisons; name their file with --comparisons-file", request.model);
  require(model.record.rows == 0 || table.features.rows() == model.record.rows,
          "{}: found {}; needed are the {} that the model was learned from", request.data,
          count_of(table.features.rows(), "row"), model.record.rows);
  require(targets || (std::isnan(request.noise) && std::isnan(request.beta)),
          "--noise and --beta are for targets; give --targets-file");
  require(!targets || request.test.empty(),
          "--test is for comparisons drawn from labels; for targets give --held-out-file");
}

// Calls draw(classes of the rows). Errors name the file and the label column.
template <class Draw>
Comparisons drawn_from_labels(const std::string& source, const Table& table, const Draw& draw) {
  require(table.labels.has_value(),
          "{}: there is no label column to draw comparisons from; name it with --label, or give "
          "--comparisons-file or --targets-file",
          source);
  try {
    return draw(table.labels->of_row);
  } catch (const Error& error) {
    fail("{}: {} (labels are in column {})", source, error.what(), table.labels->column);
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

std::vector<HeldOut> held_out_comparisons(const BoundsRequest& request, const Model& model, const ModelInput& input) {
  std::vector<HeldOut> all;
  const auto add = [&](const std::string& source, const Matrix& rows, const Comparisons& comparisons) {
    const double error = comparison_losses(*model.divergence, rows, comparisons).error;
    all.push_back({source, std::ssize(comparisons), error});
  };
  // Drawn as in the paper, from another random stream than the comparisons of the fit.
  const auto fresh = [&](const std::string& source, const Table& table) {
    return drawn_from_labels(source, table, [&](const std::vector<int>& classes) {
      return sample_comparisons(classes, request.fresh, Random(model.record.seed).fork(1).next_bits());
    });
  };
  if (!request.held_out_file.empty()) {
    const Comparisons held_out =
        read_comparisons(request.held_out_file, row_names(input.table, request.first_row), saying_notes());
    check_unweighted(held_out, request.held_out_file);
    add(request.held_out_file, input.rows, held_out);
  } else if (input.table.labels) {
    add("fresh comparisons of the same rows", input.rows, fresh(request.data, input.table));
  }
  if (request.test.empty()) return all;
  const ModelInput test = read_labelled(model, request.test, request.layout);
  add(fmt::format("comparisons of the rows of {}", request.test), test.rows, fresh(request.test, test.table));
  return all;
}

BoundInputs inputs_of(const BoundsRequest& request, const Model& model, const ModelInput& input, std::size_t items) {
  const MaxAffine& pieces = pieces_of_model(request, model);
  return {.pieces = pieces.pieces(),
          .lipschitz = pieces.slopes().cwiseAbs().rowwise().sum().maxCoeff(),
          .radius = input.rows.cwiseAbs().maxCoeff(),
          .features = input.rows.cols(),
          .items = static_cast<Index>(items),
          .delta = request.delta};
}

// Says what keeps Theorem 2 from holding here.
void say_notes(const Model& model, bool hard, double summed_loss) {
  if (hard) {
    say("bregmax: note: Theorem 2 is about comparisons that are drawn independently, and hard comparisons are chosen: "
        "its bound does not hold for the fresh comparisons below, which are ordinary ones");
  }
  if (is_loss_of_fit(model, summed_loss)) return;
  say(
      fmt::format("bregmax: note: the summed hinge loss of these comparisons is {}, that of the fit was {}: are they "
                  "the ones that it learned from? (--comparisons-file names them)",
                  short_number(summed_loss), short_number(model.record.loss)));
}

ExitCode run_for_comparisons(const BoundsRequest& request, const Model& model, const ModelInput& input) {
  const bool again = request.comparisons_file.empty(), hard = again && has_hard_comparisons(model);
  const Comparisons train =
      again ? drawn_again(request, model, input)
            : read_comparisons(request.comparisons_file, row_names(input.table, request.first_row), saying_notes());
  check_unweighted(train, request.comparisons_file);
  const ComparisonLosses losses = comparison_losses(*model.divergence, input.rows, train);
  const double summed_loss = losses.hinge * static_cast<double>(train.size());
  BoundsReport report{inputs_of(request, model, input, train.size())};
  report.bound = comparison_bound(report.inputs, losses.ramp, Constants::kStated);
  const BoundTerms proved = comparison_bound(report.inputs, losses.ramp, Constants::kProved);
  report.held_out = held_out_comparisons(request, model, input);
  say_notes(model, hard, summed_loss);

  Json object = common_json(request, report, "comparisons");
  object.update({{"drawn_from_labels", again},
                 {"hard_comparisons", hard},
                 {"same_as_fit", is_loss_of_fit(model, summed_loss)},
                 {"empirical_ramp_loss", losses.ramp},
                 {"empirical_hinge_loss", losses.hinge},
                 {"empirical_error", losses.error},
                 {"bound_with_hinge_loss", report.bound.total() - losses.ramp + losses.hinge},
                 {"as_proved", terms_as_json(proved, report.trivial)}});
  std::string text = inputs_as_text(request, report.inputs,
                                    hard    ? "hard comparisons, made again from the labels"
                                    : again ? "comparisons, drawn again from the labels"
                                            : "comparisons");
  text += probability_text("Theorem 2", report.inputs, "a new comparison is violated with probability");
  text += terms_as_text(report.bound, fmt::format("mean ramp loss (hinge loss {})", number(losses.hinge)),
                        "complexity, 32 K L R sqrt(2 ln(2d+2)/m)",
                        "confidence, sqrt((4 ln(4 log2 max(L,2)) + ln(1/delta))/m)",
                        report.bound.total() >= 1 ? "vacuous: no probability is above 1" : "");
  text += fmt::format("              {:>10}   with the constants of its proof (docs/mathematics.md){}\n\n",
                      number(proved.total()), proved.total() >= 1 ? ": vacuous" : "");
  text += held_out_as_text(report.held_out, "violated", "give --held-out-file or --test");
  return print_report(request.json, object, text);
}

std::string regression_text(const BoundsRequest& request, const BoundsReport& report,
                            const std::optional<BoundTerms>& approximation) {
  const auto verdict = [&](const BoundTerms& terms) {
    if (terms.total() < report.trivial) return std::string();
    return fmt::format("vacuous: no squared error is above M^2 = {}", number(report.trivial));
  };
  std::string text = inputs_as_text(request, report.inputs, "targets");
  text += probability_text("Theorem 3", report.inputs, "the expected squared error on new targets is");
  text += terms_as_text(
      report.bound, "mean squared error",
      fmt::format("complexity, 16 M K L R sqrt(2 ln(2d+2)/m), M = 4LR + noise = {}", number(std::sqrt(report.trivial))),
      "confidence, M^2 sqrt(ln(1/delta)/(2m))", verdict(report.bound));
  if (approximation) {
    text += "            and the expected squared distance from the true divergence at most\n";
    text += terms_as_text(*approximation, "approximation, (36 beta R^2 K^(-1/d))^2", "complexity, the same",
                          "confidence, M^2 sqrt(2 ln(2/delta)/m)", verdict(*approximation));
  }
  return text +
         fmt::format("            K = {} would be the theorem's number of pieces (fit --pieces theory)\n\n",
                     regression_pieces(report.inputs.items, report.inputs.features)) +
         held_out_as_text(report.held_out, "mean squared error", "give --held-out-file");
}

ExitCode run_for_targets(const BoundsRequest& request, const Model& model, const ModelInput& input) {
  const auto read = [&](const std::string& path) {
    Targets targets = read_targets(path, row_names(input.table, request.first_row), saying_notes());
    check_unweighted(targets, path);
    return targets;
  };
  const Targets train = read(request.targets_file);
  BoundsReport report{inputs_of(request, model, input, train.size())};
  // In the theorem L is fixed before the data is seen, as with fit --lipschitz.
  const bool lipschitz_was_fixed = std::isfinite(model.record.lipschitz_bound);
  if (lipschitz_was_fixed) report.inputs.lipschitz = model.record.lipschitz_bound;
  const double noise = std::isnan(request.noise) ? 0 : request.noise, residual = residual_bound(report.inputs, noise);
  report.trivial = residual * residual;
  report.bound = regression_bound(report.inputs, squared_loss(*model.divergence, input.rows, train), noise);
  std::optional<BoundTerms> approximation;
  if (!std::isnan(request.beta)) approximation = regression_approximation_bound(report.inputs, request.beta, noise);
  if (!request.held_out_file.empty()) {
    const Targets held_out = read(request.held_out_file);
    report.held_out.push_back(
        {request.held_out_file, std::ssize(held_out), squared_loss(*model.divergence, input.rows, held_out)});
  }
  if (!lipschitz_was_fixed) {
    say("bregmax: note: L was learned; Theorem 3 needs an L that is fixed before the data is seen (fit --lipschitz)");
  }
  Json object = common_json(request, report, "targets");
  object.update({{"lipschitz_was_fixed", lipschitz_was_fixed},
                 {"noise", noise},
                 {"residual_bound", residual},
                 {"empirical_squared_loss", report.bound.loss},
                 {"approximation", approximation ? terms_as_json(*approximation, report.trivial) : Json(nullptr)},
                 {"theory_pieces", regression_pieces(report.inputs.items, report.inputs.features)}});
  return print_report(request.json, object, regression_text(request, report, approximation));
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
  auto [options, request] = add_command(
      program, {"bounds", "what the theorems promise for a learned model, next to its held-out error", kBoundsExamples},
      run_bounds, chosen);
  options.model(request->model);
  options.text("DATA", request->data, "", "the rows that it was learned from: CSV, .npy or builtin:NAME")->required();
  CLI::Option* comparisons = options.text("--comparisons-file", request->comparisons_file, "F",
                                          "the comparisons that it was learned from, unless they came from labels");
  options.text("--targets-file", request->targets_file, "F", "the targets that it was learned from")
      ->excludes(comparisons);
  options.text("--held-out-file", request->held_out_file, "F",
               "comparisons or targets of the same rows that it was not learned from");
  add_first_row(options, request->first_row);
  options.text("--test", request->test, "T", "other rows with labels, for comparisons among them");
  options.whole("--fresh", request->fresh, "N", {1, 1'000'000'000},
                "comparisons to draw from the labels for the held-out error");
  options.number("--delta", request->delta, "P", {1e-300, 1 - 1e-12, true, "a number > 0 and < 1"},
                 "probability that a bound may fail");
  options
      .number("--noise", request->noise, "S", at_least_zero(),
              "targets: how far at most a value is from its expectation")
      ->default_str("0");
  options
      .number("--beta", request->beta, "B", at_least_zero(),
              "targets: smoothness of the true generator on the scaled features; bounds the distance from it")
      ->default_str("");
  options.layout(request->layout);
  options.json(request->json);
}

}  // namespace bregmax::app
