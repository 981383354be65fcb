#include "optimize/problem/canonical_problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "optimize/problem/items.hpp"

namespace bregmax::internal {
namespace {

// Groups equal rows: location_of_row, numbered in order of first appearance.
std::vector<Index> group_equal_rows(const Matrix& points, Index& locations) {
  const auto before = [&](Index a, Index b) {
    const auto row_a = points.row(a), row_b = points.row(b);
    return std::lexicographical_compare(row_a.begin(), row_a.end(), row_b.begin(), row_b.end());
  };
  std::map<Index, Index, decltype(before)> number(before);
  std::vector<Index> location_of_row(points.rows());
  for (Index i = 0; i < points.rows(); ++i) {
    location_of_row[i] = number.try_emplace(i, std::ssize(number)).first->second;
  }
  locations = std::ssize(number);
  return location_of_row;
}

// Lists the entries of pieces at locations of their own rows: D is zero there, by construction or by a constraint.
void find_equal_entries(const LearningProblem& problem, const std::vector<Index>& anchor_location,
                        CanonicalProblem& c) {
  std::vector<std::uint8_t> kind(c.entries(), 0);
  for (Index i = 0; i < problem.points.rows(); ++i) {
    const Index piece = problem.piece_of[i], l = c.location_of_row[i];
    const bool by_construction = piece == c.owner[l] || (c.anchored[l] && anchor_location[piece] == l);
    kind[c.entry(piece, l)] = by_construction ? 1 : 2;
  }
  for (Index e = 0; e < c.entries(); ++e) {
    if (kind[e] == 1) c.zero_entries.push_back(e);
    if (kind[e] == 2) c.equality_entries.push_back(e);
  }
}

// Renumbers the locations so that those of one owner are neighbours; fills owner, representative_row and the anchors.
void place_pieces(const LearningProblem& problem, CanonicalProblem& c) {
  const Index rows = problem.points.rows();
  std::vector<Index> anchor_location(c.pieces, -1), owner(c.locations, -1), representative(c.locations, -1);
  for (Index i = 0; i < rows; ++i) {
    const Index piece = problem.piece_of[i], l = c.location_of_row[i];
    if (anchor_location[piece] < 0) anchor_location[piece] = l;
  }
  // A location is owned by a piece that is anchored there, if there is one.
  for (const bool anchored_pass : {true, false}) {
    for (Index i = 0; i < rows; ++i) {
      const Index piece = problem.piece_of[i], l = c.location_of_row[i];
      if (owner[l] < 0 && (anchor_location[piece] == l) == anchored_pass) {
        owner[l] = piece;
        representative[l] = i;
      }
    }
  }
  std::vector<Index> order(c.locations), rank(c.locations);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return owner[a] < owner[b]; });
  for (std::size_t r = 0; r < order.size(); ++r) rank[order[r]] = static_cast<Index>(r);

  for (auto& l : c.location_of_row) l = rank[l];
  c.owner.resize(c.locations);
  c.representative_row.resize(c.locations);
  for (Index r = 0; r < c.locations; ++r) {
    c.owner[r] = owner[order[r]];
    c.representative_row[r] = representative[order[r]];
  }
  // Numbered in the order of the locations: if all are anchored, the z of a location's owner has the location's number.
  std::vector<Index> z_at_location(c.locations, -1);
  for (Index& l : anchor_location) {
    l = rank[l];
    z_at_location[l] = 0;
  }
  c.z_count = 0;
  for (Index& z : z_at_location) {
    if (z == 0) z = c.z_count++;
  }
  c.z_of_piece.resize(c.pieces);
  c.anchor.resize(c.pieces, c.features);
  for (Index k = 0; k < c.pieces; ++k) {
    const Index l = anchor_location[k];
    c.z_of_piece[k] = z_at_location[l];
    c.anchor.row(k) = to_canonical(c, problem, c.representative_row[l]).transpose();
  }
  c.anchored.resize(c.locations);
  c.z_of_owner.resize(c.locations);
  for (Index l = 0; l < c.locations; ++l) {
    c.anchored[l] = anchor_location[c.owner[l]] == l;
    c.all_anchored = c.all_anchored && c.anchored[l];
    c.z_of_owner[l] = c.z_of_piece[c.owner[l]];
  }
  find_equal_entries(problem, anchor_location, c);
}

// The unit of D is a margin or the largest target, or what the bound on L allows if that is smaller.
void set_units(const LearningProblem& problem, CanonicalUnits& units) {
  double largest_weight = 0, largest_target = 0;
  for_each_item(problem.supervision, [&](Index, const Item& item) {
    largest_weight = std::max(largest_weight, item.weight);
    if (item.squared) largest_target = std::max(largest_target, std::abs(item.value));
    units.zero_objective += item.zero_loss();
  });
  const double value_unit = largest_target > 0 ? largest_target : 1;
  units.value_unit = std::min(value_unit, std::max(problem.lipschitz_bound / units.norm_unit, 1e-12 * value_unit));
  // Derivatives of squared losses are of the size of the targets, however small the bound keeps D.
  units.objective_unit = units.value_unit * (largest_weight > 0 ? largest_weight : 1) * value_unit;
}

// Hinges are sorted by their entries, so that passes over them read memory in order; equal ones are merged.
struct PlacedHinge {
  HingeItem hinge;
  Index item;
  std::pair<Index, Index> key() const { return {hinge.plus, hinge.minus}; }
};
void merge_hinges(std::vector<PlacedHinge> placed, PlacedLosses& losses) {
  std::ranges::stable_sort(placed, {}, &PlacedHinge::key);
  for (std::size_t t = 0; t < placed.size(); ++t) {
    auto& list = placed[t].hinge.plus == kNoEntry ? losses.single : losses.coupled;
    if (t > 0 && placed[t].key() == placed[t - 1].key()) {
      list.back().weight += placed[t].hinge.weight;
    } else {
      list.push_back(placed[t].hinge);
    }
    losses.item_place[placed[t].item].index = std::ssize(list) - 1;
  }
}

}  // namespace

CanonicalUnits canonical_units(const LearningProblem& problem, double least_unit) {
  CanonicalUnits units;
  static_cast<FeatureUnits&>(units) = feature_units(problem.points, least_unit);
  units.pieces = units.z_count = problem.pieces;
  units.z_of_piece.resize(units.pieces);
  std::iota(units.z_of_piece.begin(), units.z_of_piece.end(), Index{0});
  units.anchor.setZero(units.pieces, units.features);
  set_units(problem, units);
  // L (caller's) = value_unit * norm_unit * L (canonical).
  units.norm_unit *= units.value_unit;
  units.lambda = problem.lambda * units.norm_unit / units.objective_unit;
  units.bound = problem.lipschitz_bound / units.norm_unit;
  if (has_free_norm(problem)) {
    units.lambda = kFreeSlopePrice * std::max(1.0, units.zero_objective / units.objective_unit);
  }
  return units;
}

Vector to_canonical(const CanonicalUnits& units, const LearningProblem& problem, Index row) {
  const auto x = problem.points.row(row).transpose();
  return (x(units.kept_features) - units.feature_center).cwiseQuotient(units.feature_unit);
}

CanonicalProblem canonicalize(const LearningProblem& problem, double least_unit) {
  CanonicalProblem c;
  static_cast<CanonicalUnits&>(c) = canonical_units(problem, least_unit);
  c.location_of_row = group_equal_rows(problem.points, c.locations);
  place_pieces(problem, c);
  c.location.resize(c.locations, c.features);
  for (Index l = 0; l < c.locations; ++l) {
    c.location.row(l) = to_canonical(c, problem, c.representative_row[l]).transpose();
  }
  std::vector<bool> dead(c.entries(), false);
  for (const auto* list : {&c.zero_entries, &c.equality_entries}) {
    for (const Index e : *list) dead[e] = true;
  }
  const auto entry_of = [&](Index point, Index reference) {
    const Index e = c.entry(problem.piece_of[reference], c.location_of_row[point]);
    return dead[e] ? kNoEntry : e;
  };
  static_cast<PlacedLosses&>(c) = place_losses(problem.supervision, c.entries(), entry_of, c);
  return c;
}

PlacedLosses place_losses(const Supervision& supervision, Index entries,
                          const std::function<Index(Index, Index)>& entry_of, const CanonicalUnits& units) {
  using Kind = ItemPlace::Kind;
  const auto entry = [&](const DivergenceTerm& d) { return d.exists() ? entry_of(d.point, d.reference) : kNoEntry; };
  PlacedLosses placed;
  std::vector<PlacedHinge> hinges;
  Vector squares;
  placed.has_quadratic = std::holds_alternative<Targets>(supervision);
  if (placed.has_quadratic) placed.quadratic = placed.target = squares = Vector::Zero(entries);
  for_each_item(supervision, [&](Index t, const Item& item) {
    const Index plus = entry(item.plus), minus = entry(item.minus);
    const double weight = item.weight * units.value_unit / units.objective_unit;
    ItemPlace& place = placed.item_place.emplace_back(ItemPlace{Kind::kConstant, kNoEntry});
    if (item.squared && plus != kNoEntry) {
      const double curvature = item.weight * units.value_unit * units.value_unit / units.objective_unit;
      const double value = item.value / units.value_unit;
      placed.quadratic(plus) += curvature;
      placed.target(plus) += curvature * value;
      squares(plus) += curvature * value * value;
      place = {Kind::kQuadratic, plus};
    } else if (item.weight > 0 && minus != kNoEntry && plus != minus) {
      hinges.push_back({{plus, minus, item.margin / units.value_unit, weight}, t});
      place.kind = plus == kNoEntry ? Kind::kSingleHinge : Kind::kCoupledHinge;
    } else {
      placed.constant += item.zero_loss();
      if (item.weight == 0 || plus == minus || plus == kNoEntry) return;
      if (!placed.has_linear) placed.linear.setZero(entries);
      placed.has_linear = true;
      placed.linear(plus) += weight;
      place = {Kind::kLinear, plus};
    }
  });
  merge_hinges(std::move(hinges), placed);
  // sum_t w_t (D - y_t)^2 = w (D - mean)^2 + a constant.
  for (Index e = 0; e < squares.size(); ++e) {
    if (placed.quadratic(e) == 0) continue;
    const double sum = placed.target(e);
    placed.target(e) = sum / placed.quadratic(e);
    placed.constant += units.objective_unit * std::max(0.0, squares(e) - sum * placed.target(e));
  }
  return placed;
}

void export_model(const CanonicalUnits& units, const PrimalPoint& point, AffinePieces& pieces) {
  pieces.slopes.setZero(units.pieces, units.all_features);
  pieces.offsets.resize(units.pieces);
  for (Index k = 0; k < units.pieces; ++k) {
    double offset = point.z(units.z_of_piece[k]);
    for (Index j = 0; j < units.features; ++j) {
      const double slope = point.slopes(k, j);
      pieces.slopes(k, units.kept_features[j]) = units.value_unit * slope / units.feature_unit(j);
      offset -= slope * (units.anchor(k, j) + units.feature_center(j) / units.feature_unit(j));
    }
    pieces.offsets(k) = units.value_unit * offset;
  }
}

namespace {

// For pieces that share their z, only the sum of their flows is balanced. In the caller's problem they have separate
// offsets, so the multipliers of "equal at the shared location" have to balance each piece.
void balance_shared_pieces(const LearningProblem& problem, const CanonicalProblem& c, Vector& flow, Matrix& convexity) {
  std::vector<std::vector<Index>> rows_of_z(c.z_count);
  std::vector<Index> first_row(c.pieces, -1);
  for (Index i = 0; i < problem.points.rows(); ++i) {
    const Index k = problem.piece_of[i];
    if (first_row[k] < 0) {
      first_row[k] = i;
      rows_of_z[c.z_of_piece[k]].push_back(i);
    }
  }
  for (const auto& rows : rows_of_z) {
    // All flow goes through the first piece; a piece is anchored at its first row.
    for (std::size_t r = 1; r < rows.size(); ++r) {
      const Index hub_row = rows[0], row = rows[r];
      const Index hub = problem.piece_of[hub_row], piece = problem.piece_of[row];
      if (flow(piece) > 0) convexity(row, hub) += flow(piece);
      if (flow(piece) < 0) convexity(hub_row, piece) -= flow(piece);
    }
  }
}

// The sign of a multiplier of "two pieces are equal at l" says to which of the two inequalities it belongs. The dual
// variables of items on that entry are added: the solver does not have them, since D is zero there.
void export_equalities(const LearningProblem& problem, const CanonicalProblem& c, const DualPoint& point,
                       double entry_unit, const Vector& pull, Matrix& convexity) {
  std::vector<Index> row_at(c.entries(), -1);
  for (Index i = 0; i < problem.points.rows(); ++i) {
    row_at[c.entry(problem.piece_of[i], c.location_of_row[i])] = i;
  }
  for (std::size_t q = 0; q < c.equality_entries.size(); ++q) {
    const Index e = c.equality_entries[q], l = e % c.locations;
    const double multiplier = point.equality(q) * entry_unit + pull(e);
    if (multiplier > 0) convexity(c.representative_row[l], e / c.locations) += multiplier;
    if (multiplier < 0) convexity(row_at[e], c.owner[l]) -= multiplier;
  }
}

}  // namespace

// Items that were merged into one hinge share its dual variable in proportion to their weights.
Vector item_multipliers(const Supervision& supervision, const CanonicalUnits& units, const PlacedLosses& losses,
                        const DualPoint& point) {
  using Kind = ItemPlace::Kind;
  Vector multipliers(std::ssize(losses.item_place));
  for_each_item(supervision, [&](Index t, const Item& item) {
    const auto [kind, index] = losses.item_place[t];
    multipliers(t) = item.weight;
    if (item.squared) {
      const double divergence = kind == Kind::kQuadratic ? units.value_unit * point.divergence(index) : 0;
      multipliers(t) = 2 * item.weight * (divergence - item.value);
    } else if (kind == Kind::kCoupledHinge || kind == Kind::kSingleHinge) {
      const bool coupled = kind == Kind::kCoupledHinge;
      const double weight = (coupled ? losses.coupled : losses.single)[index].weight;
      const double multiplier = (coupled ? point.coupled : point.single)(index);
      multipliers(t) *= weight > 0 ? std::clamp(multiplier / weight, 0.0, 1.0) : 0;
    }
  });
  return multipliers;
}

void export_dual(const LearningProblem& problem, const CanonicalProblem& c, const DualPoint& point,
                 Solution& solution) {
  const double entry_unit = c.objective_unit / c.value_unit;
  solution.dual.convexity.setZero(problem.points.rows(), c.pieces);
  Vector flow = Vector::Zero(c.pieces);  // derivative of the Lagrangian by each offset
  const auto add = [&](Index point_row, Index piece, double multiplier) {
    flow(problem.piece_of[point_row]) += multiplier;
    flow(piece) -= multiplier;
  };
  for (Index e = 0; e < c.entries(); ++e) {
    if (point.entries(e) == 0) continue;
    const Index row = c.representative_row[e % c.locations];
    solution.dual.convexity(row, e / c.locations) += point.entries(e) * entry_unit;
  }
  // An item on a row that does not own its location acts on two entries: D(i, j) = D(p_j, l) - D(p_i, l).
  Vector pull = Vector::Zero(c.entries());
  const auto add_item = [&](Index i, Index j, double multiplier) {
    const Index l = c.location_of_row[i];
    add(i, problem.piece_of[j], multiplier);
    pull(c.entry(problem.piece_of[j], l)) += multiplier;
    pull(c.entry(problem.piece_of[i], l)) -= multiplier;
  };

  solution.dual.items = item_multipliers(problem.supervision, c, c, point);
  for_each_item(problem.supervision, [&](Index t, const Item& item) {
    const double multiplier = solution.dual.items(t);
    if (item.plus.exists()) add_item(item.plus.point, item.plus.reference, multiplier);
    if (item.minus.exists()) add_item(item.minus.point, item.minus.reference, -multiplier);
  });
  export_equalities(problem, c, point, entry_unit, pull, solution.dual.convexity);
  for (Index i = 0; i < problem.points.rows(); ++i) {
    for (Index k = 0; k < c.pieces; ++k) {
      if (solution.dual.convexity(i, k) != 0) add(i, k, -solution.dual.convexity(i, k));
    }
  }
  balance_shared_pieces(problem, c, flow, solution.dual.convexity);
}

}  // namespace bregmax::internal
