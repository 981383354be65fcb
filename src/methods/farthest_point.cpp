#include <fmt/format.h>

#include <limits>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/methods/pbdl.hpp"

namespace bregmax {

FarthestPointCells farthest_point_cells(const MatrixView& rows, int pieces, std::uint64_t seed) {
  const Index count = rows.rows();
  if (pieces < 1 || pieces > count) {
    throw Error(fmt::format("pieces is {}; allowed: 1 to {} (the number of rows)", pieces, count));
  }
  FarthestPointCells cells{std::vector<int>(static_cast<std::size_t>(count), 0), {}};
  Vector distance = Vector::Constant(count, std::numeric_limits<double>::infinity());
  Index centre = Random(seed).uniform_index(count);
  for (int piece = 0; piece < pieces; ++piece) {
    if (piece > 0 && distance(centre) == 0) {
      throw Error(fmt::format("pieces is {}, but the rows have only {} distinct locations", pieces, piece));
    }
    cells.centres.push_back(centre);
#pragma omp parallel for schedule(static) if (count > 10000)
    for (Index i = 0; i < count; ++i) {
      const double to_centre = (rows.row(i) - rows.row(centre)).squaredNorm();
      if (to_centre < distance(i)) {
        distance(i) = to_centre;
        cells.piece_of[static_cast<std::size_t>(i)] = piece;
      }
    }
    distance.maxCoeff(&centre);
  }
  return cells;
}

}  // namespace bregmax
