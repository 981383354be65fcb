import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import bregmax


def test_learns_to_a_proved_gap(few):
    learner = bregmax.BregmanLearner(1.0).fit(*few)
    report = learner.report_
    assert report["status"] == "optimal"
    assert report["objective"] == pytest.approx(report["loss"] + 1.0 * report["lipschitz"])
    assert 0 <= report["objective"] - report["lower_bound"] <= 1e-8 * max(report["objective"], 1)
    assert learner.score(*few) > 0.9
    assert learner.n_features_in_ == 4
    assert list(learner.classes_) == ["setosa", "versicolor", "virginica"]
    assert learner.model_.class_names == ["setosa", "versicolor", "virginica"]


def test_divergence_is_that_of_its_generator(fitted, few):
    X, _ = few
    points, references = X[:10], X[10:]
    phi, gradient = fitted.phi, fitted.gradient(references)
    by_definition = (
        phi(points)[:, None]
        - phi(references)[None, :]
        - np.einsum("rf,prf->pr", gradient, points[:, None, :] - references[None, :, :])
    )
    divergences = fitted.divergence(points, references)
    np.testing.assert_allclose(divergences, by_definition, atol=1e-12 * max(1, abs(phi(X)).max()))
    assert (divergences >= 0).all()
    assert not np.allclose(fitted.divergence(X), fitted.divergence(X).T), "a divergence is not symmetric"


def test_pieces_are_those_whose_slopes_the_gradient_has(few):
    X, y = few
    learner = bregmax.BregmanLearner(1.0, n_pieces=6).fit(X, y)
    pieces = learner.pieces(X)
    assert set(pieces) <= set(range(6))
    model = learner.model_
    np.testing.assert_allclose(learner.gradient(X), model.slopes[pieces] / model.scale, rtol=1e-12)


@pytest.mark.parametrize(
    "variant",
    [
        lambda X: np.asfortranarray(X),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: np.repeat(X, 3, axis=0)[::3],
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X),
        lambda X: X.astype(object),
    ],
    ids=["fortran", "strided columns", "strided rows", "list", "frame", "object"],
)
def test_every_layout_gives_the_same_result(few, fitted, variant):
    X, y = few
    other = bregmax.BregmanLearner(1.0).fit(variant(X), y)
    np.testing.assert_array_equal(other.divergence(variant(X)), fitted.divergence(X))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
def test_every_type_gives_the_result_of_its_numbers(few, dtype):
    X, y = few
    X = (10 * X).astype(dtype)
    one = bregmax.BregmanLearner(1.0).fit(X, y)
    other = bregmax.BregmanLearner(1.0).fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(one.divergence(X), other.divergence(X.astype(np.float64)))


def test_frames_name_the_features(few):
    X, y = few
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    learner = bregmax.BregmanLearner(1.0).fit(frame, y)
    assert list(learner.feature_names_in_) == ["a", "b", "c", "d"]
    assert learner.model_.feature_names == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        learner.divergence(frame[["b", "a", "c", "d"]])


def test_clone_and_pickle(few, fitted):
    X, _ = few
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.divergence(X), fitted.divergence(X))
    again = clone(fitted)
    assert again.get_params() == fitted.get_params() and not hasattr(again, "model_")
    with pytest.raises(NotFittedError):
        again.divergence(X)


def test_names_of_classes_do_not_matter(few, fitted):
    X, y = few
    renamed = np.array([{"setosa": 7, "versicolor": 3, "virginica": 5}[name] for name in y])
    other = bregmax.BregmanLearner(1.0).fit(X, renamed)
    np.testing.assert_array_equal(other.divergence(X), fitted.divergence(X))


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(lam=-1.0), "lam is -1"),
        (dict(lam="fast"), "lam is 'fast'"),
        (dict(n_pieces=31), "n_pieces is 31; allowed: 1 to 30"),
        (dict(n_pieces="some"), "n_pieces is 'some'"),
        (dict(scale="log"), "scale is 'log'"),
        (dict(supervision="none"), "supervision is 'none'"),
        (dict(lam="auto", tune_for="luck"), "luck"),
        (dict(tol=0.0), "tolerance"),
        (dict(n_jobs=0), "n_jobs is 0"),
        (dict(random_state=-1), "random_state is -1"),
        (dict(lam=1.0, lambdas=[1, 2]), "lambdas"),
        (dict(lam="auto", lambdas=[-1.0, 2.0]), "lam is -1"),
        (dict(lam="auto", lambdas=[2.0, 1.0]), "lambdas is 2,1; allowed: rising numbers"),
        (dict(lipschitz_bound=-1.0), "[Ll]ipschitz"),
        (dict(n_pieces=0), "n_pieces is 0; allowed: a whole number from 1"),
        (dict(n_pieces="theory"), "n_pieces is theory; that rule is for targets"),
        (dict(supervision="all_pairs", n_comparisons=5), "n_comparisons is the number"),
        (dict(lam="auto", repeats=0), "repeats is 0"),
        (dict(lam="auto", repeats=1.5), "repeats is 1.5; allowed: a whole number"),
        (dict(lam="auto", folds=2.7), "folds is 2.7; allowed: a whole number"),
        (dict(lam="auto", folds="3"), "folds is '3'; allowed: a whole number"),
        (dict(max_iter=10.5), "max_iter is 10.5; allowed: a whole number"),
        (dict(supervision="comparisons", n_comparisons=20.5), "n_comparisons is 20.5; allowed: a whole number"),
        (dict(supervision="hard_comparisons", hard_neighbors=2.5), "hard_neighbors is 2.5; allowed: a whole number"),
        (dict(n_pieces=True), "n_pieces is True; allowed: a number"),
        (dict(lam=True), "lam is True; allowed: a number"),
        (dict(time_limit="1"), "time_limit is '1'; allowed: a number"),
        (dict(method="smooth"), "lam does not go with method='smooth'; it is a parameter of pbdl"),
        (dict(method="smooth", lam=None, lambdas=[1.0]), "lam does not go with method='smooth'"),
        (dict(method="smooth", lam=None, smoothing=0.1), "smoothing does not go with method='smooth'"),
        (dict(method="smooth", lam=None, solver="exact"), "solver=exact is for pbdl; it does not go with smooth"),
        (dict(lam=None, candidates=[]), r"candidates is \[\]; allowed: names, or None"),
    ],
)
def test_mistakes_are_value_errors(few, change, message):
    with pytest.raises(ValueError, match=message):
        bregmax.BregmanLearner(**{"lam": 1.0, **change}).fit(*few)


def test_pieces_of_rows_are_whole_numbers(few):
    with pytest.raises(ValueError, match="a member of piece_of is 0.5; allowed: a whole number"):
        bregmax.BregmanLearner(1.0).fit(*few, piece_of=np.full(len(few[0]), 0.5))


def test_one_candidate_need_not_be_in_a_list(few):
    learner = bregmax.BregmanLearner(candidates="smooth", repeats=1).fit(*few)
    assert learner.method_ == "smooth"
    assert {score["method"] for score in learner.scores_} == {"smooth", "euclidean"}


def test_bad_rows_get_the_messages_of_scikit_learn(few, fitted):
    X, y = few
    spoilt = X.copy()
    spoilt[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        bregmax.BregmanLearner(1.0).fit(spoilt, y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fitted.divergence(spoilt)
    with pytest.raises(ValueError, match="X has 3 features, but BregmanLearner is expecting 4 features"):
        fitted.divergence(X[:, :3])
    with pytest.raises(ValueError, match="Expected 2D array"):
        fitted.divergence(X[0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        bregmax.BregmanLearner(1.0).fit(X, y[:-1])
    with pytest.raises(ValueError, match="class"):
        bregmax.BregmanLearner(1.0, supervision="comparisons").fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="two classes"):
        bregmax.BregmanLearner().fit(X, np.zeros(len(X)))


def test_limits_warn(few):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 was reached"):
        bregmax.BregmanLearner(1.0, max_iter=2).fit(*few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bregmax.BregmanLearner(1.0).fit(*few)


def test_a_constant_divergence_warns(few):
    with pytest.warns(UserWarning, match="constant"):
        bregmax.BregmanLearner(1e9).fit(*few)


def test_tuning_leaves_its_table(few):
    learner = bregmax.BregmanLearner(lambdas=[0.1, 10.0], scale="standard").fit(*few)
    tuning = learner.model_.tuning
    assert learner.lam_ in (0.1, 10.0)
    assert len(tuning["candidates"]) == len(tuning["means"])
    chosen = tuning["candidates"][tuning["chosen"]]
    assert chosen["lambda"] == learner.lam_ and chosen["smoothing"] == learner.smoothing_
    column = tuning["measures"].index("average_precision")
    assert tuning["means"][tuning["chosen"], column] == np.nanmax(tuning["means"][:, column])


def test_given_pieces(few):
    X, y = few
    piece_of = np.arange(len(X)) // 10
    learner = bregmax.BregmanLearner(1.0).fit(X, y, piece_of=piece_of)
    assert learner.model_.slopes.shape == (3, 4)
    np.testing.assert_array_equal(learner.pieces(X), piece_of)


def test_repeats_are_those_of_the_cross_validation(few):
    once = bregmax.BregmanLearner(lambdas=[0.1, 10.0], smoothing=0.0, repeats=1).fit(*few).model_.tuning
    thrice = bregmax.BregmanLearner(lambdas=[0.1, 10.0], smoothing=0.0).fit(*few).model_.tuning
    assert once["folds"] == 3 and thrice["folds"] == 9  # up to 200 rows are divided three times


def test_theory_says_how_many_pieces_a_regression_has(few):
    X, _ = few
    numbers = np.random.default_rng(0).integers(len(X), size=(200, 2))
    values = ((X[numbers[:, 0]] - X[numbers[:, 1]]) ** 2).sum(axis=1)
    learner = bregmax.BregmanTargetsLearner(n_pieces="theory", preprocessor=X).fit(numbers, values)
    assert len(learner.model_.offsets) == int(np.ceil(200 ** (4 / 12)))
