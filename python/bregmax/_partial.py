"""Going on from what was learned, for the methods that are learned by gradients."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if

GOING_ON = ("smooth", "deep")  # the methods that can go on from a model


def _method_goes_on(learner: Any) -> bool:
    """Whether it was, or may be, one of these methods that is learned; for `BregmanLearner` that is seen after `fit`."""
    method = getattr(learner, "method_", getattr(learner, "method", GOING_ON[0]))
    if method not in (*GOING_ON, "auto"):
        raise AttributeError(f"only models of {' and '.join(GOING_ON)} can be learned further; the method is {method!r}")
    return True


class PartialMixin:
    """What is new is learned from the model as it is: its scaling, its parameters and what cross-validation chose are
    kept. Before the first fit, these methods do what the ones without `partial_` do, but where the method is to be chosen,
    it is one that can go on."""

    @available_if(_method_goes_on)
    def partial_fit_comparisons(self, comparisons: Any, X: Any = None, sample_weight: Any = None):
        """Goes on with further comparisons, as `fit_comparisons` takes them; X has the rows that they name."""
        return self._learn_comparisons(comparisons, X, sample_weight, **self._to_go_on())

    @available_if(_method_goes_on)
    def partial_fit_pairs(
        self, pairs: Any, y: Any, X: Any = None, sample_weight: Any = None, directed: bool = False
    ):
        """Goes on with further pairs, as `fit_pairs` takes them; X has the rows that they name."""
        return self._learn_pairs(pairs, y, X, sample_weight, directed, **self._to_go_on())

    @available_if(_method_goes_on)
    def partial_fit_targets(self, pairs: Any, values: Any, X: Any = None, sample_weight: Any = None):
        """Goes on with values of further pairs, as `fit_targets` takes them; X has the rows that they name."""
        return self._learn_targets(pairs, values, X, sample_weight, **self._to_go_on())

    def _to_go_on(self) -> dict[str, Any]:
        """What the first call, or a later one, asks for in addition."""
        return {"start": self.model_} if hasattr(self, "model_") else {}


class PartialLabelsMixin(PartialMixin):
    @available_if(_method_goes_on)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Goes on with further labelled rows, of known or new classes, weighed as by `fit`.

        Only these rows are looked at. Steps are shorter than those of `fit`, so that little of what was learned before is
        forgotten; where nothing may be, give the earlier rows (or some of them), too.
        """
        supervision = {} if hasattr(self, "model_") else self._label_supervision()
        return self._learn_labels(X, y, sample_weight, **supervision, **self._to_go_on())
