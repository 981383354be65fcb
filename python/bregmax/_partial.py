"""Going on from what was learned, for the methods that are learned by gradients (smooth and deep)."""

from __future__ import annotations

from typing import Any


class PartialMixin:
    """What is new is learned from the model as it is: its scaling, its parameters and what cross-validation chose are
    kept. Before the first fit, these methods do what the ones without `partial_` do."""

    def partial_fit_comparisons(self, comparisons: Any, X: Any = None, sample_weight: Any = None):
        """Goes on with further comparisons, as `fit_comparisons` takes them; X has the rows that they name."""
        return self._learn_comparisons(comparisons, X, sample_weight, self._model_to_go_on_from())

    def partial_fit_pairs(self, pairs: Any, y: Any, X: Any = None, sample_weight: Any = None):
        """Goes on with further pairs, as `fit_pairs` takes them; X has the rows that they name."""
        return self._learn_pairs(pairs, y, X, sample_weight, self._model_to_go_on_from())

    def partial_fit_targets(self, pairs: Any, values: Any, X: Any = None, sample_weight: Any = None):
        """Goes on with values of further pairs, as `fit_targets` takes them; X has the rows that they name."""
        return self._learn_targets(pairs, values, X, sample_weight, self._model_to_go_on_from())

    def _model_to_go_on_from(self):
        return getattr(self, "model_", None)


class PartialLabelsMixin(PartialMixin):
    def partial_fit(self, X: Any, y: Any):
        """Goes on with further labelled rows, of known or new classes.

        Only these rows are looked at: give some of the earlier ones, too, where they must not be forgotten.
        """
        start = self._model_to_go_on_from()
        return self.fit(X, y) if start is None else self._learn_labels(X, y, start)
