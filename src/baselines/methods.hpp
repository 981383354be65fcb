#pragma once

#include "bregmax/baselines/registry.hpp"

namespace bregmax::internal {

// One a method, each in the file of the method; src/baselines/registry.cpp lists them.
BaselineMethod euclidean_method();
BaselineMethod mahalanobis_method();
BaselineMethod itml_method();
BaselineMethod gmml_method();
BaselineMethod mlr_auc_method();
BaselineMethod wu2009_method();
BaselineMethod lmnn_method();
BaselineMethod gb_lmnn_method();
BaselineMethod nca_method();
BaselineMethod kernel_nca_method();

}  // namespace bregmax::internal
