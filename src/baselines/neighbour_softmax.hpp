#pragma once

#include <vector>

#include "bregmax/baselines/baseline.hpp"

namespace bregmax::internal {

// Row numbers in the order of their classes, so that the rows of a class are next to each other.
std::vector<Index> order_by_class(const ClassOfRow& class_of_row);

// The objective of neighbourhood component analysis in the space where neighbours are chosen: row i takes another row j
// as its neighbour with probability p_ij proportional to exp(-||z_i - z_j||^2), and is right when their classes agree.
class NeighbourSoftmax {
 public:
  // The classes of the embedded rows, which come in the order of order_by_class().
  explicit NeighbourSoftmax(const ClassOfRow& ordered_classes);

  Index rows() const { return static_cast<Index>(class_begin_.size()); }

  // Returns minus the expected number of rows that are right and writes its gradient with respect to `embedded`
  // (rows x components).
  double evaluate(const Matrix& embedded, Matrix& gradient);

  // The squared distance from each row to its nearest other row, of the last evaluate().
  Vector nearest_distances() const { return (heights_ + nearest_).cwiseMax(0); }

 private:
  // What one part of the rows needs; allocated once.
  struct Part {
    Matrix products;         // a block of rows against all
    std::vector<int> index;  // the near ones of a row
    Vector near;             // their distances, then weights
    Matrix pulls;            // rows x stride: what the pairs of this part add to the gradient
  };

  void allocate(Index components);
  void evaluate_part(Index part);
  void evaluate_block(Index begin, Index count, Part& part);
  void add_dense_block(Index begin, Index count, Part& part);
  void add_sparse_block(Index begin, Index count, Part& part);

  std::vector<Index> class_begin_, class_end_;  // of the class of each row
  Index components_ = 0;
  Matrix extended_;  // the embedded rows, a column of ones, zeros
  Vector heights_;   // ||z_i||^2
  Vector nearest_;   // the smallest distance of each row, less ||z_i||^2
  Vector right_;     // p_i: the probability that row i is right
  std::vector<Part> parts_;
};

}  // namespace bregmax::internal
