#pragma once

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// The ball of the maximum norm, |u_i - center(i)| <= radius: where Theorem 1 approximates a generator.
//
// Its coordinates u are those that are free in the domain of the generator:
//   kl       u = (p_1, ..., p_d), and the probability vector is (u, 1 - sum u): d + 1 features
//   logdet   u = the upper triangle of a symmetric p x p matrix, row by row: d = p (p + 1) / 2, p * p features
//   others   u = the features themselves
struct Box {
  Vector center;
  double radius = 1;  // R > 0

  Index dimension() const { return center.size(); }
  Vector lower() const { return center.array() - radius; }  // the two corners
  Vector upper() const { return center.array() + radius; }
};

// A box of `dimension` coordinates that lies well inside the domain: [0.1, 1.1]^d for i_divergence and itakura_saito
// (where the paper draws its points), three quarters of the largest cube about the uniform distribution for kl, half of
// the largest one about the identity for logdet, [-1, 1]^d for the others. Throws Error where the generator has no such
// number of coordinates.
Box default_box(const Divergence& divergence, Index dimension);

// beta of the generator on the box: ||grad phi(u) - grad phi(v)||_1 <= beta ||u - v||_inf, that is the largest
// max_s s^T H(u) s over the box and the sign vectors s, H being the Hessian in the coordinates of the box.
// Exact: closed forms but logdet, and mahalanobis up to 20 features. Upper bounds: mahalanobis beyond that, logdet,
// smoothed max-affine, averages. max_affine: infinity (0 for a single piece). box.cpp has the formulas.
// Throws Error when the box leaves the domain of the generator.
double smoothness(const Divergence& divergence, const Box& box);

}  // namespace bregmax
