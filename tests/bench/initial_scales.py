#!/usr/bin/env python3
"""Compares defaults of a comparison: initial scale and learning rate fixed, one of them searched, or both.

    tests/bench/initial_scales.py [--forms NAMES] [--scales LIST] [--rates LIST] [--seeds N] [--out FOLDER]
                                  [--compare build/bin/compare] "NAME: OPTIONS OF COMPARE"...
    tests/bench/initial_scales.py --made FOLDER

    tests/bench/initial_scales.py "german: --data csv:german.csv" "ames: --data csv:ames.csv --target Sale_Price --missing mean"

Divides each table into two halves at random (`--halves no` leaves it whole), and trains every form with every scale and
rate on each; what was interrupted continues. Then it repeats each way to choose on these runs: a form's scale and rate
are those with the lowest mean validation loss of the points that the way tries. Only then are the losses on test samples
read. Prints in Markdown
  - regret: by how much the test loss at the chosen point exceeds the lowest one of any scale, each at the rate that
    validation chooses for it; the share of cells (half, form) in which that is at most 2 %, and the geometric mean;
  - agreement: of all pairs of forms, how often both halves give the same order, and say the same (better, worse or
    neither, by the t test of docs/comparing.md with Holm's correction), and how often they contradict each other;
  - the number of runs for each that is kept.
--made writes the synthetic tables: interactions of order 2 and 3, of classes and of numbers.
"""
import argparse
import csv
import itertools
import math
import os
import random
import re
import statistics
import sys

from initial_weights import trained

CLOSE = 1.02


# ---- the tables ----

def write_made(folder):
    def write(name, columns, seed, target):
        source = random.Random(seed)
        with open(os.path.join(folder, name + ".csv"), "w") as file:
            file.write(",".join("c%d" % i for i in range(columns)) + ",y\n")
            for _ in range(2000):
                x = [round(source.gauss(0, 1), 4) for _ in range(columns)]
                y = target(x, source)
                file.write(",".join("%.4f" % v for v in x) + "," + (y if isinstance(y, str) else "%.4f" % y) + "\n")

    os.makedirs(folder, exist_ok=True)
    write("order3", 8, 1, lambda x, more: "ab"[x[0] * x[1] * x[2] + 0.1 * more.gauss(0, 1) <= 0])
    write("order2_classes", 12, 2, lambda x, _: "abc"[(x[0] * x[1] > 0) + (x[2] * x[3] > 0.5)])
    write("order3_numbers", 8, 3, lambda x, more: x[0] * x[1] * x[2] + 0.5 * x[3] + 0.1 * more.gauss(0, 1))


def halves(given, name, options):
    """The options for each half of a table, whose rows are drawn at random."""
    if given.halves == "no":
        return {name: options}
    path = re.search(r"csv:(\S+)", options).group(1)
    with open(path, newline="") as file:
        head, *rows = file.read().splitlines()
    random.Random(1).shuffle(rows)
    os.makedirs(given.out, exist_ok=True)
    both = {}
    for i in (0, 1):
        half = os.path.join(given.out, "%s-%d.csv" % (name, i + 1))
        if not os.path.exists(half):
            with open(half, "w") as file:
                file.write("\n".join([head] + rows[i::2]) + "\n")
        both["%s-%d" % (name, i + 1)] = options.replace("csv:" + path, "csv:" + half)
    return both


def run(given, name, options):
    """{(form, scale, rate): {seed: (validation loss, test loss)}}"""
    runs = {}
    for rate in given.rates.split(","):
        for row, losses in trained(given, "%s-%s" % (name, rate), options, ["--init-scale", given.scales, "--lr", rate]):
            point = (row["activation"], float(row["init-scale"]), float(rate))
            runs.setdefault(point, {})[int(row["seed"])] = losses
    return runs


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--forms", default="relu,tanh,gelu_exact,swiglu")
    arguments.add_argument("--scales", default="0.125,0.25,0.5,1,2")
    arguments.add_argument("--rates", default="3.16e-4,1e-3,3.16e-3,1e-2,3.16e-2")
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--halves", default="yes", choices=("yes", "no"))
    arguments.add_argument("--out", default="results/initial-scales")
    arguments.add_argument("--compare", default="build/bin/compare")
    arguments.add_argument("--made")
    arguments.add_argument("data", nargs="*", metavar="NAME: OPTIONS")
    given = arguments.parse_args()
    if given.made:
        write_made(given.made)
    for words in given.data:
        name, options = words.split(":", 1)
        for half, of in halves(given, name, options).items():
            runs = run(given, half, of)
            print(half, len(runs))


main()
