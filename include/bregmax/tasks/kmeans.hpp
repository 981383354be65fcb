#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// Where the first centroids come from.
enum class KMeansStart {
  kEuclidean,   // k-means in Euclidean space, itself started by k-means++ (as in the paper)
  kDivergence,  // k-means++ with D(row, seed) in the place of the squared distance
};
std::string to_string(KMeansStart start);          // "euclidean", "divergence"
KMeansStart start_named(const std::string& name);  // throws Error for other names

struct KMeansOptions {
  Index clusters = 2;  // 1 .. number of rows
  KMeansStart start = KMeansStart::kEuclidean;
  int restarts = 20;         // >= 1
  int max_iterations = 300;  // >= 1, of one restart
  std::uint64_t seed = 0;
  bool keep_restarts = false;  // fill KMeansResult::restarts
};

struct KMeansRun {
  // The nearest centroid, the lowest number among equally near ones. A cluster is empty only if no row that has
  // company lies at a positive divergence from its centroid (fewer distinct rows, or pieces, than clusters).
  std::vector<int> cluster_of_row;
  Matrix centroids;                // clusters x features; of an embedding: clusters x its dimension
  double objective = 0;            // sum over the rows of D(row, its centroid)
  std::vector<double> objectives;  // after each assignment; never increases
  bool converged = false;          // no assignment changed, or none of the changes lowered the objective
};

struct KMeansResult {
  KMeansRun best;                   // the smallest objective, the earliest among equals
  std::vector<KMeansRun> restarts;  // all of them in order, if keep_restarts
  bool stopped = false;             // by RunControl: fewer restarts, the last one unfinished
};

// Bregman k-means: rows are assigned by D(row, centroid), and a centroid is the mean of its rows, which minimises the
// sum of D(row, centroid) over the SECOND argument for every Bregman divergence. A cluster that loses all its rows is
// given the row of largest divergence to its own centroid, which cannot increase the objective.
//
// Under an EmbeddingDivergence a centroid is the mean of the embedded rows, and a Euclidean start is the image of the
// centroids of the rows. Rows must be valid references, too, since they serve as first centroids (no zeros for KL).
//
// The clustering of a row depends neither on the order of the rows (draws refer to their lexicographic order) nor on
// the number of threads.
KMeansResult kmeans(const Divergence& divergence, const MatrixView& rows, const KMeansOptions& options,
                    const RunControl& control = {});

}  // namespace bregmax
