#pragma once

#include "bregmax/data/recipe.hpp"
#include "data/columns.hpp"

namespace bregmax::internal {

// How features are made of these columns; means are those of the rows that are kept. Throws Error on a column of texts
// that is not to be split into categories, or has too many of them.
Recipe make_recipe(const Columns& columns, const Roles& roles, const std::vector<Index>& kept,
                   const TableOptions& options);

// Throws Error on a text for a number, a category that the recipe does not have, and a missing value without a mean.
Matrix apply_recipe(const Columns& columns, const std::vector<Index>& features, const std::vector<Index>& kept,
                    const Recipe& recipe);

std::vector<std::string> feature_names_of(const Recipe& recipe);

}  // namespace bregmax::internal
