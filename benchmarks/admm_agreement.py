#!/usr/bin/env python3
"""Compares the result of `--solver admm`, at its default tolerance, with the exact optimum on the paper's datasets.

Raw features, one piece per row, 2000 comparisons from the labels, lambda 0.01, 1 and 100. Checked are the objective,
relative to the optimum, and that the optimum lies between the proved bound and the objective.
"""

import argparse
import sys

from many_rows import ROOT, run

DATASETS = ["iris", "wine", "balance-scale", "figure1", "transfusion", "ionosphere"]
LIMIT = 1e-4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bregmax", default=str(ROOT / "build/release/bin/bregmax"))
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--lambdas", nargs="+", type=float, default=[0.01, 1, 100])
    parser.add_argument("--data-dir", help="folder with transfusion.csv, which is not built in")
    options = parser.parse_args()
    print(f"{'dataset':>14} {'lambda':>6} {'optimum':>12} {'admm':>12} {'above by':>9} {'proved gap':>10} "
          f"{'iterations':>10} {'status':>16} {'admm, s':>8} {'exact, s':>8}")
    missed = 0
    for name in options.datasets:
        data = f"builtin:{name}"
        if name == "transfusion":
            if not options.data_dir:
                print(f"{name:>14} SKIPPED: it is not built in; --data-dir says where transfusion.csv is")
                continue
            data = f"{options.data_dir}/{name}.csv"
        for value in options.lambdas:
            def fit(solver):
                return run([options.bregmax, "fit", data, "--from-labels", "--scale", "none", "--smoothing", 0,
                            "--pieces", "all", "--lambda", value, "--solver", solver, "--threads", 1],
                           statuses=(0, 1))
            exact, _, exact_seconds, _ = fit("exact")
            admm, _, admm_seconds, _ = fit("admm")
            optimum, slack = exact["objective"], 1e-7 * exact["objective"]
            above = (admm["objective"] - optimum) / optimum
            held = admm["lower_bound"] - slack <= optimum <= admm["objective"] + slack
            missed += above > LIMIT or not held
            print(f"{name:>14} {value:>6g} {optimum:>12.7g} {admm['objective']:>12.7g} {above:>9.1e} "
                  f"{admm['relative_gap']:>10.1e} {admm['iterations']:>10} {admm['status']:>16} {admm_seconds:>8.1f} "
                  f"{exact_seconds:>8.2f}{'' if held else '  THE BOUNDS DO NOT HOLD IT'}", flush=True)
    print(f"{missed} cases miss {LIMIT:g} or have bounds that do not hold the optimum")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
