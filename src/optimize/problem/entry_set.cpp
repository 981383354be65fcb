#include "optimize/problem/entry_set.hpp"

#include <algorithm>

namespace bregmax::internal {

EntrySet::EntrySet(const CanonicalProblem& problem)
    : problem_(problem), begin_(problem.pieces + 1, 0), position_(problem.entries(), kNoEntry) {
  location_.reserve(position_.size());
  entry_.reserve(position_.size());
  add_supervised();
  add_nearest();
  // Half of the grid costs as much as the whole grid, which is processed in one fast pass.
  const auto members = std::count_if(position_.begin(), position_.end(), [](Index p) { return p != kNoEntry; });
  if (2 * members >= problem.entries()) std::fill(position_.begin(), position_.end(), 0);
  renumber();
}

void EntrySet::add_supervised() {
  for (const auto* items : {&problem_.single, &problem_.coupled}) {
    for (const HingeItem& item : *items) {
      if (item.plus != kNoEntry) add(item.plus);
      add(item.minus);
    }
  }
  for (Index e = 0; e < problem_.entries(); ++e) {
    const bool linear = problem_.has_linear && problem_.linear(e) != 0;
    if (linear || (problem_.has_quadratic && problem_.quadratic(e) != 0)) add(e);
  }
  for (const Index e : problem_.equality_entries) add(e);
}

void EntrySet::add_nearest() {
  constexpr Index kNearest = 20;  // each piece starts with this many constraints, plus one per feature
  std::vector<bool> zero(position_.size(), false);
  for (const Index e : problem_.zero_entries) zero[e] = true;
  std::vector<Index> order;
  Vector distance(problem_.locations);
  for (Index k = 0; k < problem_.pieces; ++k) {
    order.clear();
    for (Index l = 0; l < problem_.locations; ++l) {
      if (zero[problem_.entry(k, l)]) continue;
      order.push_back(l);
      distance(l) = (problem_.location.row(l) - problem_.anchor.row(k)).squaredNorm();
    }
    const Index count = std::min<Index>(kNearest + problem_.features, std::ssize(order));
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](Index a, Index b) { return distance(a) != distance(b) ? distance(a) < distance(b) : a < b; });
    for (Index i = 0; i < count; ++i) add(problem_.entry(k, order[i]));
  }
}

void EntrySet::renumber() {
  entry_.clear();
  location_.clear();
  for (Index k = 0; k < problem_.pieces; ++k) {
    begin_[k] = std::ssize(entry_);
    for (Index l = 0; l < problem_.locations; ++l) {
      Index& position = position_[problem_.entry(k, l)];
      if (position == kNoEntry) continue;
      position = std::ssize(entry_);
      entry_.push_back(problem_.entry(k, l));
      location_.push_back(l);
    }
  }
  size_ = begin_[problem_.pieces] = std::ssize(entry_);
}

}  // namespace bregmax::internal
