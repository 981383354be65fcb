#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace bregmax::app {

struct Point {
  double x, y;
};

using Polygon = std::vector<Point>;  // convex, corners in order; empty: nothing

struct Rectangle {
  double left, right, bottom, top;

  Polygon polygon() const { return {{left, bottom}, {right, bottom}, {right, top}, {left, top}}; }
};

inline constexpr const char* kInk = "#222222";
inline constexpr const char* kFaintInk = "#666666";
// Okabe and Ito's colours, which colour-blind readers can tell apart.
inline constexpr std::array<const char*, 8> kColours = {"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                        "#cc79a7", "#56b4e9", "#a0a000", "#000000"};

// How a shape looks. Colours are #rrggbb; an empty colour draws nothing.
struct Style {
  std::string fill;
  std::string stroke;
  double stroke_width = 1;
  double opacity = 1;
  std::string dashes = {};  // lengths on and off, "6 4"; empty: a solid line
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 13;
  Anchor anchor = Anchor::kStart;
  std::string colour = kInk;
  bool bold = false;
  bool italic = false;
  double angle = 0;  // degrees, clockwise
};

// A picture in SVG 1.1; coordinates are pixels, y downwards.
class Svg {
 public:
  Svg(double width, double height, std::string_view title, std::string_view description);

  void polygon(const Polygon& polygon, const Style& style) { corners("polygon", polygon, style); }
  void rectangle(const Rectangle& area, const Style& style);  // bottom and top in pixels: top < bottom
  void polyline(const std::vector<Point>& line, const Style& style) { corners("polyline", line, style); }
  void line(const Point& from, const Point& to, const Style& style);
  void circle(const Point& centre, double radius, const Style& style);
  void text(const Point& at, std::string_view content, const TextStyle& style = {});

  // What is drawn between the two calls is cut off at the rectangle.
  void begin_clip(const Rectangle& area);
  void end_clip() { body_ += "</g>\n"; }

  std::string finish() const { return body_ + "</svg>\n"; }

 private:
  void corners(std::string_view shape, const std::vector<Point>& corners, const Style& style);

  std::string body_;
  int clips_ = 0;
};

}  // namespace bregmax::app
