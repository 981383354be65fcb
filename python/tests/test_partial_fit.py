"""Going on from a model with new rows or comparisons."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import bregmax

SMALL = {
    "smooth": bregmax.Smooth(n_pieces=20, decay=1e-2),
    "deep": bregmax.Deep(hidden_layers=1, width=64, outputs=8, n_pieces=20, decay=1e-2),
    "learner": bregmax.BregmanLearner(method="smooth"),
}
each_learner = pytest.mark.parametrize("name", SMALL)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=1 / 3, random_state=0, stratify=y)


@each_learner
def test_going_on_with_the_same_rows_does_not_raise_the_objective(few, name):
    learner = clone(SMALL[name]).fit(*few)
    before, parameters = learner.report_["objective"], learner.parameters_
    assert learner.partial_fit(*few) is learner
    assert learner.report_["objective"] <= 1.002 * before
    assert learner.parameters_ == parameters


@pytest.mark.parametrize("name", ["smooth", "deep"])
def test_one_part_after_the_other_is_close_to_both_at_once(digits, name):
    X, X_test, y, y_test = digits
    half = len(X) // 2
    at_once = clone(SMALL[name]).fit(X, y).score(X_test, y_test)
    learner = clone(SMALL[name]).fit(X[:half], y[:half])
    of_half = learner.score(X_test, y_test)
    in_turn = learner.partial_fit(X[half:], y[half:]).score(X_test, y_test)
    assert in_turn > at_once - 0.015
    assert in_turn > of_half


@pytest.mark.parametrize("name", ["smooth", "deep"])
def test_new_classes_are_learned_and_the_old_ones_mostly_kept(digits, name):
    X, X_test, y, y_test = digits
    old, old_test = y < 7, y_test < 7
    learner = clone(SMALL[name]).fit(X[old], y[old])
    new_before, old_before = (learner.score(X_test[rows], y_test[rows]) for rows in (~old_test, old_test))
    learner.partial_fit(X[~old], y[~old])
    new_after, old_after = (learner.score(X_test[rows], y_test[rows]) for rows in (~old_test, old_test))
    assert new_before < 0.75 and new_after > 0.93
    assert old_after > old_before - 0.15
    assert learner.classes_.tolist() == list(range(10))
    assert sorted(learner.model_.class_names) == [str(digit) for digit in range(10)]


def test_what_cross_validation_chose_and_the_scaling_are_kept(few):
    X, y = few
    learner = bregmax.Smooth(n_pieces=8, decay="auto", feature_price=[0.0, 0.01]).fit(X, y)
    chosen, scale = learner.parameters_, learner.model_.scale
    assert learner.model_.tuning is not None
    learner.partial_fit(3 * X + 1, y)
    assert learner.parameters_ == chosen and (learner.model_.scale == scale).all()
    assert learner.model_.tuning is None


def test_the_first_call_is_a_fit(few):
    first = bregmax.Smooth(n_pieces=8, decay=1e-2).partial_fit(*few)
    assert (first.divergence(few[0]) == bregmax.Smooth(n_pieces=8, decay=1e-2).fit(*few).divergence(few[0])).all()
    triplets = [(0, 1, 20), (20, 21, 5)]
    comparisons = bregmax.BregmanLearner(method="smooth").partial_fit_comparisons(triplets, few[0])
    assert comparisons.method_ == "smooth"


def test_a_first_call_chooses_a_method_that_can_go_on(few):
    learner = bregmax.BregmanLearner(repeats=1).partial_fit(*few)
    assert {score["method"] for score in learner.scores_} == {"euclidean", "smooth", "deep"}
    assert learner.method_ in ("smooth", "deep")
    assert learner.partial_fit(*few).method_ == learner.method_
    with pytest.raises(ValueError, match="n_pieces chooses the method pbdl, whose models cannot be learned further"):
        bregmax.BregmanLearner(n_pieces=5).partial_fit(*few)

    X, y = few
    pairs = np.random.default_rng(0).integers(len(X), size=(60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    judge = bregmax.BregmanPairsLearner(preprocessor=X).partial_fit(pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1))
    assert judge.method_ in ("smooth", "deep") and judge.threshold_ == 1.0


def test_the_first_call_heeds_the_parameters_of_the_supervision(few):
    learner = bregmax.Smooth(n_pieces=8, decay=1e-2, all_pairs=True).partial_fit(*few)
    assert learner.model_.record["supervision"] == "pairs"


def test_names_of_classes_are_kept(few):
    X, y = few
    learner = bregmax.Smooth(n_pieces=8, decay=1e-2).fit(X, y)
    names = learner.model_.class_names
    learner.partial_fit_comparisons([(0, 1, 20), (20, 21, 5)], X)
    assert learner.model_.class_names == names and learner.classes_.tolist() == sorted(names)
    learner.fit_comparisons([(0, 1, 20), (20, 21, 5)], X)
    assert learner.model_.class_names == [] and not hasattr(learner, "classes_")


def test_numbers_of_classes_of_another_type_are_the_same_classes(few):
    X, numbers = few[0], np.arange(len(few[0])) % 3
    learner = bregmax.Smooth(n_pieces=8, decay=1e-2).fit(X, numbers).partial_fit(X, numbers + 1.0)
    assert learner.classes_.tolist() == [0, 1, 2, 3]
    assert learner.model_.class_names == ["0", "1", "2", "3.0"]
    with pytest.raises(ValueError, match="y has classes such as 'setosa', and the model was learned from such as 0"):
        learner.partial_fit(*few)


def _comparisons(rows, count, seed):
    """Triplets that hold for the squared distance of the first feature."""
    triplets = np.random.default_rng(seed).integers(len(rows), size=(count, 3))
    near, far = (np.abs(rows[triplets[:, 0], 0] - rows[triplets[:, place], 0]) for place in (1, 2))
    triplets = triplets[near != far]
    swap = (near > far)[near != far]
    triplets[swap] = triplets[swap][:, [0, 2, 1]]
    return triplets


def test_further_comparisons(iris):
    X = iris.data
    test = _comparisons(X, 1000, 9)
    learner = bregmax.SmoothComparisonsLearner(n_pieces=10, decay=1e-3, feature_price=0.0, preprocessor=X)
    few = learner.fit(_comparisons(X, 40, 0)).score(test)
    more = learner.partial_fit(_comparisons(X, 400, 1)).score(test)
    assert more > few
    both = bregmax.SmoothComparisonsLearner(n_pieces=10, decay=1e-3, feature_price=0.0, preprocessor=X)
    assert more > both.fit(np.vstack([_comparisons(X, 40, 0), _comparisons(X, 400, 1)])).score(test) - 0.03


def test_pairs_keep_their_threshold_and_targets_their_unit(iris):
    X, y = iris.data, iris.target
    pairs = np.random.default_rng(0).integers(len(X), size=(400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    similar = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    judge = bregmax.SmoothPairsLearner(n_pieces=10, decay=1e-2, feature_price=0.0, preprocessor=X)
    judge.fit(pairs[:100], similar[:100]).set_threshold(7.0)
    judge.partial_fit(pairs[100:], similar[100:])
    assert judge.threshold_ == 1.0
    assert np.mean(judge.predict(pairs) == similar) > 0.85

    values = 1000 * ((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2).sum(axis=1)
    regression = bregmax.SmoothTargetsLearner(n_pieces=4, decay=0.0, feature_price=0.0, preprocessor=X)
    regression.fit(pairs[:100], values[:100])
    before = regression.score(pairs[100:], values[100:])
    after = regression.partial_fit(pairs[100:], values[100:]).score(pairs[100:], values[100:])
    assert after >= before - 1e-3 and after > 0.95


def test_mistakes(few):
    X, y = few
    learner = bregmax.Smooth(n_pieces=8, decay=1e-2).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but Smooth is expecting 4 features"):
        learner.partial_fit(X[:, :3], y)
    with pytest.raises(ValueError, match="4 features|3 features"):
        learner.partial_fit_comparisons([(0, 1, 2)], X[:, :3])
    with pytest.raises(ValueError, match="n_pieces is 9, and the model to go on from has 8"):
        learner.set_params(n_pieces=9).partial_fit(X, y)
    with pytest.raises(ValueError, match="class"):
        learner.set_params(n_pieces=8).partial_fit(X[:5], np.zeros(5))
    other = bregmax.BregmanLearner(method="smooth").fit(X, y).set_params(method="deep")
    with pytest.raises(ValueError, match="method=deep: the model to go on from is one of smooth"):
        other.partial_fit(X, y)
    proved = bregmax.BregmanLearner(1.0).fit(X, y)
    with pytest.raises(AttributeError) as refused:
        proved.partial_fit(X, y)
    assert "only models of smooth and deep can be learned further; the method is 'pbdl'" in str(refused.value.__cause__)


def test_only_what_can_go_on_says_that_it_can():
    assert hasattr(bregmax.SmoothPairsLearner(), "partial_fit") and hasattr(bregmax.Deep(), "partial_fit_targets")
    assert hasattr(bregmax.BregmanComparisonsLearner(), "partial_fit")
    for learner in (
        bregmax.BregmanLearner(method="pbdl"),
        bregmax.BregmanPairsLearner(method="itml"),
        bregmax.ITMLPairsLearner(),
        bregmax.MahalanobisRegression(),
        bregmax.LMNN(),
    ):
        assert not hasattr(learner, "partial_fit"), learner
