"""Pairs and comparisons as samples: telling similar pairs from dissimilar ones by a threshold, deciding comparisons, and
predicting the value of D."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bregmax._arguments import comparisons_of, similar_of


_WITH_THRESHOLD_ONE = ("pbdl", "smooth", "deep")  # their losses put similar pairs below and dissimilar ones above D = 1


def _goes_on(learner: Any) -> bool:
    """Learners of classical methods have no way to go on from a model."""
    return hasattr(learner, "partial_fit_pairs")


class TuplesMixin:
    """The samples are tuples of rows, or of row numbers of the `preprocessor`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.two_d_array = self.preprocessor is not None
        tags.target_tags.required = True
        return tags


class PairsMixin(TuplesMixin):
    """Decides on pairs by a threshold on D(point, reference)."""

    classes_ = np.array([-1, 1])

    def decision_function(self, pairs: Any) -> np.ndarray:
        return self.pair_score(pairs)

    def predict(self, pairs: Any) -> np.ndarray:
        """1 where D(point, reference) <= threshold_, else -1."""
        check_is_fitted(self, "threshold_")
        return np.where(self.pair_distance(pairs) <= self.threshold_, 1, -1)

    def score(self, pairs: Any, y: Any) -> float:
        """Area under the ROC curve, which needs no threshold, of the pairs in both directions unless it was learned from
        directed ones."""
        similar, scores = similar_of(y, len(pairs)), self.pair_score(pairs)
        if not self.report_["directed"]:
            reverse = [pair[::-1] for pair in (pairs.to_numpy() if hasattr(pairs, "to_numpy") else pairs)]
            similar, scores = np.tile(similar, 2), np.append(scores, self.pair_score(reverse))
        return float(roc_auc_score(similar, scores))

    def set_threshold(self, threshold: float) -> PairsMixin:
        check_is_fitted(self, "model_")
        if not np.isfinite(threshold):
            raise ValueError(f"threshold is {threshold}; allowed: a finite number")
        self.threshold_ = float(threshold)
        return self

    def calibrate_threshold(
        self, pairs: Any, y: Any, strategy: str = "accuracy", min_rate: float | None = None, beta: float = 1.0
    ) -> PairsMixin:
        """Sets the threshold that is best on these pairs, the smallest among equals.

        strategy: "accuracy"; "f_beta"; "max_tpr" or "max_tnr", the largest rate of true positives (negatives) at which
        the other one is at least `min_rate`.
        """
        similar = similar_of(y, len(pairs)).astype(bool)
        if strategy in ("max_tpr", "max_tnr") and (min_rate is None or not 0 <= min_rate <= 1):
            raise ValueError(f"min_rate is {min_rate}; allowed with {strategy}: a number from 0 to 1")
        if similar.all() or not similar.any():
            raise ValueError("y must have similar and dissimilar pairs")
        return self.set_threshold(_best_threshold(self.pair_distance(pairs), similar, strategy, min_rate, beta))

    def fit(self, pairs: Any, y: Any, sample_weight: Any = None, directed: bool = False):
        """y: 1 for similar pairs, -1 (or 0) for dissimilar ones. directed: as in `fit_pairs`.

        The threshold is 1 where the loss of the method puts it there, else the most accurate one on these pairs.
        """
        self.fit_pairs(pairs, y, sample_weight=sample_weight, directed=directed)
        return self._choose_threshold(pairs, y)

    @available_if(_goes_on)
    def partial_fit(self, pairs: Any, y: Any, sample_weight: Any = None, directed: bool = False):
        """Goes on from the model as it is with further pairs, as `fit` takes them. The threshold is chosen anew."""
        self.partial_fit_pairs(pairs, y, sample_weight=sample_weight, directed=directed)
        return self._choose_threshold(pairs, y)

    def _choose_threshold(self, pairs: Any, y: Any):
        if self.report_["method"] in _WITH_THRESHOLD_ONE:
            return self.set_threshold(1.0)
        similar = similar_of(y, len(pairs)).astype(bool)
        return self.set_threshold(_best_threshold(self.pair_distance(pairs), similar, "accuracy", None, 1.0))


def _best_threshold(distances, similar, strategy: str, min_rate: float | None, beta: float) -> float:
    thresholds, positives, negatives = _counts_by_threshold(distances, similar)
    return float(thresholds[int(np.argmax(_scores(positives, negatives, similar, strategy, min_rate, beta)))])


def _counts_by_threshold(distances: np.ndarray, similar: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thresholds that differ in what they accept, and the similar and dissimilar pairs that each accepts."""
    order = np.argsort(distances, kind="stable")
    ordered = distances[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    positives, negatives = np.cumsum(similar[order])[last], np.cumsum(~similar[order])[last]
    nothing = np.nextafter(ordered[0], -np.inf)
    return np.append(nothing, ordered[last]), np.append(0, positives), np.append(0, negatives)


def _scores(positives, negatives, similar, strategy: str, min_rate: float | None, beta: float) -> np.ndarray:
    all_similar, all_dissimilar = similar.sum(), (~similar).sum()
    if strategy == "accuracy":
        return (positives + all_dissimilar - negatives) / len(similar)
    true_positive_rate, true_negative_rate = positives / all_similar, 1 - negatives / all_dissimilar
    if strategy == "f_beta":
        return (1 + beta**2) * positives / (beta**2 * all_similar + positives + negatives)
    if strategy == "max_tpr":
        return np.where(true_negative_rate >= min_rate, true_positive_rate, -1.0)
    if strategy == "max_tnr":
        return np.where(true_positive_rate >= min_rate, true_negative_rate, -1.0)
    raise ValueError(f"strategy is '{strategy}'; allowed: 'accuracy', 'f_beta', 'max_tpr' or 'max_tnr'")


class ComparisonsMixin(TuplesMixin):
    """Decides on comparisons D(i, j) <= D(k, l), or triplets D(i, j) <= D(i, l)."""

    def fit(self, comparisons: Any, y: Any = None, sample_weight: Any = None):
        """y is ignored: every comparison says that the first divergence is the smaller one."""
        return self.fit_comparisons(comparisons, sample_weight=sample_weight)

    @available_if(_goes_on)
    def partial_fit(self, comparisons: Any, y: Any = None, sample_weight: Any = None):
        """Goes on from the model as it is with further comparisons, as `fit` takes them."""
        return self.partial_fit_comparisons(comparisons, sample_weight=sample_weight)

    def decision_function(self, comparisons: Any) -> np.ndarray:
        """D(k, l) - D(i, j): positive where the comparison holds."""
        check_is_fitted(self, "model_")
        X = self.preprocessor if np.ndim(comparisons) == 2 else None
        rows, given = comparisons_of(comparisons, X)
        items = given["comparisons"]
        near = self.model_.pair_distance(rows[items[:, 0]], rows[items[:, 1]])
        far = self.model_.pair_distance(rows[items[:, 2]], rows[items[:, 3]])
        return far - near

    def predict(self, comparisons: Any) -> np.ndarray:
        """1 where the first divergence is the smaller one, -1 where it is the larger one, 0 where they are equal."""
        return np.sign(self.decision_function(comparisons)).astype(int)

    def score(self, comparisons: Any, y: Any = None) -> float:
        """The share of the comparisons that hold; equal divergences count one half."""
        return float(np.mean((self.predict(comparisons) + 1) / 2))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


class TargetsMixin(TuplesMixin):
    """Predicts the value of D(point, reference)."""

    def fit(self, pairs: Any, y: Any, sample_weight: Any = None):
        """y: the values that D(point, reference) should have."""
        return self.fit_targets(pairs, y, sample_weight=sample_weight)

    @available_if(_goes_on)
    def partial_fit(self, pairs: Any, y: Any, sample_weight: Any = None):
        """Goes on from the model as it is with values of further pairs, as `fit` takes them."""
        return self.partial_fit_targets(pairs, y, sample_weight=sample_weight)

    def predict(self, pairs: Any) -> np.ndarray:
        return self.pair_distance(pairs)

    def score(self, pairs: Any, y: Any) -> float:
        """The coefficient of determination R^2."""
        return float(r2_score(y, self.predict(pairs)))
