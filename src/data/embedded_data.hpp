#pragma once

#include <string_view>

// The files of data/, compiled in by cmake/EmbedData.cmake so that the program needs no data directory.
namespace bregmax::internal {

std::string_view embedded_iris();
std::string_view embedded_wine();
std::string_view embedded_ionosphere();

}  // namespace bregmax::internal
