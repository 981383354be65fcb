#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pictures/pictures.hpp"
#include "pictures/plot.hpp"

namespace bregmax::app {
namespace {

constexpr std::size_t kCircleClasses = 3;
constexpr const char* kPbdlColour = kColours[0];
constexpr const char* kMahalanobisColour = kColours[3];
constexpr double kFigurePanelWidth = 262, kFigurePanelHeight = 230, kFigureLeft = 74, kFigureGap = 84, kFigureTop = 66;
constexpr double kFigureWidth = kFigureLeft + 4 * kFigurePanelWidth + 3 * kFigureGap + 24;
constexpr double kFigureHeight = kFigureTop + kFigurePanelHeight + 92;

Rectangle panel_frame(std::size_t number) {
  const double left = kFigureLeft + static_cast<double>(number) * (kFigurePanelWidth + kFigureGap);
  return {left, left + kFigurePanelWidth, kFigureTop + kFigurePanelHeight, kFigureTop};
}

// A line or a dot with its name below the panels; returns where the next one may begin.
double draw_legend_entry(Svg& svg, double x, const std::string& name, const Style& style, bool dot = false) {
  const double y = kFigureHeight - 22, width = dot ? 11 : 30;
  if (dot) {
    svg.circle({x + 6, y - 4}, 4.5, style);
  } else {
    svg.line({x, y - 4}, {x + width, y - 4}, style);
  }
  svg.text({x + width + 7, y}, name);
  return x + width + 40 + 7.2 * static_cast<double>(name.size());
}

void draw_quadratic(Svg& svg, const QuadraticPanel& panel) {
  const Plot plot(panel_frame(0), {panel.x.minCoeff(), panel.x.maxCoeff(), "x", false, {-1, -0.5, 0, 0.5, 1}},
                  {-0.1, 1.5, "phi(x)"});
  plot.draw_axes(svg);
  plot.draw_title(svg, fmt::format("A quadratic by {} affine pieces", panel.knots.size()));
  std::vector<Point> exact, pieces;
  for (Index i = 0; i < panel.x.size(); ++i) {
    exact.push_back({panel.x(i), panel.quadratic(i)});
    pieces.push_back({panel.x(i), panel.max_affine(i)});
  }
  plot.draw_curve(svg, exact, {"", kPbdlColour, 2.2});
  plot.draw_curve(svg, pieces, {"", kMahalanobisColour, 2, 1, "6 4"});
  for (const double at : panel.knots) {
    svg.circle(plot.place(at, at * at), 3.2, {kMahalanobisColour, "#ffffff", 0.8});
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
    const auto colour = static_cast<std::size_t>(point.class_number) % kCircleClasses;
    svg.circle(plot.place(point.angle, point.*value), 2.3, {kColours[colour], "", 0, 0.85});
  }
  const CirclePoint& a = figure.circle[figure.a];
  const Point at = plot.place(a.angle, a.*value);
  svg.line({at.x, plot.frame().top}, {at.x, plot.frame().bottom}, {"", kInk, 1, 0.8, "2 3"});
  svg.circle(at, 4.6, {"#ffffff", kInk, 1.8});
  svg.text({at.x + 6, plot.frame().top + 14}, "A", {.bold = true});
}

// The mean errors, or with `side` = -1 and 1 the ends of their intervals.
std::vector<Point> error_points(const ErrorCurve& curve, Estimate ErrorPoint::*which, double floor, double side = 0) {
  std::vector<Point> points;
  for (const ErrorPoint& at : curve.errors) {
    const double error = (at.*which).mean + side * (at.*which).known_half_width();
    points.push_back({static_cast<double>(at.points), std::max(error, floor)});
  }
  return points;
}

Axis error_axis(const ErrorCurve& curve) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const ErrorPoint& at : curve.errors) {
    for (const Estimate& error : {at.pbdl, at.mahalanobis}) {
      if (error.mean > 0) low = std::min(low, std::max(error.mean - error.known_half_width(), error.mean / 3));
      high = std::max(high, error.mean + error.known_half_width());
    }
  }
  if (!(high > 0)) low = high = 1;
  return {std::pow(10, std::floor(std::log10(low))), std::pow(10, std::ceil(std::log10(high) + 1e-9)),
          "mean squared error", true};
}

void draw_error_panel(Svg& svg, const ErrorCurve& curve, std::size_t number) {
  const Axis errors = error_axis(curve);
  const Plot plot(panel_frame(number), {0, 105, "points n", false, {5, 25, 50, 75, 100}}, errors);
  plot.draw_axes(svg);
  plot.draw_title(svg, curve.problem.title);
  const auto draw_band = [&](Estimate ErrorPoint::*which, const char* colour) {
    plot.draw_band(svg, error_points(curve, which, errors.low, -1), error_points(curve, which, errors.low, 1),
                   {colour, "", 0, 0.22});
  };
  draw_band(&ErrorPoint::mahalanobis, kMahalanobisColour);
  draw_band(&ErrorPoint::pbdl, kPbdlColour);
  plot.draw_curve(svg, error_points(curve, &ErrorPoint::mahalanobis, errors.low),
                  {"", kMahalanobisColour, 2, 1, "6 4"});
  const std::vector<Point> pbdl = error_points(curve, &ErrorPoint::pbdl, errors.low);
  plot.draw_curve(svg, pbdl, {"", kPbdlColour, 2});
  for (const Point& at : plot.place(pbdl)) svg.circle(at, 2.6, {kPbdlColour, "#ffffff", 0.6});
}

}  // namespace

std::string draw_figure1(const Figure1& figure) {
  Svg svg(kFigureWidth, kFigureHeight, "Figure 1",
          "A quadratic and its approximation by affine pieces; the learned divergence D(x, A) and D(A, x) and the ITML "
          "distance for points x around the unit circle, which is divided into three classes.");
  svg.text({kFigureLeft, 28}, "Learned divergences around a circle of three classes", {.size = 18, .bold = true});
  draw_quadratic(svg, figure.quadratic);
  draw_circle_panel(svg, figure, 1, "PBDL, from x to A", "D(x, A)", &CirclePoint::to_a);
  draw_circle_panel(svg, figure, 2, "PBDL, from A to x", "D(A, x)", &CirclePoint::from_a);
  draw_circle_panel(svg, figure, 3, "ITML", "squared distance", &CirclePoint::itml);
  double x = draw_legend_entry(svg, kFigureLeft, "quadratic", {"", kPbdlColour, 2.2});
  x = draw_legend_entry(svg, x, "max-affine", {"", kMahalanobisColour, 2, 1, "6 4"});
  x = std::max(x, panel_frame(1).left);
  for (std::size_t c = 0; c < kCircleClasses; ++c) {
    x = draw_legend_entry(svg, x, fmt::format("class {}", c + 1), {kColours[c], ""}, true);
  }
  draw_legend_entry(svg, x, "A", {"#ffffff", kInk, 1.8}, true);
  return svg.finish();
}

std::string draw_figure2(const std::vector<ErrorCurve>& curves) {
  Svg svg(kFigureWidth, kFigureHeight, "Figure 2",
          "Mean squared error of regression on new points against the number of points, for four divergences, by PBDL "
          "and by Mahalanobis regression, with 95% intervals; the errors on logarithmic axes.");
  svg.text({kFigureLeft, 28}, "Regression on noisy divergences of all pairs of n points", {.size = 18, .bold = true});
  for (std::size_t i = 0; i < curves.size(); ++i) draw_error_panel(svg, curves[i], i);
  double x = draw_legend_entry(svg, kFigureLeft, "PBDL", {"", kPbdlColour, 2});
  x = draw_legend_entry(svg, x, "Mahalanobis regression", {"", kMahalanobisColour, 2, 1, "6 4"});
  Index runs = 0;
  for (const ErrorCurve& curve : curves) {
    for (const ErrorPoint& at : curve.errors) runs = std::max(runs, at.pbdl.runs);
  }
  svg.text({x, kFigureHeight - 22},
           runs == 1 ? std::string("one run") : fmt::format("bands: 95% intervals of the mean of {} runs", runs),
           {.colour = kFaintInk});
  return svg.finish();
}

}  // namespace bregmax::app
