#pragma once

#include <limits>
#include <string>
#include <vector>

#include "bregmax/learn/plan.hpp"
#include "options/input.hpp"
#include "options/supervision_files.hpp"
#include "reports/output.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 has
class App;
}

namespace bregmax::app {

class OptionAdder;

// What `bregmax fit` was asked to do: the library's request, which the options fill in, and what concerns files.
struct FitCommand {
  std::string data;
  TableOptions layout;
  FitRequest request;                          // complete_request() adds what no single option decides
  std::vector<std::string> method_parameters;  // NAME=VALUE
  double lipschitz_bound = std::numeric_limits<double>::infinity();
  double memory_limit = 0;            // GB
  const CLI::App* command = nullptr;  // which options were given
  SupervisionFiles files;             // without them, supervision comes from the labels
  std::string start;                  // a model to go on from
  std::string out, picture;
  int threads = 0;  // 0: all
  bool keep_partial = false, json = false;
};

void add_fit_options(OptionAdder& options, FitCommand& fit);

// The files that are read.
std::vector<NamedFile> input_files(const FitCommand& fit);

// The whole request, with the names of the options for messages. Throws Error on options that do not go together.
FitRequest complete_request(const FitCommand& fit);

// Refuses the options of cross-validation when there is nothing to choose: they would have no effect.
void refuse_idle_tuning_options(const FitCommand& fit, const Plan& plan);

}  // namespace bregmax::app
