#!/usr/bin/env python3
"""What Python adds to the time of the library, and nearest neighbours compared with scikit-learn's.

All times are processor seconds of one thread. The smallest of several repetitions counts, since other work on the
machine disturbs it least, and the compared programs take turns. With --threads N, `neighbours` is measured by wall clock
with N threads on either side.

    fit             builtin:wine, all pairs, lambda given: BregmanLearner.fit against the same calls from C++
    divergence      two arrays of 10,000 x 20: Model.divergence against the same calls from C++ (800 MB of result)
    copies          the memory that Model.divergence of 1,000,000 x 20 points (160 MB) and one reference adds
    neighbours      10,000 queries, 10,000 stored rows, 20 features, k = 5: BregmanKNeighborsClassifier.predict against
                    KNeighborsClassifier with the same divergence as a Python callable, timed on CALLABLE_QUERIES queries
                    and extrapolated in proportion to the number of queries (brute force does the same for each), and
                    against KNeighborsClassifier's Euclidean brute force on all queries
"""

import argparse
import os

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--only", choices=("fit", "divergence", "copies", "neighbours"))
parser.add_argument("--threads", type=int, default=1)
OPTIONS = parser.parse_args()

# Before the libraries that read them are loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(OPTIONS.threads)

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import bregmax

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "build/bench/bin/python_reference"
CALLABLE_QUERIES = 5


def seconds_of(work):
    clock = time.process_time if OPTIONS.threads == 1 else time.perf_counter
    begin = clock()
    work()
    return clock() - begin


def seconds_of_reference(*arguments):
    run = subprocess.run([REFERENCE, *map(str, arguments)], check=True, capture_output=True, text=True)
    return [float(line) for line in run.stdout.split()]


def report(name, figure, bound, holds):
    print(f"{name:<44} {figure:<44} {bound:<16} {'holds' if holds else 'DOES NOT HOLD'}", flush=True)
    return holds


def compare(name, reference, work, rounds, allowed):
    of_library, of_python = [], []
    for _ in range(rounds):
        of_library += seconds_of_reference(*reference)
        of_python.append(seconds_of(work))
    ratio = min(of_python) / min(of_library)
    figure = f"C++ {min(of_library):.3f} s, Python {min(of_python):.3f} s: {100 * (ratio - 1):+.1f}%"
    return report(name, figure, f"<= +{100 * allowed:.0f}%", ratio <= 1 + allowed)


def benchmark_fit(rounds):
    wine = bregmax.load_dataset("wine")
    holds = True
    for lam in (1000.0, 1.0):
        work = lambda: bregmax.BregmanLearner(lam).fit(wine.data, wine.target)  # noqa: E731
        holds &= compare(f"fit, wine, lambda {lam:g}", ("fit", lam, 1), work, rounds, 0.05)
    return holds


def learned_model(random, smoothing):
    rows = random.normal(size=(100, 20))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    return bregmax.BregmanLearner(1.0, smoothing=smoothing).fit(rows, labels)


def benchmark_divergence(rounds):
    random = np.random.default_rng(0)
    points, references = random.normal(size=(10_000, 20)), random.normal(size=(10_000, 20))
    holds = True
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/points.npy", points)
        np.save(f"{folder}/references.npy", references)
        for smoothing in (0.0, 0.5):
            model = learned_model(random, smoothing).model_
            model.save(f"{folder}/model.bregmax")
            arguments = ("divergence", *(f"{folder}/{name}" for name in ("model.bregmax", "points.npy", "references.npy")))
            name = f"divergence, {model.name}"
            holds &= compare(name, (*arguments, 1), lambda: model.divergence(points, references), rounds, 0.10)
    return holds


def benchmark_copies():
    """In a new process. As a control, points in Fortran order, which do have to be copied."""
    code = """
import numpy as np, bregmax

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024

def added(points):
    open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
    before = peak()
    model.divergence(points, np.ones((1, 20)))
    return peak() - before

model = bregmax.Model.max_affine(np.eye(20), np.zeros(20))
points = np.ones((1_000_000, 20))
added(points[:10])
print(added(points), added(np.asfortranarray(points)))
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    contiguous, fortran = map(float, run.stdout.split())
    # 8 MB are the result.
    figure = f"{contiguous:.0f} MB more (Fortran order: {fortran:.0f} MB)"
    return report("copies of 160 MB of points", figure, "<= 40 MB", contiguous <= 40 and fortran >= 150)


def benchmark_neighbours(rounds):
    random = np.random.default_rng(0)
    stored, queries = random.normal(size=(10_000, 20)), random.normal(size=(10_000, 20))
    classes = random.integers(3, size=10_000)
    theirs = KNeighborsClassifier(5, algorithm="brute", n_jobs=OPTIONS.threads).fit(stored, classes)
    models = {
        "squared Euclidean": bregmax.Model.closed_form("squared_euclidean", 20),
        "max-affine, 100 pieces": learned_model(random, 0.0).model_,
        "smoothed, 100 pieces": learned_model(random, 0.5).model_,
    }
    holds = True
    for name, model in models.items():
        ours = bregmax.BregmanKNeighborsClassifier(5, divergence=model, n_jobs=OPTIONS.threads).fit(stored, classes)
        of_ours, of_theirs = [], []
        for _ in range(rounds):
            of_ours.append(seconds_of(lambda: ours.predict(queries)))
            of_theirs.append(seconds_of(lambda: theirs.predict(queries)))
        native, euclidean = min(of_ours), min(of_theirs)
        metric = model.get_metric()
        slow = KNeighborsClassifier(5, algorithm="brute", metric=metric, n_jobs=OPTIONS.threads).fit(stored, classes)
        part = seconds_of(lambda: slow.predict(queries[:CALLABLE_QUERIES]))
        callable_seconds = part * len(queries) / CALLABLE_QUERIES
        name = f"neighbours, {name}"
        figure = f"{native:.2f} s, callable {callable_seconds:.0f} s: {callable_seconds / native:.0f} times"
        holds &= report(name, figure, ">= 50 times", callable_seconds >= 50 * native)
        figure = f"{native:.3f} s, scikit-learn Euclidean {euclidean:.3f} s"
        holds &= report("", figure, "not slower", native <= euclidean)
    return holds


def main():
    benchmarks = {
        "fit": lambda: benchmark_fit(OPTIONS.rounds),
        "divergence": lambda: benchmark_divergence(OPTIONS.rounds),
        "copies": benchmark_copies,
        "neighbours": lambda: benchmark_neighbours(OPTIONS.rounds),
    }
    if OPTIONS.threads > 1:
        benchmarks = {"neighbours": benchmarks["neighbours"]}
    holds = [work() for name, work in benchmarks.items() if OPTIONS.only in (None, name)]
    sys.exit(0 if all(holds) else 1)


if __name__ == "__main__":
    main()
