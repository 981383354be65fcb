#pragma once

#include <vector>

#include "methods/training_rows.hpp"

namespace bregmax::internal {

// The k rows of its class nearest to each row, by the squared Euclidean distance (equal ones: the lower number first);
// fewer where the class has fewer. Rows come in the order of their classes.
struct TargetNeighbours {
  std::vector<Index> begin;  // rows + 1: where the targets of each row begin
  std::vector<int> rows;

  Index count(Index row) const { return begin[row + 1] - begin[row]; }
  const int* of(Index row) const { return rows.data() + begin[row]; }
  Index size() const { return static_cast<Index>(rows.size()); }
};

TargetNeighbours nearest_of_class(const Matrix& ordered_rows, const ClassOfRow& ordered_classes, int neighbours);

// The working set of impostors: for each row, rows of other classes in ascending order. A triplet (i, j, l) is a target
// j and an impostor l of row i; the triplets of an impostor are numbered one after the other.
struct ImpostorSet {
  std::vector<Index> begin;          // rows + 1
  std::vector<int> rows;             // the impostors l
  std::vector<Index> first_triplet;  // of each impostor, and the number of triplets at the end

  Index size() const { return static_cast<Index>(rows.size()); }
  Index triplets() const { return first_triplet.empty() ? 0 : first_triplet.back(); }
};

// The loss of large margin nearest neighbours in the space of the embedded rows z:
//
//   (1 - mu) sum_{i, j target of i} ||z_i - z_j||^2
//     + mu sum_{i, j target of i, l of another class} max(0, 1 + ||z_i - z_j||^2 - ||z_i - z_l||^2)
//
// max(0, s) is the largest a s for a in 0 .. 1. For optimisation it is replaced by the largest
// a s - width / 2 (a - a0)^2, which is differentiable; the maximiser a is the multiplier of the triplet and a0 an
// earlier one. Width 0 is the loss itself.
class LargeMarginLoss {
 public:
  LargeMarginLoss(const ClassOfRow& ordered_classes, TargetNeighbours targets, double mu);

  Index rows() const { return static_cast<Index>(ranges_.begin.size()); }
  const TargetNeighbours& targets() const { return targets_; }
  double mu() const { return mu_; }
  double triplets() const;  // with all impostors

  // Every impostor with a hinge s > -slack for some target; nothing else.
  ImpostorSet find_impostors(const Matrix& embedded, double slack);

  // Over the triplets of the set; `earlier` has one a0 per triplet, or is empty for 0. Writes the gradient with respect
  // to `embedded`, and the multipliers a where `multipliers` is not null.
  double evaluate(const Matrix& embedded, const ImpostorSet& set, double width, const std::vector<double>& earlier,
                  Matrix& gradient, std::vector<double>* multipliers = nullptr);

  // Sum over the pairs of w_pair (row - other)(row - other)^T, with the weights that the targets and the triplets with
  // these multipliers give to pairs: the derivative of the loss with respect to M in d(x, y) = (x - y)^T M (x - y).
  Eigen::MatrixXd metric_gradient(const Matrix& rows, const ImpostorSet& set, const std::vector<double>& multipliers);

 private:
  struct Part {
    Matrix pulls;
    Matrix products;
    std::vector<int> index;
    Vector distances, target_distances, weights, target_weights;
    double value = 0;
  };
  struct Evaluation;

  void embed(const Matrix& embedded);
  // Adds the pulls of the targets and of these impostors, by the weights of the part.
  void spread(Index row, const int* impostors, Index count, Part& part) const;
  void evaluate_row(Index row, const Evaluation& evaluation, Part& part) const;
  double farthest_target(Index row, Part& part) const;

  ClassRanges ranges_;
  TargetNeighbours targets_;
  Index most_targets_ = 0;
  double mu_;
  Matrix padded_;  // the embedded rows, with columns up to a multiple of 4
  Vector heights_;
  std::vector<Part> parts_;
};

}  // namespace bregmax::internal
