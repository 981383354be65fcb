#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bregmax::internal {

// Text that is not UTF-8 but may be Windows-1252 (Latin-1 and more) as UTF-8, with a note that says so; nothing if the
// text is UTF-8. Throws Error when it is neither.
std::optional<std::string> converted_to_utf8(std::string_view text, const std::string& source,
                                             std::vector<std::string>& notes);

}  // namespace bregmax::internal
