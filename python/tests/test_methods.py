"""The methods other than pbdl as estimators."""

import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import bregmax

# With parameters that need no cross-validation.
FROM_LABELS = {
    "smooth": bregmax.Smooth(n_pieces=10, steps=200),
    "deep": bregmax.Deep(hidden_layers=1, width=16, outputs=4, n_pieces=8, steps=200),
    "euclidean": bregmax.Euclidean(),
    "itml": bregmax.ITML(gamma=1.0),
    "gmml": bregmax.GMML(t=0.5),
    "mlr-auc": bregmax.MLRAUC(c=100.0),
    "wu2009": bregmax.Wu2009(kernel="square", c=1.0),
    "lmnn": bregmax.LMNN(n_neighbors=3, push=0.5),
    "gb-lmnn": bregmax.GBLMNN(n_neighbors=3, push=0.5, n_trees=10, depth=3),
    "nca": bregmax.NCA(form="full", n_components=2),
    "kernel-nca": bregmax.KernelNCA(kernel="rbf", bandwidth=4.0, n_components=2),
}
FROM_PAIRS = {
    "smooth": bregmax.Smooth(),
    "deep": bregmax.Deep(),
    "itml": bregmax.ITML(gamma=1.0),
    "gmml": bregmax.GMML(t=0.5),
    "wu2009": bregmax.Wu2009(c=1.0),
}
GIVEN = {"itml": "gamma=1", "gmml": "t=0.5", "wu2009": "c=1"}  # the same for the program
GRADIENT = {name: FROM_LABELS[name] for name in ("smooth", "deep")}
NO_DISTANCES = ("smooth", "deep", "wu2009")
each_label_method = pytest.mark.parametrize("name", FROM_LABELS)
each_pairs_method = pytest.mark.parametrize("name", FROM_PAIRS)


@pytest.fixture(scope="module")
def pairs(few):
    X, y = few
    numbers = np.random.default_rng(0).integers(len(X), size=(120, 2))
    numbers = numbers[numbers[:, 0] != numbers[:, 1]]
    return X, numbers, np.where(y[numbers[:, 0]] == y[numbers[:, 1]], 1, -1)


def squared_distances(rows):
    return ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)


def test_every_method_of_the_library_has_an_estimator_with_its_parameters():
    estimators = {**FROM_LABELS, "mahalanobis": bregmax.MahalanobisRegression(), "pbdl": bregmax.BregmanLearner(method="pbdl")}
    assert set(bregmax.available_methods()) == set(estimators)
    for name, entry in bregmax.available_methods().items():
        documented = type(estimators[name]).__doc__
        for parameter in entry["parameters"]:
            here = bregmax._base.name_here(parameter)
            assert here in estimators[name].get_params(), f"{name} lacks {parameter}"
            assert here in documented, f"{name} does not tell what {here} is"


@each_label_method
def test_learns_from_labels(few, name):
    X, y = few
    learner = clone(FROM_LABELS[name]).fit(X, y)
    assert learner.report_["status"] == "converged"
    assert learner.score(X, y) > 0.75
    scores = learner.evaluate(X, y)
    assert scores["auc"] > 0.75
    assert 0.5 < scores["precision_at_10"] <= 1
    assert learner.n_features_in_ == 4 and list(learner.classes_) == sorted(set(y))
    assert learner.model_.record["method"] == name
    for parameter, value in FROM_LABELS[name].get_params().items():
        if parameter in learner.parameters_ and value is not None:
            assert learner.parameters_[parameter] == value
    divergences = learner.divergence(X)
    assert (divergences >= 0).all() and (divergences.diagonal() <= 1e-12 * divergences.max()).all()
    assert not learner.pair_distance(np.stack([X, X], axis=1)).any()
    np.testing.assert_allclose(learner.pair_distance(X[[[0, 1], [2, 3]]]), divergences[[0, 2], [1, 3]], atol=1e-9)
    assert learner.get_metric()(X[0], X[7]) == pytest.approx(divergences[0, 7], abs=1e-9)
    numbers, nearest = learner.rank(X[:3], X, 4)
    np.testing.assert_allclose(nearest, np.sort(divergences[:3], axis=1)[:, :4], atol=1e-9)
    assert numbers.shape == (3, 4)


@each_label_method
def test_the_same_as_the_command_line(few, name, program, tmp_path):
    X, y = few
    learner = clone(FROM_LABELS[name]).fit(X, y)
    pd.DataFrame(X).assign(label=y).to_csv(tmp_path / "rows.csv", index=False, float_format="%.17g")
    given = {p: v for p, v in FROM_LABELS[name].get_params().items() if v is not None}
    names = {bregmax._base.name_here(p): p for p in bregmax.available_methods()[name]["parameters"]}
    parameters = [f"{names[p]}={value}" for p, value in given.items() if p in names]
    arguments = [argument for parameter in parameters for argument in ("--method-parameter", parameter)]
    subprocess.run(
        [program, "fit", "rows.csv", "--method", name, *arguments, "--out", "model.bregmax"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    loaded = bregmax.Model.load(tmp_path / "model.bregmax")
    np.testing.assert_array_equal(loaded.divergence(X), learner.divergence(X))
    assert loaded.class_names == learner.model_.class_names


@each_label_method
def test_clone_pickle_and_frames(few, name):
    X, y = few
    learner = clone(FROM_LABELS[name]).fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert list(learner.feature_names_in_) == list("abcd") == learner.model_.feature_names
    frame = pd.DataFrame(X, columns=list("abcd"))
    copy = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(copy.divergence(frame), learner.divergence(frame))
    again = clone(learner)
    assert again.get_params() == learner.get_params() and not hasattr(again, "model_")
    with pytest.raises(NotFittedError):
        again.divergence(X)


@pytest.mark.parametrize("name", [name for name in FROM_LABELS if name not in NO_DISTANCES])
def test_transformed_rows_have_the_divergences_as_distances(few, name):
    X, y = few
    learner = clone(FROM_LABELS[name]).fit(X, y)
    embedded = learner.transform(X)
    np.testing.assert_allclose(squared_distances(embedded), learner.divergence(X), atol=1e-8 * learner.divergence(X).max())
    assert len(learner.get_feature_names_out()) == embedded.shape[1]
    if name in ("nca", "kernel-nca"):
        assert embedded.shape[1] == 2


def test_what_is_no_distance_is_not_transformed(fitted, few):
    for name in NO_DISTANCES:
        assert not hasattr(FROM_LABELS[name], "transform")
    for model in (fitted.model_, clone(FROM_LABELS["smooth"]).fit(*few).model_):
        with pytest.raises(ValueError, match=f"{model.name} is not a squared distance of embedded rows"):
            model.embed(few[0])
        with pytest.raises(ValueError, match=f"{model.name} is not a squared distance of embedded rows"):
            model.inner


@pytest.mark.parametrize("name", [name for name in FROM_LABELS if name not in ("smooth", "wu2009")])
def test_the_inner_model_is_of_the_embedded_rows(few, name, tmp_path):
    X, y = few
    model = clone(FROM_LABELS[name]).fit(X, y).model_
    embedded, inner = model.embed(X), model.inner
    assert inner.name == ("log_sum_exp_quadratic" if name == "deep" else "squared_euclidean")
    assert inner.n_features == embedded.shape[1]
    np.testing.assert_allclose(inner.divergence(embedded), model.divergence(X), atol=1e-9 * model.divergence(X).max())
    if name == "deep":
        assert inner.slopes.shape == (8, 4) and inner.roots.shape == (4, 4)
        np.testing.assert_array_equal(inner.divergence(embedded), model.divergence(X))
        np.testing.assert_array_equal(inner.phi(embedded), model.phi(X))
        assert inner.gradient(embedded).shape == embedded.shape
    del model  # the inner model outlives it
    inner.save(tmp_path / "inner.bregmax")
    loaded, copy = bregmax.Model.load(tmp_path / "inner.bregmax"), pickle.loads(pickle.dumps(inner))
    np.testing.assert_array_equal(loaded.divergence(embedded), inner.divergence(embedded))
    np.testing.assert_array_equal(copy.divergence(embedded), inner.divergence(embedded))


@each_pairs_method
def test_learns_from_pairs(pairs, name):
    X, numbers, y = pairs
    by_number = clone(FROM_PAIRS[name]).fit_pairs(numbers, y, X)
    by_row = clone(FROM_PAIRS[name]).fit_pairs(X[numbers], y)
    preprocessed = clone(FROM_PAIRS[name]).set_params(preprocessor=X).fit_pairs(numbers, y == 1)
    np.testing.assert_array_equal(preprocessed.divergence(X), by_number.divergence(X))
    # From the rows of the pairs alone, the scaling differs: it does not see the rows that are in no pair.
    assert by_row.model_.record["items"] == by_number.model_.record["items"] == len(y)
    score = by_number.pair_score(X[numbers])
    assert score[y == 1].mean() > score[y == -1].mean()


@pytest.mark.parametrize("kind", [bregmax.ITMLPairsLearner, bregmax.GMMLPairsLearner, bregmax.Wu2009PairsLearner])
def test_pairs_as_samples(pairs, kind):
    X, numbers, y = pairs
    learner = kind(preprocessor=X).fit(numbers, y)
    accuracy = (learner.predict(numbers) == y).mean()
    assert accuracy >= max(np.mean(y == 1), np.mean(y == -1)) and accuracy > 0.7
    assert learner.score(numbers, y) > 0.75
    assert cross_val_score(kind(), X[numbers], y, cv=3).min() > 0.6
    assert (learner.set_threshold(-1.0).predict(numbers) == -1).all()
    learner.calibrate_threshold(numbers, y)
    assert (learner.predict(numbers) == y).mean() == accuracy


def test_one_kind_of_pairs_still_has_a_threshold(pairs):
    X, numbers, y = pairs
    learner = bregmax.ITMLPairsLearner(preprocessor=X).fit(numbers[y == 1], y[y == 1])
    assert (learner.predict(numbers[y == 1]) == 1).all()


def test_pairs_and_targets_are_those_of_the_command_line(pairs, program, tmp_path):
    X, numbers, y = pairs
    np.save(tmp_path / "rows.npy", X)
    values = squared_distances(X)[numbers[:, 0], numbers[:, 1]]
    for file, column, content in (("pairs.csv", "s", (y == 1).astype(int)), ("targets.csv", "value", values)):
        table = pd.DataFrame({"i": numbers[:, 0], "j": numbers[:, 1], column: content})
        table.to_csv(tmp_path / file, index=False, float_format="%.17g")

    def fitted_by_program(*arguments):
        command = [program, "fit", "rows.npy", "--label", "none", *arguments, "--out", "model.bregmax"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        return bregmax.Model.load(tmp_path / "model.bregmax").divergence(X)

    for name, learner in FROM_PAIRS.items():
        more = ["--method-parameter", GIVEN[name]] if name in GIVEN else []
        expected = fitted_by_program("--method", name, "--pairs-file", "pairs.csv", *more)
        np.testing.assert_array_equal(clone(learner).fit_pairs(numbers, y, X).divergence(X), expected)
    expected = fitted_by_program("--method", "mahalanobis", "--targets-file", "targets.csv")
    regression = bregmax.MahalanobisRegression(preprocessor=X).fit(numbers, values)
    np.testing.assert_array_equal(regression.divergence(X), expected)


# ---- Smooth and Deep ----


@pytest.fixture(scope="module")
def iris_items(iris):
    """Pairs and comparisons of iris that its labels answer, and values that no squared distance has."""
    X, y = iris.data, iris.target
    random = np.random.default_rng(1)
    numbers = random.integers(len(X), size=(600, 3))
    same = y[numbers[:, 0]] == y[numbers[:, 1]]
    comparisons = numbers[same & (y[numbers[:, 0]] != y[numbers[:, 2]])]
    points, references = X[numbers[:, 0]], X[numbers[:, 1]]
    values = (points * np.log(points / references) - points + references).sum(axis=1)
    return X, numbers[:, :2], np.where(same, 1, -1), comparisons, values


@pytest.mark.parametrize("name", GRADIENT)
def test_gradient_methods_learn_from_items(iris_items, name):
    X, numbers, y, comparisons, values = iris_items
    learner = clone(GRADIENT[name]).fit_pairs(numbers, y, X)
    distances = learner.pair_distance(X[numbers])
    assert (distances[y == 1] < 1).mean() > 0.9 and (distances[y == -1] > 1).mean() > 0.9
    learner.fit_comparisons(comparisons, X)
    near, far = (learner.pair_distance(X[comparisons[:, [0, other]]]) for other in (1, 2))
    assert (near < far).mean() > 0.95
    learner.fit_targets(numbers, 1000 * values, X)
    assert np.corrcoef(learner.pair_distance(X[numbers]), values)[0, 1] > 0.9
    assert learner.model_.record["supervision"] == "targets"


@pytest.mark.parametrize(
    "of_pairs, of_comparisons, of_targets",
    [
        (bregmax.SmoothPairsLearner, bregmax.SmoothComparisonsLearner, bregmax.SmoothTargetsLearner),
        (bregmax.DeepPairsLearner, bregmax.DeepComparisonsLearner, bregmax.DeepTargetsLearner),
    ],
)
def test_items_as_samples_of_gradient_methods(iris_items, of_pairs, of_comparisons, of_targets):
    X, numbers, y, comparisons, values = iris_items
    few_steps = {"n_pieces": 8, "steps": 200, "preprocessor": X}
    if of_pairs is bregmax.DeepPairsLearner:
        few_steps |= {"hidden_layers": 1, "width": 16, "outputs": 4}
    pairs_learner = of_pairs(**few_steps).fit(numbers[:400], y[:400])
    assert pairs_learner.threshold_ == 1
    assert (pairs_learner.predict(numbers[400:]) == y[400:]).mean() > 0.85
    half = len(comparisons) // 2
    comparisons_learner = of_comparisons(**few_steps).fit(comparisons[:half])
    assert comparisons_learner.score(comparisons[half:]) > 0.9
    assert of_targets(**few_steps).fit(numbers[:400], values[:400]).score(numbers[400:], values[400:]) > 0.5


@pytest.mark.parametrize("name", GRADIENT)
def test_gradient_methods_save_and_load(few, name, tmp_path):
    X, y = few
    learner = clone(GRADIENT[name]).fit(X, y)
    learner.save(tmp_path / "model.bregmax")
    loaded = bregmax.Model.load(tmp_path / "model.bregmax")
    assert loaded.name == {"smooth": "log_sum_exp_quadratic", "deep": "network_embedding"}[name]
    np.testing.assert_array_equal(loaded.divergence(X), learner.divergence(X))
    np.testing.assert_array_equal(loaded.phi(X), learner.phi(X))


@pytest.mark.parametrize("name", GRADIENT)
def test_what_was_tuned_is_told_as_by_the_default_learner(few, name):
    X, y = few
    lists = dict(n_pieces=[4, 8], quadratic_rank=[2, 4]) if name == "smooth" else dict(n_pieces=[4, 8])
    learner = clone(GRADIENT[name]).set_params(repeats=1, **lists, decay=[1e-3, 1e-1], scale="auto").fit(X, y)
    assert learner.method_ == name
    best, yardstick = learner.scores_
    assert best["method"] == name and yardstick["method"] == "euclidean" and not yardstick["chosen"]
    assert best["measure"] == "average_precision" and best["chosen"] and 0.5 < best["mean"] <= 1
    settings = best["settings"]
    assert {*lists, "decay", "scale"} <= set(settings) <= {"method", *learner.get_params()}
    assert settings["scale"] in ("none", "standard")
    for parameter in (*lists, "decay"):
        assert settings[parameter] == learner.parameters_[parameter]
    settings.pop("method", None)
    again = clone(learner).set_params(**settings).fit(X, y)
    assert again.scores_ == [] and (again.divergence(X) == learner.divergence(X)).all()
    by_default = bregmax.BregmanLearner(method=name, repeats=1, max_iter=5)
    with pytest.warns(ConvergenceWarning):
        by_default.fit(X, y)
    assert [set(score) for score in by_default.scores_] == [set(score) for score in learner.scores_]


def test_what_was_tuned_from_items_is_told(pairs):
    X, numbers, y = pairs
    learner = bregmax.SmoothPairsLearner(n_pieces=8, decay=[1e-3, 1e-1], feature_price=0.0, preprocessor=X).fit(numbers, y)
    assert learner.method_ == "smooth"
    assert learner.scores_[0]["method"] == "smooth" and learner.scores_[0]["chosen"]
    assert learner.scores_[0]["settings"]["decay"] == learner.parameters_["decay"]
    assert learner.set_params(decay=0.1).fit(numbers, y).scores_ == []


def test_settings_of_scores_have_the_names_of_parameters(few):
    learner = bregmax.BregmanLearner(lambdas=[0.1, 10.0], smoothing="auto", n_pieces="auto", repeats=1).fit(*few)
    settings = next(score["settings"] for score in learner.scores_ if score["chosen"])
    assert settings["lam"] == learner.lam_ and settings["smoothing"] == learner.smoothing_
    assert set(settings) <= set(learner.get_params())
    wu = bregmax.Wu2009(kernel="square", c=1.0, kernel_scale=[0.0, 1.0]).fit(*few)
    assert wu.method_ == "wu2009" and wu.scores_[0]["settings"]["scale"] == "standard"


def test_smooth_has_a_gradient_and_deep_has_none(few):
    X, y = few
    smooth, deep = (clone(GRADIENT[name]).fit(X, y) for name in ("smooth", "deep"))
    gradient, phi = smooth.gradient(X), smooth.phi(X)
    tangent = phi[:, None] - phi - ((X[:, None] - X) * gradient).sum(axis=2)
    np.testing.assert_allclose(smooth.divergence(X), tangent, atol=1e-9 * phi.max())
    with pytest.raises(ValueError, match="has no gradient in the features"):
        deep.gradient(X)


def test_gradient_methods_generalise(iris):
    X, y = iris.data, iris.target
    for learner in (bregmax.Smooth(), bregmax.Deep(steps=200)):
        assert learner.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    chosen = bregmax.Smooth(decay=[1e-4, 1e-2], repeats=1, steps=100).fit(X[::2], y[::2])
    assert [candidate.get("decay") for candidate in chosen.model_.tuning["candidates"]] == [1e-4, 1e-2, None]


@pytest.mark.parametrize("scale, help", [(None, "a smaller rate helps"), ("none", "a smaller rate helps, or scale=standard")])
def test_training_that_diverges_keeps_the_best_model_and_says_how_to_help(few, scale, help):
    learner = bregmax.Smooth(decay=0.01, rate=1e300, scale=scale)
    with pytest.warns(ConvergenceWarning, match=rf"the training diverged \({help}\), and the best model so far was kept"):
        learner.fit(*few)
    assert learner.report_["status"] == "numerical_error"
    assert np.isfinite(learner.divergence(few[0])).all()


def test_regression_finds_the_matrix(few):
    X, _ = few
    random = np.random.default_rng(3)
    root = random.normal(size=(2, 4))
    numbers = random.integers(len(X), size=(200, 2))
    values = squared_distances(X @ root.T)[numbers[:, 0], numbers[:, 1]]
    learner = bregmax.MahalanobisRegression().fit(X[numbers], values)
    np.testing.assert_allclose(learner.predict(X[numbers]), values, atol=1e-3 * values.max())
    assert learner.score(X[numbers], values) > 0.9999
    assert learner.transform(X).shape[1] >= 2
    with pytest.raises(ValueError, match="one per pair"):
        learner.fit(X[numbers], values[:-1])


def test_unlabelled_rows_have_a_euclidean_distance(few):
    X, y = few
    learner = bregmax.Euclidean(scale="none").fit(X)
    np.testing.assert_allclose(learner.divergence(X), squared_distances(X), atol=1e-9)
    np.testing.assert_array_equal(learner.transform(X), X)
    assert bregmax.Euclidean().fit(X, y).score(X, y) > 0.75


@pytest.mark.parametrize(
    "learner, message",
    [
        (bregmax.ITML(gamma=-1.0), "gamma is -1"),
        (bregmax.ITML(prior="unit"), "prior is 'unit'; allowed: identity or inverse-covariance"),
        (bregmax.ITML(prior=1), "prior is 1; allowed: identity"),
        (bregmax.LMNN(n_neighbors=1.5), "n_neighbors is 1.5"),
        (bregmax.ITML(upper_percentile=-1.0), "upper_percentile is -1"),
        (bregmax.Wu2009(kernel_scale=-1.0), "kernel_scale is -1"),
        (bregmax.Wu2009(kernel_scale="auto"), "kernel_scale is 'auto'"),
        (bregmax.Smooth(n_pieces=0), "n_pieces is 0"),
        (bregmax.Smooth(quadratic_rank=-1), "quadratic_rank is -1"),
        (bregmax.Smooth(neighbour_share=2.0), "neighbour_share is 2"),
        (bregmax.Smooth(optimiser="sgd"), "optimiser is 'sgd'; allowed: auto or adamw or lbfgs"),
        (bregmax.Deep(activation="sine"), "activation is 'sine'; allowed: relu or tanh"),
        (bregmax.Deep(outputs=4, quadratic_rank=5), "rank is 5; allowed: at most 4, the outputs of the network"),
        (bregmax.LMNN(scale="log"), "scale is 'log'"),
        (bregmax.LMNN(tol=0.0), "tolerance"),
        (bregmax.LMNN(max_iter=0), "iteration limit is 0"),
        (bregmax.LMNN(n_jobs=0), "n_jobs is 0"),
    ],
)
def test_mistakes_are_value_errors(few, learner, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(*few)


def test_limits_warn(few):
    with pytest.warns(ConvergenceWarning, match="max_iter=1 was reached at a stationarity of"):
        bregmax.NCA(max_iter=1, tol=1e-9).fit(*few)


def test_they_compose(iris):
    X, y = iris.data, iris.target
    pipeline = make_pipeline(bregmax.LMNN(n_neighbors=3, push=0.5), KNeighborsClassifier(3))
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.9
    classifier = bregmax.BregmanKNeighborsClassifier(3, divergence=bregmax.GMML(t=0.5))
    assert cross_val_score(classifier, X, y, cv=3).min() > 0.9
    folds = StratifiedKFold(3)  # the rows are sorted by class, and a fold of one class has no score
    search = GridSearchCV(bregmax.GMML(), {"t": [0.1, 0.5]}, cv=folds).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


# ---- Parameters chosen by cross-validation ----


def test_a_list_is_chosen_from(few):
    X, y = few
    learner = bregmax.GMML(t=[0.2, 0.8], lam=1e-6, repeats=1).fit(X, y)
    tuning = learner.model_.tuning
    assert [candidate.get("t") for candidate in tuning["candidates"]] == [0.2, 0.8, None]
    assert learner.parameters_["t"] == tuning["candidates"][tuning["chosen"]]["t"]
    column = tuning["measures"].index("average_precision")
    assert tuning["means"][tuning["chosen"], column] == np.nanmax(tuning["means"][:, column])
    named = bregmax.NCA(form=["full", "diagonal"], repeats=1).fit(X, y)
    assert len(named.model_.tuning["candidates"]) == 2 + 1 and named.parameters_["form"] in ("full", "diagonal")


@pytest.mark.parametrize(
    "learner, arguments",
    [
        (bregmax.GMML(), ["gmml"]),
        (bregmax.GMML(t="auto", lam="auto", tune_for="auc", folds=2, repeats=1, scale="auto"),
         ["gmml", "--method-parameter", "t=auto", "--method-parameter", "lambda=auto", "--tune-for", "auc", "--folds",
          "2", "--repeats", "1", "--scale", "auto"]),
        (bregmax.LMNN(n_neighbors="auto", repeats=1, random_state=3),
         ["lmnn", "--method-parameter", "neighbours=auto", "--repeats", "1", "--seed", "3"]),
        (bregmax.GMML(t=0.5, all_pairs=True), ["gmml", "--method-parameter", "t=0.5", "--all-pairs"]),
    ],
    ids=["default", "auto", "lmnn", "all pairs"],
)  # fmt: skip
def test_the_same_is_chosen_as_on_the_command_line(few, learner, arguments, program, tmp_path):
    X, y = few
    learner = clone(learner).fit(X, y)
    pd.DataFrame(X).assign(label=y).to_csv(tmp_path / "rows.csv", index=False, float_format="%.17g")
    command = [program, "fit", "rows.csv", "--method", *arguments, "--out", "model.bregmax"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    loaded = bregmax.Model.load(tmp_path / "model.bregmax")
    np.testing.assert_array_equal(loaded.divergence(X), learner.divergence(X))
    if learner.model_.tuning is not None:
        assert loaded.tuning["candidates"] == learner.model_.tuning["candidates"]
        assert loaded.tuning["chosen"] == learner.model_.tuning["chosen"]


@pytest.mark.parametrize(
    "learner, message",
    [
        (bregmax.ITML(upper="auto"), "upper is 'auto'; allowed: a number >= 0, or a list"),
        (bregmax.GMML(t=[]), "t is \\[\\]"),
        (bregmax.GMML(t=[0.5, 2.0]), "t is 2"),
        (bregmax.GMML(tune_for="luck"), "luck"),
        (bregmax.GMML(folds=1), "folds is 1"),
    ],
)
def test_mistakes_in_what_is_chosen_from(few, learner, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(*few)


@pytest.mark.parametrize(
    "learner",
    [
        bregmax.GMML(t="auto"),
        bregmax.GMML(t=[0.2, 0.8]),
        bregmax.GMML(lam=[0.1, 1.0]),
        bregmax.GMML(scale="auto"),
        bregmax.Smooth(decay="auto"),
        bregmax.Wu2009(kernel_scale=[1.0, 2.0]),
        bregmax.Wu2009(kernel_scale=1.0, scale="auto"),
    ],
)
def test_pairs_choose_what_is_auto(pairs, learner):
    X, numbers, y = pairs
    tuning = learner.fit_pairs(numbers, y, X).model_.tuning
    assert tuning["tuned_for"] == "agreement"
    assert len(tuning["candidates"]) > 1


def test_choosing_needs_as_many_pairs_as_folds(pairs):
    X, numbers, y = pairs
    with pytest.raises(ValueError, match="^folds is 4, but the supervision has only 3 items: too few to choose"):
        bregmax.GMML(t="auto", folds=4).fit_pairs(numbers[:3], y[:3], X)
