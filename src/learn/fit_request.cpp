#include "bregmax/learn/fit_request.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "core/checks.hpp"
#include "core/text.hpp"

namespace bregmax {

Wish Wish::choose(std::vector<double> grid) {
  Wish wish;
  wish.automatic = true;
  wish.grid = std::move(grid);
  return wish;
}

std::string Names::operator()(const std::string& field) const {
  const auto found = renamed.find(field);
  if (found != renamed.end()) return prefix + found->second;
  std::string name = prefix + field;
  if (!prefix.empty()) std::ranges::replace(name, '_', '-');
  return name;
}

std::string Names::with(const std::string& field, const std::string& value) const {
  return (*this)(field) + (prefix.empty() ? "=" : " ") + value;
}

PlanThresholds parse_thresholds(const std::string& text) {
  static const std::map<std::string, double PlanThresholds::*> kFields = {
      {"all_pairs_rows", &PlanThresholds::all_pairs_rows},
      {"own_pieces_rows", &PlanThresholds::own_pieces_rows},
      {"tuning_rows", &PlanThresholds::tuning_rows},
      {"tuning_comparisons", &PlanThresholds::tuning_comparisons},
      {"three_repeats_rows", &PlanThresholds::three_repeats_rows},
      {"two_repeats_rows", &PlanThresholds::two_repeats_rows},
      {"exact_seconds", &PlanThresholds::exact_seconds},
      {"fold_seconds", &PlanThresholds::fold_seconds},
      {"auto_pbdl_seconds", &PlanThresholds::auto_pbdl_seconds}};
  PlanThresholds thresholds;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const std::string name = part.substr(0, part.find('='));
    char* end = nullptr;
    const double value = name.size() < part.size() ? std::strtod(part.c_str() + name.size() + 1, &end) : 0;
    internal::require(kFields.contains(name) && end == part.c_str() + part.size(),
                      "{} has '{}'; allowed: NAME=NUMBER with one of {}", kThresholdsVariable, part,
                      internal::joined(kFields, ", ", [](const auto& field) { return field.first; }));
    thresholds.*kFields.at(name) = value;
  }
  return thresholds;
}

std::vector<std::string> automatic_methods() { return {"euclidean", "smooth", "pbdl", "deep"}; }

std::vector<Scale> scales_named(const std::string& name) {
  if (name == "standard") return {Scale::kStandard};
  if (name == "none") return {Scale::kNone};
  if (name == "auto") return {Scale::kStandard, Scale::kNone};
  internal::fail("scale is '{}'; allowed: standard, none or auto", name);
}

}  // namespace bregmax
