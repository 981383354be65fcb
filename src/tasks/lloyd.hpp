#pragma once

// The two halves of k-means: where the centroids start and how they move.

#include "bregmax/core/random.hpp"
#include "bregmax/core/run_control.hpp"
#include "bregmax/tasks/kmeans.hpp"
#include "tasks/measured_rows.hpp"

namespace bregmax::internal {

// k-means++: the first seed uniformly at random, each further one with probability proportional to its divergence from
// the nearest seed; uniformly among the rows not taken yet once all of these are zero.
Matrix plus_plus_centroids(const MeasuredRows& rows, Index clusters, Random& random);

// Assigns and recomputes the means in turn until the objective stops falling. A stop request is looked at in each
// iteration, after at least one assignment; the run is then returned as it stands.
KMeansRun lloyd(const MeasuredRows& rows, Matrix centroids, int max_iterations, const RunControl& control);

}  // namespace bregmax::internal
