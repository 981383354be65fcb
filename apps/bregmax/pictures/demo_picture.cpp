#include "pictures/demo_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "pictures/plane_geometry.hpp"
#include "pictures/svg.hpp"

namespace bregmax::app {
namespace {

// Okabe and Ito's colours, which stay apart for colour-blind readers; shapes tell the classes apart once more.
constexpr std::array<const char*, 3> kClassColours = {"#0072b2", "#e69f00", "#009e73"};
constexpr const char* kInk = "#222222";
constexpr const char* kFaintInk = "#666666";

constexpr double kPanelWidth = 440, kPanelHeight = 390;
constexpr double kLeft = 66, kBetween = 60, kTop = 88;
constexpr double kWidth = kLeft + 2 * kPanelWidth + kBetween + 26;
constexpr double kHeight = kTop + kPanelHeight + 156;
constexpr int kBands = 9;

// From white at A to slate far away: dark enough to read, light enough to leave the classes the strongest colours.
std::string band_colour(int band) {
  const double t = static_cast<double>(band) / (kBands - 1);
  const auto blend = [t](double from, double to) { return static_cast<int>(std::lround(from + t * (to - from))); };
  return fmt::format("#{:02x}{:02x}{:02x}", blend(255, 150), blend(255, 160), blend(255, 180));
}

// The part of the plane that a panel shows, and where.
class Panel {
 public:
  Panel(double left, const Rectangle& plane) : left_(left), plane_(plane) {}

  const Rectangle& plane() const { return plane_; }
  Rectangle frame() const { return {left_, left_ + kPanelWidth, kTop + kPanelHeight, kTop}; }
  Point place(const Point& at) const {
    return {left_ + (at.x - plane_.left) / (plane_.right - plane_.left) * kPanelWidth,
            kTop + (plane_.top - at.y) / (plane_.top - plane_.bottom) * kPanelHeight};
  }
  Polygon place(const Polygon& polygon) const {
    Polygon placed;
    for (const Point& corner : polygon) placed.push_back(place(corner));
    return placed;
  }

 private:
  double left_;
  Rectangle plane_;
};

// The pieces in the units of the data.
Pieces unscaled_pieces(const PictureSubject& subject) {
  const Vector& center = subject.scaling.center;
  const Vector& scale = subject.scaling.scale;
  Pieces pieces;
  for (Index k = 0; k < subject.divergence.pieces(); ++k) {
    const double x = subject.divergence.slopes()(k, 0) / scale(0);
    const double y = subject.divergence.slopes()(k, 1) / scale(1);
    pieces.push_back({x, y, subject.divergence.offsets()(k) - x * center(0) - y * center(1)});
  }
  return pieces;
}

// By the divergence's own rule, which matters where pieces tie.
std::size_t piece_of_row(const PictureSubject& subject, Index row) {
  const Matrix scaled = subject.scaling.apply(subject.table.features.middleRows(row, 1));
  return static_cast<std::size_t>(subject.divergence.pieces_of(scaled).front());
}

Rectangle plane_around(const Matrix& rows) {
  constexpr double kMargin = 0.07;
  const Vector low = rows.colwise().minCoeff();
  const Vector high = rows.colwise().maxCoeff();
  const double x = kMargin * (high(0) - low(0)), y = kMargin * (high(1) - low(1));
  return {low(0) - x, high(0) + x, low(1) - y, high(1) + y};
}

// Bands grow like a square: as fine near A as a distance would be.
struct Levels {
  double top;
  double upper_edge(int band) const {
    const double t = static_cast<double>(band + 1) / kBands;
    return top * t * t;
  }
  int band(double divergence) const {
    int b = 0;
    while (b + 1 < kBands && divergence > upper_edge(b)) ++b;
    return b;
  }
};

// Round numbers inside a range, some six of them.
std::vector<double> ticks(double low, double high) {
  const double rough = (high - low) / 8;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (rough <= factor * power) step = factor * power;
  }
  std::vector<double> values;
  const int last = static_cast<int>(std::floor(high / step));
  for (int k = static_cast<int>(std::ceil(low / step)); k <= last; ++k) values.push_back(k * step);
  return values;
}

void draw_axes(Svg& svg, const Panel& panel, const std::string& x_name, const std::string& y_name) {
  const Rectangle& plane = panel.plane();
  const Rectangle frame = panel.frame();
  const Style rule{"", kFaintInk, 1, 1};
  for (const double x : ticks(plane.left, plane.right)) {
    const Point at = panel.place(Point{x, plane.bottom});
    svg.line(at, {at.x, at.y + 5}, rule);
    svg.text({at.x, at.y + 20}, fmt::format("{:.4g}", x), {12, Anchor::kMiddle, kInk, false, false, 0});
  }
  for (const double y : ticks(plane.bottom, plane.top)) {
    const Point at = panel.place(Point{plane.left, y});
    svg.line(at, {at.x - 5, at.y}, rule);
    svg.text({at.x - 9, at.y + 4}, fmt::format("{:.4g}", y), {12, Anchor::kEnd, kInk, false, false, 0});
  }
  svg.rectangle(frame, rule);
  svg.text({(frame.left + frame.right) / 2, frame.bottom + 40}, x_name, {13, Anchor::kMiddle, kInk, false, false, 0});
  svg.text({frame.left - 42, (frame.top + frame.bottom) / 2}, y_name, {13, Anchor::kMiddle, kInk, false, false, -90});
}

void draw_mark(Svg& svg, const Point& at, int class_number, double size) {
  const Style style{kClassColours[static_cast<std::size_t>(class_number) % kClassColours.size()], "#ffffff", 0.8, 1};
  switch (class_number % 3) {
    case 0:
      svg.circle(at, size, style);
      break;
    case 1:
      svg.polygon({{at.x, at.y - 1.25 * size},
                   {at.x + 1.15 * size, at.y + 0.85 * size},
                   {at.x - 1.15 * size, at.y + 0.85 * size}},
                  style);
      break;
    default:
      svg.polygon({{at.x - 0.9 * size, at.y - 0.9 * size},
                   {at.x + 0.9 * size, at.y - 0.9 * size},
                   {at.x + 0.9 * size, at.y + 0.9 * size},
                   {at.x - 0.9 * size, at.y + 0.9 * size}},
                  style);
  }
}

// A ring and its letter, white underneath so that both stand out from marks and lines.
void draw_a(Svg& svg, const Point& at) {
  svg.circle(at, 9, {"", "#ffffff", 5, 1});
  svg.circle(at, 9, {"", kInk, 2, 1});
  svg.circle({at.x + 19, at.y - 15}, 9, {"#ffffff", "", 0, 0.85});
  svg.text({at.x + 19, at.y - 10}, "A", {15, Anchor::kMiddle, kInk, true, false, 0});
}

class Drawing {
 public:
  explicit Drawing(const PictureSubject& subject)
      : subject_(subject),
        pieces_(unscaled_pieces(subject)),
        plane_(plane_around(subject.table.features)),
        a_{subject.table.features(subject.row_of_a, 0), subject.table.features(subject.row_of_a, 1)},
        piece_of_a_(piece_of_row(subject, subject.row_of_a)),
        svg_(kWidth, kHeight, "A Bregman divergence learned from iris",
             "Left: divergence from x to A over petal length and width; right: from A to x. Lines bound the affine "
             "pieces.") {
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
      Polygon polygon = cell(pieces_, k, plane_);
      if (!polygon.empty()) cells_.push_back({k, std::move(polygon)});
    }
    levels_.top = largest_shown();
  }

  std::string draw() {
    const Panel left(kLeft, plane_), right(kLeft + kPanelWidth + kBetween, plane_);
    draw_titles(left, right);
    draw_from_x(left);
    draw_to_x(right);
    for (const Panel* panel : {&left, &right}) {
      draw_cells_and_points(*panel);
      draw_axes(svg_, *panel, "petal length (cm)", "petal width (cm)");
    }
    draw_legend();
    return svg_.finish();
  }

 private:
  struct Cell {
    std::size_t piece;
    Polygon polygon;
  };

  double from_x(const Point& x) const { return maximum(pieces_, x) - pieces_[piece_of_a_](x); }
  double to_piece(std::size_t piece) const { return maximum(pieces_, a_) - pieces_[piece](a_); }

  // One scale for both panels, or they could not be compared; the data decide, not an empty corner.
  double largest_shown() const {
    double largest = 0;
    for (Index i = 0; i < subject_.table.features.rows(); ++i) {
      const Point x{subject_.table.features(i, 0), subject_.table.features(i, 1)};
      largest = std::max({largest, from_x(x), to_piece(piece_of_row(subject_, i))});
    }
    return largest;
  }

  void draw_titles(const Panel& left, const Panel& right) {
    svg_.text({kLeft, 32}, "A Bregman divergence learned from 2000 comparisons of irises",
              {19, Anchor::kStart, kInk, true, false, 0});
    svg_.text({left.frame().left, kTop - 28}, "D(x, A): from each x to A", {15, Anchor::kStart, kInk, true, false, 0});
    svg_.text({left.frame().left, kTop - 10}, "every band ends at a convex polygon around A",
              {12.5, Anchor::kStart, kFaintInk, false, false, 0});
    svg_.text({right.frame().left, kTop - 28}, "D(A, x): from A to each x", {15, Anchor::kStart, kInk, true, false, 0});
    svg_.text({right.frame().left, kTop - 10}, "the order matters: this one is the same all over an affine piece",
              {12.5, Anchor::kStart, kFaintInk, false, false, 0});
  }

  // Nested convex polygons, from the outside in.
  void draw_from_x(const Panel& panel) {
    svg_.begin_clip(panel.frame());
    svg_.rectangle(panel.frame(), {band_colour(kBands - 1), "", 0, 1});
    for (int band = kBands - 2; band >= 0; --band) {
      const Polygon inside = sublevel_set(pieces_, piece_of_a_, levels_.upper_edge(band), plane_);
      svg_.polygon(panel.place(inside), {band_colour(band), "", 0, 1});
    }
    svg_.end_clip();
  }

  void draw_to_x(const Panel& panel) {
    svg_.begin_clip(panel.frame());
    for (const Cell& one : cells_) {
      const std::string colour = band_colour(levels_.band(to_piece(one.piece)));
      // The stroke closes the hairline that renderers leave between neighbours.
      svg_.polygon(panel.place(one.polygon), {colour, colour, 0.6, 1});
    }
    svg_.end_clip();
  }

  void draw_cells_and_points(const Panel& panel) {
    svg_.begin_clip(panel.frame());
    for (const Cell& one : cells_) svg_.polygon(panel.place(one.polygon), {"", "#5b6472", 0.5, 0.6});
    const Labels& labels = *subject_.table.labels;
    for (Index i = 0; i < subject_.table.features.rows(); ++i) {
      const Point x{subject_.table.features(i, 0), subject_.table.features(i, 1)};
      draw_mark(svg_, panel.place(x), labels.of_row[static_cast<std::size_t>(i)], 4.2);
    }
    draw_a(svg_, panel.place(a_));
    svg_.end_clip();
  }

  void draw_legend() {
    const double y = kTop + kPanelHeight + 76;
    double x = kLeft + 6;
    for (int c = 0; c < subject_.table.labels->classes(); ++c) {
      const std::string& name = subject_.table.labels->class_names[static_cast<std::size_t>(c)];
      draw_mark(svg_, {x, y}, c, 5);
      svg_.text({x + 12, y + 4.5}, name, {13, Anchor::kStart, kInk, false, false, 0});
      x += 36 + 7.2 * static_cast<double>(name.size());
    }
    svg_.line({x, y}, {x + 22, y}, {"", "#5b6472", 1, 1});
    svg_.text({x + 29, y + 4.5}, "border of an affine piece", {13, Anchor::kStart, kInk, false, false, 0});
    draw_colour_bar(y);
  }

  void draw_colour_bar(double y) {
    constexpr double kBox = 36;
    const double begin = kWidth - 26 - kBox * kBands;
    svg_.text({begin - 12, y + 4.5}, "D", {13, Anchor::kEnd, kInk, false, true, 0});
    for (int band = 0; band < kBands; ++band) {
      const double left = begin + kBox * band;
      svg_.rectangle({left, left + kBox, y + 8, y - 8}, {band_colour(band), kFaintInk, 0.5, 1});
      if (band + 1 < kBands) {
        svg_.text({left + kBox, y + 24}, fmt::format("{:.2g}", levels_.upper_edge(band)),
                  {11.5, Anchor::kMiddle, kInk, false, false, 0});
      }
    }
    svg_.text({begin, y + 24}, "0", {11.5, Anchor::kMiddle, kInk, false, false, 0});
    svg_.text({kLeft, y + 54},
              "Each comparison says: an iris is nearer to one of its own species than to one of another. D is made of "
              "affine pieces, learned to a proved optimum.",
              {12.5, Anchor::kStart, kFaintInk, false, false, 0});
  }

  const PictureSubject& subject_;
  Pieces pieces_;
  Rectangle plane_;
  Point a_;
  std::size_t piece_of_a_;
  std::vector<Cell> cells_;
  Levels levels_{1};
  Svg svg_;
};

}  // namespace

std::string draw_divergence(const PictureSubject& subject) { return Drawing(subject).draw(); }

}  // namespace bregmax::app
