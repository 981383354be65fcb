#pragma once

#include "commands/commands.hpp"
#include "options/fit_options.hpp"

namespace bregmax::app {

// --method and --method-parameter.
void add_method_options(CLI::App& command, FitRequest& request);

// `bregmax fit` with a classical method. Options of the exact solver that were given all the same are refused.
ExitCode run_fit_method(const FitRequest& request);

}  // namespace bregmax::app
