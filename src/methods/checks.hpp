#pragma once

#include <string_view>

#include "bregmax/methods/learned.hpp"

namespace bregmax::internal {

// Each throws Error that says what was found and what is allowed.

// At least one row and one feature, every entry finite and no larger than a divergence takes.
void check_bounded_rows(const MatrixView& rows);
// One class a row.
void check_classes(const ClassOfRow& class_of_row, Index rows);
// The same, and two classes or more, one of them with two rows or more.
void check_two_classes(const ClassOfRow& class_of_row, Index rows);
// At least one pair; row numbers below `rows`; weights finite and >= 0.
void check_pairs(const Pairs& pairs, Index rows);
void check_targets(const Targets& targets, Index rows);
void check_limits(const MethodLimits& limits);
// `what` is the field, for example "gamma"; finite and > 0 (>= 0).
void check_positive(double value, std::string_view what);
void check_not_negative(double value, std::string_view what);

}  // namespace bregmax::internal
