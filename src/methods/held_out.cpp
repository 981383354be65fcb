#include "methods/held_out.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace bregmax::internal {
namespace {

constexpr Index kVoters = 3;

Vector distances_from(const Eigen::RowVectorXd& row, const Matrix& others) {
  return (others.rowwise() - row).rowwise().squaredNorm();
}

int voted_class(const Vector& distances, const ClassOfRow& classes, Index most_voters) {
  std::vector<Index> order(classes.size());
  std::iota(order.begin(), order.end(), 0);
  const Index voters = std::min(most_voters, distances.size());
  std::partial_sort(order.begin(), order.begin() + voters, order.end(),
                    [&](Index a, Index b) { return std::pair(distances(a), a) < std::pair(distances(b), b); });
  std::map<int, int> votes;
  int winner = classes[static_cast<std::size_t>(order.front())];
  for (Index v = 0; v < voters; ++v) {
    const int voted = classes[static_cast<std::size_t>(order[static_cast<std::size_t>(v)])];
    if (++votes[voted] > votes[winner]) winner = voted;
  }
  return winner;
}

}  // namespace

Index count_wrong(const Matrix& embedded, const ClassOfRow& classes, const Matrix& held_out_embedded,
                  const ClassOfRow& held_out_classes, Index voters) {
  Index wrong = 0;
  for (std::size_t i = 0; i < held_out_classes.size(); ++i) {
    const Vector distances = distances_from(held_out_embedded.row(static_cast<Index>(i)), embedded);
    if (voted_class(distances, classes, voters) != held_out_classes[i]) ++wrong;
  }
  return wrong;
}

HeldOutRows::HeldOutRows(const Matrix& embedded, const ClassOfRow& classes, const Matrix& held_out_embedded,
                         const ClassOfRow& held_out_classes, int neighbours, double mu)
    : classes_(classes), held_out_classes_(held_out_classes), mu_(mu), targets_(held_out_classes.size()) {
  for (std::size_t i = 0; i < held_out_classes.size(); ++i) {
    const Vector distances = distances_from(held_out_embedded.row(static_cast<Index>(i)), embedded);
    auto& targets = targets_[i];
    for (std::size_t j = 0; j < classes.size(); ++j) {
      if (classes[j] == held_out_classes[i]) targets.push_back(static_cast<Index>(j));
    }
    std::ranges::stable_sort(targets, {}, [&](Index j) { return distances(j); });
    targets.resize(std::min(targets.size(), static_cast<std::size_t>(neighbours)));
  }
}

HeldOutScore HeldOutRows::score(const Matrix& embedded, const Matrix& held_out_embedded) const {
  HeldOutScore score;
  score.wrong = count_wrong(embedded, classes_, held_out_embedded, held_out_classes_, kVoters);
  for (std::size_t i = 0; i < held_out_classes_.size(); ++i) {
    const Vector distances = distances_from(held_out_embedded.row(static_cast<Index>(i)), embedded);
    for (const Index target : targets_[i]) {
      score.loss += (1 - mu_) * distances(target);
      for (std::size_t l = 0; l < classes_.size(); ++l) {
        if (classes_[l] == held_out_classes_[i]) continue;
        score.loss += mu_ * std::max(0.0, 1 + distances(target) - distances(static_cast<Index>(l)));
      }
    }
  }
  return score;
}

}  // namespace bregmax::internal
