#include "pictures/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bregmax::app {
namespace {

constexpr double kTickSize = 11.5, kTitleSize = 13;

std::string tick_text(double value, bool logarithmic) {
  if (logarithmic && (value < 1e-3 || value >= 1e4)) return fmt::format("1e{:.0f}", std::log10(value));
  return fmt::format("{:g}", std::abs(value) < 1e-12 ? 0.0 : value);
}

}  // namespace

double Axis::share(double value) const {
  if (logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

std::vector<double> Axis::tick_values() const {
  if (!ticks.empty()) return ticks;
  if (!logarithmic) return round_ticks(low, high, 5);
  constexpr double kFewDecades = 2.5;  // over which 2 and 5 have room between the powers of ten
  const bool between = std::log10(high / low) < kFewDecades;
  std::vector<double> values;
  const auto first = static_cast<int>(std::floor(std::log10(low)));
  const auto last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  for (int power = first; power <= last; ++power) {
    for (const double times : {1.0, 2.0, 5.0}) {
      const double value = times * std::pow(10, power);
      if ((times == 1 || between) && value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) values.push_back(value);
    }
  }
  return values;
}

std::vector<double> round_ticks(double low, double high, int count) {
  if (!(high > low)) return {low};
  const double raw = (high - low) / std::max(1, count);
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double times : {5.0, 2.0, 1.0}) {
    if (times * power >= raw * (1 - 1e-9)) step = times * power;
  }
  std::vector<double> ticks;
  const auto first = static_cast<long>(std::ceil(low / step - 1e-9));
  const auto last = static_cast<long>(std::floor(high / step + 1e-9));
  for (long at = first; at <= last; ++at) ticks.push_back(static_cast<double>(at) * step);
  return ticks;
}

Point Plot::place(double x, double y) const {
  const double across = std::clamp(x_.share(x), 0.0, 1.0), up = std::clamp(y_.share(y), 0.0, 1.0);
  return {frame_.left + across * (frame_.right - frame_.left), frame_.bottom - up * (frame_.bottom - frame_.top)};
}

void Plot::draw_axes(Svg& svg) const {
  const Style faint{"", kPlotFaintInk, 0.5, 0.3}, rule{"", kPlotFaintInk, 1, 1};
  for (const double tick : y_.tick_values()) {
    const Point at = place(x_.low, tick);
    svg.line(at, {frame_.right, at.y}, faint);
    svg.text({frame_.left - 7, at.y + 4}, tick_text(tick, y_.logarithmic),
             {kTickSize, Anchor::kEnd, kPlotInk, false, false, 0});
  }
  for (const double tick : x_.tick_values()) {
    const Point at = place(tick, y_.low);
    svg.line(at, {at.x, frame_.bottom + 5}, rule);
    svg.text({at.x, frame_.bottom + 19}, tick_text(tick, x_.logarithmic),
             {kTickSize, Anchor::kMiddle, kPlotInk, false, false, 0});
  }
  svg.rectangle(frame_, rule);
  svg.text({(frame_.left + frame_.right) / 2, frame_.bottom + 38}, x_.title,
           {kTitleSize, Anchor::kMiddle, kPlotInk, false, false, 0});
  svg.text({frame_.left - 46, (frame_.top + frame_.bottom) / 2}, y_.title,
           {kTitleSize, Anchor::kMiddle, kPlotInk, false, false, -90});
}

void Plot::draw_title(Svg& svg, const std::string& title) const {
  svg.text({(frame_.left + frame_.right) / 2, frame_.top - 12}, title, {15, Anchor::kMiddle, kPlotInk, true, false, 0});
}

void Plot::draw_curve(Svg& svg, const std::vector<Point>& values, const Style& style) const {
  std::vector<Point> corners;
  corners.reserve(values.size());
  for (const Point& value : values) corners.push_back(place(value.x, value.y));
  svg.polyline(corners, style);
}

void Plot::draw_band(Svg& svg, const std::vector<Point>& lower, const std::vector<Point>& upper,
                     const Style& style) const {
  std::vector<Point> corners;
  corners.reserve(lower.size() + upper.size());
  for (const Point& value : lower) corners.push_back(place(value.x, value.y));
  for (auto value = upper.rbegin(); value != upper.rend(); ++value) corners.push_back(place(value->x, value->y));
  svg.polygon(corners, style);
}

}  // namespace bregmax::app
