#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "bregmax/methods/learned.hpp"

namespace bregmax::internal {

// The class of most of the `voters` nearest rows. Equal votes: the class that first had as many, counted from the nearest
// row on.
inline int voted_class(const Vector& distances, const ClassOfRow& classes, Index voters) {
  std::vector<Index> order(classes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min(voters, distances.size());
  std::partial_sort(order.begin(), end, order.end(),
                    [&](Index a, Index b) { return std::pair(distances(a), a) < std::pair(distances(b), b); });
  std::map<int, int> votes;
  int winner = classes[static_cast<std::size_t>(order.front())];
  for (auto voter = order.begin(); voter != end; ++voter) {
    const int voted = classes[static_cast<std::size_t>(*voter)];
    if (++votes[voted] > votes[winner]) winner = voted;
  }
  return winner;
}

// How rows that were held out fare among the rows that were learned from, by the squared Euclidean distance of embedded
// rows.
class HeldOutRows {
 public:
  struct Score {
    Index wrong = 0;  // by 3 nearest neighbours
    double loss = 0;  // of LMNN, with targets and impostors among the rows that were learned from
    auto operator<=>(const Score&) const = default;
  };

  // The targets of the held-out rows are their nearest of the class in this embedding.
  HeldOutRows(const Matrix& embedded, const ClassOfRow& classes, const Matrix& held_out_embedded,
              const ClassOfRow& held_out_classes, int neighbours, double mu)
      : classes_(classes), held_out_classes_(held_out_classes), mu_(mu), targets_(held_out_classes.size()) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Vector distances = distances_from(held_out_embedded, i, embedded);
      auto& targets = targets_[i];
      for (std::size_t j = 0; j < classes.size(); ++j) {
        if (classes[j] == held_out_classes[i]) targets.push_back(static_cast<Index>(j));
      }
      std::ranges::stable_sort(targets, {}, [&](Index j) { return distances(j); });
      targets.resize(std::min(targets.size(), static_cast<std::size_t>(neighbours)));
    }
  }

  Score score(const Matrix& embedded, const Matrix& held_out_embedded) const {
    constexpr Index kVoters = 3;
    Score score;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Vector distances = distances_from(held_out_embedded, i, embedded);
      if (voted_class(distances, classes_, kVoters) != held_out_classes_[i]) ++score.wrong;
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

 private:
  static Vector distances_from(const Matrix& rows, std::size_t row, const Matrix& others) {
    return (others.rowwise() - rows.row(static_cast<Index>(row))).rowwise().squaredNorm();
  }

  const ClassOfRow& classes_;
  const ClassOfRow& held_out_classes_;
  double mu_;
  std::vector<std::vector<Index>> targets_;
};

}  // namespace bregmax::internal
