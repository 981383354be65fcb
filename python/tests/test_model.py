import copy
import json
import pickle
import subprocess

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import bregmax


def run(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def write_csv(path, X, y=None):
    lines = [",".join(repr(float(value)) for value in row) for row in X]
    if y is not None:
        lines = [f"{line},{label}" for line, label in zip(lines, y)]
    header = ",".join(f"f{i}" for i in range(X.shape[1])) + (",class" if y is not None else "")
    path.write_text("\n".join([header, *lines]) + "\n")


@pytest.mark.parametrize("options, arguments", [
    (dict(lam=1.0), ["--lambda", 1]),
    (dict(lam=1.0, smoothing=0.5, n_pieces=8, scale="none"),
     ["--lambda", 1, "--smoothing", 0.5, "--pieces", 8, "--scale", "none"]),
    (dict(lam=1.0, supervision="comparisons", n_comparisons=100, random_state=3),
     ["--lambda", 1, "--comparisons", 100, "--seed", 3]),
    (dict(lambdas=[1.0, 100.0]), ["--lambdas", "1,100"]),
])
def test_python_and_program_learn_the_same_and_read_each_other(few, program, tmp_path, options, arguments):
    X, y = few
    write_csv(tmp_path / "data.csv", X, y)
    run(program, "fit", tmp_path / "data.csv", *arguments, "--out", tmp_path / "program.bregmax")
    learner = bregmax.BregmanLearner(**options).fit(X, y)
    of_program = bregmax.Model.load(tmp_path / "program.bregmax")
    np.testing.assert_array_equal(of_program.slopes, learner.model_.slopes)
    np.testing.assert_array_equal(of_program.divergence(X), learner.divergence(X))

    learner.save(tmp_path / "python.bregmax")
    run(program, "divergence", tmp_path / "python.bregmax", tmp_path / "data.csv", "--out", tmp_path / "D.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "D.npy"), learner.divergence(X))


def test_record_and_tuning_survive_the_file(few, program, tmp_path):
    learner = bregmax.BregmanLearner(lambdas=[1.0, 100.0]).fit(*few)
    learner.save(tmp_path / "model.bregmax")
    shown = json.loads(run(program, "show", tmp_path / "model.bregmax", "--json"))
    assert shown["objective"] == learner.report_["objective"]
    loaded = bregmax.Model.load(tmp_path / "model.bregmax")
    assert loaded.record == learner.model_.record
    np.testing.assert_array_equal(loaded.tuning["means"], learner.model_.tuning["means"])


def test_a_file_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="nowhere.bregmax"):
        bregmax.Model.load(tmp_path / "nowhere.bregmax")
    (tmp_path / "text.bregmax").write_text("not a model")
    with pytest.raises(ValueError, match="text.bregmax"):
        bregmax.Model.load(tmp_path / "text.bregmax")


def test_closed_forms(few):
    X, _ = few
    euclidean = bregmax.Model.closed_form("squared_euclidean", 4)
    np.testing.assert_allclose(euclidean.divergence(X), cdist(X, X, "sqeuclidean"), atol=1e-10)
    matrix = np.diag([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(
        bregmax.Model.mahalanobis(matrix).divergence(X), cdist(X, X, "mahalanobis", VI=matrix) ** 2, atol=1e-10
    )
    histograms = X / X.sum(axis=1, keepdims=True)
    expected = (histograms[0] * np.log(histograms[0] / histograms[20])).sum()
    assert bregmax.Model.closed_form("kl", 4).divergence(histograms)[0, 20] == pytest.approx(expected)
    assert set(bregmax.closed_form_names()) >= {"squared_euclidean", "kl", "itakura_saito"}
    with pytest.raises(ValueError, match="squared_euclidean"):
        bregmax.Model.closed_form("cosine", 4)
    with pytest.raises(ValueError, match="no affine pieces"):
        euclidean.pieces(X)


def test_the_features_that_are_read_by_name(few):
    assert bregmax.Model.mahalanobis(np.diag([4.0, 0.0, 9.0])).features_read == [("x2", 3.0), ("x0", 2.0)]
    assert bregmax.Model.closed_form("kl", 2).features_read is None
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(few[0], columns=[f"column {i}" for i in range(few[0].shape[1])])
    learner = bregmax.GMML(t=0.5).fit(X, few[1])
    read = learner.model_.features_read
    assert sorted(name for name, _ in read) == list(X.columns)
    assert [norm for _, norm in read] == sorted((norm for _, norm in read), reverse=True)
    assert learner.report_["features_read"] == [{"name": name, "norm": norm} for name, norm in read]


def test_max_affine_by_hand():
    model = bregmax.Model.max_affine([[1.0], [-1.0]], [0.0, 0.0])
    np.testing.assert_array_equal(model.phi([[2.0], [-3.0]]), [2, 3])
    np.testing.assert_array_equal(model.divergence([[2.0]], [[-1.0], [1.0]]), [[4, 0]])
    np.testing.assert_array_equal(model.pieces([[2.0], [-3.0]]), [0, 1])
    assert model.temperature == 0 and bregmax.Model.max_affine([[1.0]], [0.0], 0.5).temperature == 0.5


def test_copies_and_pickles_give_the_same_numbers(few, fitted):
    X, _ = few
    for other in (pickle.loads(pickle.dumps(fitted.model_)), copy.deepcopy(fitted.model_)):
        np.testing.assert_array_equal(other.divergence(X), fitted.divergence(X))
    metric = pickle.loads(pickle.dumps(fitted.get_metric()))
    assert metric(X[0], X[9]) == fitted.get_metric()(X[0], X[9])


def test_single_values_rows_and_matrix_agree(few, fitted):
    X, _ = few
    divergences = fitted.divergence(X)
    metric = fitted.get_metric()
    scale = 1e-12 * max(1, abs(fitted.phi(X)).max())
    np.testing.assert_allclose([metric(X[0], row) for row in X], divergences[0], atol=scale)
    pairs = np.stack([X, X[::-1]], axis=1)
    np.testing.assert_allclose(fitted.pair_distance(pairs), np.diag(divergences[:, ::-1]), atol=scale)
    np.testing.assert_array_equal(fitted.pair_score(pairs), -fitted.pair_distance(pairs))


def test_rank(few, fitted):
    X, _ = few
    queries, pool = X[:5], X[5:]
    rows, divergences = fitted.rank(queries, pool, top=4)
    matrix = fitted.divergence(queries, pool)
    order = np.argsort(matrix, axis=1, kind="stable")[:, :4]
    resolution = fitted.model_.resolution  # tied rows have the divergence of the nearest of them
    assert 0 < resolution < 1e-4
    np.testing.assert_allclose(divergences, np.take_along_axis(matrix, order, axis=1), atol=resolution)
    assert (np.diff(divergences, axis=1) >= 0).all()
    np.testing.assert_allclose(np.take_along_axis(matrix, rows, axis=1), divergences, atol=resolution)
    np.testing.assert_array_equal(bregmax.rank(fitted, queries, pool, 4)[0], rows)
    assert bregmax.rank("squared_euclidean", queries, pool)[0].shape == (5, 25)
    with pytest.raises(ValueError, match="top is 0"):
        fitted.rank(queries, pool, top=0)


def test_contiguous_input_is_not_copied(fitted, few):
    """check_array hands contiguous float64 through, and the extension refuses what it would have to convert."""
    X, _ = few
    from bregmax._arguments import rows_of

    assert rows_of(X, 4, "X", "the model") is X
    with pytest.raises(TypeError):
        fitted.model_._core.phi(np.asfortranarray(X))
    with pytest.raises(TypeError):
        fitted.model_._core.phi(X.astype(np.float32))


def test_arrays_outlive_what_made_them(few):
    X, y = few
    divergences = bregmax.BregmanLearner(1.0).fit(X, y).divergence(X)
    expected = divergences.copy()
    for _ in range(20):
        bregmax.Model.closed_form("squared_euclidean", 4).divergence(X)
    np.testing.assert_array_equal(divergences, expected)


def test_a_smooth_model_from_its_parameters():
    random = np.random.default_rng(0)
    slopes, offsets, roots = random.normal(size=(6, 3)), random.normal(size=6), random.normal(size=(2, 3))
    model = bregmax.Model.log_sum_exp_quadratic(slopes, offsets, 0.5, roots)
    X = random.normal(size=(8, 3))
    phi = 0.5 * np.log(np.exp((X @ slopes.T + offsets) / 0.5).sum(axis=1)) + ((X @ roots.T) ** 2).sum(axis=1)
    np.testing.assert_allclose(model.phi(X), phi, rtol=1e-12)
    again = pickle.loads(pickle.dumps(model))
    for name, given in (("slopes", slopes), ("offsets", offsets), ("roots", roots)):
        np.testing.assert_array_equal(getattr(again, name), given)
    assert again.temperature == 0.5 and again.name == "log_sum_exp_quadratic"
    without = bregmax.Model.log_sum_exp_quadratic(slopes, offsets)
    assert without.temperature == 1 and without.roots.shape == (0, 3)
    rebuilt = bregmax.Model.log_sum_exp_quadratic(without.slopes, without.offsets, without.temperature, without.roots)
    np.testing.assert_array_equal(rebuilt.divergence(X), without.divergence(X))
    for make in (bregmax.Model.log_sum_exp_quadratic, bregmax.Model.max_affine):
        with pytest.raises(ValueError, match=r"offsets has the shape \(6, 1\); expected \(6,\), one per piece"):
            make(slopes, offsets[:, None])
    with pytest.raises(ValueError, match="the divergence max_affine has no quadratic part"):
        bregmax.Model.max_affine(slopes, offsets).roots
    with pytest.raises(ValueError, match="the matrix of the quadratic part has 2 columns; allowed: 3"):
        bregmax.Model.log_sum_exp_quadratic(slopes, offsets, 1.0, roots[:, :2])
    with pytest.raises(ValueError, match="temperature"):
        bregmax.Model.log_sum_exp_quadratic(slopes, offsets, 0.0)
