"""Shared by the comparisons of the classical methods with public implementations: the data, runs of bregmax by
`trace_method`, and the table of ratios.

Importing this sets the number of threads of the numerical libraries to one, so import it before numpy.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import csv
import itertools
import json
import math
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DATASETS = ("iris", "wine", "balance-scale", "ionosphere")
OBJECTIVE_TOLERANCE = 1e-3
TIME_GOAL = 5


def load_dataset(name):
    """Rows as they are in the file, and the class number of each."""
    if name == "balance-scale":
        rows = np.array(list(itertools.product(range(1, 6), repeat=4)), dtype=float)
        return rows, np.sign(rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3]).astype(int)
    with open(ROOT / "data" / f"{name}.csv", newline="") as file:
        lines = [line for line in csv.reader(file) if line]
    try:
        float(lines[0][0])
    except ValueError:
        lines = lines[1:]
    rows = np.array([line[:-1] for line in lines], dtype=float)
    return rows, np.unique([line[-1] for line in lines], return_inverse=True)[1]


def write_csv(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def read_metric(path):
    """The matrix of a Mahalanobis model file; see docs/formats.md."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data, 32)
    at = 40 + length
    for entry in json.loads(data[40:at])["arrays"]:
        count = math.prod(entry["shape"])
        if entry["name"] == "divergence.matrix":
            return np.frombuffer(data, "<f8", count, at).reshape(entry["shape"])
        at += 8 * count
    raise SystemExit(f"{path} has no matrix")


@dataclass
class Run:
    metric: np.ndarray
    trace: list  # (processor seconds, objective) of each iteration; of a reference only the end, without objective

    def seconds(self):
        return self.trace[-1][0]

    def seconds_to(self, objective):
        """Until the objective is at most this, within the tolerance; all of the run if it never is."""
        most = objective + OBJECTIVE_TOLERANCE * abs(objective)
        return next((seconds for seconds, value in self.trace if value <= most), self.seconds())


def run_bregmax(program, method, rows, labels, pairs=None, parameters=None):
    """Learns from the labels, or from pairs (i, j, similar)."""
    with tempfile.TemporaryDirectory() as folder:
        data, supervision, model = (Path(folder) / name for name in ("data.csv", "pairs.csv", "model.bregmax"))
        # Texts of 17 digits, so that both sides see the same numbers.
        header = [f"x{f}" for f in range(rows.shape[1])] + ["class"]
        write_csv(data, header, ([repr(float(v)) for v in row] + [f"c{c}"] for row, c in zip(rows, labels)))
        if pairs is not None:
            write_csv(supervision, ["i", "j", "s"], pairs)
        command = [program, method, data, "labels" if pairs is None else supervision, model]
        command += [f"{name}={value!r}" for name, value in (parameters or {}).items()]
        run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"{program} failed: {run.stderr.strip()}")
        return Run(read_metric(model), [tuple(map(float, line.split())) for line in run.stdout.splitlines()])


def argument_parser(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=DATASETS, metavar="NAME")
    parser.add_argument("--repeats", type=int, default=3, help="runs of both sides, of which the shortest counts")
    parser.add_argument("--program", type=Path, default=ROOT / "build/bench/bin/trace_method", help="to be timed")
    return parser


class RatioTable:
    """Prints one line per case. `missed` counts the cases that miss a goal."""

    ROW = "{:<8}{:<15}{:<14}{:>13}{:>13}{:>12}{:>11}{:>14}{:>10}{:>10}"

    def __init__(self):
        self.missed = 0
        print(self.ROW.format("method", "data", "reference", "objective", "ours", "obj. ratio", "seconds",
                              "to objective", "to end", "ratio"))

    def add(self, method, data, library, theirs, ours, objective, maximised=False):
        """`theirs` and `ours` are runs; `objective` is a function of a metric, computed the same way for both."""
        their_value, our_value = (objective(runs[0].metric) for runs in (theirs, ours))
        their_seconds = min(run.seconds() for run in theirs)
        our_seconds = min(run.seconds_to(-their_value if maximised else their_value) for run in ours)
        to_end = min(run.seconds() for run in ours)
        worse = (their_value - our_value if maximised else our_value - their_value) / abs(their_value)
        speed = their_seconds / our_seconds
        self.missed += worse > OBJECTIVE_TOLERANCE or speed < TIME_GOAL
        print(self.ROW.format(method, data, library, f"{their_value:.6g}", f"{our_value:.6g}",
                              f"{our_value / their_value:.5f}", f"{their_seconds:.4f}", f"{our_seconds:.4f}",
                              f"{to_end:.4f}", f"{speed:.1f}x"), flush=True)

    def exit_code(self):
        print(f"{self.missed} cases miss an objective within {OBJECTIVE_TOLERANCE} or a time {TIME_GOAL} times shorter")
        return 1 if self.missed else 0
