#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "data/temporary_directory.hpp"

namespace bregmax::testing {

struct Outcome {
  int exit_code = -1;  // 128 + the signal, when one ended it
  std::string out, err;
};

// A program that runs in `directory`. Its output streams go to files in another directory, not among its own files.
class RunningProgram {
 public:
  RunningProgram(const TemporaryDirectory& directory, const std::vector<std::string>& command);

  // Returns once the program catches SIGINT, or after a time in which it surely would.
  void wait_until_interruptible() const;
  bool is_running() const;
  void signal(int number) const;
  Outcome wait() const;

 private:
  pid_t process_ = -1;
  TemporaryDirectory streams_;
};

// bregmax with these arguments, in this directory.
Outcome run(const TemporaryDirectory& directory, const std::vector<std::string>& arguments);

// The same for the text of a shell script, in which bregmax is the program under test.
Outcome run_script(const TemporaryDirectory& directory, const std::string& script);

// Exactly one JSON object on standard output, and nothing else there; any other outcome fails the test.
nlohmann::json json_of(const Outcome& outcome);

// Exit code 2, nothing on standard output and exactly one line on standard error, which is returned.
std::string mistake_of(const Outcome& outcome);

std::string read_file(const std::string& path);

// Width and height of pictures, of an SVG in pixels and of a PNG in dots.
std::pair<double, double> svg_size(const std::string& svg);
std::pair<double, double> png_size(const std::string& png);
std::pair<double, double> enlarged(std::pair<double, double> size, double dots_per_pixel);

}  // namespace bregmax::testing
