#include "cli/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace bregmax::testing {
namespace {

const std::string kProgram = BREGMAX_PROGRAM;

void redirect(int stream, const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ::dup2(file, stream) < 0) ::_exit(127);
}

}  // namespace

RunningProgram::RunningProgram(const TemporaryDirectory& directory, const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const std::string work = directory / "";
  const std::string out = streams_ / "out";
  const std::string err = streams_ / "err";
  process_ = ::fork();
  if (process_ != 0) return;
  if (::chdir(work.c_str()) != 0) ::_exit(127);
  redirect(STDOUT_FILENO, out);
  redirect(STDERR_FILENO, err);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

void RunningProgram::wait_until_interruptible() const {
  using namespace std::chrono_literals;
  const std::string status_file = "/proc/" + std::to_string(process_) + "/status";
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::string status = read_file(status_file);
    const std::size_t at = status.find("SigCgt:");
    if (at == std::string::npos) return;
    const unsigned long long caught = std::stoull(status.substr(at + 7), nullptr, 16);
    if ((caught >> (SIGINT - 1) & 1U) != 0) return;
    std::this_thread::sleep_for(10ms);
  }
}

bool RunningProgram::is_running() const {
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT);
  return ended.si_pid == 0;
}

void RunningProgram::signal(int number) const { ::kill(process_, number); }

Outcome RunningProgram::wait() const {
  int status = 0;
  ::waitpid(process_, &status, 0);
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = read_file(streams_ / "out");
  outcome.err = read_file(streams_ / "err");
  return outcome;
}

Outcome run(const TemporaryDirectory& directory, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {kProgram};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunningProgram(directory, command).wait();
}

Outcome run_script(const TemporaryDirectory& directory, const std::string& script) {
  const std::string folder = std::filesystem::path(kProgram).parent_path().string();
  const std::string path = "export PATH='" + folder + "':\"$PATH\"\n";
  return RunningProgram(directory, {"/bin/sh", "-e", "-c", path + script}).wait();
}

nlohmann::json json_of(const Outcome& outcome) {
  nlohmann::json object = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(object.is_object()) << "standard output: " << outcome.out << "\nstandard error: " << outcome.err;
  return object;
}

std::string mistake_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("bregmax: error: ", 0), 0U) << outcome.err;
  return outcome.err;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::pair<double, double> svg_size(const std::string& svg) {
  const auto attribute = [&svg](const std::string& name) {
    return std::stod(svg.substr(svg.find(name) + name.size()));
  };
  return {attribute(" width=\""), attribute(" height=\"")};
}

std::pair<double, double> png_size(const std::string& png) {
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  if (png.size() < 24) return {};
  const auto number_at = [&png](std::size_t byte) {
    unsigned value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = 256 * value + static_cast<unsigned char>(png[byte + i]);
    return value;
  };
  return {number_at(16), number_at(20)};
}

std::pair<double, double> enlarged(std::pair<double, double> size, double dots_per_pixel) {
  return {std::round(size.first * dots_per_pixel), std::round(size.second * dots_per_pixel)};
}

}  // namespace bregmax::testing
