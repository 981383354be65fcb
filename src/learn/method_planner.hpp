#pragma once

#include "bregmax/learn/plan.hpp"

namespace bregmax::internal {

// What is known of a fit before its methods are planned, one by one.
struct PlanningContext {
  const FitRequest& request;
  const TrainingData& data;
  double memory = 0;  // bytes of the machine
  Measure tune_for = Measure::kAveragePrecision;
  bool can_choose = true;  // there is enough supervision for a cross-validation
  double fits_per_candidate = 0, rows_per_fit = 0, items_per_fit = 0;  // of the cross-validation
  double held_out_rows = 0;                                            // of a fold with labels
  bool competes = false;  // with other methods: wishes that it does not know are for them
};

// Decides everything that the request leaves open about one method. Throws Error if the wishes contradict each other,
// the method or the data.
PlannedMethod plan_method(const Method& method, const PlanningContext& context);

// Given items, as many as a method sees of them: pairs without a direction count once for each.
double items_to_learn(const FitRequest& request, const TrainingData& data);

// The request has something that only pbdl knows.
bool asks_for_pbdl(const FitRequest& request);

// Of one model: most of it is for ranking the held-out rows for each other.
double seconds_to_score(double held_out_rows);

// The data with targets of this many pairs, drawn from the number per row. Others stay as they are. `name`: what has
// the numbers, for messages.
TrainingData with_items(const TrainingData& data, Index pairs, std::uint64_t seed, const std::string& name);

}  // namespace bregmax::internal
