#pragma once

#include <nanobind/nanobind.h>

#include <nlohmann/json.hpp>

namespace bregmax::python {

// JSON as dictionaries, lists, numbers and strings.
nanobind::object to_python(const nlohmann::ordered_json& value);

// One function per concept, each in the file of its name.
void bind_data(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_fit(nanobind::module_& module);
void bind_run(nanobind::module_& module);
void bind_tasks(nanobind::module_& module);

}  // namespace bregmax::python
