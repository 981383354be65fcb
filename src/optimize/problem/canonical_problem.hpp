#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "bregmax/optimize/learning_problem.hpp"
#include "optimize/problem/feature_units.hpp"

namespace bregmax::internal {

// A hinge max(0, margin + D[plus] - D[minus]) on entries of the divergence grid; kNoEntry: that term is missing.
struct HingeItem {
  Index plus, minus;
  double margin, weight;
};
inline constexpr Index kNoEntry = -1;

// The loss that an item of the supervision became, so that its dual variable can be found.
struct ItemPlace {
  enum class Kind : std::uint8_t { kConstant, kLinear, kSingleHinge, kCoupledHinge, kQuadratic } kind;
  Index index;  // of the hinge item or the grid entry
};

// What a model and its objective are in canonical units, and the numbers that convert them to the caller's.
//
// Piece k is z[z_of_piece[k]] + <a_k, x - anchor_k>. Features are in their units, D is divided by `value_unit`, the
// objective by `objective_unit`, L by `norm_unit` (which here includes value_unit).
struct CanonicalUnits : FeatureUnits {
  Index pieces = 0, z_count = 0;
  std::vector<Index> z_of_piece;  // 0 .. z_count - 1
  Matrix anchor;                  // pieces x features

  double value_unit = 1, objective_unit = 1;  // caller's = unit * canonical
  double lambda = 0;
  double bound = std::numeric_limits<double>::infinity();
  double zero_objective = 0;  // of the zero model, caller's units
};

// The losses of the items, placed on entries.
struct PlacedLosses {
  bool has_linear = false, has_quadratic = false;
  Vector linear;                           // cost of D, per entry (empty: all zero)
  Vector quadratic, target;                // quadratic (D - target)^2, per entry (empty without targets)
  std::vector<HingeItem> single, coupled;  // single: only `minus`; coupled: both
  double constant = 0;                     // objective that no model can change, caller's units
  std::vector<ItemPlace> item_place;
};

// The learning problem in the form that the solvers work on.
//
// Equal rows become one location. A piece is anchored at the location of one of its rows; pieces anchored at one
// location share their z, but not their slopes. Losses and convexity are about
//
//   D(k, l) = (value at location l of the piece that owns l) - (value at l of piece k),   stored K x locations.
//
// An entry is free (D >= 0), zero by construction, or zero by a constraint (pieces with rows at l and other anchors).
// If the owner of l is anchored there, l is "anchored", and D there depends on z and a_k only. With K = n all are
// anchored.
struct CanonicalProblem : CanonicalUnits, PlacedLosses {
  Index locations = 0;
  Matrix location;                // locations x features; sorted by owner
  std::vector<Index> owner;       // piece that owns a location
  std::vector<Index> z_of_owner;  // z of the owner of a location
  bool all_anchored = true;
  std::vector<std::uint8_t> anchored;                      // of each location
  std::vector<Index> zero_entries, equality_entries;       // flat: piece * locations + location
  std::vector<Index> location_of_row, representative_row;  // representative_row[l]: one row of the owner there

  Index entries() const { return pieces * locations; }
  Index entry(Index piece, Index at_location) const { return piece * locations + at_location; }
};

// Places the losses of the items on entries 0 .. entries - 1 of the divergence grid. entry_of(point, reference): the
// entry, or kNoEntry where D is 0 by construction.
PlacedLosses place_losses(const Supervision& supervision, Index entries,
                          const std::function<Index(Index, Index)>& entry_of, const CanonicalUnits& units);

CanonicalProblem canonicalize(const LearningProblem& problem, double least_unit = kLeastFeatureUnit);
// For pieces that do not share offsets and are anchored at 0.
CanonicalUnits canonical_units(const LearningProblem& problem, double least_unit = kLeastFeatureUnit);
// The kept features of a row in their units.
Vector to_canonical(const CanonicalUnits& units, const LearningProblem& problem, Index row);

// The model of an iterate, in canonical units. export_model() converts it to the caller's.
struct PrimalPoint {
  Vector z;
  Matrix slopes;
};
void export_model(const CanonicalUnits& units, const PrimalPoint& point, AffinePieces& pieces);

// Dual variables of the grid (free entries >= 0, equality entries of any sign, in their order) and of the hinge items,
// in canonical units.
struct DualPoint {
  Vector entries;
  Vector equality;
  Vector single, coupled;
  Vector divergence;  // of each entry; needed for targets only
  Vector price;       // of sum_j norm_weight_j |a_kj| <= L, each piece
};
// The dual variable of each item, in the caller's units.
Vector item_multipliers(const Supervision& supervision, const CanonicalUnits& units, const PlacedLosses& losses,
                        const DualPoint& point);
void export_dual(const LearningProblem& problem, const CanonicalProblem& canonical, const DualPoint& point,
                 Solution& solution);

}  // namespace bregmax::internal
