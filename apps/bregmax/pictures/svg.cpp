#include "pictures/svg.hpp"

#include <fmt/format.h>

namespace bregmax::app {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

// Nobody sees hundredths of a pixel, and trailing zeros only make the file large.
std::string pixels(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string area_attributes(const Rectangle& area) {
  return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", pixels(area.left), pixels(area.top),
                     pixels(area.right - area.left), pixels(area.bottom - area.top));
}

std::string attributes(const Style& style) {
  std::string out = fmt::format(" fill=\"{}\"", style.fill.empty() ? "none" : style.fill);
  if (!style.stroke.empty()) {
    out += fmt::format(" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"", style.stroke,
                       pixels(style.stroke_width));
  }
  if (!style.dashes.empty()) out += fmt::format(" stroke-dasharray=\"{}\"", style.dashes);
  if (style.opacity < 1) out += fmt::format(" opacity=\"{}\"", pixels(style.opacity));
  return out;
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title, std::string_view description)
    : body_(
          fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                      "font-family=\"'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif\" "
                      "role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n",
                      pixels(width), pixels(height), escaped(title), escaped(description))) {
  rectangle({0, width, height, 0}, {"#ffffff", "", 0, 1});
}

void Svg::corners(std::string_view shape, const std::vector<Point>& corners, const Style& style) {
  if (corners.empty()) return;
  body_ += fmt::format("<{} points=\"", shape);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    body_ += fmt::format("{}{},{}", i == 0 ? "" : " ", pixels(corners[i].x), pixels(corners[i].y));
  }
  body_ += fmt::format("\"{}/>\n", attributes(style));
}

void Svg::rectangle(const Rectangle& area, const Style& style) {
  body_ += fmt::format("<rect {}{}/>\n", area_attributes(area), attributes(style));
}

void Svg::line(const Point& from, const Point& to, const Style& style) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", pixels(from.x), pixels(from.y),
                       pixels(to.x), pixels(to.y), attributes(style));
}

void Svg::circle(const Point& centre, double radius, const Style& style) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n", pixels(centre.x), pixels(centre.y), pixels(radius),
                       attributes(style));
}

void Svg::text(const Point& at, std::string_view content, const TextStyle& style) {
  static constexpr const char* kAnchors[] = {"start", "middle", "end"};
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"", pixels(at.x), pixels(at.y),
                       pixels(style.size), style.colour);
  if (style.anchor != Anchor::kStart) {
    body_ += fmt::format(" text-anchor=\"{}\"", kAnchors[static_cast<int>(style.anchor)]);
  }
  if (style.bold) body_ += " font-weight=\"bold\"";
  if (style.italic) body_ += " font-style=\"italic\"";
  if (style.angle != 0) {
    body_ += fmt::format(" transform=\"rotate({} {} {})\"", pixels(style.angle), pixels(at.x), pixels(at.y));
  }
  body_ += fmt::format(">{}</text>\n", escaped(content));
}

void Svg::begin_clip(const Rectangle& area) {
  ++clips_;
  body_ += fmt::format("<clipPath id=\"clip{0}\"><rect {1}/></clipPath>\n<g clip-path=\"url(#clip{0})\">\n", clips_,
                       area_attributes(area));
}

}  // namespace bregmax::app
