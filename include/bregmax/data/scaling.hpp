#pragma once

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// x -> (x - center) / scale, feature by feature. It is part of a model, so that new data is scaled as the old was.
struct Scaling {
  Vector center;
  Vector scale;  // > 0

  static Scaling none(Index features);
  // Mean 0 and standard deviation 1 (dividing by n) on these rows; a constant feature is only centred.
  static Scaling standard(const MatrixView& rows);

  bool is_identity() const;
  // Throws Error when the number of features differs.
  Matrix apply(const MatrixView& rows) const;
};

}  // namespace bregmax
