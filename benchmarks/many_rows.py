#!/usr/bin/env python3
"""A million rows, 100 pieces, 100,000 comparisons: time, peak memory, and the scores of the learned divergence.

The rows are artificial: five classes in 20 features. A class is six tight clouds, 30 in all, with normally distributed
centres in the first 18 features; the last 2 features are uniform noise. Euclidean distance can tell which cloud a row is
in (its nearest neighbours are of the same cloud, and so of its class), but not which clouds belong to one class, and a
ranking of all rows needs that. Affine pieces can represent it, since planes can separate 30 clouds in 18 dimensions.
Features are standardised before anything is learned or measured.

(Wide clouds, or noise in most features, are harder: with far fewer pieces than rows, convexity has to hold at every row of
every cluster, and where clusters touch everywhere, little but the squared distance is left.)

The fit sees `--rows` rows; the scores are those of `bregmax evaluate` on other rows of the same distribution. The same
numbers are printed for Euclidean distance on the standardised features. Fails if a limit is missed or the learned divergence
does not rank better.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
CLASSES, CLOUDS, INFORMATIVE, WIDTH = 5, 6, 18, 0.1
LIMIT_MINUTES, LIMIT_GIGABYTES = 10, 4
# The model that there is after eight minutes is what counts, if early stopping has not ended the run before.
DEFAULT_OPTIONS = ["--lambda", "100", "--early-stop", "--time-limit", "480", "--keep-partial"]
SCORES = ("auc", "average_precision", "knn_accuracy")  # the first two rank all rows, and must be above Euclidean's


def make_rows(rows, features, seed):
    """An array with the label as its last column."""
    shape = np.random.default_rng(0)  # the distribution is the same for every seed
    centres = shape.normal(size=(CLASSES, CLOUDS, INFORMATIVE))
    random = np.random.default_rng(seed)
    label = random.integers(CLASSES, size=rows)
    table = np.empty((rows, features + 1))
    table[:, :INFORMATIVE] = centres[label, random.integers(CLOUDS, size=rows)]
    table[:, :INFORMATIVE] += WIDTH * random.normal(size=(rows, INFORMATIVE))
    table[:, INFORMATIVE:features] = random.uniform(-1, 1, size=(rows, features - INFORMATIVE))
    table[:, features] = label
    return table


def run(command, statuses=(0,)):
    """Its JSON, seconds of the wall clock, seconds of all processors, and the peak of its memory in GB."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        process = subprocess.Popen([str(part) for part in command] + ["--json"], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        if os.waitstatus_to_exitcode(status) not in statuses:
            sys.exit(f"failed: {' '.join(str(part) for part in command)}")
        out.seek(0)
        return json.load(out), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bregmax", default=str(ROOT / "build/release/bin/bregmax"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--held-out", type=int, default=2000)
    parser.add_argument("--pieces", default="100")
    parser.add_argument("--comparisons", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="make the data in this folder, and leave it and the model there")
    parser.add_argument("fit_options", nargs="*", default=DEFAULT_OPTIONS,
                        help=f"further options of `bregmax fit`, after --; default: {' '.join(DEFAULT_OPTIONS)}")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        train, test, neighbours = folder / "train.npy", folder / "test.npy", folder / "neighbours.npy"
        np.save(train, make_rows(options.rows, options.features, options.seed))
        np.save(test, make_rows(options.held_out, options.features, options.seed + 1))
        np.save(neighbours, make_rows(5 * options.held_out, options.features, options.seed + 2))

        label = ["--label", str(options.features)]
        fit, seconds, processor, memory = run(
            [options.bregmax, "fit", train, *label, "--pieces", options.pieces, "--comparisons", options.comparisons,
             "--solver", "admm", "--out", folder / "learned.bregmax", *options.fit_options],
            statuses=(0, 1))
        run([options.bregmax, "fit", neighbours, *label, "--method", "euclidean", "--out", folder / "euclidean.bregmax"])
        scores = {name: run([options.bregmax, "evaluate", folder / f"{name}.bregmax", test, "--train", neighbours,
                             *label])[0] for name in ("learned", "euclidean")}

    print(f"{options.rows} rows, {options.features} features, {fit['pieces']} pieces, {fit['items']} comparisons learned")
    print(f"fit: {fit['status']} after {fit['iterations']} iterations, relative gap {fit['relative_gap']:.1e}, "
          f"largest convexity violation {fit['certificate']['convexity_violation']:.1e}")
    print(f"{'':<20} {'measured':>10} {'limit':>8}")
    print(f"{'wall clock, s':<20} {seconds:>10.0f} {60 * LIMIT_MINUTES:>8}")
    print(f"{'processors, s':<20} {processor:>10.0f}")
    print(f"{'peak memory, GB':<20} {memory:>10.2f} {LIMIT_GIGABYTES:>8}")
    print(f"{'on held-out rows':<20} {'learned':>10} {'Euclidean':>10}")
    for score in SCORES:
        print(f"{score:<20} {scores['learned'][score]:>10.3f} {scores['euclidean'][score]:>10.3f}")
    better = all(scores["learned"][score] > scores["euclidean"][score] for score in SCORES[:2])
    return 0 if better and seconds <= 60 * LIMIT_MINUTES and memory <= LIMIT_GIGABYTES else 1


if __name__ == "__main__":
    sys.exit(main())
