#!/usr/bin/env python3
"""Solves the paper's linear program with HiGHS and with bregmax, one after the other, and prints the ratio.

The problem is the one for comparisons, with one piece per row, written out in full for HiGHS:

    minimise    sum_t s_t + lambda L
    subject to  z_i - z_j - <a_j, x_i - x_j> >= 0          for all rows i != j      (convexity)
                s_t - D(i, j) + D(k, l) >= 1,  s_t >= 0    for every comparison t = (i, j, k, l)
                sum_f u_jf <= L,  -u_jf <= a_jf <= u_jf    for every row j, feature f

with D(i, j) = z_i - z_j - <a_j, x_i - x_j> and z_0 = 0. The rows are a random two thirds of a data set, not scaled,
and the comparisons are 2000 triplets drawn from the labels. Both sides use one thread.

HiGHS runs with each of its algorithms and the fastest counts. An algorithm that is slower than the best one so far is
stopped there (--every-solver lets each run to the time limit). When none ends within the limit, the limit is what
counts, and the ratio is a lower bound: it is printed with a '>'.

The time of a short solve depends on what else the machine does. Where the best of HiGHS took less than SHORT seconds, it
and bregmax are run in turns until both have had --repeats runs, and the fastest run of each counts.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import itertools
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parent.parent
DATASETS = ("iris", "wine", "ionosphere", "balance-scale", "transfusion")
SOLVERS = ("hipo", "ipx", "ipx-crossover", "simplex")
OBJECTIVE_TOLERANCE = 1e-6
SHORT = 10.0


# ---------------------------------------------------------------------------------------------------------- data


def balance_scale():
    rows = np.array(list(itertools.product(range(1, 6), repeat=4)), dtype=float)
    torque = rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3]
    return rows, np.array(["L" if t > 0 else "R" if t < 0 else "B" for t in torque])


def read_csv(path):
    with open(path, newline="") as file:
        lines = [line for line in csv.reader(file) if line]
    try:
        float(lines[0][0])
    except ValueError:
        lines = lines[1:]
    return np.array([[float(v) for v in line[:-1]] for line in lines]), np.array([line[-1] for line in lines])


def load_dataset(name, data_dir):
    """Rows and labels, or None when the file is not there."""
    if name == "balance-scale":
        return balance_scale()
    for folder in filter(None, (data_dir, ROOT / "data")):
        path = Path(folder) / f"{name}.csv"
        if path.exists():
            return read_csv(path)
    return None


def sample_triplets(labels, count, rng):
    """(i, j, i, l): i != j from one class drawn by its frequency, l from another drawn by its frequency."""
    members = {label: np.flatnonzero(labels == label) for label in np.unique(labels)}
    pairable = [label for label in members if len(members[label]) >= 2]
    weights = np.array([len(members[label]) for label in pairable], dtype=float)
    triplets = np.empty((count, 4), dtype=np.int64)
    for t in range(count):
        label = pairable[rng.choice(len(pairable), p=weights / weights.sum())]
        i, j = rng.choice(members[label], size=2, replace=False)
        # Uniform over the rows of the other classes: each other class by its frequency, then uniform inside it.
        other = rng.choice(np.flatnonzero(labels != label))
        triplets[t] = i, j, i, other
    return triplets


def training_problem(name, data_dir, comparisons, seed):
    loaded = load_dataset(name, data_dir)
    if loaded is None:
        return None
    rows, labels = loaded
    rng = np.random.default_rng(seed)
    train = np.sort(rng.permutation(len(rows))[: round(len(rows) * 2 / 3)])
    return rows[train], sample_triplets(labels[train], comparisons, rng)


# --------------------------------------------------------------------------------------------------------- HiGHS


@dataclass
class LinearProgram:
    """minimise <cost, x> with row_lower <= matrix x <= row_upper and column_lower <= x <= column_upper."""

    cost: np.ndarray
    column_lower: np.ndarray
    column_upper: np.ndarray
    row_lower: np.ndarray
    row_upper: np.ndarray
    matrix: sp.csc_array


def divergence_rows(points, first, second):
    """One sparse row per pair: D(first, second) as a linear function of (z, a)."""
    n, d = points.shape
    m = len(first)
    row = np.arange(m)
    difference = points[first] - points[second]
    rows = np.concatenate([row, row, np.repeat(row, d)])
    columns = np.concatenate([first, second, (n + second[:, None] * d + np.arange(d)).ravel()])
    values = np.concatenate([np.ones(m), -np.ones(m), -difference.ravel()])
    return sp.csr_array((values, (rows, columns)), shape=(m, n + n * d))


def build_program(points, comparisons, lam):
    n, d = points.shape
    m = len(comparisons)
    i, j = (index.ravel() for index in np.nonzero(~np.eye(n, dtype=bool)))
    convexity = divergence_rows(points, i, j)
    hinge = divergence_rows(points, comparisons[:, 2], comparisons[:, 3]) - divergence_rows(
        points, comparisons[:, 0], comparisons[:, 1]
    )
    slopes = sp.hstack([sp.csr_array((n * d, n)), sp.eye_array(n * d)])
    sums = sp.kron(sp.eye_array(n), np.ones((1, d)))
    # Columns: z (n), a (n d), u (n d), L (1), s (m).
    matrix = sp.block_array(
        [
            [convexity, None, None, None],
            [hinge, None, None, sp.eye_array(m)],
            [-slopes, sp.eye_array(n * d), None, None],
            [slopes, sp.eye_array(n * d), None, None],
            [None, -sums, np.ones((n, 1)), None],
        ],
        format="csc",
    )
    matrix.eliminate_zeros()
    columns = matrix.shape[1]
    cost = np.concatenate([np.zeros(n + 2 * n * d), [lam], np.ones(m)])
    lower = np.concatenate([np.full(n + n * d, -np.inf), np.zeros(n * d + 1 + m)])
    upper = np.full(columns, np.inf)
    lower[0] = upper[0] = 0
    row_lower = np.concatenate([np.zeros(len(i)), np.ones(m), np.zeros(2 * n * d + n)])
    return LinearProgram(cost, lower, upper, row_lower, np.full(len(row_lower), np.inf), matrix)


@dataclass
class HighsResult:
    solver: str
    status: str  # "optimal", "time_limit", or what HiGHS says
    seconds: float
    cpu_seconds: float = 0.0
    objective: float | None = None
    columns: np.ndarray | None = None  # the solution, where it was asked for


def run_highs(program, solver, time_limit, verbose, with_columns=False):
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", verbose)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("parallel", "off")
    highs.setOptionValue("time_limit", float(time_limit))
    name = solver.removesuffix("-crossover")
    if highs.setOptionValue("solver", name) != highspy.HighsStatus.kOk:
        return HighsResult(solver, "not available", 0.0)
    highs.setOptionValue("run_crossover", "on" if solver.endswith("-crossover") else "off")

    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = program.matrix.shape
    lp.col_cost_ = program.cost
    lp.col_lower_, lp.col_upper_ = program.column_lower, program.column_upper
    lp.row_lower_, lp.row_upper_ = program.row_lower, program.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = program.matrix.indptr
    lp.a_matrix_.index_ = program.matrix.indices
    lp.a_matrix_.value_ = program.matrix.data
    highs.passModel(lp)

    start, cpu_start = time.perf_counter(), time.process_time()
    highs.run()
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kOptimal:
        columns = np.array(highs.getSolution().col_value) if with_columns else None
        return HighsResult(solver, "optimal", seconds, cpu_seconds, highs.getInfo().objective_function_value, columns)
    if status == highspy.HighsModelStatus.kTimeLimit:
        return HighsResult(solver, "time_limit", seconds, cpu_seconds)
    return HighsResult(solver, highs.modelStatusToString(status).lower(), seconds, cpu_seconds)


def _highs_worker(sender, *arguments):
    sender.send(run_highs(*arguments))


def solve_with_highs(program, solver, time_limit, verbose=False):
    """In a separate process, which can be killed: some of the algorithms rarely check their time limit."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    worker = context.Process(target=_highs_worker, args=(sender, program, solver, time_limit, verbose))
    worker.start()
    sender.close()
    try:
        if receiver.poll(time_limit * 1.2 + 10):
            result = receiver.recv()
        else:
            result = HighsResult(solver, "time_limit", float(time_limit))
    except EOFError:
        result = HighsResult(solver, "crashed", 0.0)
    finally:
        worker.kill()
        worker.join()
    return result


def highs_race(program, solvers, limit, every_solver, report):
    results = []
    for solver in solvers:
        result = solve_with_highs(program, solver, limit)
        report(result)
        results.append(result)
        if result.status == "optimal" and not every_solver:
            limit = min(limit, result.seconds)
    return results


# ------------------------------------------------------------------------------------------------------- bregmax

# The peak memory of a process includes that of the one that started it, so a small one starts it.
_LAUNCHER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL).returncode
with open(sys.argv[1], "w") as file:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = {"seconds": time.perf_counter() - start, "cpu_seconds": used.ru_utime + used.ru_stime}
    json.dump({"code": code, **seconds, "peak_kib": used.ru_maxrss}, file)
"""


@dataclass
class BregmaxResult:
    status: str
    seconds: float  # of the solve, as the program reports it
    process_seconds: float  # of the whole process, reading and writing included
    cpu_seconds: float
    objective: float
    relative_gap: float
    peak_megabytes: float


def solve_with_bregmax(program, points, comparisons, lam, tolerance):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        data, supervision, usage = folder / "data.csv", folder / "comparisons.csv", folder / "usage.json"
        header = ",".join(f"x{f + 1}" for f in range(points.shape[1]))
        np.savetxt(data, points, fmt="%.17g", delimiter=",", header=header, comments="")
        np.savetxt(supervision, comparisons, fmt="%d", delimiter=",", header="i,j,k,l", comments="")
        command = [program, "fit", data, "--label", "none", "--comparisons-file", supervision, "--lambda", f"{lam:.17g}"]
        command += ["--scale", "none", "--solver", "exact", "--smoothing", "0", "--threads", "1"]
        command += ["--tolerance", f"{tolerance:g}", "--out", folder / "model.bregmax", "--json"]
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, usage]
        run = subprocess.run([str(part) for part in launcher + command], capture_output=True, text=True)
        if run.returncode != 0 or not run.stdout.strip():
            raise SystemExit(f"{program} gave no result: {run.stderr.strip()}")
        measured = json.loads(usage.read_text())
        report = json.loads(run.stdout)
        return BregmaxResult(
            report["status"],
            report["seconds"],
            measured["seconds"],
            measured["cpu_seconds"],
            report["objective"],
            report["relative_gap"],
            measured["peak_kib"] / 1024,
        )


# ---------------------------------------------------------------------------------------------------- comparison


@dataclass
class Comparison:
    dataset: str
    lam: float
    n: int
    d: int
    highs: list = field(default_factory=list)
    bregmax: BregmaxResult | None = None

    def best_highs(self):
        """The fastest run that ended, else the longest that did not (a lower bound)."""
        ended = [r for r in self.highs if r.status == "optimal"]
        if ended:
            return min(ended, key=lambda r: r.seconds), False
        cut = [r for r in self.highs if r.status == "time_limit"]
        return (max(cut, key=lambda r: r.seconds) if cut else None), True

    def difference(self):
        best, is_bound = self.best_highs()
        if best is None or is_bound or self.bregmax is None:
            return None
        return abs(best.objective - self.bregmax.objective) / max(abs(best.objective), 1e-12)

    def agrees(self):
        difference = self.difference()
        return difference is None or difference <= OBJECTIVE_TOLERANCE


COLUMNS = "{:<14}{:>7}{:>5}{:>4}  {:<14}{:>10}{:>10}{:>9}  {:>15}{:>15}{:>9}{:>8}  {}"
HEADINGS = ("dataset", "lambda", "n", "d", "HiGHS with", "HiGHS s", "bregmax s", "ratio", "HiGHS objective", "ours")
HEADINGS += ("gap", "peak MB", "")


def table_row(item):
    best, is_bound = item.best_highs()
    ours = item.bregmax
    bound = ">" if is_bound else ""
    seconds = f"{bound}{best.seconds:.3f}" if best else "-"
    cells = [item.dataset, f"{item.lam:g}", item.n, item.d, best.solver if best else "-", seconds]
    if ours is None:
        cells += ["-", "-"]
    else:
        cells += [f"{ours.seconds:.3f}", f"{bound}{best.seconds / ours.seconds:.1f}x" if best else "-"]
    cells += [f"{best.objective:.8g}" if best and not is_bound else "-"]
    note = ""
    if ours is None:
        cells += ["-", "-", "-"]
    else:
        cells += [f"{ours.objective:.8g}", f"{ours.relative_gap:.1e}", f"{ours.peak_megabytes:.0f}"]
        if ours.status != "optimal":
            note = f"bregmax: {ours.status}"
        elif not item.agrees():
            note = f"objectives differ by {item.difference():.1e}"
    return COLUMNS.format(*cells, note).rstrip()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=DATASETS, metavar="NAME")
    parser.add_argument("--lambdas", nargs="+", type=float, default=[0.01, 1.0, 100.0], metavar="V")
    parser.add_argument("--time-limit", type=float, default=600, help="seconds for one solve of HiGHS (600)")
    parser.add_argument("--enough", type=float, default=40,
                        help="HiGHS is ended when it has taken this many times as long as bregmax (40)")
    parser.add_argument("--highs-solvers", nargs="*", default=list(SOLVERS), choices=SOLVERS, metavar="NAME",
                        help="which algorithms of HiGHS, in this order (%(default)s); none: bregmax alone")
    parser.add_argument("--every-solver", action="store_true", help="let slower algorithms run to the time limit, too")
    parser.add_argument("--comparisons", type=int, default=2000, help="triplets drawn from the labels (2000)")
    parser.add_argument("--seed", type=int, default=0, help="of the split and the triplets (0)")
    parser.add_argument("--tolerance", type=float, default=1e-8, help="relative gap asked of bregmax (1e-8)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of short solves, the fastest counts (3)")
    parser.add_argument("--data-dir", type=Path, help="folder with NAME.csv files, looked at before data/")
    parser.add_argument("--bregmax", type=Path, default=ROOT / "build/release/bin/bregmax", help="the program to time")
    parser.add_argument("--only-highs", action="store_true", help="do not run bregmax")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write every single run there, too")
    return parser.parse_args()


def compare(name, points, comparisons, lam, options):
    item = Comparison(name, lam, *points.shape)

    def report(result):
        objective = "" if result.objective is None else f"  objective {result.objective:.9g}"
        times = f"{result.seconds:.3f} s (processor {result.cpu_seconds:.3f} s)"
        text = f"  {name} lambda {lam:g}: HiGHS {result.solver}: {result.status}, {times}{objective}"
        print(text, file=sys.stderr, flush=True)

    def run_bregmax():
        ours = solve_with_bregmax(options.bregmax, points, comparisons, lam, options.tolerance)
        times = f"{ours.seconds:.3f} s (process {ours.process_seconds:.3f} s, processor {ours.cpu_seconds:.3f} s)"
        print(f"  {name} lambda {lam:g}: bregmax: {ours.status}, {times}", file=sys.stderr, flush=True)
        if item.bregmax is None or ours.seconds < item.bregmax.seconds:
            item.bregmax = ours

    if not options.only_highs:
        run_bregmax()
    if options.highs_solvers:
        program = build_program(points, comparisons, lam)
        # A run that has taken `enough` times as long as bregmax need not end.
        limit = options.time_limit
        if item.bregmax is not None and not options.every_solver:
            limit = min(limit, max(SHORT, options.enough * item.bregmax.seconds))
        item.highs = highs_race(program, options.highs_solvers, limit, options.every_solver, report)
        best, is_bound = item.best_highs()
        for _ in range(options.repeats - 1 if best and not is_bound and best.seconds < SHORT else 0):
            if not options.only_highs:
                run_bregmax()
            item.highs.append(solve_with_highs(program, best.solver, options.time_limit))
            report(item.highs[-1])
    return item


def main():
    options = parse_arguments()
    if not options.only_highs and not options.bregmax.exists():
        raise SystemExit(f"{options.bregmax} is not there: run 'make build', or give --bregmax or --only-highs")
    results = []
    rows = [COLUMNS.format(*HEADINGS).rstrip()]
    for name in options.datasets:
        problem = training_problem(name, options.data_dir, options.comparisons, options.seed)
        if problem is None:
            print(f"{name}: skipped, no {name}.csv; put the UCI data set (features, then the class) in a folder and "
                  "pass it with --data-dir", file=sys.stderr)
            continue
        for lam in options.lambdas:
            results.append(compare(name, *problem, lam, options))
            rows.append(table_row(results[-1]))
            print(rows[-1], file=sys.stderr, flush=True)
    print("\n".join(rows), flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(item) for item in results], indent=1) + "\n")
    good = all(item.agrees() and (item.bregmax is None or item.bregmax.status == "optimal") for item in results)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
