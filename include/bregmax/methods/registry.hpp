#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/data/scaling.hpp"
#include "bregmax/methods/learned.hpp"
#include "bregmax/model/model.hpp"

namespace bregmax {

// A number that a method leaves to its user. Whole numbers are numbers without a fraction; one of several names is its
// position among `choices`.
struct MethodParameter {
  std::string name;
  std::string help;
  double standard = 0;  // when nothing is said
  double low = 0, high = std::numeric_limits<double>::infinity();
  bool low_included = true;  // is `low` itself allowed?
  bool whole = false;
  std::vector<std::string> choices = {};
  std::vector<double> grid = {};  // what tuning tries, the first among equals first; empty: it cannot be tuned
  bool tuned = false;             // unless a value is given (bregmax/learn/method_tuning.hpp)

  std::string allowed() const;           // for messages: "a number > 0", "rbf or polynomial"
  std::string text(double value) const;  // as it would be given: one of the choices by name
  // Throws Error that names the parameter when the text is not one of the allowed values.
  double parse(const std::string& text) const;
  void check(double value) const;
};

// What is asked of a run. Parameters that are not named have their standard value.
struct MethodSettings {
  std::map<std::string, double> parameters = {};
  std::optional<double> tolerance = {};    // none: the method's own
  std::optional<int> max_iterations = {};  // none: the method's own
  double time_limit = 0;                   // seconds; 0: none
  std::uint64_t seed = 0;
};

// The same with every parameter of the method filled in and checked.
struct MethodChoices {
  std::map<std::string, double> parameters;
  MethodLimits limits;
  std::uint64_t seed = 0;

  double number(const std::string& name) const { return parameters.at(name); }
  int whole(const std::string& name) const { return static_cast<int>(parameters.at(name)); }
};

struct Method {
  std::string name;     // "itml"
  std::string summary;  // one line
  // Which supervision it can learn from.
  bool from_labels = false, from_pairs = false, from_targets = false;
  std::vector<MethodParameter> parameters;
  MethodLimits limits;  // the standard ones; the time limit is a matter of the run
  std::function<Learned(const MatrixView& rows, const MethodSupervision&, const MethodChoices&,
                        const RunControl&)>
      learn;  // called with checked rows, supervision and choices only

  // Throws Error that lists the names when it has no parameter of this name.
  const MethodParameter& parameter(std::string_view parameter_name) const;
};

const std::vector<Method>& all_methods();
// Throws Error that lists the names when there is none of this name.
const Method& method_named(std::string_view name);

// rows: n x d, as the divergence shall see them. Throws Error on a caller's mistake; a limit that was hit is a status
// in the report.
Learned learn_with(const Method& method, const MatrixView& rows, const MethodSupervision& supervision,
                   const MethodSettings& settings = {}, const RunControl& control = {});

struct MethodFit {
  Model model;
  MethodReport report;
};

// The same for unscaled rows, with all that a model file keeps.
MethodFit fit_with(const Method& method, const MatrixView& rows, const MethodSupervision& supervision,
                   const Scaling& scaling, const MethodSettings& settings = {}, const RunControl& control = {});

}  // namespace bregmax
