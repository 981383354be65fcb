#!/usr/bin/env python3
"""How good are the methods on rows that they have not seen, learned from labels?

Six datasets of the paper (transfusion if --data-dir has transfusion.csv), and breast cancer and digits of scikit-learn.
Each draw holds out a random third. The program learns with its own choice of settings; AUC, average precision and 5-NN
accuracy of the held-out rows are in percent. `auto` should be within a point of the best of the methods that it chooses
from, in every cell; cells where it is not are marked. Which methods these are depends on the table: pbdl is among them
where its cross-validation is short. In the mean of average precision over the tables it should be better than `deep`
with one piece: with a single slope the generator is quadratic, so that this is a network of the same size with a
Euclidean distance on top. A missed limit gives exit code 1.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
BUILT_IN = ("iris", "wine", "ionosphere", "balance-scale", "figure1")
AUTO, EUCLIDEAN_HEAD = "--method auto", "--method deep --method-parameter pieces=1"
MEASURES = {"auc": "auc", "average_precision": "AP", "knn_accuracy": "5-NN"}


def datasets(options):
    """Name, header and rows with the label last."""
    import bregmax
    from sklearn.datasets import load_breast_cancer, load_digits

    loaded = {name: bregmax.load_dataset(name) for name in BUILT_IN}
    if options.data_dir is not None:
        loaded["transfusion"] = bregmax.read_table(str(options.data_dir / "transfusion.csv"))
    loaded |= {"breast-cancer": load_breast_cancer(), "digits": load_digits()}
    for name, data in loaded.items():
        header = [f"f{feature}" for feature in range(data.data.shape[1])] + ["class"]
        yield name, header, [[*map(repr, map(float, row)), f"c{label}"] for row, label in zip(data.data, data.target)]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def score(options, folder, method, seed):
    """Scores of the held-out part, what was learned, and seconds."""
    command = [options.bregmax, "fit", "train.csv", "--label", "class", "--out", "m", "--json", "--threads",
               str(options.threads), "--seed", str(seed), *method.split()]  # fmt: skip
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    told = json.loads(done.stdout)
    evaluate = [options.bregmax, "evaluate", "m", "test.csv", "--label", "class", "--train", "train.csv", "--json"]
    found = json.loads(subprocess.run(evaluate, cwd=folder, capture_output=True, text=True, check=True).stdout)
    return [100 * found[measure] for measure in MEASURES], told["method"], seconds


def families(options, header, rows):
    """Options of fit: what `auto` is, and each of the methods that it chooses from for a table of two thirds of the rows."""
    with tempfile.TemporaryDirectory() as folder:
        order = np.random.default_rng(0).permutation(len(rows))
        write(Path(folder) / "train.csv", header, [rows[row] for row in order[: -(-2 * len(rows) // 3)]])
        command = [options.bregmax, "fit", "train.csv", "--label", "class", "--json", "--time-limit", "0.1"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return [AUTO, *(f"--method {name}" for name in json.loads(done.stdout)["plan"]["method"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bregmax", default=str(ROOT / "build/release/bin/bregmax"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data-dir", type=Path, help="a folder with transfusion.csv")
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--methods", nargs="+",
                        help="options of fit; default: auto, what it chooses from, and a Euclidean head")  # fmt: skip
    options = parser.parse_args()
    missed = 0
    precision = {}
    for name, header, rows in datasets(options):
        if options.datasets and name not in options.datasets:
            continue
        methods = options.methods or [*families(options, header, rows), EUCLIDEAN_HEAD]
        scores = {method: [] for method in methods}
        for seed in range(options.draws):
            order = np.random.default_rng(seed).permutation(len(rows))
            cut = -(-2 * len(rows) // 3)
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                write(folder / "train.csv", header, [rows[row] for row in order[:cut]])
                write(folder / "test.csv", header, [rows[row] for row in order[cut:]])
                for method in methods:
                    scores[method].append(score(options, folder, method, seed))
        means = {method: np.mean([cells for cells, _, _ in scores[method]], axis=0) for method in scores}
        for method, draws in scores.items():
            learned = [learned for _, learned, _ in draws]
            cells = "  ".join(f"{label} {mean:5.1f}" for label, mean in zip(MEASURES.values(), means[method]))
            seconds = np.mean([seconds for _, _, seconds in draws])
            kinds = ", ".join(f"{kind} {learned.count(kind)}" for kind in dict.fromkeys(learned))
            print(f"{name:<14} {method:<42} {cells}  {seconds:6.1f} s  {kinds}", flush=True)
            precision.setdefault(method, []).append(means[method][list(MEASURES).index("average_precision")])
        if AUTO in means:
            for cell, label in enumerate(MEASURES.values()):
                best = max(means[method][cell] for method in means if method != EUCLIDEAN_HEAD)
                if means[AUTO][cell] < best - 1:
                    print(f"  MISSED: {label} of auto is {best - means[AUTO][cell]:.1f} below the best")
                    missed += 1
    if {AUTO, EUCLIDEAN_HEAD} <= precision.keys():
        ours, theirs = np.mean(precision[AUTO]), np.mean(precision[EUCLIDEAN_HEAD])
        print(f"mean of AP: auto {ours:.2f}, network with a Euclidean head {theirs:.2f}")
        if ours <= theirs:
            print("  MISSED: auto should be better")
            missed += 1
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
