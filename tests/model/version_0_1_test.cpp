// Files of version 0.1 load, with the numbers that version 0.1 had (tests/model/version_0_1).

#include <gtest/gtest.h>

#include "bregmax/data/table.hpp"
#include "bregmax/model/model.hpp"
#include "data/csv.hpp"
#include "data/file.hpp"

namespace bregmax {
namespace {

using internal::CsvContent;

const std::string kFolder = BREGMAX_TEST_DATA_DIR "/../model/version_0_1/";

CsvContent records() { return internal::parse_csv(internal::read_whole_file(kFolder + "records.csv"), "records.csv"); }

std::vector<std::string> names() { return records().columns[0].texts; }

class Version01 : public testing::TestWithParam<std::string> {};

TEST_P(Version01, GivesTheSameDivergences) {
  const Model model = load_model(kFolder + GetParam() + ".bregmax");
  const Table rows = read_table(kFolder + "rows.csv");
  const Matrix expected = read_table(kFolder + GetParam() + ".csv", {"none", ""}).features;
  const Matrix found = model.divergences(rows.features, rows.features);
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  // Parameters are read bit for bit. Processors differ in the rounding of products (with or without fused
  // multiply-add, and by the kernels of BLAS), which divergences carry in proportion to the largest of them.
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), 1e-13 * expected.maxCoeff());
  EXPECT_EQ(model.feature_names, rows.feature_names);
}

TEST_P(Version01, KeepsTheRecord) {
  const Model model = load_model(kFolder + GetParam() + ".bregmax");
  const CsvContent table = records();
  for (std::size_t row = 0; row < table.line_of_row.size(); ++row) {
    if (table.columns[0].texts[row] != GetParam()) continue;
    EXPECT_EQ(model.divergence->name(), table.columns[1].texts[row]);
    EXPECT_EQ(model.record.method, table.columns[2].texts[row]);
    EXPECT_EQ(model.record.status, table.columns[3].texts[row]);
    EXPECT_EQ(static_cast<double>(model.record.items), table.columns[4].numbers[row]);
    EXPECT_EQ(model.record.objective, table.columns[5].numbers[row]);
    EXPECT_EQ(model.record.seconds, table.columns[6].numbers[row]);
  }
}

TEST_P(Version01, SurvivesSavingAnew) {
  const Model model = load_model(kFolder + GetParam() + ".bregmax");
  const Model again = deserialize_model(serialize_model(model), "saved anew");
  const Matrix rows = read_table(kFolder + "rows.csv").features;
  EXPECT_EQ(again.divergences(rows, rows), model.divergences(rows, rows));
  EXPECT_EQ(again.record.objective, model.record.objective);
  EXPECT_EQ(again.tuning.candidates, model.tuning.candidates);
}

INSTANTIATE_TEST_SUITE_P(Files, Version01, testing::ValuesIn(names()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace bregmax
