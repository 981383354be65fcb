#pragma once

#include <string>

#include "bregmax/data/table.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/model/model.hpp"

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

}  // namespace bregmax::app
