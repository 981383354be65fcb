#include "bregmax/theory/approximate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/model/model.hpp"
#include "commands/commands.hpp"
#include "core/text.hpp"
#include "pictures/pictures.hpp"
#include "pictures/png.hpp"
#include "progress.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kApproximateExamples = R"(
Examples:
  bregmax approximate --generator kl --dimension 2 --pieces 400
  bregmax approximate --generator itakura_saito --dimension 2 --pieces 1600 --sweep --picture rates.svg
  bregmax approximate --generator exponential --dimension 6 --pieces 500 --placement greedy --json

The generator is approximated by tangents over a box. Its coordinates are the features; for kl all probabilities but the
last, for logdet the upper triangle of a matrix. The measured errors are the largest that a search finds, so they are at
most the true suprema. The bounds are those of Theorem 1, proved for the grid. mahalanobis has the matrix
I + 0.5 ones.)";

constexpr double kAutomatic = std::numeric_limits<double>::infinity();
constexpr const char* kSweepPicture = "bregmax-approximate.svg";

struct ApproximateRequest {
  std::string generator;
  Index dimension = 0;  // 0: 2, or the features of the model
  ApproximationOptions options;
  double center = kAutomatic, radius = kAutomatic;
  bool sweep = false;
  std::string picture;  // empty: kSweepPicture
  bool json = false;
};

struct Subject {
  std::shared_ptr<const Divergence> divergence;
  Box box;
};

std::shared_ptr<const Divergence> generator_of(const ApproximateRequest& request, Index& dimension) {
  if (request.generator == "mahalanobis") {
    return std::make_shared<Mahalanobis>(Matrix::Identity(dimension, dimension) +
                                         0.5 * Matrix::Ones(dimension, dimension));
  }
  const std::vector<std::string> names = closed_form_names();
  if (std::ranges::count(names, request.generator) > 0) return make_closed_form(request.generator);
  require(std::filesystem::exists(request.generator), "--generator is '{}'; allowed: {}, mahalanobis, or a model file",
          request.generator, internal::joined(names, ", "));
  const Model model = load_model(request.generator);
  if (request.dimension == 0) dimension = model.features();
  return model.divergence;
}

Subject make_subject(const ApproximateRequest& request) {
  Index dimension = request.dimension == 0 ? 2 : request.dimension;
  Subject subject;
  subject.divergence = generator_of(request, dimension);
  subject.box = default_box(*subject.divergence, dimension);
  if (std::isfinite(request.center)) {
    // For matrices: this number times the identity.
    const bool identity = subject.divergence->name() == "logdet";
    subject.box.center =
        identity ? Vector(request.center * subject.box.center) : Vector(Vector::Constant(dimension, request.center));
  }
  if (std::isfinite(request.radius)) subject.box.radius = request.radius;
  return subject;
}

std::string placement_of(const ApproximateRequest& request) {
  return request.options.placement == Placement::kGrid ? "grid" : "greedy";
}

Json errors_as_json(const ApproximationErrors& errors) {
  return {{"value", errors.value}, {"gradient", errors.gradient}, {"divergence", errors.divergence}};
}

Json subject_as_json(const ApproximateRequest& request, const Subject& subject) {
  return {{"generator", request.generator},
          {"dimension", subject.box.dimension()},
          {"center", std::vector<double>(subject.box.center.begin(), subject.box.center.end())},
          {"radius", subject.box.radius},
          {"placement", placement_of(request)},
          {"samples", request.options.samples},
          {"seed", request.options.seed},
          {"beta", smoothness(*subject.divergence, subject.box)}};
}

Json step_as_json(Index pieces, const Approximation& step) {
  return {{"pieces", pieces},
          {"pieces_used", step.anchors.rows()},
          {"margin", step.margin},
          {"measured", errors_as_json(step.measured)},
          {"bounds", errors_as_json(step.bounds)}};
}

std::string number_or_dash(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-"; }

std::string heading(const ApproximateRequest& request, const Subject& subject) {
  const double beta = smoothness(*subject.divergence, subject.box);
  const bool even = subject.box.center.isConstant(subject.box.center(0));
  std::vector<std::string> coordinates;
  for (const double c : subject.box.center) coordinates.push_back(number_or_dash(c));
  const std::string center = even ? fmt::format("{:.4g} in every coordinate", subject.box.center(0))
                                  : fmt::format("({})", internal::joined(coordinates, ", "));
  return fmt::format("{} in {}, box of radius R = {:.4g} about {}, {}\n", request.generator,
                     count_of(subject.box.dimension(), "dimension"), subject.box.radius, center,
                     std::isfinite(beta) ? fmt::format("beta = {:.6g}", beta) : "not smooth: no bounds");
}

std::string as_text(const ApproximateRequest& request, const Subject& subject, const Approximation& found) {
  std::string out = heading(request, subject);
  out += fmt::format("{} ({}); inner box of radius {:.4g}\n\n", count_of(found.anchors.rows(), "affine piece"),
                     placement_of(request), std::max(0.0, subject.box.radius - found.margin));
  out += fmt::format("{:<12} {:>12} {:>12}\n", "", "measured", "Theorem 1");
  const auto line = [&out](std::string_view name, double measured, double bound, std::string_view note) {
    out += fmt::format("{:<12} {:>12} {:>12}   {}\n", name, number_or_dash(measured), number_or_dash(bound), note);
  };
  line("value", found.measured.value, found.bounds.value, "sup |phi - h| over the box");
  line("gradient", found.measured.gradient, found.bounds.gradient, "sup ||grad phi - grad h||_1 over the inner box");
  line("divergence", found.measured.divergence, found.bounds.divergence, "sup |D_phi - D_h| over the inner box");
  if (found.margin >= subject.box.radius) {
    out += "There is no inner box: the theorem is about points that are 4 cells away from the boundary.\n";
  }
  if (request.options.placement != Placement::kGrid)
    out += "The bounds are proved for the grid and shown for comparison.\n";
  return out;
}

std::string as_text(const ApproximateRequest& request, const Subject& subject, const Sweep& sweep) {
  std::string out = heading(request, subject);
  out += "Measured error (bound of Theorem 1); gradient and divergence on the inner box of half the radius\n\n";
  out += fmt::format("{:>9} {:>24} {:>24} {:>24}\n", "K", "value", "gradient", "divergence");
  const auto line = [&out](const auto& name, const auto& text) {
    out += fmt::format("{:>9} {:>24} {:>24} {:>24}\n", name, text(&ApproximationErrors::value),
                       text(&ApproximationErrors::gradient), text(&ApproximationErrors::divergence));
  };
  for (std::size_t i = 0; i < sweep.steps.size(); ++i) {
    line(sweep.pieces[i], [&step = sweep.steps[i]](auto error) {
      return fmt::format("{} ({})", number_or_dash(step.measured.*error), number_or_dash(step.bounds.*error));
    });
  }
  const auto power = [](const ApproximationErrors& exponents) {
    return [&](auto error) {
      return std::isfinite(exponents.*error) ? fmt::format("K^{:.3f}", exponents.*error) : std::string("-");
    };
  };
  line("fitted", power(sweep.exponents));
  line("theorem", power(sweep.theoretic_exponents));
  return out;
}

constexpr const char* kNothingMeasured = " before the errors were measured";

ExitCode run_sweep(const ApproximateRequest& request, const Subject& subject, const std::string& picture) {
  const Sweep sweep = run_with_progress([&](const RunControl& control) {
    return sweep_approximation(*subject.divergence, subject.box, request.options, control);
  });
  if (sweep.stopped) return report_interrupt(kNothingMeasured);
  write_picture(picture,
                draw_sweep(sweep, fmt::format("Approximating {} in {} by K affine pieces", subject.divergence->name(),
                                              count_of(subject.box.dimension(), "dimension"))));
  Json object = subject_as_json(request, subject);
  object["steps"] = Json::array();
  for (std::size_t i = 0; i < sweep.steps.size(); ++i) {
    object["steps"].push_back(step_as_json(sweep.pieces[i], sweep.steps[i]));
  }
  object["exponents"] = errors_as_json(sweep.exponents);
  object["theoretic_exponents"] = errors_as_json(sweep.theoretic_exponents);
  object["picture"] = picture;
  return print_report(request.json, object, as_text(request, subject, sweep) + fmt::format("\nwrote {}\n", picture));
}

ExitCode run_approximate(const ApproximateRequest& request) {
  require(request.picture.empty() || request.sweep, "--picture is drawn with --sweep only");
  const std::string picture = request.picture.empty() ? kSweepPicture : request.picture;
  if (request.sweep) {
    check_outputs({{"--picture", picture}}, {{"--generator", request.generator}});
    check_picture(picture);
  }
  const Subject subject = make_subject(request);
  if (request.sweep) return run_sweep(request, subject, picture);
  const Approximation found = run_with_progress([&](const RunControl& control) {
    return approximate(*subject.divergence, subject.box, request.options, control);
  });
  if (found.stopped) return report_interrupt(kNothingMeasured);
  Json object = subject_as_json(request, subject);
  object.update(step_as_json(request.options.pieces, found));
  return print_report(request.json, object, as_text(request, subject, found));
}

}  // namespace

void add_approximate(CLI::App& program, Action& chosen) {
  auto [options, request] =
      add_command(program,
                  {"approximate", "how well affine pieces approximate a known divergence, compared with Theorem 1",
                   kApproximateExamples},
                  run_approximate, chosen);
  options.text("--generator", request->generator, "NAME", "a closed form, mahalanobis, or a model file")->required();
  options.whole("--dimension", request->dimension, "D", {1, 1000}, "coordinates of the box")->default_str("2");
  options.whole("--pieces", request->options.pieces, "K", {1, 10'000'000},
                "affine pieces; with --sweep: the largest number");
  options.choice("--placement", request->options.placement,
                 {{"grid", Placement::kGrid}, {"greedy", Placement::kGreedy}},
                 "grid: Theorem 1's; greedy: where the approximation is worst so far, better in many dimensions");
  options.number("--center", request->center, "V", {},
                 "centre of the box, in every coordinate; logdet: times the identity", {{"auto", kAutomatic}});
  options.number("--radius", request->radius, "R", {0, kAutomatic, false, "a finite number > 0"}, "radius of the box",
                 {{"auto", kAutomatic}});
  options.whole("--samples", request->options.samples, "N", {1, 100'000'000}, "points at which errors are measured");
  options.flag("--sweep", request->sweep, "errors against K with fitted exponents, and a picture");
  options.text("--picture", request->picture, "F", "where the picture of --sweep goes (.svg or .png)")
      ->default_str(kSweepPicture);
  options.seed(request->options.seed, "seed of the points");
  options.json(request->json);
}

}  // namespace bregmax::app
