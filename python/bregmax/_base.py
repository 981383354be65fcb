"""What all learners share: running the library, what a fit leaves behind, and applying the model."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bregmax import _core
from bregmax._arguments import (
    comparisons_of,
    number,
    numbered_by_appearance,
    outside_level,
    pairs_of,
    path_of,
    row_weights_of,
    seed_of,
    shown,
    targets_of,
    threads_of,
    truth,
    tuples_of,
    whole_number,
)
from bregmax._progress import run_with_progress
from bregmax.model import DivergenceMetric, Model

# Parameters and fields of requests that have another name in the library (left) than in Python (right).
_RENAMED = {
    "comparisons": "n_comparisons",
    "components": "n_components",
    "constraints": "n_constraints",
    "lambda": "lam",
    "lipschitz": "lipschitz_bound",
    "max_iterations": "max_iter",
    "neighbours": "n_neighbors",
    "pieces": "n_pieces",
    "rank": "quadratic_rank",  # learners have a method of that name
    "row_weights": "sample_weight",
    "scales": "scale",
    "tolerance": "tol",
    "trees": "n_trees",
}


def name_here(parameter: str) -> str:
    """The name in Python of a parameter of the library. In Python, `scale` is the scaling of the features."""
    return "kernel_scale" if parameter == "scale" else _RENAMED.get(parameter, parameter.replace("-", "_"))


def methods_by_name() -> dict[str, dict[str, Any]]:
    """The methods of the library, each with its parameters by name."""
    methods = {}
    for method in _core.methods():
        own = {entry["name"]: entry | {"standard": entry["default"]} for entry in method["parameters"]}
        methods[method["name"]] = method | {"parameters": own}
    return methods


# Annotated attributes of a class and its bases become the parameters of an __init__ that keeps each under its name, which
# is all that scikit-learn allows an __init__ to do.
parameters = dataclass(kw_only=True, eq=False, repr=False)


@parameters
class Resumable:
    """Of learners whose run can end by held-out data, and can be kept in a file and continued."""

    early_stop: bool = False
    checkpoint: Any = None
    checkpoint_every: float | None = None
    resume: Any = None


@parameters
class DivergenceLearner(BaseEstimator):
    """Base of the learners: subclasses have further parameters, those of their method among them, and say what `fit`
    takes."""

    _parameters_of: ClassVar[str]  # the method whose parameters the class has

    scale: str | None = None
    time_limit: float | None = None
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: int = 0

    # ---- Learning ----

    # `start`: the model to go on from; None: from the beginning.

    def _learn_pairs(
        self,
        pairs: Any,
        y: Any,
        X: Any,
        sample_weight: Any,
        directed: bool,
        start: Model | None = None,
        **more: Any,
    ):
        if not isinstance(directed, (bool, np.bool_)):
            raise ValueError(f"directed is {directed!r}; allowed: True or False")
        X = self._named_rows(pairs, X)
        return self._learn_items(*pairs_of(pairs, y, X, sample_weight), X, start, directed=bool(directed), **more)

    def _learn_comparisons(
        self, comparisons: Any, X: Any, sample_weight: Any, start: Model | None = None, **more: Any
    ):
        X = self._named_rows(comparisons, X)
        return self._learn_items(*comparisons_of(comparisons, X, sample_weight), X, start, **more)

    def _learn_targets(
        self, pairs: Any, values: Any, X: Any, sample_weight: Any, start: Model | None = None, **more: Any
    ):
        X = self._named_rows(pairs, X)
        return self._learn_items(*targets_of(pairs, values, X, sample_weight), X, start, **more)

    def _named_rows(self, tuples: Any, X: Any) -> Any:
        """The rows that row numbers refer to; None if the tuples have the rows themselves."""
        return getattr(self, "preprocessor", None) if X is None and np.ndim(tuples) == 2 else X

    def _learn_items(self, rows: np.ndarray, given: dict[str, Any], X: Any, start: Model | None, **more: Any):
        with self._unchanged_by_failure():
            # Names of the features, where X is a data frame; else only their number.
            validate_data(self, X if X is not None else rows, skip_check_array=True, reset=start is None)
            if start is None:
                vars(self).pop("classes_", None)  # of labels that were learned from before
            return self._learn(rows, given, start, **more)

    @contextmanager
    def _unchanged_by_failure(self):
        """An exception, Ctrl-C among them, leaves the learner as it was."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _options(self) -> dict[str, Any]:
        """What the library is asked for; None: it decides."""
        own = {name: getattr(self, name_here(name)) for name in methods_by_name()[self._parameters_of]["parameters"]}
        lambdas = getattr(self, "lambdas", None)
        return {
            "method": self._parameters_of,
            "names": _RENAMED | {name: name_here(name) for name in own},
            "parameters": {name: _plain(value, name_here(name)) for name, value in own.items() if value is not None},
            "lambdas": None if lambdas is None else [number(value, "a member of lambdas") for value in lambdas],
            "scale": self.scale,
            "solver": getattr(self, "solver", None),
            "folds": whole_number(getattr(self, "folds", None), "folds"),
            "tolerance": number(getattr(self, "tol", None), "tol"),
            "max_iterations": whole_number(getattr(self, "max_iter", None), "max_iter"),
            "time_limit": number(self.time_limit, "time_limit"),
            "scores_file": path_of(getattr(self, "scores_file", None)),
            "early_stop": truth(getattr(self, "early_stop", False), "early_stop"),
            "checkpoint": path_of(getattr(self, "checkpoint", None)),
            "checkpoint_every": number(getattr(self, "checkpoint_every", None), "checkpoint_every"),
            "resume": path_of(getattr(self, "resume", None)),
            "seed": seed_of(self.random_state),
            "threads": threads_of(self.n_jobs),
        }

    def _options_to_go_on(self, start: Model) -> dict[str, Any]:
        """What cross-validation chose, and the scaling, are those of the model."""
        options = self._options() | {"start": start._core, "scale": None}
        fixed = {name: value for name, value in options["parameters"].items() if np.ndim(value) == 0 and value != "auto"}
        return options | {"names": options["names"] | {"start": "model_"}, "parameters": fixed}

    def _learn(self, rows: np.ndarray, given: dict[str, np.ndarray], start: Model | None = None, **more: Any):
        """`given`: labels or items, as `_core.fit` takes them; `more`: further options."""
        options = (self._options() if start is None else self._options_to_go_on(start)) | more
        core, report = run_with_progress(_core.fit, rows, given, options, verbose=self.verbose)
        if core is None:
            raise ValueError(f"time_limit={self.time_limit} ended the run before there was a model; allow more time")
        if hasattr(self, "feature_names_in_"):
            core.feature_names = [str(name) for name in self.feature_names_in_]
        else:
            core.feature_names = [f"x{feature}" for feature in range(core.features)]
        core.class_names = [] if start is None else start.class_names
        self.model_ = Model(core)
        self.report_ = report | {"features_read": core.features_read}  # now by name
        self.method_, self.scores_ = report["method"], [_score_here(score) for score in report["scores"]]
        self.parameters_ = {name_here(name): value for name, value in report["parameters"].items()}
        self.n_iter_ = max(report["iterations"], 1)  # scikit-learn's checks want at least one
        for finding in report["diagnosis"]:
            if finding["kind"] != "applied_loss":
                category = ConvergenceWarning if finding["kind"] == "early_end" else UserWarning
                warnings.warn(finding["text"], category, stacklevel=outside_level())
        return self

    # ---- Applying ----

    def divergence(self, points: Any, references: Any = None) -> np.ndarray:
        """The matrix of D(points[i], references[j]); references default to the points."""
        points = self._check(points)
        return self.model_.divergence(points, None if references is None else self._check(references))

    def phi(self, X: Any) -> np.ndarray:
        """The generator at each row."""
        return self.model_.phi(self._check(X))

    def gradient(self, X: Any) -> np.ndarray:
        """The (sub)gradient of phi at each row, with respect to the features before scaling."""
        return self.model_.gradient(self._check(X))

    def pieces(self, X: Any) -> np.ndarray:
        """The affine piece of each row."""
        return self.model_.pieces(self._check(X))

    def rank(self, queries: Any, pool: Any, top: int | None = None):
        """Row numbers and divergences of the `top` nearest rows of the pool by D(query, pool row), nearest first."""
        queries, pool = self._check(queries), self._check(pool)
        return self.model_.rank(queries, pool, top, self.n_jobs)

    def pair_distance(self, pairs: Any) -> np.ndarray:
        """D(point, reference) of each pair; rows of shape (m, 2, d), or row numbers of the preprocessor."""
        check_is_fitted(self, "model_")
        if np.ndim(pairs) == 2:
            rows, items = tuples_of(pairs, getattr(self, "preprocessor", None), (2,), "pairs")
            return self.model_.pair_distance(rows[items[:, 0]], rows[items[:, 1]])
        pairs = np.asarray(pairs)
        if pairs.ndim != 3 or pairs.shape[1] != 2:
            raise ValueError(f"pairs has shape {pairs.shape}; expected (m, 2, features), or row numbers (m, 2)")
        return self.model_.pair_distance(pairs[:, 0], pairs[:, 1])

    def pair_score(self, pairs: Any) -> np.ndarray:
        """Larger for more similar pairs: -D(point, reference)."""
        return -self.pair_distance(pairs)

    def get_metric(self) -> DivergenceMetric:
        """A function of two rows, for `KNeighborsClassifier(metric=..., algorithm="brute")` and the like."""
        check_is_fitted(self, "model_")
        return self.model_.get_metric()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the model as a file that the command line and `Model.load` read."""
        check_is_fitted(self, "model_")
        self.model_.save(path)

    def _check(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)


class LabelMixin:
    """Learning from class labels, and scores by them."""

    def _learn_labels(self, X: Any, y: Any, sample_weight: Any = None, start: Model | None = None, **more: Any):
        repeats = whole_number(getattr(self, "repeats", None), "repeats")
        more |= {"tune_for": getattr(self, "tune_for", None), "repeats": repeats}
        with self._unchanged_by_failure():
            X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_min_samples=2, reset=start is None)
            check_classification_targets(y)
            known = y[:0] if start is None else getattr(self, "classes_", y[:0])
            if len(known) > 0 and (known.dtype.kind in "iufb") != (y.dtype.kind in "iufb"):
                raise ValueError(f"y has classes such as {shown(y[0])}, and the model was learned from such as {shown(known[0])}")
            given = {"classes": numbered_by_appearance(y)} | row_weights_of(sample_weight, len(X))
            self._learn(X, given, start, **more)
            self.classes_ = np.unique(np.concatenate([known, y]))
            _, first = np.unique(y, return_index=True)
            new = [y[row] for row in np.sort(first) if y[row] not in known]
            self.model_._core.class_names = [*([] if start is None else start.class_names), *map(str, new)]
        return self

    def evaluate(self, X: Any, y: Any) -> dict[str, float]:
        """Scores of clustering and ranking the rows X among themselves: rand_index, purity, auc, ..."""
        X, classes = self._labelled(X, y)
        return _core.evaluate(self.model_._core, X, classes, 0, threads_of(self.n_jobs), None)

    def score(self, X: Any, y: Any) -> float:
        """Mean average precision: each row ranks all others, those of its class are relevant."""
        X, classes = self._labelled(X, y)
        return _core.average_precision(self.model_._core, X, classes, threads_of(self.n_jobs))

    def _labelled(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self, "model_")
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", reset=False)
        return X, numbered_by_appearance(y)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class EmbeddingMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """For divergences that are squared distances of embedded rows."""

    def transform(self, X: Any) -> np.ndarray:
        """Rows whose squared Euclidean distances are the divergences of the rows X."""
        return self.model_.embed(self._check(X))

    @property
    def _n_features_out(self) -> int:
        return self.model_.embed(self.model_.center.reshape(1, -1)).shape[1]


def _plain(value: Any, name: str) -> Any:
    """A parameter as the library takes it: a number, a word, or a list of these to choose from."""
    if isinstance(value, str):
        return value
    if np.ndim(value) > 0:
        return [_plain(member, name) for member in value]
    return number(value, name)


def _score_here(score: dict[str, Any]) -> dict[str, Any]:
    """The best score of a method, with its settings under the names of the parameters here."""
    settings = {
        # The scaling of the features is a word; a number is a parameter of the method.
        name if name == "scale" and isinstance(value, str) else name_here(name): value
        for name, value in score["settings"].items()
    }
    return score | {"settings": settings}
