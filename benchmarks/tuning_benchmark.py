#!/usr/bin/env python3
"""How much longer does choosing lambda take than one fit?

On a random two thirds of balance-scale (417 rows) with 2000 triplets drawn from the labels: tuning over the 13 default
lambdas with 3 folds on two threads, against one exact fit at lambda 1 on one thread. The two run in turn, each in a
new process, several times, and medians count. The ratio should be at most 8; 4 would be good.

On a machine with other work the wall clock says little. So the table also has the processor time of all threads of the
tuning divided by the number of threads: what the wall clock would show on an idle machine if the work were perfectly
divided.
"""

import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 8
THREADS = 2


def two_thirds_of_balance_scale(seed):
    lines = []
    for left_weight, left, right_weight, right in itertools.product(range(1, 6), repeat=4):
        torque = left_weight * left - right_weight * right
        label = "L" if torque > 0 else "R" if torque < 0 else "B"
        lines.append(f"{left_weight},{left},{right_weight},{right},{label}")
    kept = sorted(random.Random(seed).sample(range(len(lines)), round(len(lines) * 2 / 3)))
    return "left_weight,left,right_weight,right,class\n" + "\n".join(lines[row] for row in kept) + "\n"


def run(command, threads):
    """The program's JSON, and the processor time that it took."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command + ["--threads", str(threads), "--json"], stdout=out, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"failed: {' '.join(command)}")
        out.seek(0)
        return json.load(out), usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bregmax", default=str(ROOT / "build/release/bin/bregmax"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scale", choices=("none", "standard"), default="none")
    options = parser.parse_args()

    fit_wall, fit_processor, tune_wall, tune_processor = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "train.csv"
        data.write_text(two_thirds_of_balance_scale(options.seed))
        shared = [options.bregmax, "fit", str(data), "--from-labels", "--comparisons", "2000", "--scale", options.scale]
        print(f"{'':8}{'one fit':>20}{'tuning':>20}\n{'run':8}{'wall s':>10}{'cpu s':>10}{'wall s':>10}{'cpu s':>10}")
        for number in range(options.runs):
            fit, processor = run(shared + ["--lambda", "1", "--smoothing", "0"], 1)
            fit_wall.append(fit["seconds"])
            fit_processor.append(processor)
            tuned, processor = run(shared + ["--lambda", "auto", "--folds", "3", "--repeats", "1"], THREADS)
            if (tuned["tuning"]["folds"], fit["n"], fit["items"]) != (3, 417, 2000):
                sys.exit("that is another problem than the one to be measured")
            tune_wall.append(tuned["tuning"]["seconds"])
            # The process also made the last fit, on all rows: its processor time is measured apart and taken off.
            chosen = ["--lambda", str(tuned["lambda"]), "--smoothing", str(tuned["smoothing"])]
            tune_processor.append(processor - run(shared + chosen, THREADS)[1])
            print(f"{number:<8}{fit_wall[-1]:10.2f}{fit_processor[-1]:10.2f}{tune_wall[-1]:10.2f}{tune_processor[-1]:10.2f}")
    wall = statistics.median(tune_wall) / statistics.median(fit_wall)
    shared_out = statistics.median(tune_processor) / THREADS / statistics.median(fit_processor)
    solved, proved = tuned["tuning"]["solved"], tuned["tuning"]["proved"]
    print(f"fits on folds: {solved} solved, {proved} proved without a run of the solver")
    print(f"ratio by the wall clock            {wall:6.2f}   (at most {LIMIT} is wanted)")
    print(f"ratio by processor time over {THREADS}     {shared_out:6.2f}")
    return 0 if wall <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
