#pragma once

#include <vector>

#include "bregmax/methods/registry.hpp"

namespace bregmax::internal {

// Throws Error unless there is a row and a feature, and every entry is finite and no larger than divergences take.
void check_bounded_rows(const MatrixView& rows);

// Throws Error unless there is one label per row and, if `two_classes`, two classes and two rows of one class.
void check_labels(const ClassOfRow& class_of_row, Index rows, bool two_classes);

// Throws Error that names the first comparison, pair or target that is not allowed. Labels and pairs of them are
// checked elsewhere.
void check_given_items(const MethodSupervision& supervision, Index rows);

// Weights may be empty. Throws Error unless they are of labelled rows, >= 0 and finite, and leave something to learn
// from.
void check_row_weights(const std::vector<double>& weights, const MethodSupervision& supervision, Index rows);
// Those of some rows; empty where there are none.
std::vector<double> select_weights(const std::vector<double>& weights, const std::vector<Index>& rows);

// Labelled rows in the order of their classes, so that the rows of a class are next to each other.
struct OrderedRows {
  Matrix rows;
  ClassOfRow classes;
};

OrderedRows order_by_class(const MatrixView& rows, const ClassOfRow& class_of_row);
// The same for a subset of the rows.
OrderedRows order_by_class(const MatrixView& rows, const ClassOfRow& class_of_row, const std::vector<Index>& numbers);

// Where the class of each row begins and ends in the order of the classes.
struct ClassRanges {
  explicit ClassRanges(const ClassOfRow& ordered_classes);

  std::vector<Index> begin, end;  // one per row
};

Matrix centered(const MatrixView& rows);
Eigen::MatrixXd covariance(const Matrix& centered_rows);

// Coordinates u^T = x^T from in which the scatter (the covariance, say) of the x is the identity, and x^T = u^T back.
// Directions whose scatter is at most `negligible` times the largest have no coordinate.
struct Whitening {
  Whitening(const Eigen::MatrixXd& scatter, double negligible);

  Eigen::MatrixXd from;  // features x coordinates
  Eigen::MatrixXd back;  // coordinates x features
};

// The given pairs, or pairs drawn from the labels: as many as the parameter `constraints` (0: 20 c^2 for c classes, as
// in Davis et al.).
Pairs pairs_of(const MethodSupervision& supervision, const MethodChoices& choices);

}  // namespace bregmax::internal
