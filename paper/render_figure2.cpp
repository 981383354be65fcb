#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "paper/figure2.hpp"

namespace bregmax {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string field(double value) { return std::isfinite(value) ? fmt::format("{:.8g}", value) : std::string(); }

}  // namespace

std::string curves_as_csv(const std::vector<ErrorCurve>& curves) {
  std::string out = "divergence,points,runs,pbdl_mse,pbdl_half_width,mahalanobis_mse,mahalanobis_half_width\n";
  for (const ErrorCurve& curve : curves) {
    for (const ErrorPoint& at : curve.errors) {
      out += fmt::format("{},{},{},{},{},{},{}\n", curve.problem.name, at.points, at.pbdl.runs, field(at.pbdl.mean),
                         field(at.pbdl.half_width), field(at.mahalanobis.mean), field(at.mahalanobis.half_width));
    }
  }
  return out;
}

std::string curves_as_text(const std::vector<ErrorCurve>& curves) {
  std::string out = "Figure 2: mean squared error on new points, mean and 95% half width\n";
  out += fmt::format("{:<18}{:>7}{:>6}{:>24}{:>24}{:>9}\n", "divergence", "points", "runs", "PBDL", "Mahalanobis",
                     "factor");
  const auto text = [](const Estimate& estimate) {
    return std::isfinite(estimate.half_width) ? fmt::format("{:.4g} (+-{:.2g})", estimate.mean, estimate.half_width)
                                              : fmt::format("{:.4g}", estimate.mean);
  };
  for (const ErrorCurve& curve : curves) {
    for (const ErrorPoint& at : curve.errors) {
      constexpr Index kShown = 20;
      if (at.points != kRegressionStep && at.points % kShown != 0) continue;
      out += fmt::format("{:<18}{:>7}{:>6}{:>24}{:>24}{:>9.3g}\n", curve.problem.name, at.points, at.pbdl.runs,
                         text(at.pbdl), text(at.mahalanobis), at.mahalanobis.mean / at.pbdl.mean);
    }
  }
  return out;
}

std::string curves_as_json(const std::vector<ErrorCurve>& curves) {
  Json list = Json::array();
  for (const ErrorCurve& curve : curves) {
    for (const ErrorPoint& at : curve.errors) {
      list.push_back({{"divergence", curve.problem.name},
                      {"points", at.points},
                      {"runs", at.pbdl.runs},
                      {"pbdl_mse", number(at.pbdl.mean)},
                      {"pbdl_half_width", number(at.pbdl.half_width)},
                      {"mahalanobis_mse", number(at.mahalanobis.mean)},
                      {"mahalanobis_half_width", number(at.mahalanobis.half_width)}});
    }
  }
  return Json{{"figure", "figure2"}, {"errors", list}}.dump(2) + "\n";
}

}  // namespace bregmax
