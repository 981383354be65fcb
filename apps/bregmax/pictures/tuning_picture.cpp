#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "bregmax/core/error.hpp"
#include "pictures/svg.hpp"
#include "reports/tuning_report.hpp"

namespace bregmax::app {
namespace {

// Okabe and Ito's colours, which stay apart for colour-blind readers.
constexpr std::array<const char*, 8> kColours = {"#000000", "#0072b2", "#e69f00", "#009e73",
                                                 "#cc79a7", "#d55e00", "#56b4e9", "#a0a000"};
constexpr const char* kInk = "#222222";
constexpr const char* kFaintInk = "#666666";
constexpr double kLeft = 78, kTop = 64, kPlotWidth = 560, kPlotHeight = 330;
constexpr double kWidth = kLeft + kPlotWidth + 150, kHeight = kTop + kPlotHeight + 70;

struct PathPoint {
  double lambda, mean, error;
  bool chosen;
};

const Setting* find_setting(const Settings& settings, const std::string& name) {
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const Setting& setting) { return setting.name == name; });
  return found == settings.end() ? nullptr : &*found;
}

// Equal but for lambda and smoothing.
bool comparable(const Settings& one, const Settings& other) {
  return one.size() == other.size() &&
         std::equal(one.begin(), one.end(), other.begin(), [](const Setting& a, const Setting& b) {
           return a.name == b.name && (a.name == "lambda" || a.name == "smoothing" || a == b);
         });
}

// The curves by smoothing; points by rising lambda.
std::map<double, std::vector<PathPoint>> curves_of(const TuningRecord& record) {
  const auto measure = static_cast<Index>(std::find(record.measures.begin(), record.measures.end(), record.tuned_for) -
                                          record.measures.begin());
  const Settings& chosen = record.candidates[static_cast<std::size_t>(record.chosen)];
  std::map<double, std::vector<PathPoint>> curves;
  for (std::size_t c = 0; c < record.candidates.size(); ++c) {
    const Settings& settings = record.candidates[c];
    const Setting* lambda = find_setting(settings, "lambda");
    const Setting* smoothing = find_setting(settings, "smoothing");
    const auto row = static_cast<Index>(c);
    if (lambda == nullptr || !comparable(settings, chosen) || !std::isfinite(record.means(row, measure))) continue;
    if (!(lambda->value > 0)) continue;  // has no place on a logarithmic axis
    curves[smoothing != nullptr ? smoothing->value : 0].push_back(
        {lambda->value, record.means(row, measure), record.standard_errors(row, measure), row == record.chosen});
  }
  for (auto& [smoothing, points] : curves) {
    std::sort(points.begin(), points.end(), [](const PathPoint& a, const PathPoint& b) { return a.lambda < b.lambda; });
  }
  return curves;
}

struct Axes {
  double low_exponent = 0, high_exponent = 0, low = 0, high = 0;

  Point place(double lambda, double score) const {
    return {kLeft + (std::log10(lambda) - low_exponent) / (high_exponent - low_exponent) * kPlotWidth,
            kTop + (high - score) / (high - low) * kPlotHeight};
  }
};

Axes axes_for(const std::map<double, std::vector<PathPoint>>& curves) {
  Axes axes{INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (const auto& [smoothing, points] : curves) {
    for (const PathPoint& point : points) {
      const double error = std::isfinite(point.error) && point.chosen ? point.error : 0;
      axes.low_exponent = std::min(axes.low_exponent, std::log10(point.lambda));
      axes.high_exponent = std::max(axes.high_exponent, std::log10(point.lambda));
      axes.low = std::min(axes.low, point.mean - error);
      axes.high = std::max(axes.high, point.mean + error);
    }
  }
  if (!(axes.high_exponent > axes.low_exponent)) {
    throw Error("there is no path to draw: fewer than two values of lambda were tried");
  }
  const double margin = std::max(1e-3, 0.06 * (axes.high - axes.low));
  axes.low -= margin;
  axes.high += margin;
  return axes;
}

void draw_frame(Svg& svg, const Axes& axes, const TuningRecord& record) {
  svg.rectangle({kLeft, kLeft + kPlotWidth, kTop + kPlotHeight, kTop}, {"", kFaintInk, 1, 1});
  const double bottom = kTop + kPlotHeight;
  for (int e = static_cast<int>(std::ceil(axes.low_exponent - 1e-9)); e <= axes.high_exponent + 1e-9; ++e) {
    const Point at = axes.place(std::pow(10.0, e), axes.low);
    svg.line(at, {at.x, at.y + 5}, {"", kFaintInk, 1, 1});
    svg.text({at.x, at.y + 20}, fmt::format("1e{}", e), {12, Anchor::kMiddle, kInk, false, false, 0});
  }
  constexpr int kSteps = 5;
  for (int step = 0; step <= kSteps; ++step) {
    const double score = axes.low + (axes.high - axes.low) * step / kSteps;
    const double y = axes.place(1, score).y;
    svg.line({kLeft - 5, y}, {kLeft, y}, {"", kFaintInk, 1, 1});
    svg.text({kLeft - 9, y + 4}, fmt::format("{:.3f}", score), {12, Anchor::kEnd, kInk, false, false, 0});
  }
  svg.text({kLeft + kPlotWidth / 2, bottom + 46}, "lambda", {13, Anchor::kMiddle, kInk, false, false, 0});
  svg.text({20, kTop + kPlotHeight / 2}, record.tuned_for, {13, Anchor::kMiddle, kInk, false, false, -90});
}

void draw_curve(Svg& svg, const Axes& axes, const std::vector<PathPoint>& points, const char* colour) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point at = axes.place(points[i].lambda, points[i].mean);
    if (i > 0) svg.line(axes.place(points[i - 1].lambda, points[i - 1].mean), at, {"", colour, 1.6, 1});
    svg.circle(at, 2.6, {colour, "", 1, 1});
    if (!points[i].chosen) continue;
    if (std::isfinite(points[i].error)) {
      svg.line(axes.place(points[i].lambda, points[i].mean - points[i].error),
               axes.place(points[i].lambda, points[i].mean + points[i].error), {"", colour, 1.6, 1});
    }
    svg.circle(at, 7, {"", colour, 2, 1});
  }
}

}  // namespace

std::string draw_tuning(const TuningRecord& record) {
  if (record.empty()) throw Error("there is no path to draw: nothing was tuned");
  const auto curves = curves_of(record);
  const Axes axes = axes_for(curves);
  const std::string chosen = settings_text(record.candidates[static_cast<std::size_t>(record.chosen)]);
  Svg svg(kWidth, kHeight, "The lambda path",
          fmt::format("{} by lambda, a curve a smoothing, means over {} folds", record.tuned_for, record.folds));
  svg.text({kLeft, 28}, fmt::format("{} on {} folds", record.tuned_for, record.folds),
           {16, Anchor::kStart, kInk, true, false, 0});
  svg.text({kLeft, 48}, "chosen (circle, with its standard error): " + chosen,
           {12, Anchor::kStart, kFaintInk, false, false, 0});
  draw_frame(svg, axes, record);
  std::size_t number = 0;
  for (const auto& [smoothing, points] : curves) {
    const char* colour = kColours[number % kColours.size()];
    draw_curve(svg, axes, points, colour);
    const double y = kTop + 12 + 20 * static_cast<double>(number);
    svg.line({kLeft + kPlotWidth + 16, y}, {kLeft + kPlotWidth + 40, y}, {"", colour, 2, 1});
    svg.text({kLeft + kPlotWidth + 48, y + 4}, fmt::format("T = {:g}", smoothing),
             {12, Anchor::kStart, kInk, false, false, 0});
    ++number;
  }
  return svg.finish();
}

}  // namespace bregmax::app
