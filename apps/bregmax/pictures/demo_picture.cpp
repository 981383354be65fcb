#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "pictures/pictures.hpp"
#include "pictures/plot.hpp"

namespace bregmax::app {
namespace {

// ---- A max-affine generator on the plane: all borders are straight, so everything here is exact. ----

// slope_x * x + slope_y * y + offset.
struct AffineFunction {
  double slope_x, slope_y, offset;

  double operator()(const Point& at) const { return slope_x * at.x + slope_y * at.y + offset; }
};

// The affine pieces of phi(x) = max_k pieces[k](x).
using Pieces = std::vector<AffineFunction>;

AffineFunction difference(const AffineFunction& one, const AffineFunction& other) {
  return {one.slope_x - other.slope_x, one.slope_y - other.slope_y, one.offset - other.offset};
}

Point between(const Point& a, const Point& b, double fraction) {
  return {a.x + fraction * (b.x - a.x), a.y + fraction * (b.y - a.y)};
}

// The part of a convex polygon where `function` <= level.
Polygon clip(const Polygon& polygon, const AffineFunction& function, double level) {
  Polygon kept;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point& here = polygon[i];
    const Point& next = polygon[(i + 1) % polygon.size()];
    const double value_here = function(here) - level;
    const double value_next = function(next) - level;
    if (value_here <= 0) kept.push_back(here);
    if ((value_here < 0 && value_next > 0) || (value_here > 0 && value_next < 0)) {
      kept.push_back(between(here, next, value_here / (value_here - value_next)));
    }
  }
  if (kept.size() < 3) kept.clear();
  return kept;
}

// Where phi(x) - pieces[reference](x) <= level, inside the rectangle: the points whose divergence from that piece is at
// most `level`. Level 0 gives the cell in which the piece attains the maximum.
Polygon sublevel_set(const Pieces& pieces, std::size_t reference, double level, const Rectangle& inside) {
  Polygon polygon = inside.polygon();
  for (std::size_t k = 0; k < pieces.size() && !polygon.empty(); ++k) {
    if (k != reference) polygon = clip(polygon, difference(pieces[k], pieces[reference]), level);
  }
  return polygon;
}

// phi(at)
double maximum(const Pieces& pieces, const Point& at) {
  const auto lower = [&at](const AffineFunction& a, const AffineFunction& b) { return a(at) < b(at); };
  return (*std::max_element(pieces.begin(), pieces.end(), lower))(at);
}

// ---- The picture ----

constexpr Rectangle kLeftPanel{66, 506, 478, 88}, kRightPanel{566, 1006, 478, 88};
constexpr double kDemoWidth = kRightPanel.right + 26, kDemoHeight = kLeftPanel.bottom + 156;
constexpr const char* kBorderColour = "#5b6472";
constexpr int kBands = 9;

// From white at A to slate far away, light enough for the classes to have the strongest colours.
std::string band_colour(int band) {
  const double t = static_cast<double>(band) / (kBands - 1);
  const auto blend = [t](double from, double to) { return static_cast<int>(std::lround(from + t * (to - from))); };
  return fmt::format("#{:02x}{:02x}{:02x}", blend(255, 150), blend(255, 160), blend(255, 180));
}

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

// Asks the divergence, because its rule decides where pieces tie.
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

// The edges of the bands grow quadratically, so that there are as many near A as for a distance.
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

// Shape and colour both tell the class.
void draw_mark(Svg& svg, const Point& at, int class_number, double size) {
  const Style style{kColours[static_cast<std::size_t>(class_number) % 3], "#ffffff", 0.8};
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
      const double half = 0.9 * size;
      svg.polygon(Rectangle{at.x - half, at.x + half, at.y + half, at.y - half}.polygon(), style);
  }
}

// A ring and its letter, with white under both so that they stand out.
void draw_a(Svg& svg, const Point& at) {
  svg.circle(at, 9, {"", "#ffffff", 5});
  svg.circle(at, 9, {"", kInk, 2});
  svg.circle({at.x + 19, at.y - 15}, 9, {"#ffffff", "", 0, 0.85});
  svg.text({at.x + 19, at.y - 10}, "A", {15, Anchor::kMiddle, kInk, true});
}

class Drawing {
 public:
  explicit Drawing(const PictureSubject& subject)
      : subject_(subject),
        pieces_(unscaled_pieces(subject)),
        plane_(plane_around(subject.table.features)),
        a_{subject.table.features(subject.row_of_a, 0), subject.table.features(subject.row_of_a, 1)},
        piece_of_a_(piece_of_row(subject, subject.row_of_a)),
        svg_(kDemoWidth, kDemoHeight, "A Bregman divergence learned from iris",
             "Left: divergence from x to A over petal length and width; right: from A to x. Lines bound the affine "
             "pieces.") {
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
      Polygon polygon = sublevel_set(pieces_, k, 0, plane_);
      if (!polygon.empty()) cells_.push_back({k, std::move(polygon)});
    }
    levels_.top = largest_shown();
  }

  std::string draw() {
    const Axis x{plane_.left, plane_.right, "petal length (cm)", false, round_ticks(plane_.left, plane_.right, 8)};
    const Axis y{plane_.bottom, plane_.top, "petal width (cm)", false, round_ticks(plane_.bottom, plane_.top, 8)};
    const Plot left(kLeftPanel, x, y), right(kRightPanel, x, y);
    svg_.text({kLeftPanel.left, 32}, "A Bregman divergence learned from 2000 comparisons of irises",
              {.size = 19, .bold = true});
    draw_title(left, "D(x, A): from each x to A", "every band ends at a convex polygon around A");
    draw_title(right, "D(A, x): from A to each x", "the order matters: this one is constant on each affine piece");
    draw_from_x(left);
    draw_to_x(right);
    for (const Plot* plot : {&left, &right}) {
      draw_cells_and_points(*plot);
      plot->draw_axes(svg_, false);
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

  // One scale for both panels, so that they can be compared. It covers the data, not the empty corners.
  double largest_shown() const {
    double largest = 0;
    for (Index i = 0; i < subject_.table.features.rows(); ++i) {
      const Point x{subject_.table.features(i, 0), subject_.table.features(i, 1)};
      largest = std::max({largest, from_x(x), to_piece(piece_of_row(subject_, i))});
    }
    return largest;
  }

  void draw_title(const Plot& plot, const char* title, const char* explanation) {
    const Rectangle& frame = plot.frame();
    svg_.text({frame.left, frame.top - 28}, title, {.size = 15, .bold = true});
    svg_.text({frame.left, frame.top - 10}, explanation, {.size = 12.5, .colour = kFaintInk});
  }

  // Nested convex polygons, the largest first.
  void draw_from_x(const Plot& plot) {
    svg_.begin_clip(plot.frame());
    svg_.rectangle(plot.frame(), {band_colour(kBands - 1), ""});
    for (int band = kBands - 2; band >= 0; --band) {
      const Polygon inside = sublevel_set(pieces_, piece_of_a_, levels_.upper_edge(band), plane_);
      svg_.polygon(plot.place(inside), {band_colour(band), ""});
    }
    svg_.end_clip();
  }

  void draw_to_x(const Plot& plot) {
    svg_.begin_clip(plot.frame());
    for (const Cell& one : cells_) {
      const std::string colour = band_colour(levels_.band(to_piece(one.piece)));
      // The stroke closes the hairline that renderers leave between neighbours.
      svg_.polygon(plot.place(one.polygon), {colour, colour, 0.6});
    }
    svg_.end_clip();
  }

  void draw_cells_and_points(const Plot& plot) {
    svg_.begin_clip(plot.frame());
    for (const Cell& one : cells_) svg_.polygon(plot.place(one.polygon), {"", kBorderColour, 0.5, 0.6});
    const Labels& labels = *subject_.table.labels;
    for (Index i = 0; i < subject_.table.features.rows(); ++i) {
      const Point x{subject_.table.features(i, 0), subject_.table.features(i, 1)};
      draw_mark(svg_, plot.place(x.x, x.y), labels.of_row[static_cast<std::size_t>(i)], 4.2);
    }
    draw_a(svg_, plot.place(a_.x, a_.y));
    svg_.end_clip();
  }

  void draw_legend() {
    const double y = kLeftPanel.bottom + 76;
    double x = kLeftPanel.left + 6;
    for (int c = 0; c < subject_.table.labels->classes(); ++c) {
      const std::string& name = subject_.table.labels->class_names[static_cast<std::size_t>(c)];
      draw_mark(svg_, {x, y}, c, 5);
      svg_.text({x + 12, y + 4.5}, name);
      x += 36 + 7.2 * static_cast<double>(name.size());
    }
    svg_.line({x, y}, {x + 22, y}, {"", kBorderColour});
    svg_.text({x + 29, y + 4.5}, "border of an affine piece");
    draw_colour_bar(y);
  }

  void draw_colour_bar(double y) {
    constexpr double kBox = 36;
    const double begin = kRightPanel.right - kBox * kBands;
    svg_.text({begin - 12, y + 4.5}, "D", {.anchor = Anchor::kEnd, .italic = true});
    for (int band = 0; band < kBands; ++band) {
      const double left = begin + kBox * band;
      svg_.rectangle({left, left + kBox, y + 8, y - 8}, {band_colour(band), kFaintInk, 0.5});
      if (band + 1 < kBands) {
        svg_.text({left + kBox, y + 24}, fmt::format("{:.2g}", levels_.upper_edge(band)), {11.5, Anchor::kMiddle});
      }
    }
    svg_.text({begin, y + 24}, "0", {11.5, Anchor::kMiddle});
    svg_.text({kLeftPanel.left, y + 54},
              "Each comparison says: an iris is nearer to one of its own species than to one of another. D is made of "
              "affine pieces, learned to a proved optimum.",
              {.size = 12.5, .colour = kFaintInk});
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
