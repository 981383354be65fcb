#pragma once

// Reports as JSON: the program prints them, and Python turns them into dictionaries.

#include <nlohmann/json.hpp>

#include "bregmax/learn/compare.hpp"
#include "bregmax/learn/run.hpp"

namespace bregmax::internal {

using Json = nlohmann::ordered_json;  // members stay in the order in which they were added

// Everything except what only the caller knows: file names and the size of the data. Values are null if the run ended
// before it had them.
Json outcome_as_json(const Plan& plan, const FitOutcome& outcome);

// The features that the divergence depends on, each with its norm, the largest first; null: there are no norms.
Json features_as_json(const Model& model);
Json record_as_json(const TrainingRecord& record);
Json tuning_as_json(const TuningRecord& record);  // null: nothing was tuned
// The best candidate of each method, from the table; empty: there is no table, or it is of one method.
Json scores_as_json(const TuningRecord& record);
// Choices by their name. The numbers of a method that is not known stay numbers.
Json parameters_as_json(const std::string& method, const std::map<std::string, double>& parameters);

Json method_table_as_json(const ComparePlan& plan, const MethodTable& comparison);

Json methods_as_json();
Json datasets_as_json();

}  // namespace bregmax::internal
