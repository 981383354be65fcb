#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/theory/box.hpp"

namespace bregmax {

// Where the affine pieces touch the generator.
enum class Placement {
  kGrid,    // Theorem 1: the centres of floor(K^(1/d))^d equal cubes that cover the box
  kGreedy,  // one after the other where the approximation is worst so far: a farthest-point clustering in D itself
};

struct ApproximationOptions {
  Index pieces = 100;  // K, 1 .. 10^7
  Placement placement = Placement::kGrid;
  // Gradients and divergences are compared at least this far inside of the box. None: 4 R / floor(K^(1/d)), as in the
  // proof, which needs K >= 5^d to leave anything.
  std::optional<double> margin = {};
  Index samples = 10000;  // points at which the errors are measured, and from which their maxima are climbed; >= 1
  std::uint64_t seed = 0;
};

// Errors of a max-affine h that approximates phi: sup |phi - h| over the box; and over the inner box sup ||grad phi -
// grad h||_1 over all subgradients, sup |D_phi - D_h|. NaN: not known.
struct ApproximationErrors {
  double value = std::numeric_limits<double>::quiet_NaN();
  double gradient = std::numeric_limits<double>::quiet_NaN();
  double divergence = std::numeric_limits<double>::quiet_NaN();
};

struct Approximation {
  std::shared_ptr<const MaxAffine> approximator;  // over the coordinates of the box: h(u) = max of the tangents
  Matrix anchors;                                 // the points at which the pieces touch phi
  double beta = 0;                                // infinity: the generator is not smooth
  double margin = 0;                              // of the inner box; >= R: no inner box, gradient and divergence NaN
  ApproximationErrors measured;                   // maxima that were found: lower bounds of the suprema
  ApproximationErrors bounds;                     // of Theorem 1; NaN where beta is infinite
  bool stopped = false;                           // by RunControl: nothing was measured
};

// h(u) = max_i phi(v_i) + <grad phi(v_i), u - v_i>, over anchors v_i of the box. The bounds are proved for kGrid only;
// for kGreedy they are there to compare with.
Approximation approximate(const Divergence& divergence, const Box& box, const ApproximationOptions& options = {},
                          const RunControl& control = {});

// Theorem 1: 4 beta R^2 K^(-2/d), 16 beta R K^(-1/d), 36 beta R^2 K^(-1/d).
ApproximationErrors approximation_bounds(double beta, double radius, Index pieces, Index dimension);

struct Sweep {
  std::vector<Index> pieces;                // asked for: q^d; the first q is an eighth of the last, at least 8
  std::vector<Approximation> steps;         // one for each
  ApproximationErrors exponents;            // fitted to the measured errors
  ApproximationErrors theoretic_exponents;  // -2/d, -1/d, -1/d
  bool stopped = false;                     // fewer steps, no exponents
};

// Approximations with more and more pieces, compared on one inner box of half the radius: were the inner box to grow
// with K, as the theorem allows, its growth would show in the exponents. options.pieces: K of the last one, >= 12^d.
Sweep sweep_approximation(const Divergence& divergence, const Box& box, const ApproximationOptions& options,
                          const RunControl& control = {});

// The slope of log(errors) over log(sizes) by least squares. Two points or more, sizes not all equal, all > 0.
double fitted_exponent(const std::vector<double>& sizes, const std::vector<double>& errors);

}  // namespace bregmax
