"""Runs of the gradient learners that end by held-out data, or that are kept in a file and continued."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import bregmax

ADAMW = dict(decay=1e-3, optimiser="adamw", steps=1500)
SHAPE = dict(hidden_layers=1, width=64, outputs=8, n_pieces=16)


def noisy(rows=400):
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 10))
    return X, (X[:, 0] * X[:, 1] + random.normal(size=rows) > 0).astype(int)


def parameters_of(learner):
    """Every number of the divergence as bytes, and what is recorded of the run but for its time."""
    _, arrays = learner.model_._core.contents()
    record = learner.model_.record
    del record["seconds"]
    return {name: np.asarray(array).tobytes() for name, array in arrays.items()}, str(record)


def test_all_variants_have_the_parameters():
    for family in ("Smooth", "Deep", "Bregman"):
        for variant in ("Learner" if family == "Bregman" else "", "PairsLearner", "ComparisonsLearner", "TargetsLearner"):
            found = getattr(bregmax, family + variant)().get_params()
            assert found["early_stop"] is False
            assert found["checkpoint"] is found["checkpoint_every"] is found["resume"] is None
    assert "checkpoint" not in bregmax.ITML().get_params()


# ---- Going on from a checkpoint ----


def run_in_child(code, folder):
    script = "import numpy as np\nimport bregmax\nfrom test_resume import *\n" + textwrap.dedent(code)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    return subprocess.Popen([sys.executable, "-c", script], cwd=folder, env=environment)


LONG_RUNS = {
    "smooth": bregmax.Smooth(**ADAMW, n_jobs=1),
    "deep": bregmax.Deep(**ADAMW, **SHAPE, n_jobs=1),
    "deep, early stop": bregmax.Deep(**ADAMW | {"steps": 5000}, **SHAPE, early_stop=True, n_jobs=1),
}


@pytest.mark.parametrize("name", LONG_RUNS)
def test_a_killed_process_is_continued_to_the_same_model(name, tmp_path):
    X, y = noisy()
    whole = clone(LONG_RUNS[name]).fit(X, y)
    state = tmp_path / "state"
    for kill in range(2):
        before = state.stat().st_mtime_ns if kill else 0
        child = run_in_child(
            f"""
            learner = LONG_RUNS[{name!r}].set_params(checkpoint="state", checkpoint_every=0)
            learner.set_params(resume="state" if os.path.exists("state") else None).fit(*noisy())
            """,
            tmp_path,
        )
        while child.poll() is None and not (state.exists() and state.stat().st_mtime_ns > before):
            time.sleep(0.001)
        time.sleep(0.01 * kill)
        assert child.poll() is None, "the run was over before it was killed"
        child.send_signal(signal.SIGKILL)
        child.wait()
    continued = clone(LONG_RUNS[name]).set_params(resume=state).fit(X, y)
    assert continued.report_["iterations"] == whole.report_["iterations"]
    assert parameters_of(continued) == parameters_of(whole)


def test_a_run_that_a_limit_ended_is_continued(tmp_path):
    X, y = noisy()
    whole = clone(LONG_RUNS["deep"]).fit(X, y)
    state = os.fspath(tmp_path / "state")
    limited = clone(LONG_RUNS["deep"]).set_params(checkpoint=state, max_iter=100)
    with pytest.warns(ConvergenceWarning, match="max_iter=100 was reached"):
        limited.fit(X, y)
    assert limited.n_iter_ == 100
    limited.set_params(max_iter=None, resume=state).fit(X, y)  # to the file that it goes on from
    assert parameters_of(limited) == parameters_of(whole)


def test_a_run_that_control_c_ended_is_continued(tmp_path):
    X, y = noisy()
    state = tmp_path / "state"
    learner = clone(LONG_RUNS["deep"]).set_params(checkpoint=state, checkpoint_every=0)

    def interrupt(*_):
        raise KeyboardInterrupt

    learner.set_params(verbose=1)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("bregmax._progress.ProgressBar.__call__", interrupt)
        learner.fit(X, y)
    bregmax._core.wait_for_abandoned()
    learner.set_params(checkpoint=None, resume=state, verbose=0).fit(X, y)
    assert parameters_of(learner) == parameters_of(clone(LONG_RUNS["deep"]).fit(X, y))


def test_after_a_choice_the_checkpoint_is_of_the_last_fit(few, tmp_path):
    state, scores = tmp_path / "state", tmp_path / "scores.csv"
    options = dict(candidates=["smooth"], repeats=1)
    whole = bregmax.BregmanLearner(**options).fit(*few)
    assert whole.method_ == "smooth"
    bregmax.BregmanLearner(**options, checkpoint=state, checkpoint_every=0, scores_file=scores).fit(*few)
    assert state.exists() and not scores.exists()
    continued = bregmax.BregmanLearner(**options, resume=state).fit(*few)
    assert parameters_of(continued) == parameters_of(whole)


@pytest.mark.parametrize(
    "kind, method",
    [
        (bregmax.SmoothPairsLearner, ADAMW),
        (bregmax.DeepPairsLearner, ADAMW | SHAPE),
        (bregmax.BregmanPairsLearner, {"method": "smooth"}),
    ],
)
def test_items_as_samples_can_be_continued(few, kind, method, tmp_path):
    X, y = few
    numbers = np.random.default_rng(0).integers(len(X), size=(60, 2))
    similar = np.where(y[numbers[:, 0]] == y[numbers[:, 1]], 1, -1)
    state = tmp_path / "state"
    whole = kind(**method, preprocessor=X).fit(numbers, similar)
    limited = kind(**method, preprocessor=X, checkpoint=state, max_iter=3)
    with pytest.warns(ConvergenceWarning):
        limited.fit(numbers, similar)
    continued = kind(**method, preprocessor=X, resume=state).fit(numbers, similar)
    assert parameters_of(continued) == parameters_of(whole)


def test_partial_fit_can_be_continued(tmp_path):
    X, y = noisy()
    state = tmp_path / "state"
    begun = clone(LONG_RUNS["deep"]).fit(X[:200], y[:200])
    whole = parameters_of(begun.partial_fit(X[200:], y[200:]))
    begun = clone(LONG_RUNS["deep"]).fit(X[:200], y[:200])
    model = begun.model_
    with pytest.warns(ConvergenceWarning):
        begun.set_params(max_iter=20, checkpoint=state).partial_fit(X[200:], y[200:])
    begun.model_ = model
    continued = begun.set_params(max_iter=None, checkpoint=None, resume=state).partial_fit(X[200:], y[200:])
    assert parameters_of(continued) == whole


def test_pbdl_is_continued_by_the_solver_admm(few, tmp_path):
    state = tmp_path / "state"
    options = dict(lam=1.0, solver="admm", n_jobs=1)
    whole = bregmax.BregmanLearner(**options).fit(*few)
    with pytest.warns(ConvergenceWarning):
        bregmax.BregmanLearner(**options, max_iter=30, checkpoint=state).fit(*few)
    continued = bregmax.BregmanLearner(**options, resume=state).fit(*few)
    assert continued.report_["iterations"] == whole.report_["iterations"]
    assert parameters_of(continued)[0] == parameters_of(whole)[0]


# ---- Early stopping ----


@pytest.mark.parametrize("name", ["smooth", "deep"])
def test_held_out_rows_end_a_run(name):
    X, y = noisy()
    whole = clone(LONG_RUNS[name]).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)  # it did what was asked
        stopped = clone(LONG_RUNS[name]).set_params(early_stop=True).fit(X, y)
    assert whole.report_["status"] == "converged" and stopped.report_["status"] == "early_stopped"
    assert stopped.n_iter_ < whole.n_iter_


def test_held_out_items_end_a_run(few):
    X, y = few
    random = np.random.default_rng(0)
    numbers = random.integers(len(X), size=(200, 2))
    similar = np.where((y[numbers[:, 0]] == y[numbers[:, 1]]) ^ (random.random(200) < 0.3), 1, -1)
    learner = bregmax.DeepPairsLearner(**ADAMW, **SHAPE, preprocessor=X, early_stop=True).fit(numbers, similar)
    assert learner.report_["status"] == "early_stopped"


def test_it_is_the_run_of_the_command_line(few, program, tmp_path):
    X, y = few
    np.savetxt(tmp_path / "rows.csv", np.column_stack([X, np.unique(y, return_inverse=True)[1]]), delimiter=",", fmt="%.17g")
    arguments = ["--label", "4", "--method", "smooth", "--method-parameter", "decay=0.001", "--early-stop"]
    command = [program, "fit", "rows.csv", *arguments, "--out", "model.bregmax"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    expected = bregmax.Model.load(tmp_path / "model.bregmax").divergence(X)
    assert (bregmax.Smooth(decay=1e-3, early_stop=True).fit(X, y).divergence(X) == expected).all()
    assert (bregmax.Smooth(decay=1e-3).fit(X, y).divergence(X) != expected).any()


# ---- Mistakes ----


def refusal(learner, data, match):
    """The message, and that it came before the work: no model, no progress."""

    def refuse(*_):
        raise AssertionError("the work has begun")

    with pytest.MonkeyPatch.context() as patch, pytest.raises(ValueError, match=match):
        patch.setattr("bregmax._progress.ProgressBar.__call__", refuse)
        learner.set_params(verbose=1).fit(*data)
    assert not hasattr(learner, "model_")


@pytest.mark.parametrize("make", [bregmax.Smooth, bregmax.Deep, lambda **options: bregmax.BregmanLearner(repeats=1, **options)])
def test_file_names_are_checked_before_the_work(make, tmp_path):
    data = noisy()
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n")
    refusal(make(checkpoint=table), data, "checkpoint: .*table.csv is another file, which would be lost")
    assert table.read_text() == "a,b\n1,2\n"
    refusal(make(checkpoint=tmp_path / "no folder" / "state"), data, "cannot write .*no folder/state")
    refusal(make(checkpoint=tmp_path), data, "cannot write .*: it exists and is not a regular file")
    refusal(make(resume=tmp_path / "missing"), data, "cannot resume from .*missing: it cannot be read")
    refusal(make(resume=table), data, "cannot resume from .*table.csv: it is not a checkpoint of this version")
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_scores_and_state_need_two_files(few, tmp_path):
    learner = bregmax.Smooth(checkpoint=tmp_path / "file", scores_file=tmp_path / "." / "file")
    refusal(learner, few, "checkpoint=.*file is the file that keeps the scores of the cross-validation; give another name")
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_is_of_one_run(few, tmp_path):
    state = tmp_path / "state"
    with pytest.warns(ConvergenceWarning):
        bregmax.Smooth(decay=1e-3, max_iter=3, checkpoint=state).fit(*few)
    for other in (bregmax.Smooth(decay=1e-2), bregmax.Smooth(decay=1e-3, early_stop=True), bregmax.Smooth(decay=1e-3, scale="none")):
        with pytest.raises(ValueError, match="cannot resume from .*state: it belongs to other data, supervision or options"):
            other.set_params(resume=state).fit(*few)
    weighted = bregmax.Smooth(decay=1e-3, resume=state)
    with pytest.raises(ValueError, match="it belongs to other data, supervision or options"):
        weighted.fit(*few, sample_weight=1 + np.arange(len(few[0])))


@pytest.mark.parametrize("wish", [dict(checkpoint="state"), dict(resume="state"), dict(early_stop=True)])
def test_only_what_keeps_its_state_takes_them(few, wish):
    with pytest.raises(ValueError, match="checkpoint, resume and early_stop do not go with itml; smooth, deep, and pbdl"):
        bregmax.BregmanLearner(method="itml", **wish).fit(*few)
    with pytest.raises(ValueError, match="checkpoint, resume and early_stop go with solver=admm"):
        bregmax.BregmanLearner(lam=1.0, **wish).fit(*few)
    with pytest.raises(ValueError, match="smooth and deep, which are not among candidates"):
        bregmax.BregmanLearner(candidates=["euclidean", "pbdl"], **wish).fit(*few)


@pytest.mark.parametrize(
    "wish, message",
    [
        (dict(early_stop="yes"), "early_stop is 'yes'; allowed: True or False"),
        (dict(early_stop=1), "early_stop is 1; allowed: True or False"),
        (dict(checkpoint_every=-1.0), "checkpoint_every is -1; allowed: 0 or more seconds"),
        (dict(checkpoint_every="1"), "checkpoint_every is '1'; allowed: a number"),
    ],
)
def test_mistakes(few, wish, message):
    for learner in (bregmax.Smooth(**wish), bregmax.BregmanLearner(**wish)):
        with pytest.raises(ValueError, match=message):
            learner.fit(*few)


def test_early_stopping_needs_rows(few):
    with pytest.raises(ValueError, match="early stopping holds out a fifth of the rows"):
        bregmax.Smooth(decay=1e-3, early_stop=True).fit(few[0][[0, 1, 29]], few[1][[0, 1, 29]])
