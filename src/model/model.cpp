#include "bregmax/model/model.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "bregmax/divergence/feature_norms.hpp"
#include "model/parts.hpp"

namespace bregmax {

using internal::Container;
using internal::fail;
using internal::require;
using Json = nlohmann::json;

namespace {

void check_scaling(const Scaling& scaling) {
  const auto& [center, scale] = scaling;
  require(center.size() > 0 && center.size() == scale.size(),
          "the scaling has {} centers and {} scales; allowed: one of each per feature, at least one", center.size(),
          scale.size());
  for (Index i = 0; i < center.size(); ++i) {
    require(std::isfinite(center(i)), "the center of feature {} is {}; allowed: finite", i, center(i));
    require(scale(i) > 0 && std::isfinite(scale(i)), "the scale of feature {} is {}; allowed: > 0 and finite", i,
            scale(i));
  }
}

constexpr std::pair<const char*, std::string TrainingRecord::*> kTexts[] = {
    {"method", &TrainingRecord::method}, {"supervision", &TrainingRecord::supervision},
    {"solver", &TrainingRecord::solver}, {"status", &TrainingRecord::status},
    {"drawn", &TrainingRecord::drawn},
};

constexpr std::pair<const char*, double TrainingRecord::*> kNumbers[] = {
    {"lambda", &TrainingRecord::lambda},
    {"lipschitz_bound", &TrainingRecord::lipschitz_bound},
    {"lipschitz", &TrainingRecord::lipschitz},
    {"loss", &TrainingRecord::loss},
    {"objective", &TrainingRecord::objective},
    {"dual_objective", &TrainingRecord::lower_bound},
    {"relative_gap", &TrainingRecord::relative_gap},
    {"stationarity", &TrainingRecord::stationarity},
    {"seconds", &TrainingRecord::seconds},
};

constexpr const char* kParameterPrefix = "record.parameters.";

// Calls visit(name in the file, count) for each.
void for_each_count(auto& record, const auto& visit) {
  visit("rows", record.rows);
  visit("items", record.items);
  visit("iterations", record.iterations);
  visit("seed", record.seed);
  visit("drawn_seed", record.drawn_seed);
  visit("neighbours", record.neighbours);
}

void store_record(const TrainingRecord& record, Container& container) {
  Json& description = container.metadata["record"];
  for (const auto& [name, member] : kTexts) description[name] = record.*member;
  for (const auto& [name, member] : kNumbers) container.put(std::string("record.") + name, record.*member);
  for (const auto& [name, value] : record.parameters) container.put(kParameterPrefix + name, value);
  for_each_count(record, [&](const char* name, auto count) { description[name] = count; });
  if (record.constant) description["constant"] = true;
}

// Fields that a file does not have keep their default, and unknown ones are ignored: fields can be added within a
// format version.
TrainingRecord restore_record(const Container& container) {
  TrainingRecord record;
  if (!container.metadata.contains("record")) return record;
  const Json& description = container.metadata["record"];  // not a copy: copying recurses as deep as a file nests
  for (const auto& [name, member] : kTexts) record.*member = description.value(name, std::string());
  for (const auto& [name, member] : kNumbers) {
    const std::string array = std::string("record.") + name;
    if (container.has(array)) record.*member = container.number(array);
  }
  for (const auto& [name, array] : container.arrays) {
    if (!name.starts_with(kParameterPrefix)) continue;
    record.parameters[name.substr(std::string_view(kParameterPrefix).size())] = container.number(name);
  }
  for_each_count(record, [&](const char* name, auto& count) {
    if (description.contains(name)) internal::read_count(description, "record", name, count);
  });
  record.constant = description.value("constant", false);
  return record;
}

Model restore_model(const Container& container) {
  Model model;
  try {
    model.divergence = internal::restore_divergence(container.metadata.at("divergence"), "divergence", container);
    model.scaling.center = container.vector("scaling.center");
    model.scaling.scale = container.vector("scaling.scale");
    model.feature_names = container.metadata.value("feature_names", std::vector<std::string>());
    model.class_names = container.metadata.value("class_names", std::vector<std::string>());
    model.record = restore_record(container);
    model.tuning = internal::restore_tuning(container);
    model.recipe = internal::restore_recipe(container);
  } catch (const Json::exception& error) {
    fail("invalid metadata: {}", error.what());
  }
  check_model(model);
  return model;
}

}  // namespace

const Setting* find_setting(const Settings& settings, std::string_view name) {
  const auto found = std::ranges::find(settings, name, &Setting::name);
  return found == settings.end() ? nullptr : &*found;
}

Matrix Model::divergences(const MatrixView& points, const MatrixView& references) const {
  return with_scaled(points, [&](const MatrixView& x) {
    return with_scaled(references, [&](const MatrixView& y) { return divergence->matrix(x, y); });
  });
}

Vector Model::rowwise(const MatrixView& points, const MatrixView& references) const {
  return with_scaled(points, [&](const MatrixView& x) {
    return with_scaled(references, [&](const MatrixView& y) { return divergence->rowwise(x, y); });
  });
}

double Model::value(const VectorView& point, const VectorView& reference) const {
  return divergence->value(scaled(point.transpose()).row(0).transpose(),
                           scaled(reference.transpose()).row(0).transpose());
}

Vector Model::generator_values(const MatrixView& points) const {
  return with_scaled(points, [&](const MatrixView& rows) { return divergence->generator_values(rows); });
}

Matrix Model::gradients(const MatrixView& references) const {
  Matrix out = with_scaled(references, [&](const MatrixView& rows) { return divergence->gradients(rows); });
  out.array().rowwise() /= scaling.scale.transpose().array();
  return out;
}

Matrix Model::embedded(const MatrixView& rows) const {
  return with_scaled(rows, [&](const MatrixView& scaled_rows) { return embedded_rows(*divergence, scaled_rows); });
}

Matrix Model::scaled(const MatrixView& rows) const { return scaling.apply(rows); }

Matrix Model::unscaled(const MatrixView& scaled_rows) const {
  require(scaled_rows.cols() == features(), "the scaled rows have {} columns; allowed: {}, one per feature",
          scaled_rows.cols(), features());
  Matrix rows = scaled_rows.array().rowwise() * scaling.scale.transpose().array();
  rows.rowwise() += scaling.center.transpose();
  return rows;
}

std::string feature_name(const Model& model, Index feature) {
  return model.feature_names.empty() ? "x" + std::to_string(feature) : model.feature_names[feature];
}

std::optional<std::vector<FeatureNorm>> features_read(const Model& model) {
  constexpr double kRounding = 1e-12;  // relative to the largest norm
  const std::optional<Vector> norms = feature_norms(*model.divergence);
  if (!norms) return std::nullopt;
  const double rounding = kRounding * norms->maxCoeff();
  std::vector<FeatureNorm> read;
  for (Index f = 0; f < norms->size(); ++f) {
    if ((*norms)(f) > rounding) read.push_back({feature_name(model, f), (*norms)(f)});
  }
  std::ranges::stable_sort(read, std::ranges::greater(), &FeatureNorm::norm);
  return read;
}

void check_model(const Model& model) {
  require(model.divergence != nullptr, "the model has no divergence");
  check_scaling(model.scaling);
  const Index features = model.features(), dimension = model.divergence->dimension();
  require(dimension == 0 || dimension == features,
          "the divergence takes {} features and the scaling {}; they must agree", dimension, features);
  require(model.feature_names.empty() || std::ssize(model.feature_names) == features,
          "there are {} feature names for {} features; allowed: none or one per feature", model.feature_names.size(),
          features);
  internal::check_tuning(model.tuning);
  internal::check_recipe(model.recipe, features);
}

std::string serialize_model(const Model& model) {
  check_model(model);
  const TrainingRecord& record = model.record;
  require(record.rows >= 0 && record.items >= 0 && record.iterations >= 0 && record.neighbours >= 0,
          "the training record counts less than 0 rows, items, iterations or neighbours");
  Container container;
  container.metadata["divergence"] = internal::store_divergence(*model.divergence, "divergence", container);
  container.put("scaling.center", model.scaling.center);
  container.put("scaling.scale", model.scaling.scale);
  container.metadata["feature_names"] = model.feature_names;
  container.metadata["class_names"] = model.class_names;
  store_record(model.record, container);
  internal::store_tuning(model.tuning, container);
  internal::store_recipe(model.recipe, container);
  return internal::write_container(container, kModelFormatVersion);
}

Model deserialize_model(std::string_view bytes, const std::string& source) {
  try {
    return restore_model(internal::read_container(bytes, kModelFormatVersion));
  } catch (const Error& error) {
    fail("model file {}: {}", source, error.what());
  }
}

void save_model(const Model& model, const std::string& path) { write_file_atomically(path, serialize_model(model)); }

Model load_model(const std::string& path) {
  std::error_code ignored;
  require(!std::filesystem::is_directory(path, ignored), "model file {}: is a directory", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("model file {}: cannot open: {}", path, std::generic_category().message(errno));
  std::string bytes(internal::kContainerStart, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(file.gcount());
  // A foreign file may be of any size, or have no end.
  if (internal::may_start_container(bytes)) {
    bytes.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  require(!file.bad(), "model file {}: cannot read", path);
  return deserialize_model(bytes, path);
}

}  // namespace bregmax
