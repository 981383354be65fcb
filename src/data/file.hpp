#pragma once

#include <string>

namespace bregmax::internal {

// Throws Error that names the file and says why it cannot be read.
std::string read_whole_file(const std::string& path);

}  // namespace bregmax::internal
