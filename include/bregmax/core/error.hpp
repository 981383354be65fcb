#pragma once

#include <stdexcept>
#include <string>

namespace bregmax {

// A caller's mistake: the message names the field or file, what was found and what is allowed.
// A solver's outcome is never an Error (see Status), and an internal bug is an assertion.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace bregmax
