#pragma once

#include <filesystem>
#include <string_view>

namespace bregmax {

// Writes the whole file or leaves what was there: a temporary file beside it is written, flushed to disk and renamed.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace bregmax
