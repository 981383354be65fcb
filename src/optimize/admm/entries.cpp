#include "optimize/admm/entries.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "optimize/problem/parallel.hpp"

namespace bregmax::internal {
namespace {

// Penalties relative to the common one, chosen by measurements on problems of all kinds. Entries: away from kinks, and
// held at zero by a constraint.
constexpr double kLooseEntry = 1e-3, kPressedEntry = 100;
// Coupled hinges: away from the kink, and on it with a multiplier strictly between its ends.
constexpr double kLooseItem = 1e-2, kPressedItem = 10;
constexpr double kLooseNorm = 1e-2;  // a piece whose norm is below L
constexpr double kNear = 0.02;       // distance relative to the mean divergence that counts as near a kink
constexpr double kPressed = 1e-3;  // least multiplier of an entry that counts as pressed; the largest item weight is 1
constexpr double kInside = 0.01;   // distance of a hinge's multiplier from its ends, relative to its weight
constexpr double kProximal = 1e-10;
constexpr int kLeastSteps = 1000;      // per correction
constexpr int kStepsPerIteration = 2;  // correction steps allowed per iteration, on average

}  // namespace

AdmmEntries::AdmmEntries(AdmmSpace& space)
    : space_(space), prox_(pieces_, space.units().norm_weight), correction_(space) {
  x_.setZero(space.unknowns());
  right_.setZero(space.unknowns());
  for (Half* half : {&plus_, &minus_}) half->copy = half->slack = half->old_slack = Vector::Zero(hinges());
  item_level_.setOnes(hinges());
  norm_level_.setOnes(pieces_);
  for (Matrix* m : {&slope_copy_, &slope_slack_, &old_slope_}) m->setZero(pieces_, features_);
  resize_to_set();
  numbers_.penalty = kFirstPenalty;
  numbers_.norm_weight = kFirstNormWeight * static_cast<double>(space.size()) / static_cast<double>(pieces_);
}

void AdmmEntries::resize_to_set() {
  correction_.resize_to_set();
  for (Vector* v : {&divergence_, &wanted_, &copy_, &slack_, &old_slack_}) v->setZero(space_.size());
  level_.setOnes(space_.size());
}

void AdmmEntries::start() {
  factor();
  set_slacks();
  clear_average();
}

// The s that minimises loss(s) + penalty / 2 (s - copy)^2 over s >= 0.
double AdmmEntries::slack_of(Index position, double copy) const {
  const EntryCosts& costs = space_.costs();
  if (costs.kind_of(position) != EntryKind::kFree) return 0;
  const double hinge = costs.hinge_of(position);
  double slack = copy - costs.linear_of(position) / penalty(position);
  if (hinge > 0 && slack < costs.margin) slack = std::min(slack + hinge / penalty(position), costs.margin);
  return std::max(0.0, slack);
}

void AdmmEntries::set_slacks() {
  for_all(space_.size(), [&](Index p) { slack_(p) = slack_of(p, copy_(p)); });
  // A hinge moves both its entries by the same amount.
  for_all(hinges(), [&](Index t) {
    const double miss = hinge(t).margin + plus_.copy(t) - minus_.copy(t);
    const double step = std::clamp(miss / 2, 0.0, hinge(t).weight / item_penalty_(t));
    plus_.slack(t) = plus_.copy(t) - step;
    minus_.slack(t) = minus_.copy(t) + step;
  });
  const CanonicalUnits& units = space_.units();
  prox_.apply(slope_copy_, units.lambda, units.bound, norm_penalty_, slope_slack_);
}

bool AdmmEntries::factor() {
  item_penalty_ = numbers_.penalty * item_level_;
  norm_penalty_ = numbers_.penalty * numbers_.norm_weight * norm_level_;
  const EntryCosts& costs = space_.costs();
  Vector& weight = wanted_;
  for (Index p = 0; p < space_.size(); ++p) {
    weight(p) = costs.kind_of(p) == EntryKind::kZero ? 0 : penalty(p);
    if (costs.quadratic.size() > 0) weight(p) += 2 * costs.quadratic(p);
  }
  for (Index t = 0; t < hinges(); ++t) {
    weight(hinge(t).plus) += item_penalty_(t);
    weight(hinge(t).minus) += item_penalty_(t);
  }
  // Only rounding can make the matrix singular; a larger proximal term outweighs it.
  double proximal = kProximal * numbers_.penalty;
  factored_ = false;
  for (int attempt = 0; !factored_ && attempt < AdmmSpace::kMostFactorizations; ++attempt) {
    factored_ = space_.factor(weight, norm_penalty_, proximal);
    proximal *= 100;
  }
  return factored_;
}

// The right-hand side of block one: what block two asks of D, times its penalty.
void AdmmEntries::set_right_side() {
  const EntryCosts& costs = space_.costs();
  const bool quadratic = costs.quadratic.size() > 0;
  for_all(space_.size(), [&](Index p) {
    wanted_(p) = costs.kind_of(p) == EntryKind::kZero ? 0 : penalty(p) * (2 * slack_(p) - copy_(p));
    if (quadratic) wanted_(p) += 2 * costs.quadratic(p) * costs.target(p);
  });
  for (Index t = 0; t < hinges(); ++t) {
    for (const Half* half : {&plus_, &minus_}) {
      wanted_(hinge(t).*half->position) += item_penalty_(t) * (2 * half->slack(t) - half->copy(t));
    }
  }
}

bool AdmmEntries::iterate() {
  if (!factored_ && !factor()) return false;
  set_right_side();
  space_.adjoint(wanted_.data(), right_.data());
  Eigen::Map<Matrix> right_slopes(right_.data() + z_, pieces_, features_);
  for (Index k = 0; k < pieces_; ++k) {
    right_slopes.row(k) += norm_penalty_(k) * (2 * slope_slack_.row(k) - slope_copy_.row(k));
  }
  space_.solve(right_.data(), x_.data());
  space_.apply(x_.data(), divergence_.data());
  move_copies();
  measure();
  add_to_average();
  ++numbers_.iteration;
  if (numbers_.schedule.is_due(numbers_.iteration)) adapt();
  return true;
}

void AdmmEntries::move_copies() {
  old_slope_ = slope_slack_;
  for_all(space_.size(), [&](Index p) {
    old_slack_(p) = slack_(p);
    copy_(p) += kOverRelaxation * (divergence_(p) - slack_(p));
  });
  for_all(hinges(), [&](Index t) {
    for (Half* half : {&plus_, &minus_}) {
      half->old_slack(t) = half->slack(t);
      half->copy(t) += kOverRelaxation * (divergence_(hinge(t).*half->position) - half->slack(t));
    }
  });
  slope_copy_ += kOverRelaxation * (slopes() - slope_slack_);
  set_slacks();
}

void AdmmEntries::measure() {
  const EntryCosts& costs = space_.costs();
  auto sums = sum_in_parts<ResidualSums>(space_.size(), [&](ResidualSums& sum, Index p) {
    if (costs.kind_of(p) != EntryKind::kZero) sum.add(level_(p), divergence_(p), slack_(p), old_slack_(p), copy_(p));
  });
  sums.add(sum_in_parts<ResidualSums>(hinges(), [&](ResidualSums& sum, Index t) {
    for (const Half* half : {&plus_, &minus_}) {
      sum.add(item_level_(t), divergence_(hinge(t).*half->position), half->slack(t), half->old_slack(t), half->copy(t));
    }
  }));
  ResidualSums norm;
  const double* slope = x_.data() + z_;
  for (Index k = 0; k < pieces_; ++k) {
    const double weight = numbers_.norm_weight * norm_level_(k);
    for (Index j = 0; j < features_; ++j) {
      norm.add(weight, *slope++, slope_slack_(k, j), old_slope_(k, j), slope_copy_(k, j));
    }
  }
  sums.add(norm);
  numbers_.residuals = sums.residuals();
  numbers_.norm_residuals = norm.residuals();
}

void AdmmEntries::adapt() {
  numbers_.schedule.advance(numbers_.iteration);
  to_multipliers();
  const PenaltyChange change = balance(numbers_.residuals, numbers_.norm_residuals);
  numbers_.penalty *= change.common;
  numbers_.norm_weight *= change.norm;
  grow();
  choose_levels();
  factor();
  to_copies();
  clear_average();
}

// While penalties change, the copies hold the multipliers, which stay the same.
void AdmmEntries::to_multipliers() {
  for (Index p = 0; p < space_.size(); ++p) copy_(p) = penalty(p) * (copy_(p) - slack_(p));
  for (Half* half : {&plus_, &minus_}) half->copy = item_penalty_.cwiseProduct(half->copy - half->slack).eval();
  slope_copy_ = (norm_penalty_.asDiagonal() * (slope_copy_ - slope_slack_)).eval();
}

void AdmmEntries::to_copies() {
  for (Index p = 0; p < space_.size(); ++p) copy_(p) = slack_(p) + copy_(p) / penalty(p);
  for (Half* half : {&plus_, &minus_}) half->copy = (half->slack + half->copy.cwiseQuotient(item_penalty_)).eval();
  slope_copy_ = (slope_slack_ + norm_penalty_.cwiseInverse().asDiagonal() * slope_copy_).eval();
}

// Adds entries whose divergence is low.
void AdmmEntries::grow() {
  const double limit = 0.5 * kNear * divergence_.cwiseAbs().mean();
  const std::vector<Index> moved_to = space_.grow(x_.data(), limit);
  if (moved_to.empty()) return;
  const Vector old_copy = std::move(copy_), old_slack = std::move(slack_);
  resize_to_set();
  space_.apply(x_.data(), divergence_.data());
  slack_ = divergence_.cwiseMax(0.0);
  for (std::size_t q = 0; q < moved_to.size(); ++q) {
    copy_(moved_to[q]) = old_copy(q);
    slack_(moved_to[q]) = old_slack(q);
  }
}

// Between to_multipliers() and to_copies().
void AdmmEntries::choose_levels() {
  const EntryCosts& costs = space_.costs();
  const double near = kNear * divergence_.cwiseAbs().mean();
  for (Index p = 0; p < space_.size(); ++p) {
    const double hinge = costs.hinge_of(p), from_margin = std::abs(slack_(p) - costs.margin);
    const double pull = costs.linear_of(p) - copy_(p);  // multipliers of the hinge and of D >= 0
    level_(p) = slack_(p) <= near || (hinge > 0 && from_margin <= near) ? 1 : kLooseEntry;
    const bool at_zero = slack_(p) == 0 && pull > hinge + kPressed;
    const bool at_margin = from_margin == 0 && pull > kInside * hinge && pull < (1 - kInside) * hinge;
    if (at_zero || at_margin) level_(p) = kPressedEntry;
    if (costs.kind_of(p) == EntryKind::kEqual) level_(p) = kPressedEntry;
    // For close rows a small divergence is a large difference of slopes.
    level_(p) /= costs.distance_of(p) * costs.distance_of(p);
  }
  for (Index t = 0; t < hinges(); ++t) {
    const double part = -minus_.copy(t) / hinge(t).weight;
    const bool near_kink = std::abs(hinge(t).margin + plus_.slack(t) - minus_.slack(t)) <= near;
    const bool inside = part > kInside && part < 1 - kInside;
    item_level_(t) = !near_kink ? kLooseItem : inside ? kPressedItem : 1;
  }
  for (Index k = 0; k < pieces_; ++k) norm_level_(k) = slope_copy_.row(k).any() ? 1 : kLooseNorm;
}

PrimalPoint AdmmEntries::primal_at(const Vector& x) const {
  return {x.head(z_), Eigen::Map<const Matrix>(x.data() + z_, pieces_, features_)};
}

// The multiplier of a copy is linear cost - slope of the hinge - multiplier of D >= 0. The hinge gets as much as it
// can, because its margin counts in the bound.
EntryMultipliers AdmmEntries::multipliers_at(const Vector& x, const Vector& entry_multiplier, const Vector& coupled) {
  const EntryCosts& costs = space_.costs();
  const bool quadratic = costs.quadratic.size() > 0;
  EntryMultipliers found{Vector::Zero(space_.size()), Vector::Zero(space_.size()), {}, coupled};
  if (quadratic) {
    found.divergence.resize(space_.size());
    space_.apply(x.data(), found.divergence.data());
  }
  for (Index p = 0; p < space_.size(); ++p) {
    const EntryKind kind = costs.kind_of(p);
    if (kind == EntryKind::kEqual) found.convexity(p) = -entry_multiplier(p);
    if (kind != EntryKind::kFree) continue;
    const double rest = costs.linear_of(p) - entry_multiplier(p);
    found.hinge(p) = std::clamp(rest, 0.0, costs.hinge_of(p));
    found.convexity(p) = std::max(0.0, rest - found.hinge(p));
  }
  return found;
}

PrimalPoint AdmmEntries::primal_point() const { return primal_at(x_); }

EntryMultipliers AdmmEntries::multipliers() {
  Vector multiplier(space_.size());
  for (Index p = 0; p < space_.size(); ++p) multiplier(p) = penalty(p) * (copy_(p) - slack_(p));
  return multipliers_at(x_, multiplier, item_penalty_.cwiseProduct(minus_.slack - minus_.copy));
}

int AdmmEntries::correction_steps() const {
  const std::int64_t allowed = std::int64_t{kStepsPerIteration} * numbers_.iteration;
  return static_cast<int>(std::min<std::int64_t>(allowed - corrected_, std::numeric_limits<int>::max()));
}

bool AdmmEntries::correction_is_due() const {
  return correction_.has_begun() || correction_steps() >= std::max(kLeastSteps, numbers_.iteration);
}

std::optional<EntryMultipliers> AdmmEntries::corrected_multipliers(double part, const std::function<bool()>& stop) {
  if (!correction_.has_begun()) {
    correction_.begin(multipliers(), (1 - part) * (norm_penalty_.asDiagonal() * (slope_copy_ - slope_slack_)));
  }
  factored_ = false;
  const double enough = 0.1 * part * space_.units().lambda;
  if (!correction_.go_on({divergence_, slopes()}, enough, correction_steps(), stop)) return std::nullopt;
  corrected_ += correction_.steps();
  return correction_.take();
}

PrimalPoint AdmmEntries::average_primal() const { return primal_at(x_sum_ / static_cast<double>(averaged_)); }

EntryMultipliers AdmmEntries::average_multipliers() {
  const auto count = static_cast<double>(averaged_);
  return multipliers_at(x_sum_ / count, entry_sum_ / count, coupled_sum_ / count);
}

void AdmmEntries::clear_average() {
  averaged_ = 0;
  x_sum_.setZero(x_.size());
  entry_sum_.setZero(space_.size());
  coupled_sum_.setZero(hinges());
}

void AdmmEntries::add_to_average() {
  ++averaged_;
  x_sum_ += x_;
  for_all(space_.size(), [&](Index p) { entry_sum_(p) += penalty(p) * (copy_(p) - slack_(p)); });
  coupled_sum_ += item_penalty_.cwiseProduct(minus_.slack - minus_.copy);
}

void AdmmEntries::set_members(const std::vector<Index>& members) {
  space_.set_members(members);
  resize_to_set();
  clear_average();
}

RawParts AdmmEntries::raw_state() {
  RawParts parts = correction_.raw_state();
  append(parts, x_, divergence_, copy_, slack_, level_, plus_.copy, minus_.copy, plus_.slack, minus_.slack, item_level_,
         norm_level_, x_sum_, entry_sum_, coupled_sum_, slope_copy_, slope_slack_, averaged_, corrected_);
  numbers_.append_to(parts);
  return parts;
}

}  // namespace bregmax::internal
