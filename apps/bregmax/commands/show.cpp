#include <fmt/format.h>

#include <cmath>

#include "bregmax/divergence/feature_norms.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "bregmax/model/model.hpp"
#include "commands/commands.hpp"
#include "core/text.hpp"
#include "learn/as_json.hpp"
#include "pictures/pictures.hpp"
#include "pictures/png.hpp"
#include "reports/fit_report.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kShowExamples = R"(
Examples:
  bregmax show wine.bregmax
  bregmax show wine.bregmax --json
  bregmax show wine.bregmax --picture path.svg)";

struct ShowRequest {
  std::string model, picture;
  bool json = false;
};

std::string scale_name(const Model& model) { return model.scaling.is_identity() ? "none" : "standard"; }

// How features are made of the columns of a file.
Json recipe_as_json(const Recipe& recipe) {
  Json features = Json::array();
  for (const FeatureSource& feature : recipe.features) {
    features.push_back({{"column", feature.column},
                        {"category", feature.category ? Json(*feature.category) : Json(nullptr)},
                        {"fill", feature.fill}});
  }
  return {{"features", std::move(features)}, {"missing", to_string(recipe.missing)},
          {"label", recipe.label},           {"id", recipe.id},
          {"target", recipe.target},         {"others", recipe.others}};
}

std::string recipe_text(const Recipe& recipe) {
  std::vector<std::string> parts;
  if (!recipe.label.empty()) parts.push_back("label " + recipe.label);
  if (!recipe.target.empty()) parts.push_back("target " + recipe.target);
  if (!recipe.id.empty()) parts.push_back("names of rows " + recipe.id);
  if (!recipe.others.empty()) parts.push_back("no features " + internal::joined(recipe.others, ", "));
  if (recipe.missing != MissingValues::kRefuse) parts.push_back("missing values " + to_string(recipe.missing));
  return internal::joined(parts, "; ");
}

Json as_json(const ShowRequest& request, const Model& model) {
  Json json = {{"model", request.model},
               {"divergence", model.divergence->name()},
               {"pieces", pieces_of(*model.divergence)},
               {"d", model.features()},
               {"smoothing", smoothing_of(*model.divergence)},
               {"resolution", model.divergence->resolution()},
               {"scale", scale_name(model)},
               {"feature_names", model.feature_names},
               {"features_read", internal::features_as_json(model)},
               {"class_names", model.class_names},
               {"columns", recipe_as_json(model.recipe)}};
  json.update(internal::record_as_json(model.record));
  json.update({{"tuning", internal::tuning_as_json(model.tuning)},
               {"center", std::vector<double>(model.scaling.center.begin(), model.scaling.center.end())},
               {"scaling", std::vector<double>(model.scaling.scale.begin(), model.scaling.scale.end())}});
  return json;
}

// The features by their number, each with its norm and its scaling.
std::string feature_table(const Model& model) {
  std::string out = fmt::format("{:<11} {}\n", "features", features_text(model));
  const std::optional<Vector> norms = feature_norms(*model.divergence);
  std::size_t widest = 4;
  for (const std::string& name : model.feature_names) widest = std::max(widest, name.size());
  for (Index f = 0; f < model.features(); ++f) {
    out += fmt::format("            {:<{}}", feature_name(model, f), widest);
    if (norms) out += fmt::format("  norm {:<9}", fmt::format("{:.4g}", (*norms)(f)));
    if (!model.scaling.is_identity()) {
      out += fmt::format("  minus {}, divided by {}", short_number(model.scaling.center(f)),
                         short_number(model.scaling.scale(f)));
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  return out;
}

std::string as_text(const ShowRequest& request, const Model& model) {
  const TrainingRecord& record = model.record;
  std::string out;
  const auto line = [&out](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11} {}\n", name, text);
  };
  line("model", request.model);
  std::string kind = model.divergence->name();
  if (pieces_of(*model.divergence) > 0) kind += ", " + count_of(pieces_of(*model.divergence), "affine piece");
  if (smoothing_of(*model.divergence) > 0) kind += ", T = " + short_number(smoothing_of(*model.divergence));
  line("divergence", kind);
  if (model.divergence->resolution() > 0) {
    line("ties",
         fmt::format("divergences that differ by at most {} rank alike", short_number(model.divergence->resolution())));
  }
  if (!record.supervision.empty()) {
    line("learned",
         fmt::format("from {} on {}, seed {}", learned_from_text(model), count_of(record.rows, "row"), record.seed));
    line("solver",
         fmt::format("{}, {}, {:.2f} s", record.solver, count_of(record.iterations, "iteration"), record.seconds));
  }
  if (!record.method.empty() && record.method != "pbdl" && record.method != "none") {
    line("method", method_text(record));
    line("status", fmt::format("{}: objective {}, stationarity {:.1e}", record.status, short_number(record.objective),
                               record.stationarity));
  } else if (!record.supervision.empty()) {
    line("status", proof_text(record.status, record.objective, record.lower_bound, record.relative_gap));
    line("regularity",
         fmt::format("loss {}, Lipschitz constant {}, lambda {}, bound {}", short_number(record.loss),
                     short_number(record.lipschitz), short_number(record.lambda),
                     std::isfinite(record.lipschitz_bound) ? short_number(record.lipschitz_bound) : "none"));
  }
  if (record.constant) line("warning", "the divergence is constant: it does not tell the training rows apart");
  if (!model.tuning.empty()) out += tuning_summary(model.tuning);
  if (!model.class_names.empty()) line("classes", internal::joined(model.class_names, ", "));
  if (const std::string columns = recipe_text(model.recipe); !columns.empty()) line("columns", columns);
  line("scaling", scale_name(model));
  out += feature_table(model);
  return model.tuning.empty() ? out : out + "\n" + tuning_table(model.tuning);
}

ExitCode run_show(const ShowRequest& request) {
  check_outputs({{"--picture", request.picture}}, {{"MODEL", request.model}});
  check_picture(request.picture);
  const Model model = load_model(request.model);
  if (!request.picture.empty()) write_picture(request.picture, draw_tuning(model.tuning));
  return print_report(request.json, as_json(request, model), as_text(request, model));
}

}  // namespace

void add_show(CLI::App& program, Action& chosen) {
  auto [options, request] =
      add_command(program, {"show", "what a model is, and how it was learned", kShowExamples}, run_show, chosen);
  options.model(request->model);
  options.text("--picture", request->picture, "F",
               "write a picture (.svg or .png) of the scores over lambda, if it was tuned");
  options.json(request->json);
}

}  // namespace bregmax::app
