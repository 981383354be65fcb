"""Models: a divergence with the scaling of the features that it acts on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import check_array

from bregmax import _core
from bregmax._arguments import rows_of, threads_of


def closed_form_names() -> list[str]:
    """The divergences that need no parameters, for `Model.closed_form` and wherever a divergence can be named."""
    return list(_core.closed_form_names())


class Model:
    """A Bregman divergence on unscaled rows: learned, loaded, or given in closed form.

    Made by `load`, `closed_form`, `mahalanobis`, `max_affine` and `log_sum_exp_quadratic`, and by the learners as their
    `model_`. Models are immutable, can be pickled and copied, and are the same files that the command line reads and
    writes.
    """

    def __init__(self, core: _core.Model) -> None:
        self._core = core

    # ---- Making models ----

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Reads a model file, written by Python or by the program."""
        return cls(_core.Model.load(os.fspath(path)))

    @classmethod
    def closed_form(cls, name: str, n_features: int) -> Model:
        """One of `closed_form_names()`, such as "squared_euclidean" or "kl"."""
        return cls(_core.closed_form(name, n_features))

    @classmethod
    def mahalanobis(cls, matrix: Any) -> Model:
        """D(x, y) = (x - y)^T matrix (x - y)."""
        return cls(_core.mahalanobis(check_array(matrix, dtype=np.float64, order="C", input_name="matrix")))

    @classmethod
    def max_affine(cls, slopes: Any, offsets: Any, temperature: float = 0.0) -> Model:
        """phi(x) = max_k <slopes[k], x> + offsets[k], smoothed where temperature > 0."""
        return cls(_core.max_affine(*_pieces(slopes, offsets), float(temperature)))

    @classmethod
    def log_sum_exp_quadratic(cls, slopes: Any, offsets: Any, temperature: float = 1.0, roots: Any = None) -> Model:
        """phi(x) = T log sum_k exp((<slopes[k], x> + offsets[k]) / T) + ||roots x||^2, T the temperature."""
        slopes, offsets = _pieces(slopes, offsets)
        roots = np.empty((0, slopes.shape[1])) if roots is None else roots  # no rows: there is no quadratic part
        roots = check_array(roots, dtype=np.float64, order="C", input_name="roots", ensure_min_samples=0)
        return cls(_core.log_sum_exp_quadratic(slopes, offsets, float(temperature), roots))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole file or leaves what was there."""
        self._core.save(os.fspath(path))

    def to_onnx(self, outputs: str | Iterable[str] = ("divergence", "embedded", "phi")) -> Any:
        """The model as an ONNX graph, by the package onnx (`pip install bregmax[onnx]`).

        Parameters
        ----------
        outputs : one or several of "divergence", "embedded" and "phi"
            "divergence": the n x m matrix of D(points[i], references[j]). "embedded": the rows that the generator sees, the
            points after scaling and the network, if there is one. "phi": the generator at the points.

        Returns
        -------
        onnx.ModelProto
            Its inputs are `points` (n x features) and, if "divergence" is asked for, `references` (m x features): raw rows,
            in double precision. `onnx.save(model.to_onnx(), path)` writes it to a file.

        Raises
        ------
        ValueError
            If the divergence is not log_sum_exp_quadratic, smoothed_max_affine, max_affine, mahalanobis or
            squared_euclidean, alone or behind a network.
        ImportError
            If the package onnx is missing.
        """
        from bregmax._onnx import to_onnx

        return to_onnx(self, outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._core.to_bytes(),)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self

    def __repr__(self) -> str:
        return f"<bregmax.Model {self.name}, {self.n_features} features>"

    # ---- What it is ----

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def n_features(self) -> int:
        return self._core.features

    @property
    def feature_names(self) -> list[str]:
        return list(self._core.feature_names)

    @property
    def features_read(self) -> list[tuple[str, float]] | None:
        """The features that the divergence depends on: names and norms of what reads them, the largest first.

        The norms are of scaled features. None for divergences that have no norms, such as those of trees or kernels.
        """
        read = self._core.features_read
        return None if read is None else [(feature["name"], feature["norm"]) for feature in read]

    @property
    def class_names(self) -> list[str]:
        return list(self._core.class_names)

    @property
    def center(self) -> np.ndarray:
        """What the scaling subtracts from each feature."""
        return self._core.center

    @property
    def scale(self) -> np.ndarray:
        """What the scaling then divides each feature by."""
        return self._core.scale

    @property
    def slopes(self) -> np.ndarray:
        """Of the affine pieces, on scaled features."""
        return self._core.piece_parameters()[0]

    @property
    def offsets(self) -> np.ndarray:
        return self._core.piece_parameters()[1]

    @property
    def temperature(self) -> float:
        """Of the smoothing; 0: the generator is the maximum itself."""
        return self._core.piece_parameters()[2]

    @property
    def resolution(self) -> float:
        """Divergences from one point that differ by at most this rank alike: the solver does not tell them apart."""
        return self._core.resolution

    @property
    def roots(self) -> np.ndarray:
        """The matrix G of the quadratic part ||G x||^2, for log_sum_exp_quadratic."""
        _, arrays = self._core.contents()
        if self.name != "log_sum_exp_quadratic":
            raise ValueError(f"the divergence {self.name} has no quadratic part")
        return arrays.get("divergence.roots", np.empty((0, self.n_features)))

    @property
    def inner(self) -> Model:
        """Of a deep model: its generator, as a model of the rows that `embed` returns. "squared_euclidean" for divergences
        that are squared distances; ValueError for others."""
        return Model(self._core.inner())

    @property
    def record(self) -> dict[str, Any]:
        """How it was learned: lambda, loss, Lipschitz constant, gap, ..."""
        record = self._core.record
        record["rows"] = record.pop("n")
        return record

    @property
    def tuning(self) -> dict[str, Any] | None:
        """The table of scores that chose the hyperparameters; None: nothing was chosen."""
        tuning = self._core.tuning
        if tuning is None:
            return None
        candidates = tuning.pop("table")
        scores = [candidate.pop("scores") for candidate in candidates]
        tuning["measures"] = list(scores[0])
        tuning["candidates"] = candidates
        for name, key in [("means", "mean"), ("standard_errors", "standard_error")]:
            tuning[name] = np.array([[score[measure][key] for measure in tuning["measures"]] for score in scores])
        tuning["chosen"] = -1 if tuning["chosen"] is None else candidates.index(tuning["chosen"])
        return tuning

    # ---- Applying it ----

    def divergence(self, points: Any, references: Any = None) -> np.ndarray:
        """The matrix of D(points[i], references[j]); references default to the points."""
        points = self._rows(points, "points")
        references = points if references is None else self._rows(references, "references")
        return self._core.divergence(points, references)

    def pair_distance(self, points: Any, references: Any) -> np.ndarray:
        """D(points[i], references[i])."""
        points, references = self._rows(points, "points"), self._rows(references, "references")
        if len(points) != len(references):
            raise ValueError(f"there are {len(points)} points and {len(references)} references; expected equally many")
        return self._core.rowwise(points, references)

    def phi(self, X: Any) -> np.ndarray:
        """The generator at each row."""
        return self._core.phi(self._rows(X, "X"))

    def gradient(self, X: Any) -> np.ndarray:
        """The (sub)gradient of phi at each row, with respect to the features before scaling."""
        return self._core.gradient(self._rows(X, "X"))

    def embed(self, X: Any) -> np.ndarray:
        """The rows X as the network of a deep model maps them, for its generator `inner`.

        For divergences that are squared distances, the rows whose squared Euclidean distances they are. So always
        ``model.inner.divergence(model.embed(X)) == model.divergence(X)``, up to rounding. ValueError for other divergences.
        """
        return self._core.embed(self._rows(X, "X"))

    def pieces(self, X: Any) -> np.ndarray:
        """The affine piece of each row, if the generator has pieces."""
        return self._core.pieces(self._rows(X, "X"))

    def rank(self, queries: Any, pool: Any, top: int | None = None, n_jobs: int | None = None):
        """For each query the `top` nearest rows of the pool (all by default) by D(query, pool row), nearest first.

        Returns the row numbers and the divergences, each of shape (queries, top).
        """
        if top is not None and top < 1:
            raise ValueError(f"top is {top}; allowed: 1 or more, or None for the whole pool")
        queries, pool = self._rows(queries, "queries"), self._rows(pool, "pool")
        return _core.rank(self._core, queries, pool, top or 0, threads_of(n_jobs))

    def get_metric(self) -> DivergenceMetric:
        """A function of two rows, for `KNeighborsClassifier(metric=..., algorithm="brute")` and the like."""
        return DivergenceMetric(self)

    def _rows(self, X: Any, name: str) -> np.ndarray:
        return rows_of(X, self.n_features, name, "the model")


class DivergenceMetric:
    """metric(point, reference) -> D(point, reference). It is not symmetric and obeys no triangle inequality."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._value = model._core.value

    def __call__(self, point: Any, reference: Any) -> float:
        return self._value(
            np.ascontiguousarray(point, dtype=np.float64), np.ascontiguousarray(reference, dtype=np.float64)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return DivergenceMetric, (self._model,)


def rank(model: Any, queries: Any, pool: Any, top: int | None = None, n_jobs: int | None = None):
    """`Model.rank` for a model, a fitted learner, or the name of a closed form."""
    if isinstance(model, str):
        model = Model.closed_form(model, np.shape(pool)[1])
    return getattr(model, "model_", model).rank(queries, pool, top, n_jobs)


def _pieces(slopes: Any, offsets: Any) -> tuple[np.ndarray, np.ndarray]:
    slopes = check_array(slopes, dtype=np.float64, order="C", input_name="slopes")
    offsets = check_array(offsets, dtype=np.float64, order="C", input_name="offsets", ensure_2d=False)
    if offsets.ndim != 1:
        raise ValueError(f"offsets has the shape {offsets.shape}; expected ({len(slopes)},), one per piece")
    return slopes, np.ascontiguousarray(offsets)


def _unpickle(data: bytes) -> Model:
    return Model(_core.Model.from_bytes(data))
