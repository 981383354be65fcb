#pragma once

#include <nanobind/nanobind.h>

namespace bregmax::python {

// One function a concept, each in the file of its name.
void bind_data(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_fit(nanobind::module_& module);
void bind_run(nanobind::module_& module);
void bind_tasks(nanobind::module_& module);

}  // namespace bregmax::python
