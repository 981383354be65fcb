#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pictures/pictures.hpp"
#include "pictures/plot.hpp"

namespace bregmax::app {
namespace {

struct ErrorSeries {
  const char* name;
  const char* colour;
  double ApproximationErrors::*error;
};
constexpr std::array<ErrorSeries, 3> kErrorSeries = {{
    {"divergence", kColours[0], &ApproximationErrors::divergence},
    {"gradient", kColours[1], &ApproximationErrors::gradient},
    {"value", kColours[2], &ApproximationErrors::value},
}};

// The errors over K that a logarithmic axis can show.
std::vector<Point> curve_of(const Sweep& sweep, ApproximationErrors Approximation::*errors,
                            double ApproximationErrors::*error) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < sweep.steps.size(); ++i) {
    const double value = sweep.steps[i].*errors.*error;
    if (std::isfinite(value) && value > 0) points.push_back({static_cast<double>(sweep.pieces[i]), value});
  }
  return points;
}

Plot sweep_plot(const Rectangle& frame, const Sweep& sweep) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const ErrorSeries& series : kErrorSeries) {
    for (const auto errors : {&Approximation::measured, &Approximation::bounds}) {
      for (const Point& at : curve_of(sweep, errors, series.error)) {
        low = std::min(low, at.y);
        high = std::max(high, at.y);
      }
    }
  }
  if (!(high > 0)) low = high = 1;  // nothing to draw: an exact approximation without bounds
  const std::vector<double> pieces(sweep.pieces.begin(), sweep.pieces.end());
  const double margin = std::pow(pieces.back() / pieces.front(), 0.04), bottom = std::floor(std::log10(low));
  return {
      frame,
      {pieces.front() / margin, pieces.back() * margin, "affine pieces K", true, pieces},
      {std::pow(10, bottom), std::pow(10, std::max(std::ceil(std::log10(high)), bottom + 1)), "largest error", true}};
}

void draw_sweep_legend(Svg& svg, const Point& begin, const Sweep& sweep) {
  const double x = begin.x;
  double y = begin.y;
  for (const ErrorSeries& series : kErrorSeries) {
    svg.line({x, y - 4}, {x + 26, y - 4}, {"", series.colour, 2});
    svg.circle({x + 13, y - 4}, 4, {series.colour, "#ffffff", 0.8});
    svg.text({x + 34, y}, series.name, {.bold = true});
    const double fitted = sweep.exponents.*series.error;
    svg.text({x + 34, y + 17}, std::isfinite(fitted) ? fmt::format("fitted K^{:.2f}", fitted) : "exact: no exponent",
             {.size = 12});
    svg.text({x + 34, y + 33}, fmt::format("Theorem 1: K^{:.2f}", sweep.theoretic_exponents.*series.error),
             {.size = 12, .colour = kFaintInk});
    y += 64;
  }
  svg.line({x, y - 4}, {x + 26, y - 4}, {"", kFaintInk, 5, 0.3});
  svg.text({x + 34, y}, "bound of Theorem 1", {.size = 12});
}

}  // namespace

std::string draw_sweep(const Sweep& sweep, const std::string& title) {
  constexpr Rectangle kFrame{84, 520, 484, 76};
  Svg svg(760, 560, title,
          "Largest errors of value, gradient and divergence against the number of affine pieces, with the bounds of "
          "Theorem 1; both axes logarithmic.");
  const Plot plot = sweep_plot(kFrame, sweep);
  svg.text({kFrame.left, 36}, title, {.size = 18, .bold = true});
  svg.text({kFrame.left, 58}, "measured (thin, with dots) and bounded (thick, pale)",
           {.size = 12.5, .colour = kFaintInk});
  plot.draw_axes(svg);
  for (const ErrorSeries& series : kErrorSeries) {
    const auto measured = curve_of(sweep, &Approximation::measured, series.error);
    plot.draw_curve(svg, curve_of(sweep, &Approximation::bounds, series.error), {"", series.colour, 5, 0.3});
    plot.draw_curve(svg, measured, {"", series.colour, 2});
    for (const Point& at : plot.place(measured)) svg.circle(at, 4, {series.colour, "#ffffff", 0.8});
  }
  draw_sweep_legend(svg, {kFrame.right + 22, kFrame.top + 14}, sweep);
  return svg.finish();
}

}  // namespace bregmax::app
