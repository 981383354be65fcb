"""Classification and regression by the nearest stored rows, by D(query, stored row), at native speed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bregmax import _core
from bregmax._arguments import threads_of
from bregmax._divergence import resolve_divergence
from bregmax.learner import BregmanLearner


class _Neighbors(BaseEstimator):
    """Rows at the distance of the k-th nearest share the votes that are left equally, whatever their order."""

    def _store(self, X: np.ndarray, y: np.ndarray, default: Any, numbers: bool = False) -> None:
        if not 1 <= self.n_neighbors <= len(X):
            raise ValueError(
                f"n_neighbors is {self.n_neighbors}; allowed: 1 to the number of rows, n_samples = {len(X)}"
            )
        self.model_ = resolve_divergence(self.divergence, X, y, default, numbers)
        self._stored = X.copy()

    def _queries(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Divergences and row numbers of the nearest stored rows, nearest first, equal ones by the lower number."""
        rows, divergences = self.model_.rank(
            self._queries(X), self._stored, n_neighbors or self.n_neighbors, self.n_jobs
        )
        return divergences, rows


class BregmanKNeighborsClassifier(ClassifierMixin, _Neighbors):
    """k nearest neighbours by D(query, stored row).

    divergence: a `Model`, the name of a closed form, or a learner, a clone of which is fitted to the same X and y; None:
    `BregmanLearner()`.
    """

    def __init__(self, n_neighbors: int = 5, *, divergence: Any = None, n_jobs: int | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.divergence = divergence
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> BregmanKNeighborsClassifier:
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        self._classes_of_stored = np.ascontiguousarray(numbers.ravel(), dtype=np.int32)
        self._store(X, y, BregmanLearner(n_jobs=self.n_jobs))
        return self

    def predict(self, X: Any) -> np.ndarray:
        numbers, _ = self._classify(X)
        return self.classes_[numbers]

    def vote_share(self, X: Any) -> np.ndarray:
        """The share of the votes that went to the predicted class."""
        return self._classify(X)[1]

    def _classify(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        queries = self._queries(X)
        return _core.classify(
            self.model_._core,
            self._stored,
            self._classes_of_stored,
            queries,
            self.n_neighbors,
            threads_of(self.n_jobs),
        )


class BregmanKNeighborsRegressor(RegressorMixin, _Neighbors):
    """The mean target of the k nearest neighbours by D(query, stored row).

    divergence: a `Model`, the name of a closed form, or a `BregmanLearner`, a clone of which learns from the same X and y
    (`fit_row_targets`); None: "squared_euclidean", on the features as they are.
    """

    def __init__(self, n_neighbors: int = 5, *, divergence: Any = None, n_jobs: int | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.divergence = divergence
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> BregmanKNeighborsRegressor:
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        self._targets_of_stored = np.ascontiguousarray(y, dtype=np.float64)
        self._store(X, self._targets_of_stored, "squared_euclidean", numbers=True)
        return self

    def predict(self, X: Any) -> np.ndarray:
        queries = self._queries(X)
        return _core.regress(
            self.model_._core,
            self._stored,
            self._targets_of_stored,
            queries,
            self.n_neighbors,
            threads_of(self.n_jobs),
        )
