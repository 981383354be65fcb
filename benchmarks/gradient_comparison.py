#!/usr/bin/env python3
"""One training step of the methods smooth and deep against the same step written with PyTorch.

Both have one thread, batches of 256 rows with 32 features, 50 pieces and a quadratic part of rank 32; deep has two
hidden layers of 256. The loss is that of labels, or softplus of 256 comparisons. The PyTorch side is what one would
write by hand: whole matrices, automatic derivatives, AdamW in the fastest of its forms (fused, if PyTorch has it).

The two run in turn, several times, each in its own process. A time is the median over the steps of a run, in processor
time, and of the runs the least counts: other work on the machine disturbs these least. From labels our step should take
at most a third of PyTorch's; a missed limit gives exit code 1. From comparisons a step has three times the rows; with a
network both sides then do little else than matrix products, and the ratio is that of OpenBLAS and PyTorch's library.

Both take the fastest kernels for the processor: variables of the environment that name others are left out.

PyTorch takes gigabytes, so `make bootstrap-bench` does not install it. Into an environment of its own, which is found:
  python3 -m venv build/torch-venv && build/torch-venv/bin/pip install torch numpy
or, on Debian, `apt-get install python3-torch`; or --python names an interpreter that has it.
"""

import argparse
import inspect
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1 / 3
NAME_KERNELS = ("OPENBLAS_CORETYPE", "MKL_ENABLE_INSTRUCTIONS", "MKL_DEBUG_CPU_TYPE", "ATEN_CPU_CAPABILITY")
STEPS = 400
ROWS, FEATURES, CLASSES, PIECES, RANK, BATCH = 4096, 32, 8, 50, 32, 256
# Width of the hidden layers, and whether from comparisons.
CASES = {
    "smooth, labels": (0, 0),
    "deep, labels": (256, 0),
    "smooth, comparisons": (0, 1),
    "deep, comparisons": (256, 1),
}


def median_step(width, comparisons):
    """Of PyTorch, in seconds."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    labels = torch.arange(ROWS) % CLASSES
    rows = torch.randn(CLASSES, FEATURES)[labels] + torch.randn(ROWS, FEATURES)
    if width:
        linear, relu = torch.nn.Linear, torch.nn.ReLU
        network = torch.nn.Sequential(
            linear(FEATURES, width), relu(), linear(width, width), relu(), linear(width, RANK)
        )  # fmt: skip
    else:
        network = torch.nn.Identity()
    slopes = torch.nn.Parameter(0.5 * torch.randn(PIECES, RANK if width else FEATURES))
    offsets = torch.nn.Parameter(torch.zeros(PIECES))
    root = torch.nn.Parameter(torch.eye(RANK))
    parameters = [*network.parameters(), slopes, offsets, root]
    forms = inspect.signature(torch.optim.AdamW).parameters
    fastest = {"fused": True} if "fused" in forms else {"foreach": True}  # version 1 has no fused form
    optimiser = torch.optim.AdamW(parameters, lr=2e-3, weight_decay=0, **fastest)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    own = torch.eye(BATCH, dtype=torch.bool)

    def generator(z):
        """Values and gradients."""
        scores = torch.addmm(offsets, z, slopes.T)
        projected = z @ root.T
        values = torch.logsumexp(scores, 1) + projected.square().sum(1)
        return values, torch.softmax(scores, 1) @ slopes + 2 * projected @ root

    def loss_of_labels():
        batch = torch.randint(ROWS, (BATCH,))
        z, classes = network(rows[batch]), labels[batch]
        values, gradients = generator(z)
        at_reference = values - (gradients * z).sum(1)
        # A row is not its own neighbour. The value at the point is the same for all references.
        logits = torch.addmm(at_reference, z, gradients.T).masked_fill(own, -1e30)
        same = (classes[:, None] == classes) & ~own
        sums = torch.where(same, torch.log_softmax(logits, 1), 0.0).sum(1)
        return -(sums / same.sum(1).clamp(min=1)).mean()

    def loss_of_comparisons():
        i = torch.randint(ROWS - 2 * CLASSES, (BATCH,))
        z = network(rows[torch.cat([i, i + CLASSES, i + CLASSES + 1])])
        values, gradients = generator(z)
        point, near, far = z.split(BATCH)
        _, near_value, far_value = values.split(BATCH)
        _, near_gradient, far_gradient = gradients.split(BATCH)
        to_near = -near_value - (near_gradient * (point - near)).sum(1)
        to_far = -far_value - (far_gradient * (point - far)).sum(1)
        return torch.nn.functional.softplus(to_near - to_far).mean()

    loss_of = loss_of_comparisons if comparisons else loss_of_labels

    def price():
        centred = slopes - slopes.mean(0)
        return 0.01 * (0.1 * centred.square().sum() + (root - root.diagonal().mean() * torch.eye(RANK)).square().sum())

    seconds = []
    for _ in range(STEPS):
        begin = time.process_time()
        loss = loss_of() + price()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        loss.item()
        seconds.append(time.process_time() - begin)
    return statistics.median(seconds)


def run(command):
    environment = {name: value for name, value in os.environ.items() if name not in NAME_KERNELS}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def steps_of_pytorch(python):
    """Seconds of each case."""
    done = run([python, __file__, "--only-pytorch"])
    if done.returncode != 0:
        sys.exit(f"{python} cannot run the PyTorch side:\n{done.stderr}\nSee --help on how to install PyTorch.")
    return json.loads(done.stdout)


def python_with_pytorch():
    candidates = (str(ROOT / "build/torch-venv/bin/python"), "python3", "/usr/bin/python3")
    for python in filter(shutil.which, candidates):
        if run([python, "-c", "import torch"]).returncode == 0:
            return python
    sys.exit("there is no PyTorch; --help says how to install it")


def our_steps(program):
    done = run([program, "--benchmark_filter=^step/", "--benchmark_format=json"])
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stderr}")
    times = {run["name"].split("/iterations")[0]: run for run in json.loads(done.stdout)["benchmarks"]}
    return {
        name: 1e-6 * times[f"step/width:{width}/comparisons:{comparisons}"]["real_time"]
        for name, (width, comparisons) in CASES.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", default=str(ROOT / "build/bench/bin/gradient_benchmark"))
    parser.add_argument("--python", help="that has PyTorch; default: build/torch-venv, python3 or Debian's")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only-pytorch", action="store_true", help="the seconds of PyTorch's steps, as JSON")
    options = parser.parse_args()
    if options.only_pytorch:
        print(json.dumps({name: median_step(*case) for name, case in CASES.items()}))
        return 0
    python = options.python or python_with_pytorch()
    runs = [(our_steps(options.benchmark), steps_of_pytorch(python)) for _ in range(options.runs)]
    missed = False
    print(f"labels: a ratio of at most {LIMIT:.2f} is wanted")
    print(f"{'one step, microseconds':<24} {'ours':>8} {'PyTorch':>8} {'ratio':>7}")
    for name in CASES:
        ours, theirs = (min(run[side][name] for run in runs) for side in range(2))
        over = name.endswith("labels") and ours > LIMIT * theirs
        missed |= over
        print(f"{name:<24} {1e6 * ours:>8.0f} {1e6 * theirs:>8.0f} {ours / theirs:>7.2f}{'   MISSED' if over else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
