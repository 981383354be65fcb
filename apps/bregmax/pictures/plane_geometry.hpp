#pragma once

#include <vector>

#include "bregmax/core/matrix.hpp"

// A max-affine generator on the plane: all borders are straight, so everything here is exact.
namespace bregmax::app {

struct Point {
  double x, y;
};

using Polygon = std::vector<Point>;  // convex, corners in order; empty: nothing

struct Rectangle {
  double left, right, bottom, top;

  Polygon polygon() const { return {{left, bottom}, {right, bottom}, {right, top}, {left, top}}; }
};

// slope_x * x + slope_y * y + offset.
struct AffineFunction {
  double slope_x, slope_y, offset;

  double operator()(const Point& at) const { return slope_x * at.x + slope_y * at.y + offset; }
};

// The affine pieces of phi(x) = max_k pieces[k](x).
using Pieces = std::vector<AffineFunction>;

// Where phi(x) - pieces[reference](x) <= level, inside the rectangle: the points whose divergence from that piece is at
// most `level`. Level 0 gives the cell in which the piece attains the maximum.
Polygon sublevel_set(const Pieces& pieces, std::size_t reference, double level, const Rectangle& inside);

// phi(at)
double maximum(const Pieces& pieces, const Point& at);

}  // namespace bregmax::app
