#pragma once

#include "bregmax/core/random.hpp"
#include "paper/table_runs.hpp"

namespace bregmax::testing {

// Two classes that overlap a little, so small that a run takes milliseconds.
inline NamedTable tiny_dataset(const std::string& name = "iris", Index rows = 24) {
  Random random(7);
  NamedTable tiny{name, {}};
  tiny.table.source = "tiny";
  tiny.table.features.resize(rows, 2);
  tiny.table.feature_names = {"x", "y"};
  tiny.table.labels = Labels{"class", {}, {"a", "b"}};
  for (Index i = 0; i < rows; ++i) {
    tiny.table.labels->of_row.push_back(static_cast<int>(i % 2));
    tiny.table.features.row(i) << 2.0 * static_cast<double>(i % 2) + random.normal(), random.normal();
  }
  return tiny;
}

inline TablePlan tiny_plan(const std::vector<std::string>& rows, int runs) {
  TablePlan plan;
  plan.datasets = {tiny_dataset()};
  for (const std::string& name : rows) plan.rows.push_back(protocol_row(name));
  plan.runs = runs;
  return plan;
}

}  // namespace bregmax::testing
