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

void draw_heading(Svg& svg, const TuningRecord& record, double left) {
  svg.text({left, 28}, fmt::format("{} on {} folds", record.tuned_for, record.folds), {.size = 16, .bold = true});
  svg.text({left, 48}, "chosen (circle, with its standard error): " + settings_text(record.candidates[record.chosen]),
           {.size = 12, .colour = kFaintInk});
}

// ---- Over lambda ----

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

std::string draw_path_over_lambda(const TuningRecord& record, const std::map<double, std::vector<PathPoint>>& curves) {
  constexpr Rectangle kFrame{78, 638, 394, 64};
  const Plot plot = path_plot(kFrame, curves, record.tuned_for);
  Svg svg(kFrame.right + 150, kFrame.bottom + 70, "The lambda path",
          fmt::format("{} over lambda, one curve per smoothing, means over {} folds", record.tuned_for, record.folds));
  draw_heading(svg, record, kFrame.left);
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

// ---- One line per method ----

struct Dot {
  std::size_t line;
  double mean, error;
  bool chosen;
};

// The names of the methods in the order of the table, and the candidates that have scores.
std::pair<std::vector<std::string>, std::vector<Dot>> dots_of(const TuningRecord& record) {
  const Index measure = measure_index(record);
  std::vector<std::string> names;
  std::vector<Dot> dots;
  for (Index row = 0; row < std::ssize(record.candidates); ++row) {
    const double mean = record.means(row, measure);
    if (!std::isfinite(mean)) continue;
    const Setting* method = find_setting(record.candidates[row], "method");
    const std::string name = method != nullptr ? method->word : "";
    const auto found = std::ranges::find(names, name);
    const auto line = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    dots.push_back({line, mean, record.standard_errors(row, measure), row == record.chosen});
  }
  return {names, dots};
}

std::string draw_methods(const TuningRecord& record) {
  constexpr double kLineHeight = 44;
  const auto [names, dots] = dots_of(record);
  const Rectangle frame{110, 670, 64 + kLineHeight * static_cast<double>(names.size()), 64};
  double low = INFINITY, high = -INFINITY;
  for (const Dot& dot : dots) {
    const double error = dot.chosen && std::isfinite(dot.error) ? dot.error : 0;
    low = std::min(low, dot.mean - error);
    high = std::max(high, dot.mean + error);
  }
  const double margin = std::max(1e-3, 0.04 * (high - low));
  const double below = static_cast<double>(names.size()) - 0.5;
  const Plot plot(frame, {low - margin, high + margin, record.tuned_for}, {below, -0.5, "", false, {}, names});
  Svg svg(
      frame.right + 30, frame.bottom + 70, "What was tried",
      fmt::format("{} of each candidate, one line per method, means over {} folds", record.tuned_for, record.folds));
  draw_heading(svg, record, frame.left);
  plot.draw_axes(svg);
  for (const Dot& dot : dots) {
    const char* colour = kColours[dot.line % kColours.size()];
    const auto y = static_cast<double>(dot.line);
    svg.circle(plot.place(dot.mean, y), 4, {colour, "", 1, 0.6});
    if (!dot.chosen) continue;
    if (std::isfinite(dot.error)) {
      plot.draw_curve(svg, {{dot.mean - dot.error, y}, {dot.mean + dot.error, y}}, {"", colour, 1.6});
    }
    svg.circle(plot.place(dot.mean, y), 8, {"", colour, 2});
  }
  return svg.finish();
}

}  // namespace

std::string draw_tuning(const TuningRecord& record) {
  require(!record.empty() && record.chosen >= 0, "there is nothing to draw: nothing was tuned");
  const auto curves = curves_of(record);
  const bool has_path = std::ranges::any_of(
      curves, [](const auto& curve) { return curve.second.front().lambda < curve.second.back().lambda; });
  return has_path ? draw_path_over_lambda(record, curves) : draw_methods(record);
}

}  // namespace bregmax::app
