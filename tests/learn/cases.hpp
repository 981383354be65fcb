#pragma once

#include <vector>

#include "bregmax/core/random.hpp"
#include "bregmax/learn/plan.hpp"

namespace bregmax::testing {

struct LabelledRows {
  Matrix rows;
  std::vector<int> classes;
};

// Classes that overlap a little in two features, and a feature of noise.
inline LabelledRows noisy_classes(Index count, int classes = 2, std::uint64_t seed = 1, double apart = 2.5) {
  Random random(seed);
  LabelledRows data{Matrix(count, 3), std::vector<int>(static_cast<std::size_t>(count))};
  for (Index i = 0; i < count; ++i) {
    const int row_class = static_cast<int>(i % classes);
    data.classes[static_cast<std::size_t>(i)] = row_class;
    data.rows.row(i) << apart * row_class + random.normal(), random.normal() - apart * (row_class == 1 ? 1 : 0),
        10 * random.normal();
  }
  return data;
}

// Of pbdl, from all pairs.
inline Plan small_plan() {
  PlannedMethod pbdl;
  pbdl.method = &method_named("pbdl");
  pbdl.settings.parameters = {{"pieces", 0}};
  pbdl.tried = {{"lambda", {0.01, 0.1, 1, 10, 100, 1000}}, {"smoothing", {0, 0.3, 1}}};
  pbdl.scales = {Scale::kStandard, Scale::kNone};
  pbdl.supervision = {{LabelSupervision::kAllPairs, 2000, 3, 0}};
  pbdl.fold_tolerance = 1e-4;
  Plan plan;
  plan.methods = {pbdl};
  plan.evaluation.restarts = 3;
  return plan;
}

}  // namespace bregmax::testing
