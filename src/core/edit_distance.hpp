#pragma once

#include <cstddef>
#include <string_view>

namespace bregmax::internal {

// How many letters must be changed, added or left out to make one text of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace bregmax::internal
