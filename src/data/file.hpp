#pragma once

#include <string>

namespace bregmax::internal {

// "-" is standard input. What is packed by gzip is unpacked if the name ends in .gz. Throws Error that names the file
// and says why it cannot be read; what is larger than a quarter of the machine's memory is refused before it is read
// on.
std::string read_whole_file(const std::string& path);

// The name of a file without .gz, by whose ending it is read.
std::string unpacked_name(const std::string& path);

}  // namespace bregmax::internal
