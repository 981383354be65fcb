#pragma once

#include "bregmax/divergence/divergence.hpp"
#include "optimize/gradient/parameters.hpp"

// A model that was learned by gradients as the start of further steps.

namespace bregmax::internal {

// Its parameters. Throws Error unless the divergence has this layout. The divergence of the parameters is that of the
// model divided by unit_of(model).
Vector parameters_of(const ParameterLayout& layout, const Divergence& model);
double unit_of(const Divergence& model);
// Is it of the kind that smooth and deep learn?
bool is_learned_by_gradients(const Divergence& model);

}  // namespace bregmax::internal
