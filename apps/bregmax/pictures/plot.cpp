#include "pictures/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bregmax::app {
namespace {

constexpr double kTickSize = 11.5;

}  // namespace

double Axis::share(double value) const {
  if (logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

std::string Axis::tick_text(double value) const {
  if (!names.empty()) return names.at(static_cast<std::size_t>(value));
  const double power = logarithmic ? std::log10(value) : 0;
  if ((power < -3 || power >= 4) && std::abs(power - std::round(power)) < 1e-9) return fmt::format("1e{:.0f}", power);
  return fmt::format("{:g}", std::abs(value) < 1e-12 ? 0.0 : value);
}

std::vector<double> Axis::tick_values() const {
  if (!ticks.empty()) return ticks;
  if (!names.empty()) {
    std::vector<double> values(names.size());
    std::iota(values.begin(), values.end(), 0.0);
    return values;
  }
  if (!logarithmic) return round_ticks(low, high, 5);
  constexpr double kFewDecades = 2.5;  // leave room for 2 and 5 between the powers of ten
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

std::vector<Point> Plot::place(const std::vector<Point>& values) const {
  std::vector<Point> placed;
  placed.reserve(values.size());
  for (const Point& value : values) placed.push_back(place(value.x, value.y));
  return placed;
}

void Plot::draw_axes(Svg& svg, bool grid) const {
  const Style faint{"", kFaintInk, 0.5, 0.3}, rule{"", kFaintInk};
  for (const double tick : y_.tick_values()) {
    const Point at = place(x_.low, tick);
    svg.line({at.x - 5, at.y}, at, rule);
    if (grid) svg.line(at, {frame_.right, at.y}, faint);
    svg.text({frame_.left - 8, at.y + 4}, y_.tick_text(tick), {kTickSize, Anchor::kEnd});
  }
  for (const double tick : x_.tick_values()) {
    const Point at = place(tick, y_.low);
    svg.line(at, {at.x, frame_.bottom + 5}, rule);
    svg.text({at.x, frame_.bottom + 19}, x_.tick_text(tick), {kTickSize, Anchor::kMiddle});
  }
  svg.rectangle(frame_, rule);
  svg.text({(frame_.left + frame_.right) / 2, frame_.bottom + 38}, x_.title, {.anchor = Anchor::kMiddle});
  svg.text({frame_.left - 46, (frame_.top + frame_.bottom) / 2}, y_.title, {.anchor = Anchor::kMiddle, .angle = -90});
}

void Plot::draw_title(Svg& svg, const std::string& title) const {
  svg.text({(frame_.left + frame_.right) / 2, frame_.top - 12}, title, {15, Anchor::kMiddle, kInk, true});
}

void Plot::draw_band(Svg& svg, const std::vector<Point>& lower, const std::vector<Point>& upper,
                     const Style& style) const {
  std::vector<Point> corners = lower;
  corners.insert(corners.end(), upper.rbegin(), upper.rend());
  svg.polygon(place(corners), style);
}

}  // namespace bregmax::app
