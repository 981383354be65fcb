#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/commands.hpp"

namespace bregmax::app {

struct ReproduceRequest {
  std::string what;
  std::string out = "reproduction";
  std::string datasets = "all", methods = "all";
  std::string data_dir;
  std::string start = "auto";
  std::string choice = "per-measure";
  std::uint64_t runs = 0;  // 0: as many as the paper made
  std::uint64_t first = 0;
  std::uint64_t seed = 0, threads = 0;
  bool report_only = false, json = false;
};

ExitCode reproduce_table(const ReproduceRequest& request);
ExitCode reproduce_figure1(const ReproduceRequest& request);
ExitCode reproduce_figure2(const ReproduceRequest& request);

// "a,b" as a and b. Throws Error that names the option when a name is empty or there twice.
std::vector<std::string> names_in(const std::string& option, const std::string& text);
// Throws Error when the folder of --out is neither there nor can be made.
void make_output_folder(const ReproduceRequest& request);

}  // namespace bregmax::app
