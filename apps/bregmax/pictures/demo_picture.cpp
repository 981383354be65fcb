#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "pictures/pictures.hpp"
#include "pictures/plot.hpp"

namespace bregmax::app {
namespace {

// ---- A max-affine generator on the plane: all borders are straight, so everything here is exact. ----

using Pieces = Eigen::Matrix<double, Eigen::Dynamic, 3>;  // phi(x, y) = max_k <row k, (x, y, 1)>

// <function, (x, y, 1)>
double value(const Eigen::Vector3d& function, const Point& at) {
  return function(0) * at.x + function(1) * at.y + function(2);
}

// The part of a convex polygon where `function` <= level.
Polygon clip(const Polygon& polygon, const Eigen::Vector3d& function, double level) {
  Polygon kept;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point &here = polygon[i], &next = polygon[(i + 1) % polygon.size()];
    const double value_here = value(function, here) - level, value_next = value(function, next) - level;
    if (value_here <= 0) kept.push_back(here);
    if ((value_here < 0 && value_next > 0) || (value_here > 0 && value_next < 0)) {
      const double fraction = value_here / (value_here - value_next);
      kept.push_back({here.x + fraction * (next.x - here.x), here.y + fraction * (next.y - here.y)});
    }
  }
  if (kept.size() < 3) kept.clear();
  return kept;
}

// Where phi exceeds the piece `reference` by at most `level`, inside the rectangle: the points whose divergence from
// that piece is at most `level`. Level 0 gives the cell in which the piece attains the maximum.
Polygon sublevel_set(const Pieces& pieces, Index reference, double level, const Rectangle& inside) {
  Polygon polygon = inside.polygon();
  for (Index k = 0; k < pieces.rows() && !polygon.empty(); ++k) {
    if (k != reference) polygon = clip(polygon, pieces.row(k) - pieces.row(reference), level);
  }
  return polygon;
}

// phi - piece
double excess(const Pieces& pieces, Index piece, const Point& at) {
  const Vector values = pieces.col(0) * at.x + pieces.col(1) * at.y + pieces.col(2);
  return values.maxCoeff() - values(piece);
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
  Pieces pieces(subject.divergence.pieces(), 3);
  const Vector &center = subject.scaling.center, &scale = subject.scaling.scale;
  pieces.leftCols(2) = subject.divergence.slopes().array().rowwise() / scale.transpose().array();
  pieces.col(2) = subject.divergence.offsets() - pieces.col(0) * center(0) - pieces.col(1) * center(1);
  return pieces;
}

// Asks the divergence, because its rule decides where pieces tie.
Index piece_of_row(const PictureSubject& subject, Index row) {
  return subject.divergence.pieces_of(subject.scaling.apply(subject.table.features.middleRows(row, 1))).front();
}

Rectangle plane_around(const Matrix& rows) {
  constexpr double kMargin = 0.07;
  const Vector low = rows.colwise().minCoeff(), high = rows.colwise().maxCoeff();
  const double x = kMargin * (high(0) - low(0)), y = kMargin * (high(1) - low(1));
  return {low(0) - x, high(0) + x, low(1) - y, high(1) + y};
}

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
        a_(point(subject.row_of_a)),
        piece_of_a_(piece_of_row(subject, subject.row_of_a)),
        svg_(kDemoWidth, kDemoHeight, "A Bregman divergence learned from iris",
             "Left: divergence from x to A over petal length and width; right: from A to x. Lines bound the affine "
             "pieces.") {
    for (Index k = 0; k < pieces_.rows(); ++k) {
      Polygon polygon = sublevel_set(pieces_, k, 0, plane_);
      if (!polygon.empty()) cells_.emplace_back(k, std::move(polygon));
    }
    // One scale for both panels, so that they can be compared. It covers the data, not the empty corners.
    for (Index i = 0; i < subject_.table.features.rows(); ++i) {
      top_ = std::max({top_, excess(pieces_, piece_of_a_, point(i)), excess(pieces_, piece_of_row(subject_, i), a_)});
    }
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
  Point point(Index row) const { return {subject_.table.features(row, 0), subject_.table.features(row, 1)}; }

  // The upper edges grow quadratically: the bands of a squared distance would be equally wide.
  double edge(int band) const {
    const double t = static_cast<double>(band + 1) / kBands;
    return top_ * t * t;
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
      svg_.polygon(plot.place(sublevel_set(pieces_, piece_of_a_, edge(band), plane_)), {band_colour(band), ""});
    }
    svg_.end_clip();
  }

  void draw_to_x(const Plot& plot) {
    svg_.begin_clip(plot.frame());
    for (const auto& [piece, polygon] : cells_) {
      int band = 0;
      while (band + 1 < kBands && excess(pieces_, piece, a_) > edge(band)) ++band;
      const std::string colour = band_colour(band);
      // The stroke closes the hairline that renderers leave between neighbours.
      svg_.polygon(plot.place(polygon), {colour, colour, 0.6});
    }
    svg_.end_clip();
  }

  void draw_cells_and_points(const Plot& plot) {
    svg_.begin_clip(plot.frame());
    for (const auto& [piece, polygon] : cells_) svg_.polygon(plot.place(polygon), {"", kBorderColour, 0.5, 0.6});
    for (Index i = 0; i < subject_.table.features.rows(); ++i) {
      draw_mark(svg_, plot.place(point(i).x, point(i).y), subject_.table.labels->of_row[i], 4.2);
    }
    draw_a(svg_, plot.place(a_.x, a_.y));
    svg_.end_clip();
  }

  void draw_legend() {
    const double y = kLeftPanel.bottom + 76;
    double x = kLeftPanel.left + 6;
    for (int c = 0; c < subject_.table.labels->classes(); ++c) {
      const std::string& name = subject_.table.labels->class_names[c];
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
        svg_.text({left + kBox, y + 24}, fmt::format("{:.2g}", edge(band)), {11.5, Anchor::kMiddle});
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
  Index piece_of_a_;
  std::vector<std::pair<Index, Polygon>> cells_;  // number and cell of each piece
  double top_ = 0;                                // the largest divergence shown
  Svg svg_;
};

}  // namespace

std::string draw_divergence(const PictureSubject& subject) { return Drawing(subject).draw(); }

}  // namespace bregmax::app
