#include <algorithm>

#include "bregmax/data/table.hpp"
#include "core/text.hpp"
#include "data/text.hpp"

namespace bregmax {
namespace {

constexpr std::size_t kMostListed = 8;

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// "a, b, c, ..."
std::string short_list(const std::vector<std::string>& texts) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostListed); ++i) shown.push_back(internal::excerpt(texts[i]));
  return internal::joined(shown, ", ") + (texts.size() > kMostListed ? ", ..." : "");
}

std::string classes_text(const Labels& labels) {
  std::vector<Index> sizes(labels.class_names.size(), 0);
  for (const int c : labels.of_row) ++sizes[c];
  std::vector<std::string> classes;
  classes.reserve(sizes.size());
  for (std::size_t c = 0; c < sizes.size(); ++c)
    classes.push_back(fmt::format("{} {}", labels.class_names[c], sizes[c]));
  return fmt::format("{}: {}", counted(classes.size(), "class", "classes"), short_list(classes));
}

}  // namespace

std::string describe(const Table& table) {
  std::string text =
      fmt::format("{}: {}, {} ({})", table.source, counted(table.features.rows(), "row", "rows"),
                  counted(table.feature_names.size(), "feature", "features"), short_list(table.feature_names));
  if (table.target) {
    text += fmt::format("; target{}{} ({} to {})", table.recipe.target.empty() ? "" : " ",
                        internal::excerpt(table.recipe.target), table.target->minCoeff(), table.target->maxCoeff());
  }
  if (table.labels) {
    text += fmt::format("; label {} ({})", internal::excerpt(table.labels->column), classes_text(*table.labels));
  } else if (!table.target) {
    text += "; no label column";
  }
  if (!table.left_out.empty()) text += "; left out: " + short_list(table.left_out);
  return text;
}

}  // namespace bregmax
