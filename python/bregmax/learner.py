"""Learning a divergence from class labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from bregmax._arguments import whole_number
from bregmax._automatic import AutomaticLearner
from bregmax._base import LabelMixin, parameters
from bregmax._partial import PartialLabelsMixin


@parameters
class BregmanLearner(PartialLabelsMixin, LabelMixin, AutomaticLearner):
    """Learns a Bregman divergence from labels or (`fit_comparisons`, ...) from other supervision; from a number per row by
    `fit_row_targets`.

    With ``method="auto"``, what scores best on held-out data is learned, and the simpler one of methods that score alike.
    Parameters that only piecewise learning ("pbdl", to a proved gap) has choose that method: `lam`, `lambdas`,
    `smoothing`, `n_pieces`, `supervision`, `n_comparisons`, `hard_neighbors`, `lipschitz_bound`, `solver`.

    Parameters
    ----------
    method : str
        "auto", "pbdl", "smooth", "deep" or another name that ``bregmax methods`` prints.
    candidates : list of str or None
        The methods that "auto" chooses from. None: "euclidean", "smooth", "pbdl" where its cross-validation is short,
        and "deep".
    lam : float, "auto" or None
        Weight of the Lipschitz constant relative to the summed loss. "auto", and None except for targets: chosen by
        cross-validation. None for targets: 0.
    lambdas : rising numbers or None
        What ``"auto"`` tries; None: 1e-4 to 1e6 by decades for all pairs, 1e-8 to 1e4 otherwise.
    smoothing : float, "auto" or None
        Temperature of the returned divergence, which has no ties when > 0. None: "auto" where lambda is chosen from
        labels, 0 otherwise.
    n_pieces : int, "all", "auto", "theory" or None
        Affine pieces; "all": one per row; "auto": chosen; "theory": for targets, as many as the theorem on regression
        suggests. None: "all" for up to 20,000 rows, chosen among 20, 50, 100 and 200 beyond.
    scale : "standard", "none", "auto" or None
        "auto" chooses between the two. None: "standard".
    supervision : "auto", "all_pairs", "comparisons" or "hard_comparisons"
        What `fit` makes of the labels.
    n_comparisons : int or None
        How many comparisons to draw (None: 2000), or of the hard ones to keep (None: all).
    hard_neighbors : int or None
        Nearest rows of each row's class, and of the others, that hard comparisons are made of. None: 3.
    lipschitz_bound : float or None
        Hard bound on the Lipschitz constant.
    tune_for : str
        The score of held-out rows that chooses: "average_precision", "auc", "rand_index", "purity", "knn", "loss".
    folds : int or None
        Of the cross-validation. None: 3 from labels, up to 10 from comparisons, pairs and targets.
    scores_file : path or None
        Keeps the scores of the cross-validation as they are found, until there is a model: after Ctrl-C or a crash the same
        fit goes on from them. Not for several fits at once.
    repeats : int or None
        Cross-validations from labels, each with new folds. None: 3 for up to 200 rows, 2 for up to 400, else 1.
    early_stop : bool
        Holds out a fifth of the rows or items and ends when their loss no longer falls. This parameter and the next three
        are for "smooth", "deep" and the solver "admm".
    checkpoint : path or None
        Keeps the state of the run (the last fit, after a choice) in this file. Not for several fits at once.
    checkpoint_every : float or None
        Seconds between two checkpoints; 0: every iteration. None: 60.
    resume : path or None
        Continues from a checkpoint of the same data and parameters, to the same result. The file may be that of `checkpoint`.
    solver : "auto", "exact" or "admm"
        "exact": interior point, to a small gap; "admm": for large problems, to a moderate one; "auto": exact, unless its
        predicted time or memory is too large.
    tol : float or None
        Relative gap between the objective and its proved lower bound. None: 1e-8, or 1e-4 of the solver "admm".
    max_iter : int or None
        Limit on the iterations of the solver. None: 400, or 100,000 of the solver "admm".
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
        Status, objective, proved lower bound, gap, loss, Lipschitz constant, ...; under ``"plan"`` what was tried, under
        ``"diagnosis"`` what the command line would say about the result.
    method_ : str
        As given or chosen.
    scores_ : list of dict
        The best score of each method that was tried, with its standard error and (``"settings"``) the parameters that had it;
        the Euclidean distance is among them. Empty: nothing was chosen.
    parameters_ : dict
        Of the method, as given or chosen.
    lam_, smoothing_ : float or None
        The same for "pbdl"; None for other methods.
    classes_ : array
    n_features_in_, feature_names_in_, n_iter_
    """

    supervision: str = "auto"
    n_comparisons: int | None = None
    hard_neighbors: int | None = None
    tune_for: str = "average_precision"
    repeats: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, piece_of: Any = None) -> BregmanLearner:
        """Learns from the labels y of the rows X.

        sample_weight: how much the loss of each row counts, for "smooth" and "deep"; "auto" then chooses from methods that
        weigh rows. piece_of: the piece of each row, instead of `n_pieces`.
        """
        pieces = None if piece_of is None else [whole_number(piece, "a member of piece_of") for piece in piece_of]
        return self._learn_labels(X, y, sample_weight, piece_of=pieces, **self._label_supervision())

    def fit_row_targets(self, X: Any, y: Any) -> BregmanLearner:
        """Learns from a number y per row: a divergence like the squared differences of these numbers.

        What is to be chosen is chosen by R2, of the numbers of held-out rows as their nearest neighbours predict them.
        `BregmanKNeighborsRegressor(divergence=BregmanLearner())` does this and predicts the numbers of other rows.
        """
        repeats = whole_number(self.repeats, "repeats")
        with self._unchanged_by_failure():
            X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_min_samples=2, y_numeric=True)
            vars(self).pop("classes_", None)  # of labels that were learned from before
            return self._learn(X, {"row_targets": np.ascontiguousarray(y, dtype=np.float64)}, repeats=repeats)

    def _label_supervision(self) -> dict[str, Any]:
        return {
            "supervision": self.supervision,
            "n_comparisons": whole_number(self.n_comparisons, "n_comparisons"),
            "hard_neighbors": whole_number(self.hard_neighbors, "hard_neighbors"),
        }
