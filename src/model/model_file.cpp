#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/model/model.hpp"
#include "model/container.hpp"
#include "model/divergence_parts.hpp"
#include "model/tuning_parts.hpp"

namespace bregmax {
namespace {

using internal::Container;
using Json = nlohmann::json;

constexpr std::array<std::pair<const char*, std::string TrainingRecord::*>, 5> kTexts = {{
    {"method", &TrainingRecord::method},
    {"supervision", &TrainingRecord::supervision},
    {"solver", &TrainingRecord::solver},
    {"status", &TrainingRecord::status},
    {"drawn", &TrainingRecord::drawn},
}};

constexpr std::array<std::pair<const char*, double TrainingRecord::*>, 9> kNumbers = {{
    {"lambda", &TrainingRecord::lambda},
    {"lipschitz_bound", &TrainingRecord::lipschitz_bound},
    {"lipschitz", &TrainingRecord::lipschitz},
    {"loss", &TrainingRecord::loss},
    {"objective", &TrainingRecord::objective},
    {"dual_objective", &TrainingRecord::lower_bound},
    {"relative_gap", &TrainingRecord::relative_gap},
    {"stationarity", &TrainingRecord::stationarity},
    {"seconds", &TrainingRecord::seconds},
}};

constexpr const char* kParameterPrefix = "record.parameters.";

void store_record(const TrainingRecord& record, Container& container) {
  Json& description = container.metadata["record"];
  for (const auto& [name, member] : kTexts) description[name] = record.*member;
  for (const auto& [name, member] : kNumbers) container.put(std::string("record.") + name, record.*member);
  for (const auto& [name, value] : record.parameters) container.put(kParameterPrefix + name, value);
  description["rows"] = record.rows;
  description["items"] = record.items;
  description["iterations"] = record.iterations;
  description["seed"] = record.seed;
  description["drawn_seed"] = record.drawn_seed;
  description["neighbours"] = record.neighbours;
  if (record.constant) description["constant"] = true;
}

template <class Integer>
void restore_count(const Json& description, const char* name, Integer& value) {
  if (description.contains(name)) value = internal::count_of<Integer>(description, "record", name);
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
  restore_count(description, "rows", record.rows);
  restore_count(description, "items", record.items);
  restore_count(description, "iterations", record.iterations);
  restore_count(description, "seed", record.seed);
  restore_count(description, "drawn_seed", record.drawn_seed);
  restore_count(description, "neighbours", record.neighbours);
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
  } catch (const Json::exception& error) {
    throw Error(fmt::format("invalid metadata: {}", error.what()));
  }
  check_model(model);
  return model;
}

}  // namespace

std::string serialize_model(const Model& model) {
  check_model(model);
  const TrainingRecord& record = model.record;
  if (record.rows < 0 || record.items < 0 || record.iterations < 0 || record.neighbours < 0) {
    throw Error("the training record counts less than 0 rows, items, iterations or neighbours");
  }
  Container container;
  container.metadata["divergence"] = internal::store_divergence(*model.divergence, "divergence", container);
  container.put("scaling.center", model.scaling.center);
  container.put("scaling.scale", model.scaling.scale);
  container.metadata["feature_names"] = model.feature_names;
  container.metadata["class_names"] = model.class_names;
  store_record(model.record, container);
  internal::store_tuning(model.tuning, container);
  return internal::write_container(container, kModelFormatVersion);
}

Model deserialize_model(std::string_view bytes, const std::string& source) {
  try {
    return restore_model(internal::read_container(bytes, kModelFormatVersion));
  } catch (const Error& error) {
    throw Error(fmt::format("model file {}: {}", source, error.what()));
  }
}

void save_model(const Model& model, const std::string& path) { write_file_atomically(path, serialize_model(model)); }

Model load_model(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw Error(fmt::format("model file {}: is a directory", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("model file {}: cannot open: {}", path, std::generic_category().message(errno)));
  std::string bytes(internal::kContainerStart, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  // A foreign file may be of any size, or have no end.
  if (internal::may_start_container(bytes)) {
    bytes.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (file.bad()) throw Error(fmt::format("model file {}: cannot read", path));
  return deserialize_model(bytes, path);
}

}  // namespace bregmax
