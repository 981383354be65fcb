"""Long runs: Python's lock, Ctrl-C, progress."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import bregmax


def long_problem(rows=600):
    """With lambda 1e-3 a fit takes seconds: on a much faster machine, too, it still runs after half a second."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 10))
    return X, (X[:, 0] * X[:, 1] + 0.5 * random.normal(size=rows) > 0).astype(int)


class Interrupted:
    """Sends this process SIGINT after a while, and remembers when."""

    def __enter__(self):
        # Processes that a script starts in the background ignore SIGINT from the beginning, and Python then leaves it so.
        self._handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        self._timer = threading.Timer(0.4, self._send)
        self._timer.start()
        return self

    def _send(self):
        self.sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    def __exit__(self, *_):
        self._timer.cancel()
        signal.signal(signal.SIGINT, self._handler)


# Learners, with the number of rows that keep them busy for seconds.
LONG_RUNS = {
    "tune": (bregmax.BregmanLearner(method="pbdl"), 600),
    "solve": (bregmax.BregmanLearner(1e-3), 600),
    "mlr-auc": (bregmax.MLRAUC(c=1e6, tol=1e-12), 2000),
    "lmnn": (bregmax.LMNN(push=0.9, n_neighbors=20, tol=1e-12), 1000),
}


@pytest.mark.parametrize("learner, rows", LONG_RUNS.values(), ids=LONG_RUNS)
def test_control_c_stops_a_fit_within_a_second(learner, rows):
    X, y = long_problem(rows)
    with Interrupted() as interrupted:
        with pytest.raises(KeyboardInterrupt):
            learner.fit(X, y)
        assert time.monotonic() - interrupted.sent < 1
    assert not hasattr(learner, "model_")


def test_scores_outlive_control_c(tmp_path):
    X, y = long_problem(500)
    file = tmp_path / "scores.csv"
    options = dict(hidden_layers=1, width=64, steps=200, decay=[1e-4, 1e-3, 1e-2, 1e-1, 1.0], n_jobs=1)
    learner = bregmax.Deep(scores_file=file, **options)
    with Interrupted(), pytest.raises(KeyboardInterrupt):
        learner.fit(X, y)
    bregmax._core.wait_for_abandoned()
    kept = len(file.read_text().splitlines()) - 2  # less the two lines of the header
    assert kept > 0, "nothing was finished within 0.4 s"
    learner.fit(X, y)
    assert not file.exists()
    undisturbed = bregmax.Deep(**options).fit(X, y)
    assert learner.model_.tuning["solved"] == undisturbed.model_.tuning["solved"] - kept
    assert (learner.divergence(X) == undisturbed.divergence(X)).all()


def test_a_file_that_has_something_else_is_never_overwritten(few, tmp_path):
    files = {"table.csv": "a,b\n1,2\n"}
    bregmax.compare(*few, methods="gmml", folds=2, out=tmp_path / "runs.csv")
    files["runs.csv"] = (tmp_path / "runs.csv").read_text()
    (tmp_path / "table.csv").write_text(files["table.csv"])
    for name, text in files.items():
        with pytest.raises(ValueError, match=f"{name}: this is not a file of such results"):
            bregmax.Smooth(n_pieces=5, scores_file=tmp_path / name).fit(*few)
        assert (tmp_path / name).read_text() == text


class Ticking:
    """A thread that writes down the time every few milliseconds until the block ends, even by an exception."""

    def __enter__(self):
        self.ticks, self._done = [], threading.Event()
        self._thread = threading.Thread(target=self._tick)
        self._thread.start()
        return self

    def _tick(self):
        while not self._done.wait(0.005):
            self.ticks.append(time.monotonic())

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()


def test_other_threads_run_during_a_fit():
    X, y = long_problem()
    with Ticking() as ticking:
        begin = time.monotonic()
        with pytest.warns(match="time_limit"):
            bregmax.BregmanLearner(1e-3, time_limit=0.5).fit(X, y)
        end = time.monotonic()
    during = np.array([begin, *[tick for tick in ticking.ticks if begin <= tick <= end], end])
    assert end - begin > 0.4
    assert np.diff(during).max() < 0.5 * (end - begin), "a thread that holds the lock would stop all others"


def test_fits_in_several_threads_agree(few):
    X, y = few
    expected = bregmax.BregmanLearner(1.0).fit(X, y).divergence(X)
    found = [None] * 4

    def fit(number):
        found[number] = bregmax.BregmanLearner(1.0).fit(X, y).divergence(X)

    threads = [threading.Thread(target=fit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for divergences in found:
        np.testing.assert_allclose(divergences, expected, atol=1e-6)


def test_the_result_does_not_depend_on_the_threads(few):
    X, y = few
    one = bregmax.BregmanLearner(lambdas=[0.1, 10.0], n_jobs=1).fit(X, y)
    two = bregmax.BregmanLearner(lambdas=[0.1, 10.0], n_jobs=2).fit(X, y)
    np.testing.assert_allclose(one.divergence(X), two.divergence(X), atol=1e-6)
    assert one.model_.tuning["chosen"] == two.model_.tuning["chosen"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts the threads of the process")
def test_predict_and_rank_take_as_many_threads_as_openmp_may():
    code = """
        import os
        import time
        import numpy as np
        import bregmax
        X, y = np.random.default_rng(0).normal(size=(3000, 8)), np.arange(3000) % 2
        before = len(os.listdir("/proc/self/task"))
        bregmax.Euclidean().fit(X, y).rank(X, X, 5)
        bregmax.BregmanKNeighborsClassifier(divergence="squared_euclidean").fit(X, y).predict(X)
        for wait in range(100):  # OpenMP keeps its threads; the one that a fit runs in may still be ending
            if len(os.listdir("/proc/self/task")) == before:
                break
            time.sleep(0.1)
        else:
            raise AssertionError("threads are left over")
    """
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, env=environment)


def test_verbose_shows_progress(capsys):
    X, y = long_problem()
    # Long enough to be worth a bar on any machine: reports come a few times a second.
    rows = np.random.default_rng(0).normal(size=(3000, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        bregmax.NCA(form="full", verbose=1, max_iter=100).fit(rows, np.arange(3000) % 2)
    assert "%" in capsys.readouterr().err
    bregmax.BregmanLearner(1e-3, verbose=1).fit(X[:300], y[:300])
    shown = capsys.readouterr()
    assert "solve" in shown.err and "gap" in shown.err
    assert max(int(percent) for percent in re.findall(r"(\d+) ?%", shown.err)) > 0
    assert shown.out == ""
    bregmax.BregmanLearner(1.0).fit(X[:60], y[:60])
    assert capsys.readouterr().err == ""


def test_progress_without_tqdm():
    code = """
        import sys
        sys.modules["tqdm"] = sys.modules["tqdm.auto"] = None
        import bregmax
        from bregmax._progress import ProgressBar
        with ProgressBar() as bar:
            bar("solve", 1, float("nan"), 1.0, 1e-8)
            bar("solve", 2, float("nan"), 1e-4, 1e-8)
            bar("tune", 2, 0.25, float("nan"), float("nan"))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True
    )
    assert "solve  50 % (2, gap 1.0e-04)" in run.stderr and "tune  25 % (2)" in run.stderr


@pytest.mark.parametrize("learner", [bregmax.BregmanLearner(method="pbdl", verbose=1), bregmax.BregmanLearner(1e-3, verbose=1)])
def test_an_exception_of_the_progress_bar_ends_the_fit(monkeypatch, learner):
    def refuse(*_):
        raised.append(time.monotonic())
        raise ZeroDivisionError("of the bar")

    raised = []
    monkeypatch.setattr("bregmax._progress.ProgressBar.__call__", refuse)
    X, y = long_problem()
    with pytest.raises(ZeroDivisionError, match="of the bar"):
        learner.fit(X, y)
    assert time.monotonic() - raised[0] < 1
    bregmax._core.wait_for_abandoned()
    assert time.monotonic() - raised[0] < 3, "the workers go on"
    assert len(raised) == 1
