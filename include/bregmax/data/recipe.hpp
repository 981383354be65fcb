#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace bregmax {

// What becomes of a row with a missing value: an empty field, NA, N/A, NaN, null, None (in any case) or ?.
enum class MissingValues {
  kRefuse,
  kMean,  // the mean of the feature in the data that the recipe was made from
  kDrop,  // the row is left out
};
inline constexpr MissingValues kAllMissingValues[] = {MissingValues::kRefuse, MissingValues::kMean,
                                                      MissingValues::kDrop};
std::string to_string(MissingValues missing);

// How a feature is made of a column of a file.
struct FeatureSource {
  std::string column;  // its name
  std::optional<std::string> category =
      {};  // the feature is 1 where the column has this text, else 0; none: the number
  double fill = std::numeric_limits<double>::quiet_NaN();  // for a missing value under kMean; NaN: not known
};

// How the features of a model are made of the columns of a file: learned with the model and applied to new rows.
struct Recipe {
  std::vector<FeatureSource> features;  // empty: there is no recipe
  bool named = false;                   // by the file that it was made from; else columns are known by their order
  MissingValues missing = MissingValues::kRefuse;
  std::string label, id, target;    // columns with these roles; empty: none
  std::vector<std::string> others;  // further columns that are not features

  bool empty() const { return features.empty(); }
  std::vector<std::string> columns() const;  // that features are made of, each once
};

// Features that are the columns of these names; `named` as in Recipe. Means are not known.
Recipe plain_recipe(const std::vector<std::string>& feature_names, bool named);

}  // namespace bregmax
