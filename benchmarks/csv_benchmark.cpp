// Reading a CSV file of 1,000,000 rows and 10 columns with one thread: numbers as short as measurements are, and
// numbers with all of their 17 digits.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/data/table.hpp"
#include "failure.hpp"

namespace bregmax {
namespace {

constexpr Index kRows = 1'000'000, kColumns = 10;

// A file of normal numbers, removed at the end.
class CsvFile {
 public:
  CsvFile(int digits, bool labels) {
    std::string name = (std::filesystem::temp_directory_path() / "bregmax_benchmark_XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    path_ = (directory_ / "data.csv").string();
    Random random(1);
    fmt::memory_buffer text;
    for (Index row = 0; row < kRows; ++row) {
      for (Index column = 0; column < kColumns; ++column) {
        if (column > 0) text.push_back(',');
        fmt::format_to(std::back_inserter(text), "{:.{}g}", random.normal(), digits);
      }
      if (labels) fmt::format_to(std::back_inserter(text), ",class{}", random.uniform_index(3));
      text.push_back('\n');
    }
    bytes_ = static_cast<Index>(text.size());
    write_file_atomically(path_, {text.data(), text.size()});
  }
  ~CsvFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  const std::string& path() const { return path_; }
  Index bytes() const { return bytes_; }

 private:
  std::filesystem::path directory_;
  std::string path_;
  Index bytes_ = 0;
};

void read_million_rows(benchmark::State& state) {
  const CsvFile file(static_cast<int>(state.range(0)), state.range(1) != 0);
  for (auto _ : state) {
    const Table table = read_table(file.path());
    if (table.features.rows() != kRows || table.features.cols() != kColumns) fail_benchmark(state, "wrong size");
    benchmark::DoNotOptimize(table.features.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * file.bytes());
}
BENCHMARK(read_million_rows)
    ->ArgNames({"digits", "labels"})
    ->Args({5, 0})
    ->Args({17, 0})
    ->Args({17, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bregmax
