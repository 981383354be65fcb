#pragma once

#include <vector>

#include "bregmax/methods/registry.hpp"

namespace bregmax::internal {

// Labelled rows in the order of their classes, so that the rows of a class are next to each other.
struct OrderedRows {
  Matrix rows;
  ClassOfRow classes;
};

OrderedRows order_by_class(const MatrixView& rows, const ClassOfRow& class_of_row);
// The same for the rows with these numbers only.
OrderedRows order_by_class(const MatrixView& rows, const ClassOfRow& class_of_row, const std::vector<Index>& numbers);

// Where the class of each row begins and ends in the order of the classes.
struct ClassRanges {
  explicit ClassRanges(const ClassOfRow& ordered_classes);

  std::vector<Index> begin, end;  // one per row
};

Matrix centered(const MatrixView& rows);
Eigen::MatrixXd covariance(const Matrix& centered_rows);

// Uncorrelated coordinates u of variance 1: u^T = x^T from for centred rows x, and x^T = u^T back. Directions whose
// variance is at most `negligible` times the largest have no coordinate.
struct Whitening {
  Whitening(const Matrix& centered_rows, double negligible);

  Eigen::MatrixXd from;  // features x coordinates
  Eigen::MatrixXd back;  // coordinates x features
};

// The pairs that were given, or as many as the parameter `constraints` says drawn from the labels (0: 20 c^2 for c
// classes, as Davis et al. do).
Pairs pairs_of(const MethodSupervision& supervision, const MethodChoices& choices);

}  // namespace bregmax::internal
