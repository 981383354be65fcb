#include "pictures/approximate_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pictures/svg.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kInk = "#222222";
constexpr const char* kFaintInk = "#666666";
constexpr double kWidth = 760, kHeight = 560;
constexpr Rectangle kFrame{84, 520, 484, 76};

struct Series {
  const char* name;
  const char* colour;  // Okabe and Ito's, which stay apart for colour-blind readers
  double ApproximationErrors::*error;
};
constexpr std::array<Series, 3> kSeries = {{
    {"divergence", "#0072b2", &ApproximationErrors::divergence},
    {"gradient", "#e69f00", &ApproximationErrors::gradient},
    {"value", "#009e73", &ApproximationErrors::value},
}};

// Powers of ten in K and in the errors.
struct Decades {
  double left, right, bottom, top;

  Point place(double pieces, double error) const {
    return {kFrame.left + (std::log10(pieces) - left) / (right - left) * (kFrame.right - kFrame.left),
            kFrame.bottom - (std::log10(error) - bottom) / (top - bottom) * (kFrame.bottom - kFrame.top)};
  }
};

bool drawable(double error) { return std::isfinite(error) && error > 0; }

Decades decades_of(const Sweep& sweep) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const Approximation& step : sweep.steps) {
    for (const Series& each : kSeries) {
      for (const double error : {step.measured.*each.error, step.bounds.*each.error}) {
        if (!drawable(error)) continue;
        low = std::min(low, error);
        high = std::max(high, error);
      }
    }
  }
  if (!(high > 0)) low = high = 1;  // nothing to draw: an exact approximation without bounds
  const double first = std::log10(static_cast<double>(sweep.pieces.front()));
  const double last = std::log10(static_cast<double>(sweep.pieces.back()));
  const double margin = 0.04 * (last - first);
  const double bottom = std::floor(std::log10(low));
  return {first - margin, last + margin, bottom, std::max(std::ceil(std::log10(high)), bottom + 1)};
}

void draw_axes(Svg& svg, const Decades& decades, const Sweep& sweep) {
  const Style rule{"", kFaintInk, 1, 1}, faint{"", kFaintInk, 0.5, 0.4};
  const int lowest = static_cast<int>(decades.bottom), highest = static_cast<int>(decades.top);
  for (int power = lowest; power <= highest; ++power) {
    const double value = std::pow(10, power);
    const Point at = decades.place(static_cast<double>(sweep.pieces.front()), value);
    svg.line({kFrame.left, at.y}, {kFrame.right, at.y}, faint);
    svg.text({kFrame.left - 9, at.y + 4}, fmt::format("{:g}", value), {12, Anchor::kEnd, kInk, false, false, 0});
  }
  for (const Index pieces : sweep.pieces) {
    const Point at = decades.place(static_cast<double>(pieces), std::pow(10, decades.bottom));
    svg.line({at.x, kFrame.bottom}, {at.x, kFrame.bottom + 5}, rule);
    svg.text({at.x, kFrame.bottom + 20}, fmt::format("{}", pieces), {11, Anchor::kMiddle, kInk, false, false, 0});
  }
  svg.rectangle(kFrame, rule);
  svg.text({(kFrame.left + kFrame.right) / 2, kFrame.bottom + 42}, "affine pieces K",
           {13, Anchor::kMiddle, kInk, false, false, 0});
  svg.text({26, (kFrame.top + kFrame.bottom) / 2}, "largest error", {13, Anchor::kMiddle, kInk, false, false, -90});
}

void draw_series(Svg& svg, const Decades& decades, const Sweep& sweep, const Series& series) {
  for (std::size_t i = 0; i < sweep.steps.size(); ++i) {
    const auto pieces = static_cast<double>(sweep.pieces[i]);
    const double error = sweep.steps[i].measured.*series.error, bound = sweep.steps[i].bounds.*series.error;
    if (i > 0) {
      const auto before = static_cast<double>(sweep.pieces[i - 1]);
      const double error_before = sweep.steps[i - 1].measured.*series.error;
      const double bound_before = sweep.steps[i - 1].bounds.*series.error;
      if (drawable(error) && drawable(error_before)) {
        svg.line(decades.place(before, error_before), decades.place(pieces, error), {"", series.colour, 2, 1});
      }
      if (drawable(bound) && drawable(bound_before)) {
        svg.line(decades.place(before, bound_before), decades.place(pieces, bound), {"", series.colour, 5, 0.3});
      }
    }
    if (drawable(error)) svg.circle(decades.place(pieces, error), 4, {series.colour, "#ffffff", 0.8, 1});
  }
}

void draw_legend(Svg& svg, const Sweep& sweep) {
  double y = kFrame.top + 14;
  const double x = kFrame.right + 22;
  for (const Series& series : kSeries) {
    svg.line({x, y - 4}, {x + 26, y - 4}, {"", series.colour, 2, 1});
    svg.circle({x + 13, y - 4}, 4, {series.colour, "#ffffff", 0.8, 1});
    svg.text({x + 34, y}, series.name, {13, Anchor::kStart, kInk, true, false, 0});
    const double fitted = sweep.exponents.*series.error;
    svg.text({x + 34, y + 17},
             std::isfinite(fitted) ? fmt::format("fitted K^{:.2f}", fitted) : std::string("exact: no exponent"),
             {12, Anchor::kStart, kInk, false, false, 0});
    svg.text({x + 34, y + 33}, fmt::format("Theorem 1: K^{:.2f}", sweep.theoretic_exponents.*series.error),
             {12, Anchor::kStart, kFaintInk, false, false, 0});
    y += 64;
  }
  svg.line({x, y - 4}, {x + 26, y - 4}, {"", kFaintInk, 5, 0.3});
  svg.text({x + 34, y}, "bound of Theorem 1", {12, Anchor::kStart, kInk, false, false, 0});
}

}  // namespace

std::string draw_sweep(const Sweep& sweep, const std::string& title) {
  Svg svg(kWidth, kHeight, title,
          "Largest errors of value, gradient and divergence against the number of affine pieces, with the bounds of "
          "Theorem 1; both axes logarithmic.");
  const Decades decades = decades_of(sweep);
  svg.text({kFrame.left, 36}, title, {18, Anchor::kStart, kInk, true, false, 0});
  svg.text({kFrame.left, 58}, "measured (thin, with dots) and bounded (thick, pale)",
           {12.5, Anchor::kStart, kFaintInk, false, false, 0});
  draw_axes(svg, decades, sweep);
  for (const Series& series : kSeries) draw_series(svg, decades, sweep, series);
  draw_legend(svg, sweep);
  return svg.finish();
}

}  // namespace bregmax::app
