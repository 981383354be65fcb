"""Models as ONNX graphs, by the package onnx (`pip install bregmax[onnx]`).

All numbers are double precision. D is computed from the same two parts as in the library: of log-sum-exp generators it is
T KL(softmax(reference) || softmax(point)), and of quadratic ones a squared distance of rows that are measured from the mean
of the references, so that only the size of their differences matters for rounding.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

OUTPUTS = ("divergence", "embedded", "phi")
_OPSET, _IR_VERSION = 17, 8  # of 2022, so that runtimes that are not new can read the file
_TIE = 1e-14  # of max-affine generators: scores that close to the largest count as equal


def to_onnx(model: Any, outputs: Iterable[str]) -> Any:
    """The `onnx.ModelProto` of a `bregmax.Model`."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("Model.to_onnx needs the package onnx: pip install bregmax[onnx]") from error
    names = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    if not names or any(name not in OUTPUTS for name in names) or len(set(names)) < len(names):
        raise ValueError(f"outputs is {outputs!r}; allowed: one or several of {', '.join(OUTPUTS)}")
    description, arrays = model._core.contents()
    graph = _Graph(onnx)
    layers, activation, kind, parameters = _parts_of(model.name, description, arrays)
    form = _FORMS[kind](graph, parameters)

    def embed(name: str) -> str:
        rows = graph.add("Div", graph.add("Sub", name, graph.constant(model.center)), graph.constant(model.scale))
        for number, (weights, bias) in enumerate(layers):
            rows = graph.add("Add", graph.add("MatMul", rows, graph.constant(weights.T)), graph.constant(bias))
            if number + 1 < len(layers):
                rows = graph.add(activation, rows)
        return rows

    points = embed("points")
    results = {"embedded": points}
    if "phi" in names:
        results["phi"] = form.phi(points)
    if "divergence" in names:
        results["divergence"] = form.divergence(points, embed("references"))
    return graph.finished(model, {name: results[name] for name in names}, _width(model, layers))


def _parts_of(name: str, description: dict[str, Any], arrays: dict[str, Any]):
    """The layers of the network and its activation, and the generator: its kind and parameters by name."""
    prefix, layers, activation = "divergence.", [], "Relu"
    if description["kind"] == "network_embedding":
        count = sum(key.startswith("divergence.weights.") for key in arrays)
        layers = [(arrays[f"divergence.weights.{layer}"], arrays[f"divergence.bias.{layer}"][0]) for layer in range(count)]
        activation = "Tanh" if arrays["divergence.activation"].item() == 1 else "Relu"
        description, prefix = description["inner"], "divergence.inner."
    kind = description["kind"]
    if kind not in _FORMS:
        inside = "" if name == kind else f" inside of a {name}"
        raise ValueError(
            f"a model of the kind {kind}{inside} has no ONNX form; allowed: {', '.join(_FORMS)}, and a network_embedding with "
            "one of these"
        )
    return layers, activation, kind, {key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)}


def _width(model: Any, layers: list) -> int:
    return len(layers[-1][1]) if layers else model.n_features


class _Graph:
    """Nodes and constants, with names that are made as they are added."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f"c{len(self._constants)}"
        array = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"t{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def sum_of_columns(self, rows: str, keepdims: int = 0) -> str:
        return self.add("ReduceSum", rows, self.constant(np.array([1])), keepdims=keepdims)

    def outer(self, operator: str, of_rows: str, of_columns: str) -> str:
        """The n x m matrix of a column of n numbers and a row of m."""
        column = self.add("Unsqueeze", of_rows, self.constant(np.array([1])))
        return self.add(operator, column, self.add("Unsqueeze", of_columns, self.constant(np.array([0]))))

    def not_negative(self, values: str) -> str:
        return self.add("Max", values, self.constant(0.0))

    def finished(self, model: Any, results: dict[str, str], width: int) -> Any:
        helper, double = self._onnx.helper, self._onnx.TensorProto.DOUBLE
        shapes = {"divergence": ["n", "m"], "embedded": ["n", width], "phi": ["n"]}
        inputs = [helper.make_tensor_value_info("points", double, ["n", model.n_features])]
        if "divergence" in results:
            inputs.append(helper.make_tensor_value_info("references", double, ["m", model.n_features]))
        outputs = [helper.make_tensor_value_info(name, double, shapes[name]) for name in results]
        nodes = self._nodes + [helper.make_node("Identity", [results[name]], [name]) for name in results]
        graph = helper.make_graph(nodes, "bregmax", inputs, outputs, self._constants)
        made = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION, producer_name="bregmax"
        )
        helper.set_model_props(made, {"bregmax.divergence": model.name, "bregmax.features": ", ".join(model.feature_names)})
        self._onnx.checker.check_model(made, full_check=True)
        return made


class _SquaredNorm:
    """phi(z) = ||G z||^2, and the square of the distance."""

    def __init__(self, graph: _Graph, root: np.ndarray | None) -> None:
        self._graph, self._root = graph, root

    def _projected(self, rows: str) -> str:
        return rows if self._root is None else self._graph.add("MatMul", rows, self._graph.constant(self._root.T))

    def _squares(self, rows: str) -> str:
        return self._graph.sum_of_columns(self._graph.add("Mul", rows, rows))

    def phi(self, rows: str) -> str:
        return self._squares(self._projected(rows))

    def divergence(self, points: str, references: str) -> str:
        graph = self._graph
        center = graph.add("ReduceMean", references, axes=[0], keepdims=1)
        x, y = (self._projected(graph.add("Sub", rows, center)) for rows in (points, references))
        products = graph.add("MatMul", x, graph.add("Transpose", y, perm=[1, 0]))
        squares = graph.outer("Add", self._squares(x), self._squares(y))
        return graph.not_negative(graph.add("Sub", squares, graph.add("Mul", products, graph.constant(2.0))))


class _Scores:
    """<slopes[k], z> + offsets[k], divided by the temperature."""

    def __init__(self, graph: _Graph, parameters: dict[str, Any], temperature: float) -> None:
        self._graph = graph
        self._slopes, self._offsets = parameters["slopes"] / temperature, parameters["offsets"] / temperature

    def of(self, rows: str) -> str:
        products = self._graph.add("MatMul", rows, self._graph.constant(self._slopes.T))
        return self._graph.add("Add", products, self._graph.constant(self._offsets))


class _LogSumExp:
    """phi(z) = T log sum_k exp(score_k(z)), D = T KL(q(reference) || q(point)) with q the softmax of the scores."""

    def __init__(self, graph: _Graph, parameters: dict[str, Any]) -> None:
        self._graph, self._temperature = graph, parameters["temperature"]
        self._scores = _Scores(graph, parameters, self._temperature)

    def _times_temperature(self, values: str) -> str:
        return self._graph.add("Mul", values, self._graph.constant(self._temperature))

    def phi(self, rows: str) -> str:
        return self._times_temperature(
            self._graph.add("ReduceLogSumExp", self._scores.of(rows), axes=[1], keepdims=0)
        )

    def divergence(self, points: str, references: str) -> str:
        graph = self._graph
        log_p, log_q = (graph.add("LogSoftmax", self._scores.of(rows), axis=1) for rows in (points, references))
        q = graph.add("Exp", log_q)
        entropies = graph.sum_of_columns(graph.add("Mul", q, log_q))
        crossed = graph.add("MatMul", log_p, graph.add("Transpose", q, perm=[1, 0]))
        row = graph.add("Unsqueeze", entropies, graph.constant(np.array([0])))
        return self._times_temperature(graph.not_negative(graph.add("Sub", row, crossed)))


class _LogSumExpQuadratic:
    def __init__(self, graph: _Graph, parameters: dict[str, Any]) -> None:
        self._graph = graph
        self._parts = [_LogSumExp(graph, parameters)]
        if "roots" in parameters:
            self._parts.append(_SquaredNorm(graph, parameters["roots"]))

    def phi(self, rows: str) -> str:
        return self._sum([part.phi(rows) for part in self._parts])

    def divergence(self, points: str, references: str) -> str:
        return self._sum([part.divergence(points, references) for part in self._parts])

    def _sum(self, values: list[str]) -> str:
        return values[0] if len(values) == 1 else self._graph.add("Add", *values)


class _MaxAffine:
    """phi(z) = max_k score_k(z); D = phi(point) - score_p(point) with p the first piece that is largest at the reference."""

    def __init__(self, graph: _Graph, parameters: dict[str, Any]) -> None:
        self._graph, self._scores = graph, _Scores(graph, parameters, 1.0)

    def phi(self, rows: str) -> str:
        return self._graph.add("ReduceMax", self._scores.of(rows), axes=[1], keepdims=0)

    def divergence(self, points: str, references: str) -> str:
        graph = self._graph
        at_points, at_references = self._scores.of(points), self._scores.of(references)
        largest = graph.add("ReduceMax", at_references, axes=[1], keepdims=1)
        tie = graph.add("Mul", graph.constant(_TIE), graph.add("Add", graph.constant(1.0), graph.add("Abs", largest)))
        is_largest = graph.add("GreaterOrEqual", at_references, graph.add("Sub", largest, tie))
        piece = graph.add("ArgMax", graph.add("Cast", is_largest, to=1), axis=1, keepdims=0)
        phi = graph.add("ReduceMax", at_points, axes=[1], keepdims=1)
        return graph.not_negative(graph.add("Sub", phi, graph.add("Gather", at_points, piece, axis=1)))


def _mahalanobis(graph: _Graph, parameters: dict[str, Any]) -> _SquaredNorm:
    values, vectors = np.linalg.eigh(parameters["matrix"])
    return _SquaredNorm(graph, np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


_FORMS = {
    "log_sum_exp_quadratic": _LogSumExpQuadratic,
    "smoothed_max_affine": _LogSumExp,
    "max_affine": _MaxAffine,
    "mahalanobis": _mahalanobis,
    "squared_euclidean": lambda graph, parameters: _SquaredNorm(graph, None),
}
