#pragma once

#include <vector>

#include "methods/training_rows.hpp"

namespace bregmax::internal {

// The objective of neighbourhood component analysis in the space where neighbours are chosen: row i takes another row j
// as its neighbour with probability p_ij proportional to exp(-||z_i - z_j||^2), and is right when their classes agree.
class NeighbourSoftmax {
 public:
  // The classes of the embedded rows, which come in the order of their classes.
  explicit NeighbourSoftmax(const ClassOfRow& ordered_classes);

  Index rows() const { return static_cast<Index>(ranges_.begin.size()); }

  // Returns minus the expected number of rows that are right and writes its gradient with respect to `embedded`
  // (rows x components).
  double evaluate(const Matrix& embedded, Matrix& gradient);

  // The squared distance from each row to its nearest other row, of the last evaluate().
  Vector nearest_distances() const { return (heights_ + nearest_).cwiseMax(0); }

 private:
  // What one part of the rows needs; allocated once.
  struct Part {
    Matrix products;         // a block of rows against all, where they are not kept at once
    std::vector<int> index;  // the near ones of a row
    Vector near;             // their distances, then weights
    Matrix pulls;            // rows x stride: what the pairs of this part add to the gradient
  };

  void allocate(Index components);
  // Calls work(begin, count, part) for blocks of rows, those of different parts on different threads.
  template <class Work>
  void for_blocks(const Work& work);
  void clear_pulls();
  void sum_pulls();
  void multiply(Index begin, Index count, Index columns, double* products) const;
  Index measure(Index begin, Index count, double* products);
  bool sparse(Index near, Index count) const;
  void add_block(Index begin, Index count, Part& part);
  void add_whole();
  void add_sparse(Index begin, Index count, const double* distances, Part& part);
  void weigh(Index begin, Index count, double* distances);

  ClassRanges ranges_;
  Index components_ = 0;
  Matrix products_;  // all rows against all, where there are not too many
  Matrix extended_;  // the embedded rows, a column of ones, zeros
  Vector heights_;   // ||z_i||^2
  Vector nearest_;   // the smallest distance of each row, less ||z_i||^2
  Vector right_;     // p_i: the probability that row i is right
  std::vector<Part> parts_;
};

}  // namespace bregmax::internal
