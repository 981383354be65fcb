"""What the learners of max-affine divergences share: supervision other than labels, and the options of the library."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from bregmax import _core
from bregmax._arguments import seed_of, threads_of, weights_of
from bregmax._base import DivergenceLearner, parameters


@parameters
class MaxAffineLearner(DivergenceLearner):
    """Learns to a proved gap; subclasses have further parameters."""

    lam: float | str | None = field(default=None, kw_only=False)
    lambdas: Any = None
    smoothing: float | str | None = None
    n_pieces: int | str = "all"
    scale: str | None = None
    lipschitz_bound: float | None = None
    folds: int = 3
    tol: float = 1e-8
    max_iter: int = 400

    def fit_comparisons(self, comparisons: Any, X: Any = None, sample_weight: Any = None):
        """Learns from D(i, j) <= D(k, l).

        comparisons: row numbers of X of shape (m, 4), or (m, 3) for D(i, j) <= D(i, l); or the rows themselves, of
        shape (m, 4, d) or (m, 3, d).
        """
        rows, items = self._tuples(comparisons, X, (3, 4), "comparisons")
        if items.shape[1] == 3:
            items = np.ascontiguousarray(items[:, [0, 1, 0, 2]])
        weights = weights_of(sample_weight, len(items))
        return self._learn(_core.fit_comparisons, rows, items, weights, options=self._options())

    def fit_pairs(self, pairs: Any, y: Any, X: Any = None, sample_weight: Any = None):
        """Learns from pairs (point, reference) that are similar (y is 1) or dissimilar (-1, or 0).

        pairs: row numbers of X of shape (m, 2), or the rows themselves, of shape (m, 2, d).
        """
        return self._learn(_core.fit_pairs, *self._pairs(pairs, y, X, sample_weight), options=self._options())

    def fit_targets(self, pairs: Any, values: Any, X: Any = None, sample_weight: Any = None):
        """Learns from values that D(point, reference) should have; lambda is 0 unless it is given or "auto".

        pairs: row numbers of X of shape (m, 2), or the rows themselves, of shape (m, 2, d).
        """
        return self._learn(_core.fit_targets, *self._targets(pairs, values, X, sample_weight), options=self._options())

    def _options(self, piece_of: np.ndarray | None = None) -> dict[str, Any]:
        return {
            "lam": _number_or_word(self.lam),
            "lambdas": None if self.lambdas is None else [float(value) for value in self.lambdas],
            "smoothing": _number_or_word(self.smoothing),
            "n_pieces": self.n_pieces if isinstance(self.n_pieces, str) else int(self.n_pieces),
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

    def _learn(self, *arguments: Any, options: dict[str, Any]):
        super()._learn(*arguments, options=options)
        self.lam_, self.smoothing_ = self.report_["lambda"], self.report_["smoothing"]
        return self


def _number_or_word(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else float(value)
