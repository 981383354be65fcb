#pragma once

#include <algorithm>

#include "bregmax/optimize/learning_problem.hpp"
#include "core/products.hpp"

namespace bregmax::internal {

// Visits the values of all pieces at all rows, in blocks on several threads: no n x K array is made. Each thread has a
// copy `own` of `start`, calls each(own, values, begin) for its blocks of rows, and finally done(own), one thread at a
// time.
template <class Own, class Each, class Done>
void for_each_row_block(const LearningProblem& problem, const AffinePieces& pieces, const Own& start, const Each& each,
                        const Done& done) {
  constexpr Index kRowBlock = 256;
  const Index rows = problem.points.rows(), blocks = (rows + kRowBlock - 1) / kRowBlock;
#pragma omp parallel if (rows * problem.pieces > 100'000)
  {
    Own own = start;
    Matrix values;
#pragma omp for schedule(dynamic)
    for (Index b = 0; b < blocks; ++b) {
      const Index begin = b * kRowBlock, count = std::min(rows - begin, kRowBlock);
      values.resize(count, problem.pieces);
      set_product_transposed(problem.points.middleRows(begin, count), pieces.slopes, values);
      values.rowwise() += pieces.offsets.transpose();
      each(own, values, begin);
    }
#pragma omp critical(bregmax_row_blocks)
    done(own);
  }
}

}  // namespace bregmax::internal
