#include "reports/bounds_report.hpp"

#include <fmt/format.h>

namespace bregmax::app {
namespace {

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

// What both kinds of bounds have.
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

Json bounds_json(const BoundsRequest& request, const ComparisonReport& report) {
  Json object = common_json(request, report, "comparisons");
  object.update({{"drawn_from_labels", report.drawn_again},
                 {"hard_comparisons", report.hard},
                 {"same_as_fit", report.same_as_fit},
                 {"empirical_ramp_loss", report.losses.ramp},
                 {"empirical_hinge_loss", report.losses.hinge},
                 {"empirical_error", report.losses.error},
                 {"bound_with_hinge_loss", report.bound.total() - report.losses.ramp + report.losses.hinge},
                 {"as_proved", terms_as_json(report.proved, report.trivial)}});
  return object;
}

std::string bounds_text(const BoundsRequest& request, const ComparisonReport& report) {
  std::string out = inputs_as_text(request, report.inputs,
                                   report.hard          ? "hard comparisons, made again from the labels"
                                   : report.drawn_again ? "comparisons, drawn again from the labels"
                                                        : "comparisons");
  out += fmt::format("Theorem 2   with probability {}, a new comparison is violated with probability at most\n",
                     1 - report.inputs.delta);
  out += terms_as_text(report.bound, fmt::format("mean ramp loss (hinge loss {})", number(report.losses.hinge)),
                       "complexity, 32 K L R sqrt(2 ln(2d+2)/m)",
                       "confidence, sqrt((4 ln(4 log2 max(L,2)) + ln(1/delta))/m)",
                       report.bound.total() >= 1 ? "vacuous: no probability is above 1" : "");
  out += fmt::format("              {:>10}   with the constants of its proof (docs/mathematics.md){}\n\n",
                     number(report.proved.total()), report.proved.total() >= 1 ? ": vacuous" : "");
  return out + held_out_as_text(report.held_out, "violated", "give --held-out-file or --test");
}

Json bounds_json(const BoundsRequest& request, const RegressionReport& report) {
  Json object = common_json(request, report, "targets");
  object.update(
      {{"lipschitz_was_fixed", report.lipschitz_was_fixed},
       {"noise", report.noise},
       {"residual_bound", report.residual},
       {"empirical_squared_loss", report.bound.loss},
       {"approximation", report.approximation ? terms_as_json(*report.approximation, report.trivial) : Json(nullptr)},
       {"theory_pieces", report.suggested_pieces}});
  return object;
}

std::string bounds_text(const BoundsRequest& request, const RegressionReport& report) {
  const auto verdict = [&](const BoundTerms& terms) {
    if (terms.total() < report.trivial) return std::string();
    return fmt::format("vacuous: no squared error is above M^2 = {}", number(report.trivial));
  };
  std::string out = inputs_as_text(request, report.inputs, "targets");
  out += fmt::format("Theorem 3   with probability {}, the expected squared error on new targets is at most\n",
                     1 - report.inputs.delta);
  out += terms_as_text(
      report.bound, "mean squared error",
      fmt::format("complexity, 16 M K L R sqrt(2 ln(2d+2)/m), M = 4LR + noise = {}", number(report.residual)),
      "confidence, M^2 sqrt(ln(1/delta)/(2m))", verdict(report.bound));
  if (report.approximation) {
    out += "            and the expected squared distance from the true divergence at most\n";
    out += terms_as_text(*report.approximation, "approximation, (36 beta R^2 K^(-1/d))^2", "complexity, the same",
                         "confidence, M^2 sqrt(2 ln(2/delta)/m)", verdict(*report.approximation));
  }
  out += fmt::format("            K = {} would be the theorem's number of pieces (fit --pieces theory)\n\n",
                     report.suggested_pieces);
  return out + held_out_as_text(report.held_out, "mean squared error", "give --held-out-file");
}

}  // namespace

void print_bounds(const BoundsRequest& request, const ComparisonReport& report) {
  if (report.hard) {
    say("bregmax: note: Theorem 2 is about comparisons that are drawn independently, and hard comparisons are chosen: "
        "its bound does not hold for the fresh comparisons below, which are ordinary ones");
  }
  if (!report.same_as_fit) {
    say(
        fmt::format("bregmax: note: the summed hinge loss of these comparisons is {}, that of the fit was {}: are they "
                    "the ones that it learned from? (--comparisons-file names them)",
                    short_number(report.losses.hinge * static_cast<double>(report.inputs.items)),
                    short_number(report.loss_of_fit)));
  }
  print_report(request.json, bounds_json(request, report), bounds_text(request, report));
}

void print_bounds(const BoundsRequest& request, const RegressionReport& report) {
  if (!report.lipschitz_was_fixed) {
    say("bregmax: note: L was learned; Theorem 3 needs an L that is fixed before the data is seen (fit --lipschitz)");
  }
  print_report(request.json, bounds_json(request, report), bounds_text(request, report));
}

}  // namespace bregmax::app
