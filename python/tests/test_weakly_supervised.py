import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import fbeta_score
from sklearn.model_selection import GridSearchCV, cross_val_score

import bregmax


@pytest.fixture(scope="module")
def pairs(few):
    X, y = few
    numbers = np.random.default_rng(0).integers(len(X), size=(120, 2))
    return X, numbers, np.where(y[numbers[:, 0]] == y[numbers[:, 1]], 1, -1)


@pytest.fixture(scope="module")
def triplets(few):
    X, y = few
    random = np.random.default_rng(1)
    numbers = random.integers(len(X), size=(2000, 3))
    holds = (y[numbers[:, 0]] == y[numbers[:, 1]]) & (y[numbers[:, 0]] != y[numbers[:, 2]])
    return X, numbers[holds][:120]


def test_numbers_and_rows_say_the_same(pairs):
    X, numbers, y = pairs
    by_number = bregmax.BregmanLearner(1.0).fit_pairs(numbers, y, X)
    by_row = bregmax.BregmanLearner(1.0).fit_pairs(X[numbers], y)
    preprocessed = bregmax.BregmanPairsLearner(1.0, preprocessor=X).fit(numbers, y)
    assert by_row.report_["objective"] == pytest.approx(by_number.report_["objective"], rel=1e-6)
    np.testing.assert_array_equal(preprocessed.divergence(X), by_number.divergence(X))


def test_zero_and_false_are_dissimilar(pairs):
    X, numbers, y = pairs
    expected = bregmax.BregmanLearner(1.0).fit_pairs(numbers, y, X).divergence(X)
    for labels in (y == 1, (y == 1).astype(int)):
        np.testing.assert_array_equal(bregmax.BregmanLearner(1.0).fit_pairs(numbers, labels, X).divergence(X), expected)


def test_triplets_are_comparisons(triplets):
    X, numbers = triplets
    three = bregmax.BregmanLearner(1.0).fit_comparisons(numbers, X)
    four = bregmax.BregmanLearner(1.0).fit_comparisons(numbers[:, [0, 1, 0, 2]], X)
    np.testing.assert_array_equal(three.divergence(X), four.divergence(X))
    learner = bregmax.BregmanComparisonsLearner(1.0).fit(X[numbers])
    assert learner.score(X[numbers]) > 0.95
    np.testing.assert_array_equal(
        learner.predict(X[numbers]), -learner.predict(X[numbers][:, [0, 2, 1]]), "the reverse of what holds does not"
    )


def test_weights_count_items_more_often(triplets):
    X, numbers = triplets
    twice = bregmax.BregmanLearner(1.0).fit_comparisons(np.repeat(numbers[:40], 2, axis=0), X)
    weighted = bregmax.BregmanLearner(1.0).fit_comparisons(numbers[:40], X, sample_weight=np.full(40, 2.0))
    assert weighted.report_["objective"] == pytest.approx(twice.report_["objective"], rel=1e-6)


def test_targets_are_learned():
    X = np.random.default_rng(0).uniform(-1, 1, size=(20, 2))
    truth = bregmax.Model.max_affine([[1.0, 0.0], [0.0, 1.0], [-1.0, -0.5]], [0.0, 0.1, 0.2])
    numbers = np.array([(i, j) for i in range(20) for j in range(20)])
    values = truth.pair_distance(X[numbers[:, 0]], X[numbers[:, 1]])
    assert values.std() > 0.1
    learner = bregmax.BregmanTargetsLearner(method="pbdl", preprocessor=X).fit(numbers, values)
    assert learner.lam_ == 0
    assert learner.score(numbers, values) > 0.999
    assert bregmax.BregmanLearner(method="pbdl").fit_targets(numbers, values, X).lam_ == 0


def test_thresholds(pairs):
    X, numbers, y = pairs
    rows = X[numbers]
    learner = bregmax.BregmanPairsLearner(1.0).fit(rows, y)
    assert learner.threshold_ == 1
    np.testing.assert_array_equal(learner.predict(rows) == 1, learner.pair_distance(rows) <= 1)
    assert learner.score(rows, y) > 0.9
    learner.set_threshold(-1.0)
    assert (learner.predict(rows) == -1).all()
    with pytest.raises(ValueError, match="threshold is nan"):
        learner.set_threshold(np.nan)


@pytest.mark.parametrize("strategy", ["accuracy", "f_beta", "max_tpr", "max_tnr"])
def test_calibrated_thresholds_are_the_best_there_are(pairs, strategy):
    X, numbers, y = pairs
    random = np.random.default_rng(2)
    y = np.where(random.random(len(y)) < 0.2, -y, y)  # labels that no threshold gets all right
    rows = X[numbers]
    learner = bregmax.BregmanPairsLearner(1.0).fit(rows, y)

    def value(predicted):
        true_positives, true_negatives = np.mean(predicted[y == 1] == 1), np.mean(predicted[y == -1] == -1)
        return {
            "accuracy": np.mean(predicted == y),
            "f_beta": fbeta_score(y, predicted, beta=2.0, zero_division=0),
            "max_tpr": true_positives if true_negatives >= 0.6 else -1,
            "max_tnr": true_negatives if true_positives >= 0.6 else -1,
        }[strategy]

    learner.calibrate_threshold(rows, y, strategy, min_rate=0.6, beta=2.0)
    calibrated = value(learner.predict(rows))
    distances = learner.pair_distance(rows)
    tried = [value(np.where(distances <= threshold, 1, -1)) for threshold in [-1, *distances]]
    assert calibrated == max(tried)


def test_calibration_refuses(pairs):
    X, numbers, y = pairs
    learner = bregmax.BregmanPairsLearner(1.0).fit(X[numbers], y)
    with pytest.raises(ValueError, match="strategy is 'luck'"):
        learner.calibrate_threshold(X[numbers], y, "luck")
    with pytest.raises(ValueError, match="min_rate is None"):
        learner.calibrate_threshold(X[numbers], y, "max_tpr")
    with pytest.raises(ValueError, match="similar and dissimilar"):
        learner.calibrate_threshold(X[numbers], np.ones(len(y)))


def test_selection_over_pairs_and_comparisons(pairs, triplets):
    X, numbers, y = pairs
    scores = cross_val_score(bregmax.BregmanPairsLearner(1.0), X[numbers], y, cv=3)
    assert scores.shape == (3,) and scores.min() > 0.7
    search = GridSearchCV(bregmax.BregmanPairsLearner(preprocessor=X), {"lam": [0.1, 10.0]}, cv=2).fit(numbers, y)
    assert search.best_params_["lam"] in (0.1, 10.0)
    X, numbers = triplets
    assert cross_val_score(bregmax.BregmanComparisonsLearner(1.0), X[numbers], cv=3).min() > 0.7
    clone(search.best_estimator_)


def test_the_given_supervision_tunes_lambda(triplets):
    X, numbers = triplets
    learner = bregmax.BregmanLearner(lambdas=[0.1, 10.0]).fit_comparisons(numbers, X)
    assert learner.model_.tuning["tuned_for"] == "agreement"


@pytest.mark.parametrize(
    "tuples, X, message",
    [
        (np.zeros((4, 5), int), np.zeros((3, 2)), "comparisons has 5 rows per item; expected 3 or 4"),
        (np.zeros((4, 3), int), None, "so X .* is needed"),
        (np.zeros((4, 3)), np.zeros((3, 2)), "must be whole"),
        (np.full((4, 3), 7), np.zeros((3, 2)), "row numbers from 7 to 7; allowed: 0 to 2"),
        (np.zeros((4, 3, 2)), np.zeros((3, 2)), "X must be left out"),
        (np.zeros(4), np.zeros((3, 2)), "1 dimensions"),
        (np.zeros((0, 3), int), np.zeros((3, 2)), "empty"),
        (np.full((4, 3, 2), np.nan), None, "NaN"),
    ],
)
def test_mistakes(tuples, X, message):
    with pytest.raises(ValueError, match=message):
        bregmax.BregmanLearner(1.0).fit_comparisons(tuples, X)


def test_mistakes_in_labels_and_values(pairs):
    X, numbers, y = pairs
    learner = bregmax.BregmanLearner(1.0)
    with pytest.raises(ValueError, match="1 for similar"):
        learner.fit_pairs(numbers, y + 3, X)
    with pytest.raises(ValueError, match="one label per pair"):
        learner.fit_pairs(numbers, y[1:], X)
    with pytest.raises(ValueError, match="NaN"):
        learner.fit_targets(numbers, np.full(len(numbers), np.nan), X)
    with pytest.raises(ValueError, match="one weight per item"):
        learner.fit_pairs(numbers, y, X, sample_weight=[1.0])
    with pytest.raises(ValueError, match="weight"):
        learner.fit_pairs(numbers, y, X, sample_weight=np.full(len(y), -1.0))


@pytest.mark.parametrize("method", ["itml", "gmml", "euclidean"])
def test_the_threshold_is_the_best_one_where_the_loss_implies_none(wine, method):
    numbers = np.random.default_rng(0).integers(len(wine.data), size=(300, 2))
    similar = np.where(wine.target[numbers[:, 0]] == wine.target[numbers[:, 1]], 1, -1)
    judge = bregmax.BregmanPairsLearner(method=method, preprocessor=wine.data).fit(numbers, similar)
    at_one = np.mean(np.where(judge.pair_distance(numbers) <= 1, 1, -1) == similar)
    assert np.mean(judge.predict(numbers) == similar) > at_one + 0.1


@pytest.mark.parametrize("fitted", [False, True])
def test_a_fit_that_fails_changes_nothing(few, fitted, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    X, y = few
    for fit in (
        lambda learner: learner.fit(X[:, :2], y),
        lambda learner: learner.fit_comparisons([(0, 1, 20)], X[:, :2]),
        lambda learner: learner.fit_targets([(0, 1), (2, 3)], [1.0, 2.0], X[:, :2]),
    ):
        learner = bregmax.Smooth(n_pieces=5, decay=1e-2)
        if fitted:
            learner.fit(X, y)
        before = dict(vars(learner))
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("bregmax._base.run_with_progress", interrupt)
            fit(learner)
        assert vars(learner) == before
        if fitted:
            assert learner.divergence(X).shape == (30, 30)
