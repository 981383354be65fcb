#pragma once

#include "bregmax/methods/registry.hpp"

namespace bregmax::internal {

// One per method, each in the file of the method; src/methods/registry.cpp lists them.
Method pbdl_method();
Method smooth_method();
Method deep_method();
Method euclidean_method();
Method mahalanobis_method();
Method itml_method();
Method gmml_method();
Method mlr_auc_method();
Method wu2009_method();
Method lmnn_method();
Method gb_lmnn_method();
Method nca_method();
Method kernel_nca_method();

// Throws Error if the method is predicted to need more memory than the settings allow, or they ask for a checkpoint or
// an early stop that it does not know.
void check_demands(const Method& method, const FitSize& size, const MethodChoices& choices);

// What was learned on scaled rows, as a model of unscaled ones.
MethodFit as_fit(Learned learned, const std::string& method, const MethodSupervision& supervision,
                 const Scaling& scaling, Index rows, std::uint64_t seed);

}  // namespace bregmax::internal
