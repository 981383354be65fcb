"""Learning a divergence from class labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bregmax import _core
from bregmax._arguments import numbered_by_appearance, threads_of
from bregmax._base import DivergenceLearner


class BregmanLearner(DivergenceLearner):
    """Learns a Bregman divergence to a proved gap, from labels or (`fit_comparisons`, ...) from other supervision.

    Parameters
    ----------
    lam : float, "auto" or None
        Weight of the Lipschitz constant beside the summed loss. "auto", and None except for targets: chosen by
        cross-validation. None for targets: 0.
    lambdas : rising numbers or None
        What ``"auto"`` tries; None: 1e-4 to 1e6 by decades for all pairs, 1e-8 to 1e4 otherwise.
    smoothing : float, "auto" or None
        Temperature of the returned divergence, which has no ties when > 0. None: "auto" where lambda is chosen from
        labels, 0 otherwise.
    n_pieces : int, "all" or "auto"
        Affine pieces; "all": one a row.
    scale : "standard", "none", "auto" or None
        "auto" chooses between the two. None: as the library recommends where lambda is chosen from labels, "standard"
        otherwise.
    supervision : "auto", "all_pairs", "comparisons" or "hard_comparisons"
        What `fit` makes of the labels.
    n_comparisons : int or None
        How many comparisons to draw (None: 2000), or of the hard ones to keep (None: all).
    hard_neighbors : int
        Neighbours a row of hard comparisons.
    lipschitz_bound : float or None
        Hard bound on the Lipschitz constant.
    tune_for : str
        The score of held-out rows that chooses: "average_precision", "auc", "rand_index", "purity", "knn", "loss".
    folds : int
        Of the cross-validation.
    tol : float
        Relative gap between the objective and its proved lower bound.
    max_iter : int
        Limit on the iterations of the solver.
    time_limit : float or None
        Seconds, for tuning and solving together.
    random_state : int, RandomState or None
        A whole number is the --seed of the command line.
    n_jobs : int or None
        Threads; None: all.
    verbose : int
        1: a progress bar.

    Attributes
    ----------
    model_ : Model
    report_ : dict
        Status, objective, proved lower bound, gap, loss, Lipschitz constant, ...
    lam_, smoothing_ : float
        As given or chosen.
    classes_ : array
    n_features_in_, feature_names_in_, n_iter_
    """

    def __init__(
        self,
        lam: float | str | None = None,
        *,
        lambdas: Any = None,
        smoothing: float | str | None = None,
        n_pieces: int | str = "all",
        scale: str | None = None,
        supervision: str = "auto",
        n_comparisons: int | None = None,
        hard_neighbors: int = 3,
        lipschitz_bound: float | None = None,
        tune_for: str = "average_precision",
        folds: int = 3,
        tol: float = 1e-8,
        max_iter: int = 200,
        time_limit: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.lambdas = lambdas
        self.smoothing = smoothing
        self.n_pieces = n_pieces
        self.scale = scale
        self.supervision = supervision
        self.n_comparisons = n_comparisons
        self.hard_neighbors = hard_neighbors
        self.lipschitz_bound = lipschitz_bound
        self.tune_for = tune_for
        self.folds = folds
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, piece_of: Any = None) -> BregmanLearner:
        """Learns from the labels y of the rows X. piece_of: the piece of each row, instead of `n_pieces`."""
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        options = self._options(piece_of)
        options.update(
            supervision=self.supervision,
            n_comparisons=self.n_comparisons,
            hard_neighbors=int(self.hard_neighbors),
            tune_for=self.tune_for,
        )
        self._learn(_core.fit_labels, X, numbered_by_appearance(y), options=options)
        _, first = np.unique(y, return_index=True)
        self.model_._core.class_names = [str(y[row]) for row in np.sort(first)]
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
