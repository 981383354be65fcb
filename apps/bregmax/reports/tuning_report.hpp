#pragma once

#include <string>

#include "bregmax/model/tuning_record.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// "lambda 10, smoothing 0.3, scale standard".
std::string settings_text(const Settings& settings);

// The lines on what was chosen, by which score, and how the fits came about.
std::string tuning_summary(const TuningRecord& record);

// The whole table: a line a candidate, "mean (standard error)" a measure, the chosen one marked.
std::string tuning_table(const TuningRecord& record);

}  // namespace bregmax::app
