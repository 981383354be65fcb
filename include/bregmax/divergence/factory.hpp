#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// The closed forms that need no parameters, by name().
std::vector<std::string> closed_form_names();
// Throws Error listing the known names when `name` is not one of them.
std::shared_ptr<const Divergence> make_closed_form(std::string_view name);

// SmoothedMaxAffine for temperature > 0, MaxAffine for temperature 0.
std::shared_ptr<const Divergence> make_max_affine(Matrix slopes, Vector offsets, double temperature);

}  // namespace bregmax
