#pragma once

// The pictures of the program as SVG, drawn by the files *_picture.cpp and figure_pictures.cpp.

#include <string>
#include <vector>

#include "bregmax/data/table.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/theory/approximate.hpp"
#include "paper/figure1.hpp"
#include "paper/figure2.hpp"

namespace bregmax::app {

// A model of two features, the labelled rows that it was learned from, and the row that is point A.
struct PictureSubject {
  const MaxAffine& divergence;
  const Scaling& scaling;
  const Table& table;  // two features, with labels; unscaled
  Index row_of_a;
};

// Two panels over the two features: the learned divergence from x to A and from A to x, with the classes.
std::string draw_divergence(const PictureSubject& subject);

// The measure that was tuned for. If the chosen method has a lambda path, over lambda: one curve per smoothing, with
// all other settings as chosen. Otherwise one line per method, with a dot per candidate. Throws Error if nothing was
// tuned.
std::string draw_tuning(const TuningRecord& record);

// Measured errors and the bounds of Theorem 1 over K, both axes logarithmic.
std::string draw_sweep(const Sweep& sweep, const std::string& title);

std::string draw_figure1(const Figure1& figure);
std::string draw_figure2(const std::vector<ErrorCurve>& curves);

}  // namespace bregmax::app
