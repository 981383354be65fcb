#pragma once

#include <vector>

#include "bregmax/core/matrix.hpp"

// The plane as a max-affine generator sees it: everything here is exact, made of straight edges.
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

// The part of a convex polygon where `function` <= level.
Polygon clip(const Polygon& polygon, const AffineFunction& function, double level);

// The affine pieces of phi(x) = max_k pieces[k](x).
using Pieces = std::vector<AffineFunction>;

// Where piece k attains the maximum, inside the rectangle.
Polygon cell(const Pieces& pieces, std::size_t k, const Rectangle& inside);

// Where phi(x) - pieces[reference](x) <= level: the points of divergence at most `level` from that piece.
Polygon sublevel_set(const Pieces& pieces, std::size_t reference, double level, const Rectangle& inside);

std::size_t highest_piece(const Pieces& pieces, const Point& at);
double maximum(const Pieces& pieces, const Point& at);

}  // namespace bregmax::app
