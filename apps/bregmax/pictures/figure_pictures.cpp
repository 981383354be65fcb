#include "pictures/figure_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pictures/plot.hpp"

namespace bregmax::app {
namespace {

// Okabe and Ito's colours, which stay apart for colour-blind readers; shapes and dashes tell curves apart once more.
constexpr std::array<const char*, 3> kClassColours = {"#0072b2", "#e69f00", "#009e73"};
constexpr const char* kPbdlColour = "#0072b2";
constexpr const char* kMahalanobisColour = "#d55e00";
constexpr double kPanelWidth = 262, kPanelHeight = 230, kLeft = 74, kBetween = 84, kTop = 66;
constexpr double kWidth = kLeft + 4 * kPanelWidth + 3 * kBetween + 24;
constexpr double kHeight = kTop + kPanelHeight + 92;

Rectangle panel_frame(std::size_t number) {
  const double left = kLeft + static_cast<double>(number) * (kPanelWidth + kBetween);
  return {left, left + kPanelWidth, kTop + kPanelHeight, kTop};
}

// A line with its name below the panels; returns where the next one may begin.
double draw_legend_line(Svg& svg, double x, const std::string& name, const Style& style) {
  const double y = kHeight - 22;
  svg.line({x, y - 4}, {x + 30, y - 4}, style);
  svg.text({x + 37, y}, name, {13, Anchor::kStart, kPlotInk, false, false, 0});
  return x + 70 + 7.2 * static_cast<double>(name.size());
}

double draw_legend_dot(Svg& svg, double x, const std::string& name, const Style& style) {
  const double y = kHeight - 22;
  svg.circle({x + 6, y - 4}, 4.5, style);
  svg.text({x + 18, y}, name, {13, Anchor::kStart, kPlotInk, false, false, 0});
  return x + 48 + 7.2 * static_cast<double>(name.size());
}

void draw_quadratic(Svg& svg, const QuadraticPanel& panel) {
  const Plot plot(panel_frame(0), {panel.x.minCoeff(), panel.x.maxCoeff(), "x", false, {-1, -0.5, 0, 0.5, 1}},
                  {-0.1, 1.5, "phi(x)", false, {}});
  plot.draw_axes(svg);
  plot.draw_title(svg, fmt::format("A quadratic by {} affine pieces", panel.knots.size()));
  std::vector<Point> exact, pieces;
  for (Index i = 0; i < panel.x.size(); ++i) {
    exact.push_back({panel.x(i), panel.quadratic(i)});
    pieces.push_back({panel.x(i), panel.max_affine(i)});
  }
  plot.draw_curve(svg, exact, {"", kPbdlColour, 2.2, 1});
  plot.draw_curve(svg, pieces, {"", kMahalanobisColour, 2, 1, "6 4"});
  for (Index k = 0; k < panel.knots.size(); ++k) {
    const double at = panel.knots(k);
    svg.circle(plot.place(at, at * at), 3.2, {kMahalanobisColour, "#ffffff", 0.8, 1});
  }
}

void draw_circle_panel(Svg& svg, const Figure1& figure, std::size_t number, const std::string& title,
                       const std::string& y_title, double CirclePoint::*value) {
  double highest = 0;
  for (const CirclePoint& point : figure.circle) highest = std::max(highest, point.*value);
  if (!(highest > 0)) highest = 1;
  const Plot plot(panel_frame(number), {0, 360, "angle of x, degrees", false, {0, 60, 120, 180, 240, 300, 360}},
                  {-0.04 * highest, 1.08 * highest, y_title, false, round_ticks(0, highest, 4)});
  plot.draw_axes(svg);
  plot.draw_title(svg, title);
  for (const CirclePoint& point : figure.circle) {
    const auto colour = static_cast<std::size_t>(point.class_number) % kClassColours.size();
    svg.circle(plot.place(point.angle, point.*value), 2.3, {kClassColours[colour], "", 0, 0.85});
  }
  const CirclePoint& a = figure.circle[figure.a];
  const Point at = plot.place(a.angle, a.*value);
  svg.line({at.x, plot.frame().top}, {at.x, plot.frame().bottom}, {"", kPlotInk, 1, 0.8, "2 3"});
  svg.circle(at, 4.6, {"#ffffff", kPlotInk, 1.8, 1});
  svg.text({at.x + 6, plot.frame().top + 14}, "A", {13, Anchor::kStart, kPlotInk, true, false, 0});
}

struct Band {
  std::vector<Point> middle, lower, upper;
};

Band band_of(const ErrorCurve& curve, Estimate ErrorPoint::*which, double floor) {
  Band band;
  for (const ErrorPoint& at : curve.errors) {
    const Estimate& error = at.*which;
    const auto x = static_cast<double>(at.points);
    const double half_width = std::isfinite(error.half_width) ? error.half_width : 0;
    band.middle.push_back({x, std::max(error.mean, floor)});
    band.lower.push_back({x, std::max(error.mean - half_width, floor)});
    band.upper.push_back({x, std::max(error.mean + half_width, floor)});
  }
  return band;
}

Axis error_axis(const ErrorCurve& curve) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const ErrorPoint& at : curve.errors) {
    for (const Estimate& error : {at.pbdl, at.mahalanobis}) {
      const double half_width = std::isfinite(error.half_width) ? error.half_width : 0;
      if (error.mean > 0) low = std::min(low, std::max(error.mean - half_width, error.mean / 3));
      high = std::max(high, error.mean + half_width);
    }
  }
  if (!(high > 0)) low = high = 1;
  return {std::pow(10, std::floor(std::log10(low))),
          std::pow(10, std::ceil(std::log10(high) + 1e-9)),
          "mean squared error",
          true,
          {}};
}

void draw_error_panel(Svg& svg, const ErrorCurve& curve, std::size_t number) {
  const Axis errors = error_axis(curve);
  const Plot plot(panel_frame(number), {0, 105, "points n", false, {5, 25, 50, 75, 100}}, errors);
  plot.draw_axes(svg);
  plot.draw_title(svg, curve.problem.title);
  const Band mahalanobis = band_of(curve, &ErrorPoint::mahalanobis, errors.low);
  const Band pbdl = band_of(curve, &ErrorPoint::pbdl, errors.low);
  plot.draw_band(svg, mahalanobis.lower, mahalanobis.upper, {kMahalanobisColour, "", 0, 0.22});
  plot.draw_band(svg, pbdl.lower, pbdl.upper, {kPbdlColour, "", 0, 0.22});
  plot.draw_curve(svg, mahalanobis.middle, {"", kMahalanobisColour, 2, 1, "6 4"});
  plot.draw_curve(svg, pbdl.middle, {"", kPbdlColour, 2, 1});
  for (const Point& at : pbdl.middle) svg.circle(plot.place(at.x, at.y), 2.6, {kPbdlColour, "#ffffff", 0.6, 1});
}

}  // namespace

std::string draw_figure1(const Figure1& figure) {
  Svg svg(kWidth, kHeight, "Figure 1",
          "A quadratic and its approximation by affine pieces; the learned divergence D(x, A) and D(A, x) and the ITML "
          "distance for points x around the unit circle, which is divided into three classes.");
  svg.text({kLeft, 28}, "Learned divergences around a circle of three classes",
           {18, Anchor::kStart, kPlotInk, true, false, 0});
  draw_quadratic(svg, figure.quadratic);
  draw_circle_panel(svg, figure, 1, "PBDL, from x to A", "D(x, A)", &CirclePoint::to_a);
  draw_circle_panel(svg, figure, 2, "PBDL, from A to x", "D(A, x)", &CirclePoint::from_a);
  draw_circle_panel(svg, figure, 3, "ITML", "squared distance", &CirclePoint::itml);
  double x = draw_legend_line(svg, kLeft, "quadratic", {"", kPbdlColour, 2.2, 1});
  x = draw_legend_line(svg, x, "max-affine", {"", kMahalanobisColour, 2, 1, "6 4"});
  x = std::max(x, panel_frame(1).left);
  for (std::size_t c = 0; c < kClassColours.size(); ++c) {
    x = draw_legend_dot(svg, x, fmt::format("class {}", c + 1), {kClassColours[c], "", 0, 1});
  }
  draw_legend_dot(svg, x, "A", {"#ffffff", kPlotInk, 1.8, 1});
  return svg.finish();
}

std::string draw_figure2(const std::vector<ErrorCurve>& curves) {
  Svg svg(kWidth, kHeight, "Figure 2",
          "Mean squared error of regression on new points against the number of points, for four divergences, by PBDL "
          "and by Mahalanobis regression, with 95% intervals; the errors on logarithmic axes.");
  svg.text({kLeft, 28}, "Regression on noisy divergences of all pairs of n points",
           {18, Anchor::kStart, kPlotInk, true, false, 0});
  for (std::size_t i = 0; i < curves.size(); ++i) draw_error_panel(svg, curves[i], i);
  double x = draw_legend_line(svg, kLeft, "PBDL", {"", kPbdlColour, 2, 1});
  x = draw_legend_line(svg, x, "Mahalanobis regression", {"", kMahalanobisColour, 2, 1, "6 4"});
  Index runs = 0;
  for (const ErrorCurve& curve : curves) {
    for (const ErrorPoint& at : curve.errors) runs = std::max(runs, at.pbdl.runs);
  }
  svg.text({x, kHeight - 22},
           runs == 1 ? std::string("one run") : fmt::format("bands: 95% intervals of the mean of {} runs", runs),
           {13, Anchor::kStart, kPlotFaintInk, false, false, 0});
  return svg.finish();
}

}  // namespace bregmax::app
