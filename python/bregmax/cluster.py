"""Clustering by a divergence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from bregmax import _core
from bregmax._arguments import seed_of, threads_of
from bregmax._divergence import resolve_divergence
from bregmax._progress import run_with_progress


class BregmanKMeans(ClusterMixin, BaseEstimator):
    """k-means where rows go to the centroid of smallest D(row, centroid), and centroids are means.

    divergence: a `Model`, the name of a closed form, or a learner, a clone of which is fitted to the same X and y; None:
    "squared_euclidean". start: "euclidean" (k-means in Euclidean space first) or "divergence" (k-means++ by D).

    Attributes: labels_, cluster_centers_, inertia_ (the summed divergence), n_iter_, model_, n_features_in_.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        divergence: Any = None,
        start: str = "euclidean",
        n_init: int = 20,
        max_iter: int = 300,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.divergence = divergence
        self.start = start
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> BregmanKMeans:
        """y is used only to learn the divergence, where that is a learner."""
        X = validate_data(self, X, dtype=np.float64, order="C")
        if not 1 <= self.n_clusters <= len(X):
            raise ValueError(f"n_clusters is {self.n_clusters}; allowed: 1 to the number of rows, n_samples = {len(X)}")
        self.model_ = resolve_divergence(self.divergence, X, y, "squared_euclidean")
        found = run_with_progress(
            _core.kmeans,
            self.model_._core,
            X,
            self.n_clusters,
            self.start,
            self.n_init,
            self.max_iter,
            seed_of(self.random_state),
            threads_of(self.n_jobs),
            verbose=self.verbose,
        )
        self.labels_ = found["labels"]
        self.cluster_centers_ = found["centers"]
        self._scaled_centers = found["scaled_centers"]
        self.inertia_ = found["objective"]
        self.n_iter_ = found["iterations"]
        if not found["converged"]:
            warnings.warn(f"not converged: max_iter={self.max_iter} was reached", ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of smallest D(row, centroid), the lowest number among equals."""
        return np.argmin(self.divergences(X), axis=1).astype(np.int32)

    def divergences(self, X: Any) -> np.ndarray:
        """The matrix of D(row, centroid)."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        # Centroids as they were found: unscaling and scaling again would round.
        return _core.to_scaled_centers(self.model_._core, X, self._scaled_centers)
