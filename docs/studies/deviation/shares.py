#!/usr/bin/env python3
"""Shares of the spread of the test loss, for all levels and with one level left out, from runs.csv beside this file.

    python3 docs/studies/deviation/shares.py

The grid of levels is the choice of whoever plans a study, and shares depend on it: each line names the levels. A share is a sum of
squares over the sum of all, of the balanced grid of deviations, rates, forms and seeds. Its interval has the middle 95 % of 2,000
bootstrap samples of the seeds; seeds are few, so it is narrow. Needs NumPy.
"""
import csv
import itertools
import os
import re

import numpy

NAMES = {"": "plays", "long": "plays: four times the steps", "wide": "plays: 4 layers of width 128", "perldiag": "perldiag",
         "digits": "optdigits: MLP", "mnist": "MNIST: MLP"}
GPT = 0.02  # what a scale of 1 makes of the GPTs


def read(path):
    """{data: {(deviation, rate, form, seed): test loss}}, finished runs only."""
    losses = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["state"] != "finished":
                continue
            prefix, form, scale = re.fullmatch(r"(?:(\w+)-)?(\w+)-init-scale([\d.]+)-lr[\d.e-]+", row["group"]).groups()
            scale = float(scale) * (1 if prefix in ("digits", "mnist") else GPT)
            losses.setdefault(prefix or "", {})[scale, float(row["lr"]), form, int(row["seed"])] = float(row["test_loss"])
    return losses


def balanced(of):
    """Levels of each factor, and the losses as an array over them: the rates and seeds that all cells have."""
    scales, forms = sorted({k[0] for k in of}), sorted({k[2] for k in of})
    counts = {}
    for rate in sorted({k[1] for k in of}):
        counts[rate] = min(sum((s, rate, f, seed) in of for seed in range(1, 100)) for s in scales for f in forms)
    most = max(counts.values())
    rates = [rate for rate in counts if counts[rate] == most]
    levels = scales, rates, forms, range(1, most + 1)
    return levels, numpy.array([of[key] for key in itertools.product(*levels)]).reshape([len(level) for level in levels])


def shares(a):
    """Percent of the sum of squares that is due to deviation, rate, form, interactions of these, and seeds."""
    main = [(a.mean(tuple(k for k in range(4) if k != axis)) - a.mean()) ** 2 for axis in range(3)]
    main = [float(m.sum()) * a.size / m.size for m in main]
    cells = ((a.mean(3) - a.mean()) ** 2).sum() * a.shape[3]
    total = ((a - a.mean()) ** 2).sum()
    return 100 * numpy.array(main + [cells - sum(main), total - cells]) / total


def line(name, levels, a, random):
    seeds = a.shape[3]
    samples = [shares(a[..., random.integers(seeds, size=seeds)]) for _ in range(2000)]
    low, high = numpy.percentile(samples, [2.5, 97.5], axis=0)
    cells = [f"{s:.1f} ({l:.1f} to {h:.1f})" for s, l, h in zip(shares(a), low, high)]
    print(f"| {name} | {', '.join(f'{s:.3g}' for s in levels[0])} | {', '.join(f'{r:g}' for r in levels[1])} | {len(levels[2])} | "
          f"{seeds} | {' | '.join(cells)} |")


def main():
    losses = read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "runs.csv"))
    random = numpy.random.default_rng(1)
    print("| data | deviations | rates | forms | seeds | deviation | rate | activation | interactions | seed |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for prefix, name in NAMES.items():
        levels, a = balanced(losses[prefix])
        line(name, levels, a, random)
        for out in range(a.shape[0]):
            kept = [k for k in range(a.shape[0]) if k != out]
            line(name, ([levels[0][k] for k in kept], *levels[1:]), a[kept], random)


if __name__ == "__main__":
    main()
