"""Weights of labelled rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

import bregmax

LEARNERS = {
    "smooth": bregmax.Smooth(n_pieces=8, decay=1e-2),
    "deep": bregmax.Deep(hidden_layers=1, width=16, outputs=4, n_pieces=8, steps=200, decay=1e-2),
    "learner": bregmax.BregmanLearner(method="smooth", repeats=1),
}
each_learner = pytest.mark.parametrize("name", LEARNERS)


@pytest.fixture(scope="module")
def weights(few):
    return 0.5 + np.random.default_rng(0).random(len(few[0]))


@each_learner
def test_only_their_ratios_count(few, weights, name):
    X, y = few
    plain = clone(LEARNERS[name]).fit(X, y).divergence(X)
    assert (clone(LEARNERS[name]).fit(X, y, sample_weight=np.full(len(X), 3)).divergence(X) == plain).all()
    assert (clone(LEARNERS[name]).fit(X, y, 0.25).divergence(X) == plain).all()
    weighted = clone(LEARNERS[name]).fit(X, y, weights).divergence(X)
    assert (weighted != plain).any()
    assert (clone(LEARNERS[name]).fit(X, y, sample_weight=8 * weights).divergence(X) == weighted).all()


@pytest.mark.parametrize("name", ["smooth", "deep"])
def test_rows_with_more_weight_are_learned_better(name):
    """Two halves of the rows have classes by different features, so that one divergence cannot serve both."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    first = np.arange(200) < 100
    y = np.where(first, X[:, 0] > 0, X[:, 1] > 0).astype(int)

    def scores(weights):
        learner = clone(LEARNERS[name]).fit(X, y, sample_weight=weights)
        return np.array([learner.score(X[half], y[half]) for half in (first, ~first)])

    assert (scores(np.where(first, 1, 1e-3)) - scores(np.where(first, 1e-3, 1)) > [0.03, -1]).all()
    assert (scores(np.where(first, 1e-3, 1)) - scores(np.where(first, 1, 1e-3)) > [-1, 0.03]).all()


@pytest.mark.parametrize("form", [list, pd.Series, lambda weights: weights.astype(np.float32), lambda weights: weights[::1]])
def test_forms_of_weights(few, weights, form):
    weights = weights.astype(np.float32).astype(float)
    expected = clone(LEARNERS["smooth"]).fit(*few, sample_weight=weights).divergence(few[0])
    assert (clone(LEARNERS["smooth"]).fit(*few, sample_weight=form(weights)).divergence(few[0]) == expected).all()


def test_going_on(few, weights):
    X, y = few
    begun = clone(LEARNERS["smooth"]).partial_fit(X, y, sample_weight=weights)
    assert (begun.divergence(X) == clone(LEARNERS["smooth"]).fit(X, y, sample_weight=weights).divergence(X)).all()
    weighted = clone(LEARNERS["smooth"]).fit(X, y).partial_fit(X, y, sample_weight=weights)
    plain = clone(LEARNERS["smooth"]).fit(X, y).partial_fit(X, y)
    assert (weighted.divergence(X) != plain.divergence(X)).any()


def test_auto_chooses_from_methods_that_weigh_rows(few, weights):
    learner = bregmax.BregmanLearner(repeats=1).fit(*few, sample_weight=weights)
    assert {score["method"] for score in learner.scores_} == {"euclidean", "smooth", "deep"}
    assert "pbdl does not compete, since it does not weigh rows" in learner.report_["plan"]["notes"]


def test_weights_are_split_with_the_rows(few, weights):
    folds = StratifiedKFold(3)
    scores = cross_val_score(LEARNERS["smooth"], *few, cv=folds, params={"sample_weight": weights})
    train, test = next(folds.split(*few))
    X, y = few
    learner = clone(LEARNERS["smooth"]).fit(X[train], y[train], sample_weight=weights[train])
    assert scores[0] == learner.score(X[test], y[test]) and np.isfinite(scores).all()


class Transforming(bregmax.Smooth):
    """scikit-learn's check compares what is transformed or predicted, which learners do not do."""

    def transform(self, X):
        return self.divergence(X)


def test_a_row_of_weight_2_is_not_the_row_twice():
    """Each row is told apart from all others, and a copy of it would be its nearest neighbour (docs/methods.md)."""
    with pytest.raises(AssertionError, match="not equivalent to fitting with removed or repeated data points"):
        check_sample_weight_equivalence_on_dense_data("Transforming", Transforming(n_pieces=8, decay=1e-2))


def test_pieces_are_given_by_name(few):
    X, y = few
    piece_of = np.arange(len(X)) // 10
    assert (bregmax.BregmanLearner(1.0).fit(X, y, piece_of=piece_of).pieces(X) == piece_of).all()
    with pytest.raises(TypeError):
        bregmax.BregmanLearner(1.0).fit(X, y, None, piece_of)


# ---- Mistakes ----


@pytest.mark.parametrize("change", [dict(method="pbdl"), dict(lam=1.0), dict(method="lmnn"), dict(candidates=["smooth", "gmml"])])
def test_methods_that_do_not_weigh_rows_say_so(few, weights, change):
    learner = bregmax.BregmanLearner(repeats=1, **change)
    name = change.get("method", "gmml" if "candidates" in change else "pbdl")
    with pytest.raises(ValueError, match=f"{name} does not weigh rows; smooth and deep do"):
        learner.fit(*few, sample_weight=weights)
    assert not hasattr(learner, "model_")


@pytest.mark.parametrize(
    "learner", [bregmax.Smooth(all_pairs=True), bregmax.BregmanLearner(method="smooth", supervision="all_pairs")]
)
def test_pairs_of_rows_have_no_weights(few, weights, learner):
    message = "sample_weight is for labelled rows; it does not go with all pairs of them"
    with pytest.raises(ValueError, match=message):
        learner.fit(*few, sample_weight=weights)


@each_learner
@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda weights: weights[:-1], r"sample_weight has shape \(29,\); expected \(30,\), one weight per row"),
        (lambda weights: np.stack([weights, weights], axis=1), r"sample_weight has shape \(30, 2\); expected \(30,\)"),
        (lambda weights: np.append(weights[:-1], -1), "sample_weight has negative values, such as -1.0"),
        (lambda weights: -1.0, "sample_weight has negative values, such as -1.0"),
        (lambda weights: 0 * weights, "sample_weight is zero for every row; at least one row must have a weight > 0"),
        (lambda weights: np.append(weights[:-1], np.nan), "Input sample_weight contains NaN"),
        (lambda weights: np.append(weights[:-1], np.inf), "Input sample_weight contains infinity"),
        (lambda weights: ["a"] * len(weights), "could not convert string to float"),
    ],
    ids=["length", "shape", "negative", "negative number", "zero", "NaN", "infinity", "text"],
)
def test_mistakes(few, weights, name, spoil, message):
    learner = clone(LEARNERS[name])
    with pytest.raises(ValueError, match=message):
        learner.fit(*few, sample_weight=spoil(weights))
    assert not vars(learner).keys() - learner.get_params().keys()
