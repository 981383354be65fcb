#pragma once

// PBDL by the letter of its authors' public scripts, where these differ from the paper's text and from what we do:
//
// - The objective is (1/m) sum of hinges + (lambda / sqrt(m)) L, with lambda on 10^-5 .. 10^5.
// - The class of i and j is drawn by its frequency, the class of l in the same way until it differs; i may be j.
// - Ranking: the rows sorted by divergence, ties in the order of the file, and the first of the list dropped as "the
//   query itself", whatever it is.
// - Clustering: 20 starts by Euclidean k-means, then Bregman iterations in which a cluster that empties stays empty.
// - Nearest neighbours: the first five of the sorted list; equal votes go to the lowest class.
//
// One part is not followed: their solver ends at a vertex of the face of optimal models, ours near its centre.

#include <span>

#include "paper/protocol.hpp"

namespace bregmax {

// The scores of the row on the test part, with lambda chosen by 3-fold cross-validation for each measure by the same
// scores. Empty when stopped.
std::vector<RunScores> run_scripted(const Table& train, const Table& test, std::uint64_t seed, KMeansStart start,
                                    const RunControl& control = {});

namespace internal {

Comparisons scripted_comparisons(const std::vector<int>& classes, Index count, Random& random);

struct ScriptedRanking {
  double auc, average_precision;
};
// The mean over the rows as queries of all rows.
ScriptedRanking scripted_ranking(const Divergence& divergence, const MatrixView& rows, std::span<const int> classes);

// Bregman k-means from these centroids; clusters that empty are given up.
std::vector<int> scripted_clusters(const Divergence& divergence, const MatrixView& rows, Matrix centroids);

double scripted_accuracy(const Divergence& divergence, const MatrixView& train, std::span<const int> train_classes,
                         const MatrixView& test, std::span<const int> test_classes);

}  // namespace internal
}  // namespace bregmax
