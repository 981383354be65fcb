"""Learners whose samples are pairs or comparisons, so that scikit-learn's model selection can split them.

The samples are rows of shape (m, t, d), or row numbers of shape (m, t) of the `preprocessor`, as in metric-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bregmax._arguments import tuples_of
from bregmax._base import parameters
from bregmax._max_affine import MaxAffineLearner
from bregmax._pairs import PairsMixin, TargetsMixin, TuplesMixin


@parameters
class _WeakLearner(TuplesMixin, MaxAffineLearner):
    """The parameters are those of `BregmanLearner` that are not about labels; `preprocessor` holds the rows that row
    numbers refer to."""

    preprocessor: Any = None


class BregmanPairsLearner(PairsMixin, _WeakLearner):
    """Learns from similar and dissimilar pairs, and tells new pairs apart by a threshold on D(point, reference).

    The losses put similar pairs below and dissimilar ones above 1, the threshold that `fit` sets.
    """

    def fit(self, pairs: Any, y: Any, sample_weight: Any = None) -> BregmanPairsLearner:
        """y: 1 for similar pairs, -1 (or 0) for dissimilar ones."""
        self.fit_pairs(pairs, y, sample_weight=sample_weight)
        self.threshold_ = 1.0
        return self


class BregmanComparisonsLearner(_WeakLearner):
    """Learns from comparisons D(i, j) <= D(k, l), or triplets D(i, j) <= D(i, l), and decides new ones."""

    def fit(self, comparisons: Any, y: Any = None, sample_weight: Any = None) -> BregmanComparisonsLearner:
        """y is ignored: every comparison says that the first divergence is the smaller one."""
        return self.fit_comparisons(comparisons, sample_weight=sample_weight)

    def decision_function(self, comparisons: Any) -> np.ndarray:
        """D(k, l) - D(i, j): positive where the comparison holds."""
        check_is_fitted(self, "model_")
        X = self.preprocessor if np.ndim(comparisons) == 2 else None
        rows, items = tuples_of(comparisons, X, (3, 4), "comparisons")
        if items.shape[1] == 3:
            items = items[:, [0, 1, 0, 2]]
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


class BregmanTargetsLearner(TargetsMixin, _WeakLearner):
    """Learns from values that D(point, reference) should have, and predicts them for new pairs."""
