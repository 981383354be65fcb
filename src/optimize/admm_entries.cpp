#include "optimize/admm_entries.hpp"

#include <algorithm>
#include <cmath>

#include "optimize/at.hpp"

namespace bregmax::internal {
namespace {

// Penalties beside the common one, measured on problems of all kinds. An entry: away from kinks, and pressed to zero.
constexpr double kLooseEntry = 1e-3, kPressedEntry = 100;
// A coupled hinge: away from its kink, and on it with a multiplier between its ends.
constexpr double kLooseItem = 1e-2, kPressedItem = 10;
constexpr double kLooseNorm = 1e-2;  // a piece whose norm is below L
constexpr double kNear = 0.02;       // of the mean divergence: near a kink
constexpr double kPressed = 1e-3;    // least multiplier of what counts as pressed, beside an item's weight of 1
constexpr double kInside = 0.01;     // distance of a hinge's multiplier from its ends, beside its weight
constexpr Index kAlwaysDenseUnknowns = 600;
constexpr double kProximal = 1e-10;

}  // namespace

AdmmEntries::AdmmEntries(const CanonicalProblem& problem, double relaxation)
    : problem_(problem),
      relaxation_(relaxation),
      entries_(problem),
      grid_(problem, entries_),
      prox_(problem.pieces, problem.norm_weight),
      hinge_of_entry_(Vector::Zero(problem.entries())),
      kind_of_entry_(at(problem.entries()), Kind::kFree) {
  for (const HingeItem& item : problem.single) {
    hinge_of_entry_(item.minus) += item.weight;
    margin_ = item.margin;
  }
  for (const Index e : problem.zero_entries) kind_of_entry_[at(e)] = Kind::kZero;
  for (const Index e : problem.equality_entries) kind_of_entry_[at(e)] = Kind::kEqual;
  const Index unknowns = problem.z_count + problem.pieces * problem.features + 1;
  const bool dense = !problem.all_anchored || unknowns < kAlwaysDenseUnknowns;
  factorization_ = dense ? make_dense_factorization(problem, entries_) : make_arrow_factorization(problem, entries_);
  const auto coupled = static_cast<Index>(problem.coupled.size());
  weights_.grid.setZero(problem.entries());
  weights_.coupled.setZero(coupled);
  weights_.norm.setZero(problem.pieces);
  weights_.lipschitz = 1;  // L is not an unknown of block one
  x_.setZero(unknowns);
  right_.setZero(unknowns);
  for (Vector* v : {&plus_copy_, &minus_copy_, &plus_slack_, &minus_slack_, &old_plus_, &old_minus_}) {
    v->setZero(coupled);
  }
  item_level_.setOnes(coupled);
  norm_level_.setOnes(problem.pieces);
  for (Matrix* m : {&slope_copy_, &slope_slack_, &old_slope_, &weights_.slope_diagonal, &weights_.slope_rank_one}) {
    m->setZero(problem.pieces, problem.features);
  }
  resize_to_set();
  numbers_.penalty = kFirstPenalty;
  numbers_.norm_weight = kFirstNormWeight * static_cast<double>(entries_.size()) / static_cast<double>(problem.pieces);
}

void AdmmEntries::resize_to_set() {
  for (Vector* v : {&divergence_, &wanted_, &copy_, &slack_, &old_slack_}) v->setZero(entries_.size());
  level_.setOnes(entries_.size());
}

void AdmmEntries::start(const PrimalPoint& point) {
  x_.head(problem_.z_count) = point.z;
  Eigen::Map<Matrix>(x_.data() + problem_.z_count, problem_.pieces, problem_.features) = point.slopes;
  grid_.apply(x_.data(), x_.data() + problem_.z_count, divergence_.data());
  copy_ = divergence_;
  for (Index t = 0; t < plus_copy_.size(); ++t) {
    plus_copy_(t) = divergence_(entries_.position(problem_.coupled[at(t)].plus));
    minus_copy_(t) = divergence_(entries_.position(problem_.coupled[at(t)].minus));
  }
  slope_copy_ = point.slopes;
  factor();
  set_slacks();
  clear_average();
}

// The s that minimises loss(s) + penalty / 2 (s - copy)^2 over s >= 0.
double AdmmEntries::slack_of(Index position, double copy) const {
  if (kind(position) != Kind::kFree) return 0;
  const Index e = entries_.entry(position);
  double slack = copy;
  if (problem_.has_linear) slack -= problem_.linear(e) / penalty(position);
  if (hinge_of_entry_(e) > 0 && slack < margin_) {
    slack = std::min(slack + hinge_of_entry_(e) / penalty(position), margin_);
  }
  return std::max(0.0, slack);
}

void AdmmEntries::set_slacks() {
  for (Index p = 0; p < entries_.size(); ++p) slack_(p) = slack_of(p, copy_(p));
  // A hinge pulls both its entries by the same amount.
  for (Index t = 0; t < plus_copy_.size(); ++t) {
    const HingeItem& item = problem_.coupled[at(t)];
    const double miss = item.margin + plus_copy_(t) - minus_copy_(t);
    const double step = std::clamp(miss / 2, 0.0, item.weight / item_penalty_(t));
    plus_slack_(t) = plus_copy_(t) - step;
    minus_slack_(t) = minus_copy_(t) + step;
  }
  prox_.apply(slope_copy_, problem_.lambda, problem_.bound, norm_penalty_, slope_slack_);
}

void AdmmEntries::set_penalties() {
  item_penalty_ = numbers_.penalty * item_level_;
  norm_penalty_ = numbers_.penalty * numbers_.norm_weight * norm_level_;
}

void AdmmEntries::factor() {
  set_penalties();
  weights_.grid.setZero();
  for (Index p = 0; p < entries_.size(); ++p) {
    if (kind(p) == Kind::kZero) continue;
    weights_.grid(p) = penalty(p);
    if (problem_.has_quadratic) weights_.grid(p) += 2 * problem_.quadratic(entries_.entry(p));
  }
  for (Index t = 0; t < plus_copy_.size(); ++t) {
    const HingeItem& item = problem_.coupled[at(t)];
    weights_.grid(entries_.position(item.plus)) += item_penalty_(t);
    weights_.grid(entries_.position(item.minus)) += item_penalty_(t);
  }
  weights_.slope_diagonal.colwise() = norm_penalty_;
  // Penalties keep the matrix far from singular but for rounding, which a larger proximal term outweighs.
  weights_.proximal = kProximal * numbers_.penalty;
  while (!factorization_->factor(weights_)) weights_.proximal *= 100;
}

// What block two asks of D, times its penalty.
void AdmmEntries::want() {
  for (Index p = 0; p < entries_.size(); ++p) {
    const Index e = entries_.entry(p);
    wanted_(p) = kind(p) == Kind::kZero ? 0 : penalty(p) * (2 * slack_(p) - copy_(p));
    if (problem_.has_quadratic) wanted_(p) += 2 * problem_.quadratic(e) * problem_.target(e);
  }
  for (Index t = 0; t < plus_copy_.size(); ++t) {
    const HingeItem& item = problem_.coupled[at(t)];
    wanted_(entries_.position(item.plus)) += item_penalty_(t) * (2 * plus_slack_(t) - plus_copy_(t));
    wanted_(entries_.position(item.minus)) += item_penalty_(t) * (2 * minus_slack_(t) - minus_copy_(t));
  }
}

void AdmmEntries::iterate() {
  const Index z = problem_.z_count;
  want();
  grid_.adjoint(wanted_.data(), right_.data(), right_.data() + z);
  Eigen::Map<Matrix> right_slopes(right_.data() + z, problem_.pieces, problem_.features);
  for (Index k = 0; k < problem_.pieces; ++k) {
    right_slopes.row(k) += norm_penalty_(k) * (2 * slope_slack_.row(k) - slope_copy_.row(k));
  }
  factorization_->solve(right_.data(), x_.data());
  grid_.apply(x_.data(), x_.data() + z, divergence_.data());
  move_copies();
  measure();
  add_to_average();
  ++numbers_.iteration;
  if (numbers_.schedule.is_due(numbers_.iteration)) adapt();
}

void AdmmEntries::move_copies() {
  old_slack_ = slack_;
  old_plus_ = plus_slack_;
  old_minus_ = minus_slack_;
  old_slope_ = slope_slack_;
  copy_ += relaxation_ * (divergence_ - slack_);
  for (Index t = 0; t < plus_copy_.size(); ++t) {
    const HingeItem& item = problem_.coupled[at(t)];
    plus_copy_(t) += relaxation_ * (divergence_(entries_.position(item.plus)) - plus_slack_(t));
    minus_copy_(t) += relaxation_ * (divergence_(entries_.position(item.minus)) - minus_slack_(t));
  }
  const Eigen::Map<const Matrix> slopes(x_.data() + problem_.z_count, problem_.pieces, problem_.features);
  slope_copy_ += relaxation_ * (slopes - slope_slack_);
  set_slacks();
}

void AdmmEntries::measure() {
  ResidualSums sums;
  for (Index p = 0; p < entries_.size(); ++p) {
    if (kind(p) != Kind::kZero) sums.add(level_(p), divergence_(p), slack_(p), old_slack_(p), copy_(p));
  }
  for (Index t = 0; t < plus_copy_.size(); ++t) {
    const HingeItem& item = problem_.coupled[at(t)];
    const double plus = divergence_(entries_.position(item.plus)), minus = divergence_(entries_.position(item.minus));
    sums.add(item_level_(t), plus, plus_slack_(t), old_plus_(t), plus_copy_(t));
    sums.add(item_level_(t), minus, minus_slack_(t), old_minus_(t), minus_copy_(t));
  }
  ResidualSums norm;
  const double* slope = x_.data() + problem_.z_count;
  for (Index k = 0; k < problem_.pieces; ++k) {
    const double weight = numbers_.norm_weight * norm_level_(k);
    for (Index j = 0; j < problem_.features; ++j) {
      norm.add(weight, *slope++, slope_slack_(k, j), old_slope_(k, j), slope_copy_(k, j));
    }
  }
  sums.add(norm);
  numbers_.residuals = sums.residuals();
  numbers_.norm_residuals = norm.residuals();
}

void AdmmEntries::adapt() {
  numbers_.schedule.advance(numbers_.iteration);
  split();
  const PenaltyChange change = balance(numbers_.residuals, numbers_.norm_residuals);
  numbers_.penalty *= change.common;
  numbers_.norm_weight *= change.norm;
  grow();
  choose_levels();
  factor();
  join();
  clear_average();
}

// While penalties change, copies are the multipliers themselves, which stay.
void AdmmEntries::split() {
  for (Index p = 0; p < entries_.size(); ++p) copy_(p) = penalty(p) * (copy_(p) - slack_(p));
  plus_copy_ = item_penalty_.cwiseProduct(plus_copy_ - plus_slack_).eval();
  minus_copy_ = item_penalty_.cwiseProduct(minus_copy_ - minus_slack_).eval();
  slope_copy_ = (norm_penalty_.asDiagonal() * (slope_copy_ - slope_slack_)).eval();
}

void AdmmEntries::join() {
  for (Index p = 0; p < entries_.size(); ++p) copy_(p) = slack_(p) + copy_(p) / penalty(p);
  plus_copy_ = (plus_slack_ + plus_copy_.cwiseQuotient(item_penalty_)).eval();
  minus_copy_ = (minus_slack_ + minus_copy_.cwiseQuotient(item_penalty_)).eval();
  slope_copy_ = (slope_slack_ + norm_penalty_.cwiseInverse().asDiagonal() * slope_copy_).eval();
}

// Adds entries whose divergence is low.
void AdmmEntries::grow() {
  if (entries_.complete()) return;
  Vector everywhere(problem_.entries());
  grid_.apply_everywhere(x_.data(), x_.data() + problem_.z_count, everywhere.data());
  const double limit = 0.5 * kNear * divergence_.cwiseAbs().mean();
  const std::vector<Index> before = members();
  bool added = false;
  for (Index e = 0; e < problem_.entries(); ++e) {
    if (everywhere(e) < limit && kind_of_entry_[at(e)] != Kind::kZero && !entries_.contains(e)) {
      entries_.add(e);
      added = true;
    }
  }
  if (!added) return;
  entries_.renumber();
  const Vector old_copy = copy_, old_slack = slack_;
  resize_to_set();
  for (Index p = 0; p < entries_.size(); ++p) divergence_(p) = everywhere(entries_.entry(p));
  slack_ = divergence_.cwiseMax(0.0);
  for (std::size_t q = 0; q < before.size(); ++q) {
    const Index p = entries_.position(before[q]);
    copy_(p) = old_copy(static_cast<Index>(q));
    slack_(p) = old_slack(static_cast<Index>(q));
  }
}

// Between split() and join().
void AdmmEntries::choose_levels() {
  const double near = kNear * divergence_.cwiseAbs().mean();
  for (Index p = 0; p < entries_.size(); ++p) {
    const Index e = entries_.entry(p);
    const double hinge = hinge_of_entry_(e), from_margin = std::abs(slack_(p) - margin_);
    const double pull = (problem_.has_linear ? problem_.linear(e) : 0) - copy_(p);  // of the hinge and of D >= 0
    level_(p) = slack_(p) <= near || (hinge > 0 && from_margin <= near) ? 1 : kLooseEntry;
    const bool at_zero = slack_(p) == 0 && pull > hinge + kPressed;
    const bool at_margin = from_margin == 0 && pull > kInside * hinge && pull < (1 - kInside) * hinge;
    if (at_zero || at_margin) level_(p) = kPressedEntry;
    if (kind(p) == Kind::kEqual) level_(p) = kPressedEntry;
  }
  for (Index t = 0; t < plus_copy_.size(); ++t) {
    const HingeItem& item = problem_.coupled[at(t)];
    const double part = -minus_copy_(t) / item.weight;
    const bool near_kink = std::abs(item.margin + plus_slack_(t) - minus_slack_(t)) <= near;
    const bool inside = part > kInside && part < 1 - kInside;
    item_level_(t) = !near_kink ? kLooseItem : inside ? kPressedItem : 1;
  }
  for (Index k = 0; k < problem_.pieces; ++k) norm_level_(k) = slope_copy_.row(k).any() ? 1 : kLooseNorm;
}

PrimalPoint AdmmEntries::primal_at(const Vector& x) const {
  return {x.head(problem_.z_count),
          Eigen::Map<const Matrix>(x.data() + problem_.z_count, problem_.pieces, problem_.features)};
}

// The multiplier of a copy, linear cost - hinge's slope - multiplier of D >= 0, shared out: to the hinge first, whose
// margin is worth something.
DualPoint AdmmEntries::dual_at(const Vector& x, const Vector& entry_multiplier, const Vector& coupled) {
  DualPoint dual;
  dual.entries.setZero(problem_.entries());
  dual.equality.setZero(static_cast<Index>(problem_.equality_entries.size()));
  dual.quadratic_slope.setZero(problem_.entries());
  Vector hinge = Vector::Zero(problem_.entries());
  if (problem_.has_quadratic) grid_.apply(x.data(), x.data() + problem_.z_count, wanted_.data());
  for (Index p = 0; p < entries_.size(); ++p) {
    const Index e = entries_.entry(p);
    if (kind(p) != Kind::kFree) continue;
    const double rest = (problem_.has_linear ? problem_.linear(e) : 0) - entry_multiplier(p);
    hinge(e) = std::clamp(rest, 0.0, hinge_of_entry_(e));
    dual.entries(e) = std::max(0.0, rest - hinge(e));
    if (problem_.has_quadratic) {
      dual.quadratic_slope(e) = 2 * problem_.quadratic(e) * (wanted_(p) - problem_.target(e));
    }
  }
  for (std::size_t q = 0; q < problem_.equality_entries.size(); ++q) {
    dual.equality(static_cast<Index>(q)) = -entry_multiplier(entries_.position(problem_.equality_entries[q]));
  }
  dual.single.resize(static_cast<Index>(problem_.single.size()));
  for (std::size_t t = 0; t < problem_.single.size(); ++t) {
    dual.single(static_cast<Index>(t)) = hinge(problem_.single[t].minus);
  }
  dual.coupled = coupled;
  return dual;
}

PrimalPoint AdmmEntries::primal_point() const { return primal_at(x_); }

DualPoint AdmmEntries::dual_point() {
  Vector multiplier(entries_.size());
  for (Index p = 0; p < entries_.size(); ++p) multiplier(p) = penalty(p) * (copy_(p) - slack_(p));
  return dual_at(x_, multiplier, item_penalty_.cwiseProduct(minus_slack_ - minus_copy_));
}

PrimalPoint AdmmEntries::average_primal() const { return primal_at(x_sum_ / static_cast<double>(numbers_.averaged)); }

DualPoint AdmmEntries::average_dual() {
  const auto count = static_cast<double>(numbers_.averaged);
  return dual_at(x_sum_ / count, entry_sum_ / count, coupled_sum_ / count);
}

void AdmmEntries::clear_average() {
  numbers_.averaged = 0;
  x_sum_.setZero(x_.size());
  entry_sum_.setZero(entries_.size());
  coupled_sum_.setZero(plus_copy_.size());
}

void AdmmEntries::add_to_average() {
  ++numbers_.averaged;
  x_sum_ += x_;
  for (Index p = 0; p < entries_.size(); ++p) entry_sum_(p) += penalty(p) * (copy_(p) - slack_(p));
  for (Index t = 0; t < plus_copy_.size(); ++t) {
    coupled_sum_(t) += item_penalty_(t) * (minus_slack_(t) - minus_copy_(t));
  }
}

std::vector<Index> AdmmEntries::members() const {
  std::vector<Index> members(at(entries_.size()));
  for (Index p = 0; p < entries_.size(); ++p) members[at(p)] = entries_.entry(p);
  return members;
}

void AdmmEntries::set_members(const std::vector<Index>& members) {
  for (const Index e : members) entries_.add(e);
  entries_.renumber();
  resize_to_set();
  clear_average();
}

RawParts AdmmEntries::raw_state() {
  RawParts parts;
  const auto add = [&](double* data, Index size) {
    parts.emplace_back(reinterpret_cast<char*>(data), at(size) * sizeof(double));
  };
  for (Vector* v : {&x_, &divergence_, &copy_, &slack_, &level_, &plus_copy_, &minus_copy_, &plus_slack_, &minus_slack_,
                    &item_level_, &norm_level_, &x_sum_, &entry_sum_, &coupled_sum_}) {
    add(v->data(), v->size());
  }
  for (Matrix* m : {&slope_copy_, &slope_slack_}) add(m->data(), m->size());
  for (double* number : {&numbers_.penalty, &numbers_.norm_weight, &numbers_.residuals.primal, &numbers_.residuals.dual,
                         &numbers_.norm_residuals.primal, &numbers_.norm_residuals.dual}) {
    add(number, 1);
  }
  for (int* number : {&numbers_.iteration, &numbers_.averaged, &numbers_.schedule.next, &numbers_.schedule.changes}) {
    parts.emplace_back(reinterpret_cast<char*>(number), sizeof(int));
  }
  return parts;
}

}  // namespace bregmax::internal
