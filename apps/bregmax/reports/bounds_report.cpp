#include "reports/bounds_report.hpp"

#include <fmt/format.h>

namespace bregmax::app {
namespace {

std::string number(double value) { return fmt::format("{:.4g}", value); }

// The terms of a bound, one a line, and their sum with what it is worth.
std::string terms_as_text(const BoundTerms& terms, const std::string& loss, const std::string& complexity,
                          const std::string& confidence, const std::string& verdict) {
  return fmt::format(
      "              {:>10}   {}\n            + {:>10}   {}\n            + {:>10}   {}\n            = {:>10}   {}\n",
      number(terms.loss), loss, number(terms.complexity), complexity, number(terms.confidence), confidence,
      number(terms.total()), verdict);
}

std::string inputs_as_text(const BoundsRequest& request, const BoundInputs& inputs, const std::string& items) {
  return fmt::format(
      "model       K = {} pieces, Lipschitz constant L = {}, d = {} features ({})\n"
      "data        R = {}, the largest feature after scaling; m = {} {}\n",
      inputs.pieces, number(inputs.lipschitz), inputs.features, request.model, number(inputs.radius), inputs.items,
      items);
}

Json inputs_as_json(const BoundsRequest& request, const BoundInputs& inputs) {
  return {{"model", request.model},  {"data", request.data}, {"pieces", inputs.pieces}, {"lipschitz", inputs.lipschitz},
          {"radius", inputs.radius}, {"d", inputs.features}, {"m", inputs.items},       {"delta", inputs.delta}};
}

Json terms_as_json(const BoundTerms& terms, double trivial) {
  return {{"loss_term", terms.loss},
          {"complexity_term", terms.complexity},
          {"confidence_term", terms.confidence},
          {"bound", terms.total()},
          {"vacuous", terms.total() >= trivial}};
}

Json held_out_as_json(const std::vector<HeldOut>& all) {
  Json list = Json::array();
  for (const HeldOut& each : all)
    list.push_back({{"source", each.source}, {"items", each.items}, {"error", each.error}});
  return list;
}

std::string held_out_as_text(const std::vector<HeldOut>& all, std::string_view what, std::string_view how_to) {
  if (all.empty()) return fmt::format("held out    unknown: {}\n", how_to);
  std::string out;
  for (const HeldOut& each : all) {
    out += fmt::format("held out    {:>12}   {}: {} ({})\n", number(each.error), what, each.source, each.items);
  }
  return out;
}

Json as_json(const BoundsRequest& request, const ComparisonReport& report) {
  Json object = inputs_as_json(request, report.inputs);
  object["supervision"] = "comparisons";
  object["drawn_from_labels"] = report.drawn_again;
  object["hard_comparisons"] = report.hard;
  object["same_as_fit"] = report.same_as_fit;
  object["rademacher_bound"] = report.rademacher;
  object["empirical_ramp_loss"] = report.losses.ramp;
  object["empirical_hinge_loss"] = report.losses.hinge;
  object["empirical_error"] = report.losses.error;
  object.update(terms_as_json(report.stated, 1));
  object["bound_with_hinge_loss"] = report.stated.total() - report.losses.ramp + report.losses.hinge;
  object["as_proved"] = terms_as_json(report.proved, 1);
  object["held_out_error"] = report.held_out.empty() ? Json(nullptr) : Json(report.held_out.back().error);
  object["held_out"] = held_out_as_json(report.held_out);
  return object;
}

std::string as_text(const BoundsRequest& request, const ComparisonReport& report) {
  std::string out = inputs_as_text(request, report.inputs,
                                   report.hard          ? "hard comparisons, made again from the labels"
                                   : report.drawn_again ? "comparisons, drawn again from the labels"
                                                        : "comparisons");
  out += fmt::format("\nLemma 2     the Rademacher complexity is at most {}\n", number(report.rademacher));
  out += fmt::format("Theorem 2   with probability {}, a new comparison is violated with probability at most\n",
                     1 - report.inputs.delta);
  out += terms_as_text(report.stated, fmt::format("mean ramp loss (hinge loss {})", number(report.losses.hinge)),
                       "complexity, 32 K L R sqrt(2 ln(2d+2)/m)",
                       "confidence, sqrt((4 ln(4 log2 max(L,2)) + ln(1/delta))/m)",
                       report.stated.total() >= 1 ? "vacuous: no probability is above 1" : "");
  out += fmt::format("              {:>10}   with the constants of its proof (docs/mathematics.md){}\n\n",
                     number(report.proved.total()), report.proved.total() >= 1 ? ": vacuous" : "");
  out += held_out_as_text(report.held_out, "violated", "give --held-out-file or --test");
  return out;
}

Json as_json(const BoundsRequest& request, const RegressionReport& report) {
  const double trivial = report.residual * report.residual;
  Json object = inputs_as_json(request, report.inputs);
  object["supervision"] = "targets";
  object["lipschitz_was_fixed"] = report.lipschitz_was_fixed;
  object["noise"] = report.noise;
  object["residual_bound"] = report.residual;
  object["rademacher_bound"] = report.rademacher;
  object["empirical_squared_loss"] = report.generalisation.loss;
  object.update(terms_as_json(report.generalisation, trivial));
  object["approximation"] = report.approximation ? terms_as_json(*report.approximation, trivial) : Json(nullptr);
  object["theory_pieces"] = report.suggested_pieces;
  object["held_out_error"] = report.held_out.empty() ? Json(nullptr) : Json(report.held_out.back().error);
  object["held_out"] = held_out_as_json(report.held_out);
  return object;
}

std::string as_text(const BoundsRequest& request, const RegressionReport& report) {
  const double trivial = report.residual * report.residual;
  const auto verdict = [&](const BoundTerms& terms) {
    return terms.total() >= trivial ? fmt::format("vacuous: no squared error is above M^2 = {}", number(trivial)) : "";
  };
  std::string out = inputs_as_text(request, report.inputs, "targets");
  out += fmt::format("\nLemma 2     the Rademacher complexity is at most {}\n", number(report.rademacher));
  out += fmt::format("Theorem 3   with probability {}, the expected squared error on new targets is at most\n",
                     1 - report.inputs.delta);
  out += terms_as_text(
      report.generalisation, "mean squared error",
      fmt::format("complexity, 16 M K L R sqrt(2 ln(2d+2)/m), M = 4LR + noise = {}", number(report.residual)),
      "confidence, M^2 sqrt(ln(1/delta)/(2m))", verdict(report.generalisation));
  if (report.approximation) {
    out += "            and the expected squared distance from the true divergence at most\n";
    out += terms_as_text(*report.approximation, "approximation, (36 beta R^2 K^(-1/d))^2", "complexity, the same",
                         "confidence, M^2 sqrt(2 ln(2/delta)/m)", verdict(*report.approximation));
  }
  out += fmt::format("            K = {} would be the theorem's number of pieces (fit --pieces theory)\n\n",
                     report.suggested_pieces);
  out += held_out_as_text(report.held_out, "mean squared error", "give --held-out-file");
  return out;
}

}  // namespace

void print_report(const BoundsRequest& request, const ComparisonReport& report) {
  if (report.hard) {
    say("bregmax: note: hard comparisons are chosen, and Theorem 2 is about independent draws: its bound does not hold "
        "for "
        "the fresh comparisons, which are ordinary ones");
  }
  if (!report.same_as_fit) {
    say(
        fmt::format("bregmax: note: these comparisons have the summed hinge loss {}; fit counted {}: are they the ones "
                    "that it learned from? (--comparisons-file names them)",
                    short_number(report.losses.hinge * static_cast<double>(report.inputs.items)),
                    short_number(report.loss_of_fit)));
  }
  if (request.json) {
    print_json(as_json(request, report));
  } else {
    print(as_text(request, report));
  }
}

void print_report(const BoundsRequest& request, const RegressionReport& report) {
  if (!report.lipschitz_was_fixed) {
    say("bregmax: note: L was learned; Theorem 3 wants it fixed before the data is seen (fit --lipschitz)");
  }
  if (request.json) {
    print_json(as_json(request, report));
  } else {
    print(as_text(request, report));
  }
}

}  // namespace bregmax::app
