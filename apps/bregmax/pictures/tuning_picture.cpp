#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "pictures/pictures.hpp"
#include "pictures/plot.hpp"
#include "reports/fit_report.hpp"

namespace bregmax::app {
namespace {

struct PathPoint {
  double lambda, mean, error;
  bool chosen;
};

// Equal except for lambda and smoothing.
bool comparable(const Settings& one, const Settings& other) {
  return std::ranges::equal(one, other, [](const Setting& a, const Setting& b) {
    return a.name == b.name && (a.name == "lambda" || a.name == "smoothing" || a == b);
  });
}

// One curve per smoothing, with its points in the order of rising lambda.
std::map<double, std::vector<PathPoint>> curves_of(const TuningRecord& record) {
  const Index measure = measure_index(record);
  const Settings& chosen = record.candidates[record.chosen];
  std::map<double, std::vector<PathPoint>> curves;
  for (Index row = 0; row < std::ssize(record.candidates); ++row) {
    const Settings& settings = record.candidates[row];
    const Setting *lambda = find_setting(settings, "lambda"), *smoothing = find_setting(settings, "smoothing");
    if (lambda == nullptr || !comparable(settings, chosen) || !std::isfinite(record.means(row, measure))) continue;
    if (!(lambda->value > 0)) continue;  // a logarithmic axis cannot show 0
    curves[smoothing != nullptr ? smoothing->value : 0].push_back(
        {lambda->value, record.means(row, measure), record.standard_errors(row, measure), row == record.chosen});
  }
  for (auto& [smoothing, points] : curves) std::ranges::sort(points, {}, &PathPoint::lambda);
  return curves;
}

Plot path_plot(const Rectangle& frame, const std::map<double, std::vector<PathPoint>>& curves,
               const std::string& score) {
  double first = INFINITY, last = 0, low = INFINITY, high = -INFINITY;
  for (const auto& [smoothing, points] : curves) {
    for (const PathPoint& point : points) {
      const double error = std::isfinite(point.error) && point.chosen ? point.error : 0;
      first = std::min(first, point.lambda);
      last = std::max(last, point.lambda);
      low = std::min(low, point.mean - error);
      high = std::max(high, point.mean + error);
    }
  }
  require(last > first, "there is no path to draw: fewer than two values of lambda were tried");
  const double margin = std::max(1e-3, 0.06 * (high - low));
  return {frame, {first, last, "lambda", true}, {low - margin, high + margin, score}};
}

void draw_path(Svg& svg, const Plot& plot, const std::vector<PathPoint>& points, const char* colour) {
  std::vector<Point> means(points.size());
  std::ranges::transform(points, means.begin(), [](const PathPoint& p) { return Point{p.lambda, p.mean}; });
  plot.draw_curve(svg, means, {"", colour, 1.6});
  for (const Point& at : plot.place(means)) svg.circle(at, 2.6, {colour, ""});
  for (const PathPoint& point : points) {
    if (!point.chosen) continue;
    if (std::isfinite(point.error)) {
      plot.draw_curve(svg, {{point.lambda, point.mean - point.error}, {point.lambda, point.mean + point.error}},
                      {"", colour, 1.6});
    }
    svg.circle(plot.place(point.lambda, point.mean), 7, {"", colour, 2});
  }
}

}  // namespace

std::string draw_tuning(const TuningRecord& record) {
  constexpr Rectangle kFrame{78, 638, 394, 64};
  require(!record.empty(), "there is no path to draw: nothing was tuned");
  const auto curves = curves_of(record);
  const Plot plot = path_plot(kFrame, curves, record.tuned_for);
  Svg svg(kFrame.right + 150, kFrame.bottom + 70, "The lambda path",
          fmt::format("{} over lambda, one curve per smoothing, means over {} folds", record.tuned_for, record.folds));
  svg.text({kFrame.left, 28}, fmt::format("{} on {} folds", record.tuned_for, record.folds),
           {.size = 16, .bold = true});
  svg.text({kFrame.left, 48},
           "chosen (circle, with its standard error): " + settings_text(record.candidates[record.chosen]),
           {.size = 12, .colour = kFaintInk});
  plot.draw_axes(svg);
  std::size_t number = 0;
  for (const auto& [smoothing, points] : curves) {
    const char* colour = kColours[number % kColours.size()];
    draw_path(svg, plot, points, colour);
    const double x = kFrame.right + 16, y = kFrame.top + 12 + 20 * static_cast<double>(number);
    svg.line({x, y}, {x + 24, y}, {"", colour, 2});
    svg.text({x + 32, y + 4}, fmt::format("T = {:g}", smoothing), {.size = 12});
    ++number;
  }
  return svg.finish();
}

}  // namespace bregmax::app
