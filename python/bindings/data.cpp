#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bregmax/data/table.hpp"
#include "learn/as_json.hpp"
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

}  // namespace

void bind_data(nb::module_& module) {
  module.def("read_table", &read_as_dict, nb::arg("source"), nb::arg("label"));
  module.def("builtin_datasets", [] { return to_python(internal::datasets_as_json()); });
}

}  // namespace bregmax::python
