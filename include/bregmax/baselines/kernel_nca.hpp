#pragma once

#include <cstdint>
#include <optional>

#include "bregmax/baselines/baseline.hpp"
#include "bregmax/divergence/kernel_embedding.hpp"

namespace bregmax {

struct KernelNcaOptions {
  std::optional<KernelKind> kind = {};   // none: chosen by cross-validation
  std::optional<double> bandwidth = {};  // > 0; none: chosen by cross-validation among 2^0 .. 2^5
  int degree = 2;                        // of the polynomial, 1 .. 10
  int components = 0;                    // of the embedding, >= 0; 0: as many as features
  int folds = 3;                         // of the cross-validation, >= 2
  std::uint64_t seed = 0;                // of the folds
  BaselineLimits limits = {.tolerance = 1e-4, .max_iterations = 20000};  // all runs of NCA together
};

struct KernelNcaResult {
  LearnedMetric learned;  // a KernelEmbedding
  Kernel kernel;          // the one that was chosen
};

// Neighbourhood component analysis in the feature space of a kernel. By the representer theorem the learned directions
// lie in the span of the training rows; there rows are given by their kernel principal components, of which those that
// hold 99% of the variance are kept, and A is learned on them as in learn_nca, from the first principal components on.
//
// What is left open of kernel and bandwidth is chosen by cross-validation, stratified by class: the fewest held-out
// rows with the wrong class by 5 nearest neighbours; equal: the fewest expected by the probabilities of NCA.
//
// objective and stationarity: those of learn_nca, on the principal components, of the final run.
KernelNcaResult learn_kernel_nca(const MatrixView& rows, const ClassOfRow& class_of_row,
                                 const KernelNcaOptions& options = {}, const RunControl& control = {});

}  // namespace bregmax
