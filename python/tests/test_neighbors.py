import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import bregmax


def test_agrees_with_scikit_learn_where_that_is_defined(iris):
    X, y = iris.data, iris.target
    random = np.random.default_rng(0)
    X = X + 1e-3 * random.normal(size=X.shape)  # no ties
    train, test = np.arange(150) % 2 == 0, np.arange(150) % 2 == 1
    for k in (1, 3):
        ours = bregmax.BregmanKNeighborsClassifier(k, divergence="squared_euclidean").fit(X[train], y[train])
        theirs = KNeighborsClassifier(k).fit(X[train], y[train])
        np.testing.assert_array_equal(ours.predict(X[test]), theirs.predict(X[test]))
        divergences, rows = ours.kneighbors(X[test])
        distances, expected = theirs.kneighbors(X[test])
        np.testing.assert_array_equal(rows, expected)
        np.testing.assert_allclose(np.sqrt(divergences), distances, atol=1e-7)
    ours = bregmax.BregmanKNeighborsRegressor(4).fit(X[train, 1:], X[train, 0])
    theirs = KNeighborsRegressor(4).fit(X[train, 1:], X[train, 0])
    np.testing.assert_allclose(ours.predict(X[test, 1:]), theirs.predict(X[test, 1:]), rtol=1e-12)


def test_agrees_with_a_python_callable(few):
    X, y = few
    learner = bregmax.BregmanLearner(1.0, smoothing=0.5).fit(X, y)
    queries = X + 0.05
    ours = bregmax.BregmanKNeighborsClassifier(3, divergence=learner.model_).fit(X, y)
    theirs = KNeighborsClassifier(3, metric=learner.get_metric(), algorithm="brute").fit(X, y)
    np.testing.assert_array_equal(ours.predict(queries), theirs.predict(queries))
    np.testing.assert_allclose(ours.kneighbors(queries)[0], theirs.kneighbors(queries)[0], atol=1e-10)


def test_a_learner_is_fitted_to_the_same_rows(few):
    X, y = few
    nested = bregmax.BregmanKNeighborsClassifier(3, divergence=bregmax.BregmanLearner(1.0)).fit(X, y)
    given = bregmax.BregmanKNeighborsClassifier(
        3, divergence=bregmax.BregmanLearner(1.0).fit(X, y).model_
    ).fit(X, y)
    np.testing.assert_array_equal(nested.model_.divergence(X), given.model_.divergence(X))
    np.testing.assert_array_equal(nested.predict(X), given.predict(X))
    assert ((0 < nested.vote_share(X)) & (nested.vote_share(X) <= 1)).all()


def test_mistakes(few):
    X, y = few
    with pytest.raises(ValueError, match="n_neighbors is 31; allowed: 1 to"):
        bregmax.BregmanKNeighborsClassifier(31, divergence="squared_euclidean").fit(X, y)
    with pytest.raises(ValueError, match="squared_euclidean"):
        bregmax.BregmanKNeighborsClassifier(divergence="cosine").fit(X, y)
    with pytest.raises(ValueError, match="divergence is 3"):
        bregmax.BregmanKNeighborsClassifier(divergence=3).fit(X, y)
    with pytest.raises(ValueError, match="X has 4 features, but the divergence has 2"):
        bregmax.BregmanKNeighborsClassifier(divergence=bregmax.Model.closed_form("squared_euclidean", 2)).fit(X, y)
    with pytest.raises(ValueError, match="row"):
        bregmax.BregmanKNeighborsClassifier(divergence="kl").fit(-X, y).predict(X)


def test_frames(few):
    X, y = few
    frame = pd.DataFrame(X, columns=list("abcd"))
    classifier = bregmax.BregmanKNeighborsClassifier(divergence="squared_euclidean").fit(frame, y)
    assert list(classifier.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(frame[list("bacd")])


def test_later_changes_of_the_data_do_not_matter(few):
    X, y = few
    rows = X.copy()
    classifier = bregmax.BregmanKNeighborsClassifier(1, divergence="squared_euclidean").fit(rows, y)
    rows[:] = 0
    assert (classifier.predict(X) == y).mean() > 0.95
