#pragma once

#include <limits>
#include <span>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// Scores of clusterings and of rankings: fractions, larger is better. None depends on the order of the rows or the
// numbering of classes: sums of fractions are taken in an order that only the values decide.

// ---- Agreement of two groupings of the same rows. Class and cluster numbers are >= 0, gaps are allowed. ----

// Fraction of the pairs of rows on which the groupings agree (together in both or apart in both); 1 for one row.
double rand_index(std::span<const int> clusters, std::span<const int> classes);

// Rand index less its expectation under random groupings of the same sizes, scaled to be 1 at equality; it may be
// negative. 1 where both groupings are trivial in the same way (one group, or all rows apart).
double adjusted_rand_index(std::span<const int> clusters, std::span<const int> classes);

// Mutual information over the ARITHMETIC MEAN of the two entropies. 1 where both groupings have a single group.
double normalised_mutual_information(std::span<const int> clusters, std::span<const int> classes);

// Fraction of the rows whose class is the most frequent one of their cluster.
double purity(std::span<const int> clusters, std::span<const int> classes);

// ---- Rankings: candidates in order of their distance from one query, nearest first. ----
//
// Candidates at exactly the same distance are tied: each score is its EXPECTED value under a uniformly random order
// within every tied group (docs/mathematics.md, section 11). A stable sort would let the order of the file decide.

struct RankingScores {
  // All NaN where the query has no relevant or no irrelevant candidate: every ranking of these is equally good.
  // Probability that a random relevant candidate is nearer than a random irrelevant one; a tied pair counts one half.
  double auc = std::numeric_limits<double>::quiet_NaN();
  // Mean over the relevant candidates of the fraction of relevant ones among those that come no later.
  double average_precision = std::numeric_limits<double>::quiet_NaN();
  // Fraction of relevant candidates among the first k.
  double precision_at_k = std::numeric_limits<double>::quiet_NaN();
};

// distances(i) is that of candidate i and must be finite. k >= 1; where k exceeds the number of candidates, the missing
// places count as irrelevant.
RankingScores ranking_scores(std::span<const double> distances, const std::vector<bool>& relevant, Index k = 10);

// ---- Predictions of numbers ----

struct RegressionScores {
  // 1 less the mean squared error relative to that of the mean; NaN where all actual values are equal.
  double r2 = std::numeric_limits<double>::quiet_NaN();
  double mean_absolute_error = std::numeric_limits<double>::quiet_NaN();
  // Spearman's: the correlation of the ranks, equal values having their mean rank; NaN where all of one side are equal.
  double rank_correlation = std::numeric_limits<double>::quiet_NaN();
};

// Both finite, equally many, at least one.
RegressionScores regression_scores(const VectorView& actual, const VectorView& predicted);

}  // namespace bregmax
