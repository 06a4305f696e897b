#!/usr/bin/env python3
"""Compares the default initial weights with all other initialisers, each at its best learning rate.

    tests/bench/initial_weights.py [--forms NAMES] [--inits NAMES] [--rates LIST] [--seeds N] [--seed N] [--out FOLDER]
                                   [--compare build/bin/compare] "NAME: OPTIONS OF COMPARE"...

    tests/bench/initial_weights.py "segment: --data csv:segment.csv" "ames: --data csv:ames.csv --target Sale_Price"

Trains every form with every initialiser at every rate on each data set; a comparison that was interrupted continues.
The rate of an initialiser, and the best initialiser of a form, are those with the lowest validation loss, geometric mean
over the seeds. Only then are the losses on the test samples read. Prints two tables in Markdown: for each data set and
form the test loss by default as a multiple of the best initialiser's, with its 95 % interval over the seeds; and the
loss of each initialiser as a multiple of the default's, geometric mean over the data sets.
"""
import argparse
import csv
import math
import os
import shlex
import statistics
import subprocess
import sys

INITS = "default,variance_preserving,he_normal,he_uniform,xavier_normal,xavier_uniform,unit_rows,orthogonal,gpt2"
T = [math.inf, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]  # Student's t, 97.5 %, by degrees
CLOSE = 1.03


def trained(given, name, options, searched):
    """Trains what is missing of a comparison; each row of its runs.csv, and the losses on validation and test samples."""
    folder = os.path.join(given.out, name)
    done = subprocess.run([given.compare] + shlex.split(options) + searched +
                          ["--activations", given.forms, "--seeds", str(given.seeds), "--seed", str(given.seed), "--jobs",
                           str(given.jobs), "--no-plots", "--out", folder],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if not os.path.exists(os.path.join(folder, "runs.csv")):
        sys.exit("%s: %s" % (name, done.stderr))
    with open(os.path.join(folder, "runs.csv"), newline="") as file:
        for row in csv.DictReader(file):
            losses = [float(row[key]) if row["state"] == "finished" and row[key] else math.inf
                      for key in ("best_val_loss", "test_loss")]
            yield row, [math.inf if math.isnan(x) else x for x in losses]


def run(given, name, options):
    """{(form, initialiser, rate): {seed: (validation loss, test loss)}}, as logarithms."""
    runs = {}
    for row, losses in trained(given, name, options, ["--init", given.inits, "--lr", given.rates]):
        point = (row["activation"], row["init"], float(row.get("lr", given.rates)))  # a single rate has no column
        runs.setdefault(point, {})[int(row["seed"])] = [math.log(x) for x in losses]
    return runs


def validation(of):
    return statistics.mean(losses[0] for losses in of.values())


def at_best_rate(runs, form, init):
    """The rate with the lowest validation loss, and its runs."""
    rates = {rate: of for (f, i, rate), of in runs.items() if (f, i) == (form, init)}
    best = min(rates, key=lambda rate: validation(rates[rate]))
    return best, rates[best]


def ratio(ours, theirs):
    """Of test losses, over the seeds: logarithm of the ratio, and half the width of its interval."""
    logs = [ours[seed][1] - theirs[seed][1] for seed in ours]
    if not all(math.isfinite(x) for x in logs) or len(logs) < 2:
        return statistics.mean(logs), math.inf
    return statistics.mean(logs), T[min(len(logs), len(T)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--forms", default="relu,gelu_exact,tanh,relu_squared,swiglu,reglu")
    arguments.add_argument("--inits", default=INITS)
    arguments.add_argument("--rates", default="3e-4,1e-3,3e-3,1e-2")
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--out", default="results/initial-weights")
    arguments.add_argument("--compare", default="build/bin/compare")
    arguments.add_argument("data", nargs="+", metavar="NAME: OPTIONS")
    given = arguments.parse_args()
    forms, inits, edges = given.forms.split(","), given.inits.split(","), 0
    lines, beside = {}, {form: {init: [] for init in inits} for form in forms}
    for words in given.data:
        name, options = words.split(":", 1)
        runs = run(given, name, options)
        rates = sorted({rate for _, _, rate in runs})
        lines[name] = []
        for form in forms:
            of = {init: at_best_rate(runs, form, init) for init in inits}
            best = min(inits, key=lambda init: validation(of[init][1]))
            edges += of["default"][0] in (rates[0], rates[-1])
            lines[name].append((best, *ratio(of["default"][1], of[best][1])))
            for init in inits:
                beside[form][init].append(ratio(of[init][1], of["default"][1])[0])
    print("| | %s |\n|%s" % (" | ".join(forms), "---|" * (len(forms) + 1)))
    for name, found in lines.items():
        cells = []
        for best, log, half in found:
            cell = "%.2f %s" % (math.exp(log), best)
            if math.isfinite(half):
                cell += " (%.2f to %.2f)" % (math.exp(log - half), math.exp(log + half))
            cells.append("1" if best == "default" else "**%s**" % cell if math.exp(log) > CLOSE else cell)
        print("| %s | %s |" % (name, " | ".join(cells)))
    print("\n| | %s |\n|%s" % (" | ".join(inits), "---|" * (len(inits) + 1)))
    for form in forms:
        print("| %s | %s |" % (form, " | ".join("%.3f" % math.exp(statistics.mean(beside[form][i])) for i in inits)))
    every = [of for found in lines.values() for of in found]
    print("\nThe default is within 3 %% of the best in %d of %d cases; its rate is at an end of the list in %d." % (
        sum(math.exp(log) <= CLOSE for _, log, _ in every), len(every), edges))


if __name__ == "__main__":
    main()
