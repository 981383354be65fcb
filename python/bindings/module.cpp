#include "module.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bregmax/core/blas_kernels.hpp"
#include "bregmax/core/error.hpp"

namespace nb = nanobind;

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
