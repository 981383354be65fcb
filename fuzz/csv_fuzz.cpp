// Any bytes are either read as a table or refused with an Error; nothing else may happen.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "bregmax/core/error.hpp"
#include "bregmax/data/table.hpp"
#include "data/csv.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_content(std::string_view text) {
  const bregmax::internal::CsvContent content = bregmax::internal::parse_csv(text, "fuzz");
  const std::size_t rows = content.line_of_row.size();
  require(rows > 0 && !content.columns.empty());
  for (std::size_t c = 0; c < content.columns.size(); ++c) {
    const bregmax::internal::CsvColumn& column = content.columns[c];
    require((column.numeric ? column.numbers.size() : column.texts.size()) == rows);
    for (const double number : column.numbers) require(std::isfinite(number));
    // A numeric column has one text per row, too, and a text column has a field that is not a number.
    if (column.numeric && c < 4) {
      require(bregmax::internal::csv_column_texts(text, content, static_cast<bregmax::Index>(c)).size() == rows);
    }
    if (!column.numeric) require(column.first_text < static_cast<bregmax::Index>(rows));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check_content(text);
  } catch (const bregmax::Error&) {
  }
  using bregmax::TableOptions;
  const TableOptions filling = {
      .decimal = ',', .missing = bregmax::MissingValues::kMean, .categories = bregmax::TextCategories::kOneHot};
  const TableOptions dropping = {
      .id = "0", .target = "1", .header = bregmax::HeaderLine::kYes, .missing = bregmax::MissingValues::kDrop};
  const TableOptions applied = {.recipe = bregmax::plain_recipe({"a", "b"}, true)};
  for (const TableOptions& options :
       {TableOptions{}, TableOptions{.label = "none"}, TableOptions{.label = "0"}, filling, dropping, applied}) {
    try {
      const bregmax::Table table = bregmax::table_from_csv(text, "fuzz", options);
      require(!bregmax::describe(table).empty());
      // What was learned can be applied to the same rows, with the same result.
      TableOptions again = options;
      again.recipe = table.recipe;
      if (options.recipe.empty()) require(bregmax::table_from_csv(text, "fuzz", again).features == table.features);
      require(table.features.allFinite() && table.features.size() > 0);
      if (table.labels) require(static_cast<bregmax::Index>(table.labels->of_row.size()) == table.features.rows());
    } catch (const bregmax::Error&) {
    }
  }
  return 0;
}
