"""What all learners share: the options of the library, what a fit leaves behind, and applying the model."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from bregmax import _core
from bregmax._arguments import seed_of, similar_of, threads_of, tuples_of, weights_of
from bregmax._progress import run_with_progress
from bregmax.model import DivergenceMetric, Model

_ENDED_EARLY = {
    "iteration_limit": "max_iter={max_iter} was reached",
    "time_limit": "time_limit={time_limit} was reached",
    "numerical_error": "rounding errors ended the progress",
}


class DivergenceLearner(BaseEstimator):
    """Base of the learners: subclasses have the parameters, and say what `fit` takes."""

    # ---- Learning ----

    def fit_comparisons(self, comparisons: Any, X: Any = None, sample_weight: Any = None):
        """Learns from D(i, j) <= D(k, l).

        comparisons: row numbers of X of shape (m, 4), or (m, 3) for D(i, j) <= D(i, l); or the rows themselves, of
        shape (m, 4, d) or (m, 3, d).
        """
        rows, items = self._tuples(comparisons, X, (3, 4), "comparisons")
        if items.shape[1] == 3:
            items = np.ascontiguousarray(items[:, [0, 1, 0, 2]])
        return self._learn(_core.fit_comparisons, rows, items, weights_of(sample_weight, len(items)))

    def fit_pairs(self, pairs: Any, y: Any, X: Any = None, sample_weight: Any = None):
        """Learns from pairs (point, reference) that are similar (y is 1) or dissimilar (-1, or 0).

        pairs: row numbers of X of shape (m, 2), or the rows themselves, of shape (m, 2, d).
        """
        rows, items = self._tuples(pairs, X, (2,), "pairs")
        similar = similar_of(y, len(items))
        return self._learn(_core.fit_pairs, rows, items, similar, weights_of(sample_weight, len(items)))

    def fit_targets(self, pairs: Any, values: Any, X: Any = None, sample_weight: Any = None):
        """Learns from values that D(point, reference) should have; lambda is 0 unless it is given or "auto".

        pairs: row numbers of X of shape (m, 2), or the rows themselves, of shape (m, 2, d).
        """
        rows, items = self._tuples(pairs, X, (2,), "pairs")
        targets = np.ascontiguousarray(values, dtype=np.float64)
        if targets.shape != (len(items),):
            raise ValueError(f"values has shape {targets.shape}; expected ({len(items)},), one a pair")
        if not np.isfinite(targets).all():
            raise ValueError("values contains NaN or infinity.")
        return self._learn(_core.fit_targets, rows, items, targets, weights_of(sample_weight, len(items)))

    def _tuples(self, tuples: Any, X: Any, sizes: tuple[int, ...], name: str) -> tuple[np.ndarray, np.ndarray]:
        if X is None and np.ndim(tuples) == 2:
            X = getattr(self, "preprocessor", None)
        rows, items = tuples_of(tuples, X, sizes, name)
        # Names of the features, where X is a data frame; else only their number.
        validate_data(self, X if X is not None else rows, skip_check_array=True)
        return rows, items

    def _options(self, piece_of: np.ndarray | None) -> dict[str, Any]:
        return {
            "lam": _number_or_word(self.lam),
            "lambdas": None if self.lambdas is None else [float(value) for value in self.lambdas],
            "smoothing": _number_or_word(self.smoothing),
            "pieces": self.n_pieces if isinstance(self.n_pieces, str) else int(self.n_pieces),
            "piece_of": None if piece_of is None else [int(piece) for piece in piece_of],
            "scale": self.scale,
            "lipschitz_bound": None if self.lipschitz_bound is None else float(self.lipschitz_bound),
            "folds": int(self.folds),
            "tolerance": float(self.tol),
            "max_iterations": int(self.max_iter),
            "time_limit": None if self.time_limit is None else float(self.time_limit),
            "seed": seed_of(self.random_state),
            "threads": threads_of(self.n_jobs),
        }

    def _learn(self, method: Callable[..., Any], *arguments: Any, options: dict[str, Any] | None = None):
        options = self._options(None) if options is None else options
        core, report = run_with_progress(
            method, *arguments, options, verbose=self.verbose, tolerance=options["tolerance"]
        )
        if core is None:
            raise ValueError(f"time_limit={self.time_limit} ended the run before there was a model; allow more time")
        if hasattr(self, "feature_names_in_"):
            core.feature_names = [str(name) for name in self.feature_names_in_]
        else:
            core.feature_names = [f"x{feature}" for feature in range(core.features)]
        self.model_ = Model(core)
        self.report_ = report
        self.lam_, self.smoothing_ = report["lambda"], report["smoothing"]
        self.n_iter_ = report["iterations"]
        self._warn(report)
        return self

    def _warn(self, report: dict[str, Any]) -> None:
        if report["status"] != "optimal":
            reason = _ENDED_EARLY.get(report["status"], report["status"]).format(**self.get_params(deep=False))
            where = "while lambda was being chosen" if report["tuning_ended_early"] else (
                f"at a relative gap of {report['relative_gap']:.1e} (tol={self.tol})"
            )
            warnings.warn(f"not optimal: {reason} {where}", ConvergenceWarning, stacklevel=4)
        if self.model_.record["constant"]:
            warnings.warn(
                "the learned divergence is constant: it does not tell the rows apart; a smaller lam may help",
                UserWarning,
                stacklevel=4,
            )

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


def _number_or_word(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else float(value)
