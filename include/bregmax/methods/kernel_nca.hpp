#pragma once

#include "bregmax/divergence/kernel_embedding.hpp"
#include "bregmax/methods/learned.hpp"

namespace bregmax {

struct KernelNcaOptions {
  KernelKind kind = KernelKind::kRbf;
  double bandwidth = 4;  // > 0
  int degree = 2;        // of the polynomial, 1 .. 10
  int components = 0;    // of the embedding, >= 0; 0: as many as features
  MethodLimits limits = {.tolerance = 1e-4, .max_iterations = 500};
};

// Neighbourhood component analysis in the feature space of a kernel. By the representer theorem the learned directions
// lie in the span of the training rows; there rows are given by their kernel principal components, of which those that
// hold 99% of the variance are kept, and A is learned on them as in learn_nca, from the first principal components on.
//
// The learned divergence is a KernelEmbedding. objective and stationarity: those of learn_nca, on the principal
// components. Throws Error where the kernel of the rows leaves the range of numbers.
Learned learn_kernel_nca(const MatrixView& rows, const ClassOfRow& class_of_row, const KernelNcaOptions& options = {},
                         const RunControl& control = {});

}  // namespace bregmax
