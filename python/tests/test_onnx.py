"""Models as ONNX graphs give what the library gives."""

import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

import bregmax

RANDOM = np.random.default_rng(0)
SLOPES, OFFSETS = RANDOM.normal(size=(9, 4)), RANDOM.normal(size=9)
MATRIX = (lambda root: root @ root.T)(RANDOM.normal(size=(4, 3)))
GIVEN = {
    "log_sum_exp_quadratic": bregmax.Model.log_sum_exp_quadratic(SLOPES, OFFSETS, 0.7, RANDOM.normal(size=(3, 4))),
    "without a quadratic part": bregmax.Model.log_sum_exp_quadratic(SLOPES, OFFSETS, 2.0),
    "smoothed_max_affine": bregmax.Model.max_affine(SLOPES, OFFSETS, 0.3),
    "max_affine": bregmax.Model.max_affine(SLOPES, OFFSETS),
    "mahalanobis": bregmax.Model.mahalanobis(MATRIX),
    "squared_euclidean": bregmax.Model.closed_form("squared_euclidean", 4),
}
LEARNERS = {
    "smooth": bregmax.Smooth(n_pieces=10, decay=1e-2),
    "smooth, raw": bregmax.Smooth(n_pieces=10, decay=1e-2, scale="none"),
    "deep": bregmax.Deep(hidden_layers=2, width=16, outputs=5, n_pieces=8, steps=100, decay=1e-2),
    "deep, tanh": bregmax.Deep(hidden_layers=1, width=16, outputs=5, n_pieces=8, steps=100, decay=1e-2, activation="tanh"),
    "pbdl": bregmax.BregmanLearner(1.0),
    "pbdl, smoothed": bregmax.BregmanLearner(1.0, smoothing=0.5),
    "lmnn": bregmax.LMNN(n_neighbors=3, push=0.5),
    "euclidean": bregmax.Euclidean(),
}


def run(model, points, references=None, outputs=("divergence", "embedded", "phi")):
    session = onnxruntime.InferenceSession(model.to_onnx(outputs).SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = {"points": points} | ({} if references is None else {"references": references})
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs)))


def check(model, points, references):
    results = run(model, points, references)
    expected = model.divergence(points, references)
    # Both sum terms of the size of the generator, so small divergences have an absolute error of its rounding.
    scale = max(1.0, np.abs(model.phi(np.vstack([points, references]))).max())
    np.testing.assert_allclose(results["divergence"], expected, rtol=1e-10, atol=1e-12 * scale)
    np.testing.assert_allclose(results["phi"], model.phi(points), rtol=1e-12, atol=1e-12 * scale)
    assert (results["divergence"] >= 0).all()
    return results


@pytest.mark.parametrize("name", GIVEN)
def test_given_models(name):
    results = check(GIVEN[name], RANDOM.normal(size=(30, 4)), RANDOM.normal(size=(20, 4)))
    assert results["divergence"].shape == (30, 20) and results["embedded"].shape == (30, 4)
    check(GIVEN[name], RANDOM.normal(size=(1, 4)), RANDOM.normal(size=(5, 4)))


@pytest.mark.parametrize("name", LEARNERS)
def test_learned_models(few, name):
    X, y = few
    model = LEARNERS[name].fit(X, y).model_
    results = check(model, X, X[::2] + 0.1)
    if not name.startswith("deep"):
        np.testing.assert_allclose(results["embedded"], (X - model.center) / model.scale, rtol=1e-15)


def test_embedded_rows_are_what_the_generator_of_a_network_sees(few):
    X, y = few
    for name in ("deep", "deep, tanh"):
        model = LEARNERS[name].fit(X, y).model_
        embedded = run(model, X, outputs="embedded")["embedded"]
        assert embedded.shape == (len(X), 5)
        np.testing.assert_allclose(model.embed(X), embedded, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(model.inner.divergence(embedded), model.divergence(X), rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(model.inner.phi(embedded), model.phi(X), rtol=1e-12)
        check(model.inner, embedded, embedded[::2])


def test_near_rows_far_from_the_origin():
    """The quadratic part is measured from the mean of the references, and softmax does not look at a common shift."""
    points = 1e6 + RANDOM.normal(size=(20, 4))
    for name in ("squared_euclidean", "mahalanobis"):
        model = GIVEN[name]
        D = run(model, points, points[:7], "divergence")["divergence"]
        np.testing.assert_allclose(D, model.divergence(points, points[:7]), rtol=1e-8, atol=1e-9)
    apart = run(GIVEN["log_sum_exp_quadratic"], points - 1e6 + 1e-4, points - 1e6, "divergence")["divergence"]
    exact = GIVEN["log_sum_exp_quadratic"].pair_distance(points - 1e6 + 1e-4, points - 1e6)
    np.testing.assert_allclose(np.diag(apart), exact, atol=1e-13)


def test_extreme_scores_do_not_overflow():
    model = bregmax.Model.log_sum_exp_quadratic(1e4 * SLOPES, OFFSETS, 0.01, np.eye(4))
    X = RANDOM.normal(size=(20, 4))
    D = run(model, X, X, "divergence")["divergence"]
    np.testing.assert_allclose(D, model.divergence(X), rtol=1e-10, atol=1e-7)


def test_ties_of_a_max_affine_divergence_go_to_the_first_piece():
    model = bregmax.Model.max_affine([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], np.zeros(4))
    X = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 0.0], [2.0, 2.0], [0.5, -3.0]])
    np.testing.assert_array_equal(run(model, X, X)["divergence"], model.divergence(X))


def test_the_graph_says_what_it_takes(few, tmp_path):
    X, y = few
    model = bregmax.Smooth(n_pieces=5, decay=1e-2).fit(X, y).model_
    made = model.to_onnx()
    onnx.save(made, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    assert [entry.name for entry in session.get_inputs()] == ["points", "references"]
    assert [entry.shape for entry in session.get_inputs()] == [["n", 4], ["m", 4]]
    assert [entry.shape for entry in session.get_outputs()] == [["n", "m"], ["n", 4], ["n"]]
    properties = {entry.key: entry.value for entry in made.metadata_props}
    assert properties == {"bregmax.divergence": "log_sum_exp_quadratic", "bregmax.features": "x0, x1, x2, x3"}
    assert [entry.name for entry in model.to_onnx("phi").graph.input] == ["points"]
    assert [entry.name for entry in model.to_onnx(["phi", "embedded"]).graph.output] == ["phi", "embedded"]


def test_what_has_no_onnx_form_is_refused_by_name(few):
    X, y = few
    with pytest.raises(ValueError, match="a model of the kind kl has no ONNX form; allowed: log_sum_exp_quadratic, "):
        bregmax.Model.closed_form("kl", 3).to_onnx()
    trees = bregmax.GBLMNN(n_neighbors=3, push=0.5, n_trees=3).fit(X, y).model_
    with pytest.raises(ValueError, match="tree_embedding has no ONNX form"):
        trees.to_onnx()
    for outputs in ("D", [], ["phi", "phi"]):
        with pytest.raises(ValueError, match="allowed: one or several of divergence, embedded, phi"):
            GIVEN["max_affine"].to_onnx(outputs)


def test_without_the_package_it_says_what_to_install():
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import bregmax\n"
        "bregmax.Model.closed_form('squared_euclidean', 2).to_onnx()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ImportError: Model.to_onnx needs the package onnx: pip install bregmax[onnx]" in done.stderr
