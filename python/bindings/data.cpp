#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "bregmax/data/builtin.hpp"
#include "module.hpp"

namespace bregmax::python {
namespace {

nb::dict read_as_dict(const std::string& source, const std::string& label) {
  Table table;
  {
    const nb::gil_scoped_release unlocked;
    table = read_table(source, {label, ""});
  }
  nb::dict result;
  result["data"] = to_numpy(std::move(table.features));
  result["feature_names"] = table.feature_names;
  if (table.labels) {
    result["classes"] = to_numpy(table.labels->of_row);
    result["class_names"] = table.labels->class_names;
  }
  return result;
}

nb::list builtin_list() {
  nb::list list;
  for (const BuiltinDataset& dataset : builtin_datasets()) {
    nb::dict entry;
    entry["name"] = dataset.name;
    entry["rows"] = dataset.rows;
    entry["features"] = dataset.features;
    entry["classes"] = dataset.classes;
    entry["description"] = dataset.description;
    entry["source"] = dataset.source;
    entry["licence"] = dataset.licence;
    list.append(entry);
  }
  return list;
}

}  // namespace

void bind_data(nb::module_& module) {
  module.def("read_table", &read_as_dict, nb::arg("source"), nb::arg("label"));
  module.def("builtin_datasets", &builtin_list);
}

}  // namespace bregmax::python
