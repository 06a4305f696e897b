#!/usr/bin/env python3
"""Tables from the files beside this one: shares of the spread of the test loss, for all levels and with one level left out, from
runs.csv; losses with another optimiser and with no activation, from controls.csv; and cells whose seeds fall into two groups.

    python3 docs/studies/deviation/shares.py

The grid of levels is the choice of whoever plans a study, and shares depend on it: each line names the levels. A share is a sum of
squares over the sum of all, of the balanced grid of deviations, rates, forms and seeds. Its interval has the middle 95 % of 2,000
bootstrap samples of the seeds; with three seeds it is too narrow. Interactions and seeds have none: a sample that draws a seed twice
moves a part of the one into the other. Needs NumPy.
"""
import csv
import itertools
import math
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
    cells = [f"{s:.1f} ({l:.1f} to {h:.1f})" if k < 3 else f"{s:.1f}" for k, (s, l, h) in enumerate(zip(shares(a), low, high))]
    print(f"| {name} | {', '.join(f'{s:.3g}' for s in levels[0])} | {', '.join(f'{r:g}' for r in levels[1])} | {len(levels[2])} | "
          f"{seeds} | {' | '.join(cells)} |")


def controls(path, losses):
    """Test losses of seeds by optimiser, form and deviation, and the rates tried: at the rate with the least mean logarithm of the
    validation loss. Prints them, and what is said of them: percent of perplexity."""
    cells, tests = {}, {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            cell = cells.setdefault((row["optimizer"], row["activation"], float(row["init_scale"]) * GPT), {})
            cell.setdefault(float(row["lr"]), []).append((math.log(float(row["best_val_loss"])), float(row["test_loss"])))
    print("| optimiser | activation | deviation | rates tried | best | seeds | test loss | least | greatest |")
    print("|---|---|---:|---|---:|---:|---:|---:|---:|")
    for key, of in sorted(cells.items()):
        best = min(of, key=lambda rate: numpy.mean([validation for validation, _ in of[rate]]))
        tests[key] = seeds = [test for _, test in of[best]]
        print(f"| {key[0]} | {key[1]} | {key[2]:.3g} | {', '.join(f'{r:g}' for r in sorted(of))} | {best:g} | {len(seeds)} | "
              f"{numpy.mean(seeds):.4f} | {min(seeds):.4f} | {max(seeds):.4f} |")
    mean = {key: numpy.mean(seeds) for key, seeds in tests.items()}
    scales = sorted({key[2] for key in mean})
    print("\nPercent of perplexity:")
    for form in ("relu", "gelu_exact", "swiglu", "identity"):
        of = [mean["muon", form, scale] for scale in scales]
        print(f"- muon, {form}: {percent(max(of) - min(of)):.0f} from the best to the worst deviation")
    removed = [percent(mean["adamw", "identity", scale] - mean["adamw", "relu", scale]) for scale in scales]
    print(f"- adamw, identity in place of relu: {min(removed):.0f} to {max(removed):.0f}")
    swiglu = numpy.mean([losses[""][GPT, 0.002, "swiglu", seed] for seed in (1, 2, 3)])
    print(f"- adamw, {GPT}, swiglu beside identity: {percent(swiglu - mean['adamw', 'identity', GPT]):.0f}")


def two_groups(path):
    """Prints the cells whose seeds fall into two groups at the rate with the least mean logarithm of the validation loss: the
    largest gap between test losses is twice the span of either group, and 5 % of perplexity. A mean and Student's t describe
    neither group."""
    cells = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["state"] == "finished":
                cell, rate = re.fullmatch(r"(.+)-lr([\d.e-]+)", row["group"]).groups()
                cells.setdefault(cell, {}).setdefault(float(rate), []).append(
                    (math.log(float(row["best_val_loss"])), float(row["test_loss"])))
    print("| cell | rate | test losses of the seeds | and |\n|---|---:|---|---|")
    for cell, of in cells.items():
        most = max(map(len, of.values()))
        best = min((rate for rate in of if len(of[rate]) == most), key=lambda rate: numpy.mean([v for v, _ in of[rate]]))
        tests = sorted(test for _, test in of[best])
        gap, at = max((b - a, i + 1) for i, (a, b) in enumerate(zip(tests, tests[1:])))
        span = max(tests[at - 1] - tests[0], tests[-1] - tests[at])
        if len(tests) >= 5 and gap >= 2 * span and percent(gap) >= 5:
            print(f"| {cell} | {best:g} | {', '.join(f'{x:.3f}' for x in tests[:at])} | {', '.join(f'{x:.3f}' for x in tests[at:])} |")


def percent(difference):
    return 100 * math.expm1(difference)


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    losses = read(os.path.join(folder, "runs.csv"))
    random = numpy.random.default_rng(1)
    print("| data | deviations | rates | forms | seeds | deviation | rate | activation | interactions | seed |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    whole, without = [], []
    for prefix, name in NAMES.items():
        levels, a = balanced(losses[prefix])
        line(name, levels, a, random)
        for out in range(a.shape[0]):
            kept = [k for k in range(a.shape[0]) if k != out]
            line(name, ([levels[0][k] for k in kept], *levels[1:]), a[kept], random)
        if GPT in levels[0]:
            whole.append(shares(a))
            without.append(shares(a[1:]))
    for text, of in ((f"with {GPT}", whole), (f"without {GPT}", without)):
        low, high = numpy.min(of, 0), numpy.max(of, 0)
        print(f"\nGPTs, {text}: deviation {low[0]:.0f} to {high[0]:.0f} %, rate {low[1]:.0f} to {high[1]:.0f} %, activation "
              f"{low[2]:.0f} to {high[2]:.0f} %. Plays: {', '.join(f'{share:.0f}' for share in of[0])} %.")
    print()
    controls(os.path.join(folder, "controls.csv"), losses)
    print()
    two_groups(os.path.join(folder, "runs.csv"))


if __name__ == "__main__":
    main()
