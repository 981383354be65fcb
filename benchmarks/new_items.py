#!/usr/bin/env python3
"""How many comparisons among new items does a learned divergence get right?

Triplets (i, j, l) of 100 items of six features are ordered by a known divergence, and some answers are flipped. The
program learns from them and decides 4000 triplets among 50 new items. The divergences are KL (rows from the Dirichlet
distribution, entries of at least 0.001), Itakura-Saito (uniform on [0.05, 1]) and Mahalanobis of rank 3 (normal rows).

Four settings: 1500 comparisons with 5% flipped; 300 comparisons; 20% flipped; and 34 features of standard normal noise
beside the six. Each has limits: the mean over the draws, or a difference to the Euclidean distance of standardised
features. A missed limit gives exit code 1.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FEATURES, ITEMS, NEW_ITEMS, TRIPLETS = 6, 100, 50, 4000
TRUTHS = ("kl", "itakura-saito", "mahalanobis")
# Comparisons, share of flipped answers, features of noise.
SETTINGS = {"standard": (1500, 0.05, 0), "few": (300, 0.05, 0), "flipped": (1500, 0.2, 0), "noise": (1500, 0.05, 34)}
# Least means, in percent.
LEAST = {"standard": dict(zip(TRUTHS, (88, 84, 94))), "noise": dict(zip(TRUTHS, (76, 67, 92)))}
# How far the mean, or every draw, may be below the Euclidean distance, in points.
BELOW_MEAN = {"few": dict(zip(TRUTHS, (1, 0, 0))), "flipped": dict(zip(TRUTHS, (1, 0, 0)))}
BELOW_EACH = {"standard": 1}


def truth(name, random):
    """Rows, and the matrix of divergences of rows."""
    count = ITEMS + NEW_ITEMS
    if name == "mahalanobis":
        rows, factor = random.normal(size=(count, FEATURES)), random.normal(size=(3, FEATURES))
        embedded = rows @ factor.T
        return rows, ((embedded[:, None] - embedded[None]) ** 2).sum(-1)
    if name == "kl":
        rows = np.maximum(random.dirichlet(np.ones(FEATURES), size=count), 1e-3)
        rows /= rows.sum(axis=1, keepdims=True)
        ratio = rows[:, None] / rows[None]
        return rows, (rows[:, None] * np.log(ratio) - rows[:, None] + rows[None]).sum(-1)
    rows = random.uniform(0.05, 1, size=(count, FEATURES))
    ratio = rows[:, None] / rows[None]
    return rows, (ratio - np.log(ratio) - 1).sum(-1)


def triplets(divergences, items, count, flipped, random):
    """Rows (i, j, l), ordered so that D(i, j) <= D(i, l) but for the share that is flipped."""
    drawn = np.array([random.choice(items, 3, replace=False) for _ in range(count)])
    i, j, l = drawn.T
    swap = (divergences[i, j] > divergences[i, l]) ^ (random.random(count) < flipped)
    drawn[swap] = drawn[swap][:, [0, 2, 1]]
    return drawn


def right(divergences, asked):
    i, j, l = asked.T
    near, far = divergences[i, j], divergences[i, l]
    return 100 * float(np.mean((near < far) + 0.5 * (near == far)))


def write_csv(path, rows):
    header = ",".join(f"f{feature}" for feature in range(rows.shape[1]))
    np.savetxt(path, rows, "%.17g", ",", header=header, comments="")


def run_draw(options, name, setting, seed):
    """The shares of Euclidean and each method, what was chosen, and seconds."""
    count, flipped, noise = SETTINGS[setting]
    random = np.random.default_rng([seed, TRUTHS.index(name)])
    rows, divergences = truth(name, random)
    learn = triplets(divergences, np.arange(ITEMS), count, flipped, random)
    ask = triplets(divergences, np.arange(ITEMS, ITEMS + NEW_ITEMS), TRIPLETS, 0, random)
    rows = np.hstack([rows, random.normal(size=(len(rows), noise))])
    scaled = (rows - rows[:ITEMS].mean(0)) / rows[:ITEMS].std(0)
    results = {"euclidean": (right(((scaled[:, None] - scaled[None]) ** 2).sum(-1), ask), "", 0.0)}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_csv(folder / "items.csv", rows[:ITEMS])
        write_csv(folder / "all.csv", rows)
        np.savetxt(folder / "c.csv", learn[:, [0, 1, 0, 2]], "%d", ",")
        for method in options.methods:
            command = [options.bregmax, "fit", "items.csv", "--label", "none", "--comparisons-file", "c.csv", "--out",
                       "m", "--json", "--threads", "2", "--seed", str(seed), *method.split()]  # fmt: skip
            begin = time.perf_counter()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{' '.join(command)}: {done.stderr}")
            seconds = time.perf_counter() - begin
            apply = [options.bregmax, "divergence", "m", "all.csv", "--label", "none", "--out", "d.npy"]
            subprocess.run(apply, cwd=folder, check=True, capture_output=True)
            told = json.loads(done.stdout)
            chosen = told["chosen"] or {}
            settings = [told["method"]] + [f"{key}={value}" for key, value in chosen.items() if key in options.show]
            results[method] = (right(np.load(folder / "d.npy"), ask), " ".join(settings), seconds)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bregmax", default=str(ROOT / "build/release/bin/bregmax"))
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--truths", nargs="+", choices=TRUTHS, default=list(TRUTHS))
    parser.add_argument("--methods", nargs="+", default=["--method auto"], help="options of fit; the first has limits")
    parser.add_argument("--show", nargs="+", default=["decay", "feature_price", "lambda", "smoothing"])
    options = parser.parse_args()
    missed = 0
    for setting in options.settings:
        for name in options.truths:
            draws = [run_draw(options, name, setting, seed) for seed in range(options.draws)]
            shares = {method: np.array([draw[method][0] for draw in draws]) for method in draws[0]}
            for method in shares:
                seconds = np.mean([draw[method][2] for draw in draws])
                chosen = [draw[method][1] for draw in draws]
                most = max(set(chosen), key=chosen.count)
                below = (shares["euclidean"] - shares[method]).max()
                print(f"{setting:<9} {name:<14} {method:<28} {shares[method].mean():5.1f}  "
                      f"worst draw {-below:+5.1f} to Euclidean  {seconds:5.1f} s  mostly {most}", flush=True)  # fmt: skip
            first = shares[options.methods[0]]
            difference = first - shares["euclidean"]
            checks = [
                (first.mean() >= LEAST.get(setting, {}).get(name, 0), f"at least {LEAST.get(setting, {}).get(name)}"),
                (difference.mean() >= -BELOW_MEAN.get(setting, {}).get(name, 100), "too far below Euclidean"),
                (difference.min() >= -BELOW_EACH.get(setting, 100), "a draw is too far below Euclidean"),
            ]
            for holds, text in checks:
                if not holds:
                    print(f"  MISSED: {text}")
                    missed += 1
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
