#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/proof.hpp"
#include "bregmax/data/recipe.hpp"
#include "bregmax/data/scaling.hpp"
#include "bregmax/divergence/divergence.hpp"
#include "bregmax/model/tuning_record.hpp"

namespace bregmax {

// TrainingRecord::drawn of models that were learned from the squared differences of a number per row.
inline constexpr const char* kTargetDifferences = "target_differences";

// How a model was learned. Fields that do not apply are NaN or empty.
struct TrainingRecord : Proof {
  std::string method;       // "pbdl", "itml", ...; "none" for a divergence that was not learned
  std::string supervision;  // "comparisons", "pairs", "targets", "labels"
  std::string solver;       // "exact", ...
  std::string status;       // "optimal", "time_limit", ...
  Index rows = 0, items = 0;
  double lambda = 0;
  double lipschitz_bound = 0;  // infinity: none
  double stationarity = 0;     // of the classical methods, 0 at an optimum
  int iterations = 0;
  double seconds = 0;
  std::uint64_t seed = 0;
  // How the supervision came about: "comparisons", "hard_comparisons" or "all_pairs" were made from labels, with the
  // seed and (hard ones) the neighbours here; kTargetDifferences: from a number per row; "given"; empty: not known.
  std::string drawn;
  std::uint64_t drawn_seed = 0;
  Index neighbours = 0;
  bool constant = false;                     // the divergence does not tell the training rows apart
  std::map<std::string, double> parameters;  // of the classical methods, by name
};

// A divergence with the scaling of its features: it takes rows as the user has them and scales them itself.
//
// All functions throw Error when a row has another number of features than the model, or lies outside the domain.
struct Model {
  std::shared_ptr<const Divergence> divergence;  // acts on scaled features
  Scaling scaling;
  std::vector<std::string> feature_names;
  std::vector<std::string> class_names;  // of the training data; may be empty
  TrainingRecord record;
  TuningRecord tuning = {};  // empty: nothing was tuned
  Recipe recipe = {};        // how features are made of the columns of a file; may be empty

  Index features() const { return scaling.center.size(); }

  Matrix divergences(const MatrixView& points, const MatrixView& references) const;  // D(point, reference)
  Vector rowwise(const MatrixView& points, const MatrixView& references) const;  // D(points.row(i), references.row(i))
  double value(const VectorView& point, const VectorView& reference) const;
  Vector generator_values(const MatrixView& points) const;
  // Of phi as a function of the rows before scaling: D(x, y) = phi(x) - phi(y) - <gradient(y), x - y>.
  Matrix gradients(const MatrixView& references) const;
  Matrix embedded(const MatrixView& rows) const;  // see embedded_rows()

  // For the tasks (k-means, nearest neighbours, ...), which take a divergence and rows that fit it.
  Matrix scaled(const MatrixView& rows) const;
  Matrix unscaled(const MatrixView& scaled_rows) const;
  // Calls work(scaled rows) without a copy where there is no scaling.
  template <class Work>
  auto with_scaled(const MatrixView& rows, const Work& work) const {
    if (scaling.is_identity() && rows.cols() == features()) return work(rows);
    return work(MatrixView(scaled(rows)));
  }
};

// A feature and the norm of what reads it (feature_norms()).
struct FeatureNorm {
  std::string name;  // "x0", "x1", ... where the model has no names
  double norm;
};
// The features that the divergence depends on, from the largest norm to the smallest; equal norms in the order of the
// features. Norms within rounding of 0 are none. No value where feature_norms() has none.
std::optional<std::vector<FeatureNorm>> features_read(const Model& model);
std::string feature_name(const Model& model, Index feature);

// Throws Error when the parts do not fit each other: sizes, a scale that is not > 0, numbers that are not finite.
// Saving and loading call it.
void check_model(const Model& model);

// One file format (docs/formats.md). Reading refuses a foreign, truncated, corrupted or newer file with an Error that
// says which; writing is atomic.
inline constexpr int kModelFormatVersion = 1;
void save_model(const Model& model, const std::string& path);
Model load_model(const std::string& path);
std::string serialize_model(const Model& model);
Model deserialize_model(std::string_view bytes, const std::string& source);

}  // namespace bregmax
