"""The methods other than pbdl, as `bregmax fit --method` has them: `Smooth` and `Deep`, which are learned by gradients,
and the classical methods of metric learning.

The parameters of a method are None unless they are given: the library then uses its default, or chooses by
cross-validation (`available_methods()` says which). A number or a name is taken as it is; "auto" tries the values that the library
recommends, a list tries its members. What was used is in `parameters_`.

All of them share
    scale : "standard", "none", "auto" or None: "standard"
    tune_for, folds, repeats, scores_file : of the cross-validation, as for `BregmanLearner`; where labels are learned from
    tol, max_iter : None: the method's own; not where there is nothing to iterate
    time_limit, random_state, n_jobs, verbose : as for `BregmanLearner`
    early_stop, checkpoint, checkpoint_every, resume : as for `BregmanLearner`; of `Smooth` and `Deep`
    preprocessor : the rows that numbers in pairs refer to; where pairs are learned from
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from bregmax._base import (
    DivergenceLearner,
    EmbeddingMixin,
    LabelMixin,
    Resumable,
    methods_by_name,
    name_here,
    parameters,
)
from bregmax._pairs import ComparisonsMixin, PairsMixin, TargetsMixin
from bregmax._partial import PartialLabelsMixin


def available_methods() -> dict[str, dict[str, Any]]:
    """The methods by the name that the command line knows them by, each with its parameters and limits."""
    return methods_by_name()


def _learns_by(method: str):
    """Makes the parameters of a method of the library parameters of the class, None unless they are given."""

    def decorate(learner: type) -> type:
        learner._parameters_of = method
        own = [name_here(name) for name in methods_by_name()[method]["parameters"]]
        learner.__annotations__ = learner.__dict__.get("__annotations__", {}) | dict.fromkeys(own, "Any")
        for name in own:
            setattr(learner, name, None)
        return parameters(learner)

    return decorate


@parameters
class _Iterated:
    tol: float | None = None
    max_iter: int | None = None


class _LabelMethod(LabelMixin, DivergenceLearner):
    def fit(self, X: Any, y: Any):
        """Learns from the labels y of the rows X."""
        return self._learn_labels(X, y, **self._label_supervision())

    def _label_supervision(self) -> dict[str, Any]:
        return {"supervision": "all_pairs" if getattr(self, "all_pairs", False) else None}


@parameters
class _TunedMethod(_LabelMethod):
    tune_for: str = "average_precision"
    folds: int | None = None
    repeats: int | None = None
    scores_file: Any = None


@parameters
class _PairsMethod:
    all_pairs: bool = False
    preprocessor: Any = None

    def fit_pairs(self, pairs: Any, y: Any, X: Any = None, sample_weight: Any = None, directed: bool = False):
        """Learns from pairs that are similar (y is 1) or dissimilar (-1, or 0).

        pairs: row numbers of X (or of the preprocessor) of shape (m, 2), labels of its index if it is a data frame with
        one, or the rows themselves, of shape (m, 2, d). directed: a pair says something about D(point, reference) only;
        else its loss is the mean of both directions.
        """
        return self._learn_pairs(pairs, y, X, sample_weight, directed)


@_learns_by("euclidean")
class Euclidean(EmbeddingMixin, _LabelMethod):
    """The squared Euclidean distance of the scaled features, with nothing learned, to compare the others with."""

    def fit(self, X: Any, y: Any = None) -> Euclidean:
        """Learns the scaling of the features; labels do not matter."""
        if y is not None:
            return super().fit(X, y)
        with self._unchanged_by_failure():
            X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
            vars(self).pop("classes_", None)
            return self._learn(X, {"classes": np.zeros(len(X), dtype=np.int32)})

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


@_learns_by("mahalanobis")
class MahalanobisRegression(TargetsMixin, EmbeddingMixin, _Iterated, DivergenceLearner):
    """The least squares fit of a Mahalanobis divergence to values that D(point, reference) should have."""

    preprocessor: Any = None

    def fit_targets(self, pairs: Any, values: Any, X: Any = None, sample_weight: Any = None):
        """Learns from values of pairs: row numbers of X (or of the preprocessor) of shape (m, 2), or rows (m, 2, d)."""
        return self._learn_targets(pairs, values, X, sample_weight)


@parameters
class _GradientMethod(PartialLabelsMixin, _PairsMethod, Resumable, _Iterated, _TunedMethod):
    """From labels, and from items. D = 1 is the threshold between similar and dissimilar pairs."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Learns from the labels y of the rows X. sample_weight: how much the loss of each row counts."""
        return self._learn_labels(X, y, sample_weight, **self._label_supervision())

    def fit_comparisons(self, comparisons: Any, X: Any = None, sample_weight: Any = None):
        """Learns from D(i, j) <= D(k, l).

        comparisons: row numbers of X (or of the preprocessor) of shape (m, 4), or (m, 3) for D(i, j) <= D(i, l); or the
        rows themselves, of shape (m, 4, d) or (m, 3, d).
        """
        return self._learn_comparisons(comparisons, X, sample_weight)

    def fit_targets(self, pairs: Any, values: Any, X: Any = None, sample_weight: Any = None):
        """Learns from values of pairs: row numbers of X (or of the preprocessor) of shape (m, 2), or rows (m, 2, d)."""
        return self._learn_targets(pairs, values, X, sample_weight)


@_learns_by("smooth")
class Smooth(_GradientMethod):
    """A generator ||G x||^2 + log sum_k exp(<a_k, x> + b_k), learned by gradients: from labels, or from items by
    `fit_pairs`, `fit_comparisons` and `fit_targets`.

    n_pieces: how many a_k. quadratic_rank: rows of G; 0: as many as features, at most 64. decay: price on the squares of
    a_k less their mean and of G. feature_price: price on each feature that is used; drops those that say nothing.
    neighbour_share: of the loss of labels; 0: all rows of a class count, 1: the nearest ones. optimiser: "adamw", "lbfgs",
    or "auto": lbfgs for small problems with items. rate, weight_decay, batch, steps: of adamw; steps=0: by the number of
    rows or items.
    """


@_learns_by("deep")
class Deep(_GradientMethod):
    """The generator of `Smooth` on the outputs of a network of dense layers, learned together with it.

    hidden_layers, width: of the network; activation: of its hidden layers, "relu" or "tanh"; outputs: numbers per row that
    the generator sees. quadratic_rank: rows of G; 0: as many as outputs. n_pieces, decay, feature_price, neighbour_share,
    optimiser, rate, weight_decay, batch, steps: as in `Smooth`; feature_price is on the first layer, and "auto" is adamw.
    """


@_learns_by("itml")
class ITML(_PairsMethod, EmbeddingMixin, _Iterated, _TunedMethod):
    """Information-theoretic metric learning (Davis et al. 2007), from labels or (`fit_pairs`) from pairs.

    gamma: price of the slack of a bound. prior: "identity" or "inverse-covariance", the matrix to stay close to.
    n_constraints: pairs drawn from labels; 0: 20 times the square of the number of classes. upper_percentile,
    lower_percentile: of the divergences under the prior, the bounds of similar and dissimilar pairs. upper, lower: these
    bounds themselves; 0: the percentiles. all_pairs: learn from all pairs of labelled rows instead of drawn ones.
    """


@_learns_by("gmml")
class GMML(_PairsMethod, EmbeddingMixin, _TunedMethod):
    """Geometric mean metric learning (Zadeh et al. 2016), in closed form, from labels or (`fit_pairs`) from pairs.

    t: where on the way from the scatter of similar pairs (0) to that of dissimilar ones (1). lam: weight of the prior, a
    multiple of the identity. all_pairs: learn from all pairs of labelled rows.
    """


@_learns_by("mlr-auc")
class MLRAUC(EmbeddingMixin, _Iterated, _TunedMethod):
    """Metric learning to rank (McFee and Lanckriet 2010) for the area under the ROC curve.

    c: weight of the ranking loss relative to the trace.
    """


@_learns_by("wu2009")
class Wu2009(_PairsMethod, _Iterated, _TunedMethod):
    """The Bregman distance functions of Wu et al. (2009), from labels or (`fit_pairs`) from pairs.

    kernel: "square" or "exponential". c: weight of the hinge losses. algorithm: "exact", or "subgradient" as in the paper.
    kernel_scale: inner products are divided by this; 0: by the largest squared norm of a row. step: of the subgradient
    method. n_constraints: pairs drawn from labels; 0: 20 times the square of the number of classes. all_pairs: learn from
    all pairs of labelled rows instead.
    """


@_learns_by("lmnn")
class LMNN(EmbeddingMixin, _Iterated, _TunedMethod):
    """Large margin nearest neighbours (Weinberger and Saul 2009), to a proved gap.

    n_neighbors: target neighbours of a row. push: weight of impostors against that of targets.
    """


@_learns_by("gb-lmnn")
class GBLMNN(EmbeddingMixin, _Iterated, _TunedMethod):
    """Gradient boosted large margin nearest neighbours (Kedem et al. 2012): an embedding by regression trees.

    n_neighbors, push: as in `LMNN`. n_trees: at most. depth: levels of splits of a tree. shrinkage: share of a
    tree's step that is taken.
    """


@_learns_by("nca")
class NCA(EmbeddingMixin, _Iterated, _TunedMethod):
    """Neighbourhood component analysis (Goldberger et al. 2005).

    form: "full" or "diagonal". n_components: rows of the learned matrix; 0: as many as features.
    """


@_learns_by("kernel-nca")
class KernelNCA(EmbeddingMixin, _Iterated, _TunedMethod):
    """Neighbourhood component analysis in the feature space of a kernel.

    kernel: "rbf" or "polynomial". bandwidth: of the kernel. degree: of the polynomial. n_components: of the embedding; 0:
    as many as features.
    """


class SmoothPairsLearner(PairsMixin, Smooth):
    """`Smooth` whose samples are pairs, so that scikit-learn's model selection can split them."""


class SmoothComparisonsLearner(ComparisonsMixin, Smooth):
    """`Smooth` whose samples are comparisons, so that scikit-learn's model selection can split them."""


class SmoothTargetsLearner(TargetsMixin, Smooth):
    """`Smooth` whose samples are pairs with values, so that scikit-learn's model selection can split them."""


class DeepPairsLearner(PairsMixin, Deep):
    """`Deep` whose samples are pairs, so that scikit-learn's model selection can split them."""


class DeepComparisonsLearner(ComparisonsMixin, Deep):
    """`Deep` whose samples are comparisons, so that scikit-learn's model selection can split them."""


class DeepTargetsLearner(TargetsMixin, Deep):
    """`Deep` whose samples are pairs with values, so that scikit-learn's model selection can split them."""


class ITMLPairsLearner(PairsMixin, ITML):
    """`ITML` whose samples are pairs, so that scikit-learn's model selection can split them."""


class GMMLPairsLearner(PairsMixin, GMML):
    """`GMML` whose samples are pairs, so that scikit-learn's model selection can split them."""


class Wu2009PairsLearner(PairsMixin, Wu2009):
    """`Wu2009` whose samples are pairs, so that scikit-learn's model selection can split them."""
