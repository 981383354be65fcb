#include "bregmax/model/model.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "bregmax/divergence/log_sum_exp_quadratic.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "core/checks.hpp"
#include "learn/as_json.hpp"
#include "model/container.hpp"
#include "model/parts.hpp"
#include "module.hpp"

namespace bregmax::python {
namespace {

// ---- Making models ----

Model around(std::shared_ptr<const Divergence> divergence, Index features) {
  Model model;
  model.divergence = std::move(divergence);
  model.scaling = Scaling::none(features);
  for (Index f = 0; f < features; ++f) model.feature_names.push_back(fmt::format("x{}", f));
  model.record.method = "none";
  check_model(model);
  return model;
}

Model closed_form(const std::string& name, Index features) {
  internal::require(features >= 1, "features is {}; allowed: 1 or more", features);
  return around(make_closed_form(name), features);
}

Model max_affine(const Rows& slopes, const Numbers& offsets, double temperature) {
  return around(make_max_affine(view(slopes), view(offsets), temperature), static_cast<Index>(slopes.shape(1)));
}

Model log_sum_exp_quadratic(const Rows& slopes, const Numbers& offsets, double temperature, const Rows& roots) {
  return around(std::make_shared<LogSumExpQuadratic>(view(slopes), view(offsets), temperature, view(roots)),
                static_cast<Index>(slopes.shape(1)));
}

Model mahalanobis(const Rows& matrix) {
  return around(std::make_shared<Mahalanobis>(Matrix(view(matrix))), static_cast<Index>(matrix.shape(1)));
}

Model from_bytes(const nb::bytes& bytes) { return deserialize_model({bytes.c_str(), bytes.size()}, "pickled model"); }

nb::bytes to_bytes(const Model& model) {
  const std::string bytes = serialize_model(model);
  return nb::bytes(bytes.data(), bytes.size());
}

// ---- Embeddings ----

// The rows that the inner divergence of an embedding is of. A squared distance is one of embedded rows, too.
Matrix embedded(const Model& model, const MatrixView& rows) {
  const auto* embedding = dynamic_cast<const EmbeddingDivergence*>(model.divergence.get());
  if (embedding == nullptr) return model.embedded(rows);
  return model.with_scaled(rows, [&](const MatrixView& scaled) { return embedding->embed(scaled); });
}

Model inner(const Model& model) {
  const Index outputs = embedded(model, model.scaling.center.transpose()).cols();
  const auto* embedding = dynamic_cast<const EmbeddingDivergence*>(model.divergence.get());
  if (embedding == nullptr) return closed_form("squared_euclidean", outputs);
  return around({model.divergence, &embedding->inner()}, outputs);  // which it belongs to
}

// ---- What a model is made of ----

MaxAffinePieces pieces_of(const Model& model) {
  const auto pieces = max_affine_pieces(*model.divergence);
  internal::require(pieces.has_value(), "the divergence {} has no affine pieces", model.divergence->name());
  return *pieces;
}

nb::object as_numpy(const internal::Array& array) {
  if (array.shape.empty()) return nb::cast(array.values.front());
  const auto first = [](std::vector<double>& kept) { return kept.data(); };
  const auto* shape = array.shape.data();
  if (array.shape.size() == 1) return nb::cast(to_numpy(array.values));
  return nb::cast(hand_over<MatrixOut>(array.values, first, {shape[0], shape[1]}));
}

// What a model file has of the divergence (docs/formats.md): its kind, and its parameters as arrays by name.
nb::tuple contents(const Model& model) {
  internal::Container container;
  const nlohmann::ordered_json description = internal::store_divergence(*model.divergence, "divergence", container);
  nb::dict arrays;
  for (const auto& [name, array] : container.arrays) arrays[name.c_str()] = as_numpy(array);
  return nb::make_tuple(to_python(description), arrays);
}

nb::tuple piece_parameters(const Model& model) {
  if (const auto* smooth = dynamic_cast<const LogSumExpQuadratic*>(model.divergence.get())) {
    return nb::make_tuple(to_numpy(smooth->slopes()), to_numpy(smooth->offsets()), smooth->temperature());
  }
  const MaxAffinePieces pieces = pieces_of(model);
  return nb::make_tuple(to_numpy(pieces.slopes), to_numpy(pieces.offsets), pieces.temperature);
}

template <class View>
using ArrayFor = Rows;

// A function of one or two matrices that takes arrays and hands out the result as an array.
template <class Result, class... Views>
auto computed_from(Result (Model::*function)(const Views&...) const) {
  return [function](const Model& model, const ArrayFor<Views>&... rows) {
    return computed([&] { return (model.*function)(view(rows)...); });
  };
}

nb::ndarray<nb::numpy, int, nb::ndim<1>> pieces_of_rows(const Model& model, const Rows& references) {
  return computed([&] {
    const MaxAffinePieces pieces = pieces_of(model);
    return MaxAffine(pieces.slopes, pieces.offsets).pieces_of(model.scaled(view(references)));
  });
}

void bind_parts(nb::class_<Model>& type) {
  type.def_prop_ro("name", [](const Model& model) { return model.divergence->name(); })
      .def_prop_ro("features", &Model::features)
      .def_rw("feature_names", &Model::feature_names)
      .def_rw("class_names", &Model::class_names)
      .def_prop_ro(
          "center", [](const Model& model) { return to_numpy(model.scaling.center); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "scale", [](const Model& model) { return to_numpy(model.scaling.scale); }, nb::rv_policy::automatic)
      .def_prop_ro("record", [](const Model& model) { return to_python(internal::record_as_json(model.record)); })
      .def_prop_ro("tuning", [](const Model& model) { return to_python(internal::tuning_as_json(model.tuning)); })
      .def_prop_ro("resolution", [](const Model& model) { return model.divergence->resolution(); })
      .def_prop_ro("features_read", [](const Model& model) { return to_python(internal::features_as_json(model)); })
      .def("piece_parameters", &piece_parameters)
      .def("contents", &contents);
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model> type(module, "Model");
  bind_parts(type);
  const auto points = nb::arg("points").noconvert();
  const auto references = nb::arg("references").noconvert();
  type.def_static("load", &load_model, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def("save", &save_model, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def_static("from_bytes", &from_bytes, nb::arg("bytes"))
      .def("to_bytes", &to_bytes)
      .def("divergence", computed_from(&Model::divergences), points, references)
      .def("rowwise", computed_from(&Model::rowwise), points, references)
      .def(
          "value", [](const Model& model, const Numbers& x, const Numbers& y) { return model.value(view(x), view(y)); },
          nb::arg("point").noconvert(), nb::arg("reference").noconvert())
      .def("phi", computed_from(&Model::generator_values), points)
      .def("gradient", computed_from(&Model::gradients), references)
      .def(
          "embed",
          [](const Model& model, const Rows& rows) { return computed([&] { return embedded(model, view(rows)); }); },
          nb::arg("rows").noconvert())
      .def("inner", &inner)
      .def("pieces", &pieces_of_rows, references);
  module.def("closed_form_names", &closed_form_names);
  module.def("closed_form", &closed_form, nb::arg("name"), nb::arg("features"));
  module.def("max_affine", &max_affine, nb::arg("slopes").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("temperature"));
  module.def("log_sum_exp_quadratic", &log_sum_exp_quadratic, nb::arg("slopes").noconvert(),
             nb::arg("offsets").noconvert(), nb::arg("temperature"), nb::arg("roots").noconvert());
  module.def("mahalanobis", &mahalanobis, nb::arg("matrix").noconvert());
}

}  // namespace bregmax::python
