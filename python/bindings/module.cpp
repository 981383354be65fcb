#include "module.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bregmax/core/blas_kernels.hpp"
#include "bregmax/core/error.hpp"

namespace nb = nanobind;

nb::object bregmax::python::to_python(const nlohmann::ordered_json& value) {
  if (value.is_boolean()) return nb::cast(value.get<bool>());
  if (value.is_number_unsigned()) return nb::cast(value.get<std::uint64_t>());
  if (value.is_number_integer()) return nb::cast(value.get<std::int64_t>());
  if (value.is_number_float()) return nb::cast(value.get<double>());
  if (value.is_string()) return nb::cast(value.get<std::string>());
  if (value.is_array()) {
    nb::list list;
    for (const auto& member : value) list.append(to_python(member));
    return list;
  }
  if (value.is_object()) {
    nb::dict dict;
    for (const auto& [name, member] : value.items()) dict[name.c_str()] = to_python(member);
    return dict;
  }
  return nb::none();
}

NB_MODULE(_core, module) {
  module.doc() = "The C++ library behind bregmax; use the classes of bregmax instead.";
  module.attr("__version__") = BREGMAX_VERSION;
  module.def("blas_kernels", &bregmax::blas_kernels);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*payload*/) {
    try {
      std::rethrow_exception(thrown);
    } catch (const bregmax::Error& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    }
  });
  bregmax::python::bind_data(module);
  bregmax::python::bind_model(module);
  bregmax::python::bind_fit(module);
  bregmax::python::bind_run(module);
  bregmax::python::bind_tasks(module);
}
