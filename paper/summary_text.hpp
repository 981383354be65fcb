#pragma once

#include "paper/summary.hpp"

namespace bregmax {

std::string summary_as_text(const TableSummary& summary);
std::string summary_as_markdown(const TableSummary& summary);
std::string summary_as_csv(const TableSummary& summary);
std::string summary_as_json(const TableSummary& summary);
// Mean processor seconds of a run. In a file of its own, because the table does not depend on the machine and this
// does.
std::string times_as_markdown(const TableSummary& summary);

}  // namespace bregmax
