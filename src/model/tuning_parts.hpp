#pragma once

// The table of scores of a tuned model, in its file.

#include "bregmax/model/tuning_record.hpp"
#include "model/container.hpp"

namespace bregmax::internal {

// Throws Error when the parts of the record do not fit each other.
void check_tuning(const TuningRecord& record);

void store_tuning(const TuningRecord& record, Container& container);
TuningRecord restore_tuning(const Container& container);

}  // namespace bregmax::internal
