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
  Plan plan;
  plan.method = &method_named("pbdl");
  plan.settings.parameters = {{"pieces", 0}};
  plan.tried = {{"lambda", {0.01, 0.1, 1, 10, 100, 1000}}, {"smoothing", {0, 0.3, 1}}};
  plan.scales = {Scale::kStandard, Scale::kNone};
  plan.supervision = {{LabelSupervision::kAllPairs, 2000, 3, 0}};
  plan.fold_tolerance = 1e-4;
  plan.evaluation.restarts = 3;
  return plan;
}

}  // namespace bregmax::testing
