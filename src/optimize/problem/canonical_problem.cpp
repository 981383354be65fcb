#include "optimize/problem/canonical_problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "optimize/problem/at.hpp"
#include "optimize/problem/items.hpp"

namespace bregmax::internal {
namespace {

// Groups equal rows: location_of_row, numbered in order of first appearance.
std::vector<Index> group_equal_rows(const Matrix& points, Index& locations) {
  const Index rows = points.rows();
  std::vector<Index> order(at(rows));
  std::iota(order.begin(), order.end(), Index{0});
  const auto compare = [&](Index a, Index b) {
    for (Index j = 0; j < points.cols(); ++j) {
      if (points(a, j) != points(b, j)) return points(a, j) < points(b, j) ? -1 : 1;
    }
    return 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return compare(a, b) < 0; });
  std::vector<Index> first_of_row(at(rows));
  for (std::size_t r = 0; r < order.size(); ++r) {
    const bool same = r > 0 && compare(order[r - 1], order[r]) == 0;
    first_of_row[at(order[r])] = same ? first_of_row[at(order[r - 1])] : order[r];
  }
  std::vector<Index> number(at(rows), -1), location_of_row(at(rows));
  locations = 0;
  for (Index i = 0; i < rows; ++i) {
    const Index first = first_of_row[at(i)];
    if (number[at(first)] < 0) number[at(first)] = locations++;
    location_of_row[at(i)] = number[at(first)];
  }
  return location_of_row;
}

// Pieces with a row at a location that they do not own: equal there, by construction or by a constraint.
void find_equal_entries(const LearningProblem& problem, const std::vector<Index>& anchor_location,
                        CanonicalProblem& c) {
  std::vector<std::uint8_t> kind(at(c.entries()), 0);
  for (Index i = 0; i < problem.points.rows(); ++i) {
    const Index piece = problem.piece_of[at(i)], l = c.location_of_row[at(i)];
    const bool by_construction = piece == c.owner[at(l)] || (c.anchored[at(l)] && anchor_location[at(piece)] == l);
    kind[at(c.entry(piece, l))] = by_construction ? 1 : 2;
  }
  for (Index e = 0; e < c.entries(); ++e) {
    if (kind[at(e)] == 1) c.zero_entries.push_back(e);
    if (kind[at(e)] == 2) c.equality_entries.push_back(e);
  }
}

// Renumbers the locations so that those of one owner are neighbours; fills owner, representative_row and the anchors.
void place_pieces(const LearningProblem& problem, CanonicalProblem& c) {
  const Index rows = problem.points.rows();
  std::vector<Index> anchor_location(at(c.pieces), -1), owner(at(c.locations), -1), representative(at(c.locations), -1);
  for (Index i = 0; i < rows; ++i) {
    const Index piece = problem.piece_of[at(i)], l = c.location_of_row[at(i)];
    if (anchor_location[at(piece)] < 0) anchor_location[at(piece)] = l;
  }
  // A location belongs to a piece that is anchored there, where there is one.
  for (const bool anchored_pass : {true, false}) {
    for (Index i = 0; i < rows; ++i) {
      const Index piece = problem.piece_of[at(i)], l = c.location_of_row[at(i)];
      if (owner[at(l)] < 0 && (anchor_location[at(piece)] == l) == anchored_pass) {
        owner[at(l)] = piece;
        representative[at(l)] = i;
      }
    }
  }
  std::vector<Index> order(at(c.locations)), rank(at(c.locations));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return owner[at(a)] < owner[at(b)]; });
  for (std::size_t r = 0; r < order.size(); ++r) rank[at(order[r])] = static_cast<Index>(r);

  for (auto& l : c.location_of_row) l = rank[at(l)];
  c.owner.resize(at(c.locations));
  c.representative_row.resize(at(c.locations));
  for (Index r = 0; r < c.locations; ++r) {
    c.owner[at(r)] = owner[at(order[at(r)])];
    c.representative_row[at(r)] = representative[at(order[at(r)])];
  }
  // Numbered in the order of the locations: if all are anchored, the z of a location's owner has the location's number.
  std::vector<Index> z_at_location(at(c.locations), -1);
  for (Index& l : anchor_location) {
    l = rank[at(l)];
    z_at_location[at(l)] = 0;
  }
  c.z_count = 0;
  for (Index& z : z_at_location) {
    if (z == 0) z = c.z_count++;
  }
  c.z_of_piece.resize(at(c.pieces));
  c.anchor.resize(c.pieces, c.features);
  for (Index k = 0; k < c.pieces; ++k) {
    const Index l = anchor_location[at(k)];
    c.z_of_piece[at(k)] = z_at_location[at(l)];
    c.anchor.row(k) = to_canonical(c, problem, c.representative_row[at(l)]).transpose();
  }
  c.anchored.resize(at(c.locations));
  c.z_of_owner.resize(at(c.locations));
  for (Index l = 0; l < c.locations; ++l) {
    c.anchored[at(l)] = anchor_location[at(c.owner[at(l)])] == l;
    c.all_anchored = c.all_anchored && c.anchored[at(l)];
    c.z_of_owner[at(l)] = c.z_of_piece[at(c.owner[at(l)])];
  }
  find_equal_entries(problem, anchor_location, c);
}

// D is measured in margins or targets, or, where a bound on L keeps it far below them, in what the bound allows.
void set_units(const LearningProblem& problem, CanonicalProblem& c) {
  double largest_weight = 0, largest_target = 0;
  for_each_item(problem.supervision, [&](Index, const Item& item) {
    largest_weight = std::max(largest_weight, item.weight);
    if (item.squared) largest_target = std::max(largest_target, std::abs(item.value));
    c.zero_objective += item.zero_loss();
  });
  const double value_unit = largest_target > 0 ? largest_target : 1;
  c.value_unit = std::min(value_unit, std::max(problem.lipschitz_bound / c.norm_unit, 1e-12 * value_unit));
  // The slopes of squared losses are of the order of the targets, however small D must be.
  c.objective_unit = c.value_unit * (largest_weight > 0 ? largest_weight : 1) * value_unit;
}

// Takes the losses of the supervision into the flat arrays and lists of the problem.
class GridSink {
 public:
  explicit GridSink(CanonicalProblem& c) : c_(c) {}

  Index add_linear(Index e, double weight) {
    if (!c_.has_linear) c_.linear.setZero(c_.entries());
    c_.has_linear = true;
    c_.linear(e) += weight;
    return e;
  }

  // Hinges are placed when all are known: see merge_hinges().
  Index add_hinge(Index plus, Index minus, double margin, double weight) {
    placed_.push_back({{plus, minus, margin, weight}, static_cast<Index>(placed_.size())});
    return placed_.back().number;
  }

  // Hinges in the order of their entries, so that passes over them run through memory; equal ones are one. The places
  // have the numbers that add_hinge gave them, and get those of the lists.
  void merge_hinges(std::vector<ItemPlace>& places) {
    const auto key = [](const PlacedHinge& placed) { return std::pair(placed.hinge.plus, placed.hinge.minus); };
    std::stable_sort(placed_.begin(), placed_.end(),
                     [&](const PlacedHinge& a, const PlacedHinge& b) { return key(a) < key(b); });
    std::vector<Index> index_of(placed_.size());
    for (std::size_t t = 0; t < placed_.size(); ++t) {
      const HingeItem& hinge = placed_[t].hinge;
      auto& list = hinge.plus == kNoEntry ? c_.single : c_.coupled;
      if (t > 0 && key(placed_[t]) == key(placed_[t - 1])) {
        list.back().weight += hinge.weight;
      } else {
        list.push_back(hinge);
      }
      index_of[at(placed_[t].number)] = static_cast<Index>(list.size()) - 1;
    }
    for (ItemPlace& place : places) {
      const bool hinge = place.kind == ItemPlace::Kind::kCoupledHinge || place.kind == ItemPlace::Kind::kSingleHinge;
      if (hinge) place.index = index_of[at(place.index)];
    }
  }

  Index add_quadratic(Index e, double weight, double value) {
    c_.quadratic(e) += weight;
    c_.target(e) += weight * value;
    squares_(e) += weight * value * value;
    return e;
  }

  void begin_targets() {
    c_.has_quadratic = true;
    for (Vector* flat : {&c_.quadratic, &c_.target, &squares_}) flat->setZero(c_.entries());
  }

  // sum_t w_t (D - y_t)^2 = w (D - mean)^2 + a constant.
  void end_targets() {
    for (Index e = 0; e < c_.entries(); ++e) {
      if (c_.quadratic(e) == 0) continue;
      const double sum = c_.target(e);
      c_.target(e) = sum / c_.quadratic(e);
      c_.constant += c_.objective_unit * std::max(0.0, squares_(e) - sum * c_.target(e));
    }
  }

 private:
  CanonicalProblem& c_;
  struct PlacedHinge {
    HingeItem hinge;
    Index number;
  };
  Vector squares_;
  std::vector<PlacedHinge> placed_;
};

void place_supervision(const LearningProblem& problem, CanonicalProblem& c) {
  std::vector<bool> dead(at(c.entries()), false);
  for (const auto* list : {&c.zero_entries, &c.equality_entries}) {
    for (const Index e : *list) dead[at(e)] = true;
  }
  const auto entry_of = [&](Index point, Index reference) {
    const Index e = c.entry(problem.piece_of[at(reference)], c.location_of_row[at(point)]);
    return dead[at(e)] ? kNoEntry : e;
  };
  GridSink sink(c);
  const bool targets = std::holds_alternative<Targets>(problem.supervision);
  if (targets) sink.begin_targets();
  c.item_place = place_items(problem.supervision, c, entry_of, sink, c.constant);
  sink.merge_hinges(c.item_place);
  if (targets) sink.end_targets();
}

}  // namespace

CanonicalProblem canonical_scales(const LearningProblem& problem, double least_unit) {
  CanonicalProblem c;
  c.pieces = c.z_count = problem.pieces;
  static_cast<FeatureUnits&>(c) = feature_units(problem.points, least_unit);
  c.z_of_piece.resize(at(c.pieces));
  std::iota(c.z_of_piece.begin(), c.z_of_piece.end(), Index{0});
  c.anchor.setZero(c.pieces, c.features);
  set_units(problem, c);
  // L (caller's) = value_unit * norm_unit * L (canonical).
  c.norm_unit *= c.value_unit;
  c.lambda = problem.lambda * c.norm_unit / c.objective_unit;
  c.bound = problem.lipschitz_bound / c.norm_unit;
  if (has_free_norm(problem)) {
    c.lambda = kFreeSlopePrice * std::max(1.0, c.zero_objective / c.objective_unit);
  }
  return c;
}

Vector to_canonical(const CanonicalProblem& c, const LearningProblem& problem, Index row) {
  const auto x = problem.points.row(row).transpose();
  return (x(c.kept_features) - c.feature_center).cwiseQuotient(c.feature_unit);
}

CanonicalProblem canonicalize(const LearningProblem& problem, double least_unit) {
  CanonicalProblem c = canonical_scales(problem, least_unit);
  c.location_of_row = group_equal_rows(problem.points, c.locations);
  place_pieces(problem, c);
  c.location.resize(c.locations, c.features);
  for (Index l = 0; l < c.locations; ++l) {
    c.location.row(l) = to_canonical(c, problem, c.representative_row[at(l)]).transpose();
  }
  place_supervision(problem, c);
  return c;
}

void export_model(const CanonicalProblem& c, const PrimalPoint& point, AffinePieces& pieces) {
  pieces.slopes.setZero(c.pieces, c.all_features);
  pieces.offsets.resize(c.pieces);
  for (Index k = 0; k < c.pieces; ++k) {
    double offset = point.z(c.z_of_piece[at(k)]);
    for (Index j = 0; j < c.features; ++j) {
      const double slope = point.slopes(k, j);
      pieces.slopes(k, c.kept_features[at(j)]) = c.value_unit * slope / c.feature_unit(j);
      offset -= slope * (c.anchor(k, j) + c.feature_center(j) / c.feature_unit(j));
    }
    pieces.offsets(k) = c.value_unit * offset;
  }
}

PrimalPoint import_model(const CanonicalProblem& c, const Matrix& slopes, const Vector& offsets) {
  PrimalPoint point{Vector::Zero(c.z_count), Matrix(c.pieces, c.features)};
  for (Index k = c.pieces - 1; k >= 0; --k) {
    double value = offsets(k);
    for (Index j = 0; j < c.features; ++j) {
      const double slope = slopes(k, c.kept_features[at(j)]);
      point.slopes(k, j) = slope * c.feature_unit(j) / c.value_unit;
      value += slope * (c.anchor(k, j) * c.feature_unit(j) + c.feature_center(j));
    }
    point.z(c.z_of_piece[at(k)]) = value / c.value_unit;
  }
  return point;
}

namespace {

// Pieces that share their z have only the sum of their flows balanced; in the caller's problem each piece has an
// offset of its own, so the multipliers of "equal at the shared location" carry the difference from one to the other.
void balance_shared_pieces(const LearningProblem& problem, const CanonicalProblem& c, Vector& flow, Matrix& convexity) {
  std::vector<std::vector<Index>> rows_of_z(at(c.z_count));
  std::vector<Index> first_row(at(c.pieces), -1);
  for (Index i = 0; i < problem.points.rows(); ++i) {
    const Index k = problem.piece_of[at(i)];
    if (first_row[at(k)] < 0) {
      first_row[at(k)] = i;
      rows_of_z[at(c.z_of_piece[at(k)])].push_back(i);
    }
  }
  for (const auto& rows : rows_of_z) {
    // Everything goes through the first of them; a piece is anchored at its first row.
    for (std::size_t r = 1; r < rows.size(); ++r) {
      const Index hub_row = rows[0], row = rows[r];
      const Index hub = problem.piece_of[at(hub_row)], piece = problem.piece_of[at(row)];
      if (flow(piece) > 0) convexity(row, hub) += flow(piece);
      if (flow(piece) < 0) convexity(hub_row, piece) -= flow(piece);
    }
  }
}

// The sign of a multiplier of "two pieces are equal at l" says to which of the two inequalities it belongs. The dual
// variables of items on that entry are added: the solver does not have them, since D is zero there.
void export_equalities(const LearningProblem& problem, const CanonicalProblem& c, const DualPoint& point,
                       double entry_unit, const Vector& pull, Matrix& convexity) {
  std::vector<Index> row_at(at(c.entries()), -1);
  for (Index i = 0; i < problem.points.rows(); ++i) {
    row_at[at(c.entry(problem.piece_of[at(i)], c.location_of_row[at(i)]))] = i;
  }
  for (std::size_t q = 0; q < c.equality_entries.size(); ++q) {
    const Index e = c.equality_entries[q], l = e % c.locations;
    const double multiplier = point.equality(static_cast<Index>(q)) * entry_unit + pull(e);
    if (multiplier > 0) convexity(c.representative_row[at(l)], e / c.locations) += multiplier;
    if (multiplier < 0) convexity(row_at[at(e)], c.owner[at(l)]) -= multiplier;
  }
}

}  // namespace

void export_dual(const LearningProblem& problem, const CanonicalProblem& c, const DualPoint& point,
                 Solution& solution) {
  const double entry_unit = c.objective_unit / c.value_unit;
  solution.dual.convexity.setZero(problem.points.rows(), c.pieces);
  Vector flow = Vector::Zero(c.pieces);  // derivative of the Lagrangian by each offset
  const auto add = [&](Index point_row, Index piece, double multiplier) {
    flow(problem.piece_of[at(point_row)]) += multiplier;
    flow(piece) -= multiplier;
  };
  for (Index e = 0; e < c.entries(); ++e) {
    if (point.entries(e) == 0) continue;
    const Index row = c.representative_row[at(e % c.locations)];
    solution.dual.convexity(row, e / c.locations) += point.entries(e) * entry_unit;
  }
  // An item on a row that does not own its location acts on two entries: D(i, j) = D(p_j, l) - D(p_i, l).
  Vector pull = Vector::Zero(c.entries());
  const auto add_item = [&](Index i, Index j, double multiplier) {
    const Index l = c.location_of_row[at(i)];
    add(i, problem.piece_of[at(j)], multiplier);
    pull(c.entry(problem.piece_of[at(j)], l)) += multiplier;
    pull(c.entry(problem.piece_of[at(i)], l)) -= multiplier;
  };

  // Hinges that were merged have the same fraction of their weights as dual variable.
  const auto hinge_fraction = [&](const ItemPlace& place) {
    const bool coupled = place.kind == ItemPlace::Kind::kCoupledHinge;
    const HingeItem& hinge = (coupled ? c.coupled : c.single)[at(place.index)];
    return hinge.weight > 0 ? (coupled ? point.coupled : point.single)(place.index) / hinge.weight : 0.0;
  };
  // 2 w (D - y) of all targets of an entry gives D.
  const auto divergence = [&](const ItemPlace& place) {
    const double weight = c.quadratic(place.index);
    return weight > 0 ? c.value_unit * (point.quadratic_slope(place.index) / (2 * weight) + c.target(place.index)) : 0;
  };
  solution.dual.items = item_multipliers(problem.supervision, c.item_place, hinge_fraction, divergence);
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
