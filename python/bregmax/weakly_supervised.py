"""Learners whose samples are pairs or comparisons, so that scikit-learn's model selection can split them.

The samples are rows of shape (m, t, d), or row numbers of shape (m, t) of the `preprocessor`, as in metric-learn.
"""

from __future__ import annotations

from typing import Any

from bregmax._automatic import AutomaticLearner
from bregmax._base import parameters
from bregmax._pairs import ComparisonsMixin, PairsMixin, TargetsMixin, TuplesMixin


@parameters
class _WeakLearner(TuplesMixin, AutomaticLearner):
    """The parameters are those of `BregmanLearner` that are not about labels; `preprocessor` holds the rows that row
    numbers refer to."""

    preprocessor: Any = None


class BregmanPairsLearner(PairsMixin, _WeakLearner):
    """Learns from similar and dissimilar pairs, and tells new pairs apart by a threshold on D(point, reference).

    The losses put similar pairs below and dissimilar ones above 1, the threshold that `fit` sets. If the Euclidean
    distance is chosen, it is the one that is most accurate on the pairs learned from.
    """

    def fit(
        self, pairs: Any, y: Any, sample_weight: Any = None, directed: bool = False
    ) -> BregmanPairsLearner:
        """y: 1 for similar pairs, -1 (or 0) for dissimilar ones. directed: as in `fit_pairs`."""
        self._fit_with_threshold_one(pairs, y, sample_weight, directed)
        return self if self.method_ != "euclidean" else self.calibrate_threshold(pairs, y)


class BregmanComparisonsLearner(ComparisonsMixin, _WeakLearner):
    """Learns from comparisons D(i, j) <= D(k, l), or triplets D(i, j) <= D(i, l), and decides new ones."""


class BregmanTargetsLearner(TargetsMixin, _WeakLearner):
    """Learns from values that D(point, reference) should have, and predicts them for new pairs."""
