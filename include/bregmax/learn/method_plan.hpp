#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/learn/method_tuning.hpp"

namespace bregmax {

// What the user of an interface asks of a classical method. What is not given is for plan_method() to say, so that the
// command line and Python learn the same from the same.
struct MethodWishes {
  struct Parameter {
    std::vector<double> values = {};  // one is taken, several are tried
    bool automatic = false;           // try the parameter's grid; `values` is then empty
  };
  std::map<std::string, Parameter> parameters = {};
  std::vector<Scale> scales = {};  // to choose from; empty: not given
  MethodSettings settings = {};    // limits and seed; its parameters do not count

  // Of fits from labels.
  bool all_pairs = false;
  std::optional<Measure> tune_for = {};
  std::optional<int> folds = {}, repeats = {};

  // What the interface calls them, for messages.
  struct Names {
    std::string scale = "scale", several_values = "a list of these";
  };
  Names names = {};
};

// What is to be tried and tuned for a table of `rows` rows. Without labels there is nothing to choose by.
// Throws Error on a parameter that the method has not, a value that is not allowed, a parameter without a grid that is
// to be chosen from one, and on a choice without labels.
MethodFitOptions plan_method(const MethodWishes& wishes, const Method& method, Index rows, bool from_labels);

}  // namespace bregmax
