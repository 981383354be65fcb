#include "pictures/plane_geometry.hpp"

#include <algorithm>

namespace bregmax::app {
namespace {

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

}  // namespace

Polygon sublevel_set(const Pieces& pieces, std::size_t reference, double level, const Rectangle& inside) {
  Polygon polygon = inside.polygon();
  for (std::size_t k = 0; k < pieces.size() && !polygon.empty(); ++k) {
    if (k != reference) polygon = clip(polygon, difference(pieces[k], pieces[reference]), level);
  }
  return polygon;
}

double maximum(const Pieces& pieces, const Point& at) {
  const auto lower = [&at](const AffineFunction& a, const AffineFunction& b) { return a(at) < b(at); };
  return (*std::max_element(pieces.begin(), pieces.end(), lower))(at);
}

}  // namespace bregmax::app
