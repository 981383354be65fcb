#pragma once

#include <string>
#include <vector>

#include "pictures/svg.hpp"

namespace bregmax::app {

// The range of an axis and how it is labelled.
struct Axis {
  double low, high;
  std::string title;
  bool logarithmic = false;             // low > 0
  std::vector<double> ticks = {};       // empty: round numbers, or powers of ten
  std::vector<std::string> names = {};  // of the values 0, 1, 2, ..., instead of numbers

  double share(double value) const;  // 0 at low, 1 at high
  std::vector<double> tick_values() const;
  std::string tick_text(double value) const;
};

// Multiples of 1, 2 or 5 times a power of ten, about `count` of them.
std::vector<double> round_ticks(double low, double high, int count);

// A framed diagram.
class Plot {
 public:
  Plot(const Rectangle& frame, Axis x, Axis y) : frame_(frame), x_(std::move(x)), y_(std::move(y)) {}

  const Rectangle& frame() const { return frame_; }
  Point place(double x, double y) const;  // values outside of the range are moved to its border
  std::vector<Point> place(const std::vector<Point>& values) const;
  // Ticks with their numbers, titles, the frame and, if `grid`, horizontal lines.
  void draw_axes(Svg& svg, bool grid = true) const;
  void draw_title(Svg& svg, const std::string& title) const;
  void draw_curve(Svg& svg, const std::vector<Point>& values, const Style& style) const {
    svg.polyline(place(values), style);
  }
  // The area between two curves over the same x.
  void draw_band(Svg& svg, const std::vector<Point>& lower, const std::vector<Point>& upper, const Style& style) const;

 private:
  Rectangle frame_;
  Axis x_, y_;
};

}  // namespace bregmax::app
