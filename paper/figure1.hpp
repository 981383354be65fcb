#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bregmax/core/matrix.hpp"
#include "bregmax/core/run_control.hpp"

namespace bregmax {

// The paper's Figure 1: how a max-affine function approximates a quadratic, and the divergences learned by PBDL and
// ITML between a point A and points around a circle of three classes.

struct QuadraticPanel {
  Vector x, quadratic, max_affine;
  Vector knots;  // where the pieces touch the quadratic
};

struct CirclePoint {
  double angle;  // degrees, 0 .. 360
  int class_number;
  double to_a, from_a;  // D(x, A) and D(A, x) by PBDL
  double itml;          // the distance by ITML
};

struct Figure1 {
  QuadraticPanel quadratic;
  std::vector<CirclePoint> circle;   // all rows of the dataset, by rising angle
  std::size_t a = 0;                 // which of them is A
  std::string pbdl_note, itml_note;  // what cross-validation chose
  bool stopped = false;              // by RunControl: all else is meaningless
};

QuadraticPanel approximate_quadratic(Index pieces);

// Learned on two thirds of the rows by the protocol of the tables, tuned for average precision; A is the row nearest to
// the middle of the first arc.
Figure1 compute_figure1(std::uint64_t seed, const RunControl& control = {});

std::string quadratic_as_csv(const QuadraticPanel& panel);
std::string circle_as_csv(const Figure1& figure);
std::string figure1_as_json(const Figure1& figure);
std::string figure1_as_text(const Figure1& figure);

}  // namespace bregmax
