#!/usr/bin/env python3
"""Compares defaults of a comparison: initial scale and learning rate fixed, one of them searched, or both.

    tests/bench/initial_scales.py [--forms NAMES] [--scales LIST] [--rates LIST] [--seeds N] [--halves no] [--out FOLDER]
                                  [--compare build/bin/compare] "NAME: OPTIONS OF COMPARE"...
    tests/bench/initial_scales.py --made FOLDER

    tests/bench/initial_scales.py "german: --data csv:german.csv" "ames: --data csv:ames.csv --target Sale_Price --missing mean"

Divides each table into two halves at random, trains every form with every scale and rate on each, and repeats several
ways to choose on these runs: a form's scale and rate are those with the lowest mean validation loss of the points that
the way tries. A comparison that was interrupted continues. Only then are the losses on test samples read. Prints in
Markdown, for each way, the runs for each run that is kept; the test loss at the chosen point as a multiple of the lowest
one of any scale, each at the rate that validation chooses, which is chosen by these very test losses and so a little
too low; how many cells (half, form) are within 2 and 10 % of it; and of all pairs of forms, how often both halves have
the same order and the same verdict (better, worse or neither, by Student's t over the seeds with Holm's correction), and
how often opposite ones. --made writes the synthetic tables: interactions of order 2 and 3.
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
    write("order2_numbers", 10, 4, lambda x, more: x[0] * x[1] + x[2] * x[3] + 0.5 * x[4] + 0.2 * more.gauss(0, 1))
    write("order2_noisy", 15, 5, lambda x, more: "ab"[(x[0] * x[1] + x[2] > 0) ^ (more.random() < 0.1)])
    write("order3_classes", 8, 6, lambda x, more: "abc"[(x[0] * x[1] * x[2] > 0) + (x[3] > 0.5)])
    write("order3_signs", 10, 7, lambda x, more: "ab"[(abs(x[0]) > 0.7) ^ (abs(x[1]) > 0.7) ^ (x[2] > 0)])


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


# ---- ways to choose ----

def ways(scales, rates, usual):
    """Each way: the points that it tries, the seeds that choose (None: all), and the runs for each run that is kept."""
    def up(steps):
        """The rate that many places above the usual one, or the last."""
        return rates[min(rates.index(usual) + steps, len(rates) - 1)]

    smaller = [scale for scale in (1.0, 0.5, 0.25) if scale in scales]
    line = [(scale, up(i)) for i, scale in enumerate(smaller)]
    coarse = [(scale, rate) for scale in (1.0, 0.25) for rate in rates]
    every = [(scale, rate) for scale in scales for rate in rates]
    return {"both fixed": ([(1.0, usual)], False),
            "scale 0.5, one rate above, fixed": ([(0.5, up(1))], False),
            "scale 0.5, two rates above, fixed": ([(0.5, up(2))], False),
            "rate searched": ([(1.0, rate) for rate in rates], False),
            "rate searched at scale 0.5": ([(0.5, rate) for rate in rates], False),
            "scale searched, 1 to 0.25": ([(scale, usual) for scale in smaller], False),
            "smaller scales with larger rates": (line, False),
            "the same, by the first seed   ": (line, True),
            "both, coarse (scales 1 and 0.25)": (coarse, False),
            "the same, by the first seed": (coarse, True),
            "both, all": (every, False),
            "the same, by the first seed ": (every, True)}


def mean(runs, form, point, which, seeds=None):
    of = runs[(form, *point)]
    return statistics.mean(of[seed][which] for seed in (seeds or of))


def chosen(runs, form, points, by_first):
    """The point with the lowest mean validation loss, over all seeds or of the first one."""
    seeds = [min(runs[(form, *points[0])])] if by_first else None
    return min(points, key=lambda point: mean(runs, form, point, 0, seeds))


def regret(runs, form, point, scales, rates):
    """The test loss at a point as a multiple of the lowest of any scale, each at the rate that validation chooses."""
    best = min(mean(runs, form, chosen(runs, form, [(scale, rate) for rate in rates], False), 1) for scale in scales)
    return mean(runs, form, point, 1) / best


# ---- verdicts ----

def p_value(differences):
    """Two-sided, by Student's t: Simpson's rule for the density between 0 and t."""
    n, deviation = len(differences), statistics.stdev(differences)
    if not math.isfinite(deviation) or deviation == 0:
        return math.nan
    t, degrees, steps = abs(statistics.mean(differences)) / deviation * math.sqrt(n), n - 1, 2000
    t = min(t, 1e3)
    density = [(1 + (t * i / steps) ** 2 / degrees) ** (-(degrees + 1) / 2) for i in range(steps + 1)]
    area = t / steps / 3 * (density[0] + density[-1] + 4 * sum(density[1:-1:2]) + 2 * sum(density[2:-1:2]))
    scale = math.gamma((degrees + 1) / 2) / math.sqrt(degrees * math.pi) / math.gamma(degrees / 2)
    return max(0.0, 1 - 2 * scale * area)


def verdicts(runs, points):
    """{pair of forms: (sign of the mean difference of test losses, 1, -1 or 0 for significantly so)}, by Holm's method."""
    found = {}
    for a, b in itertools.combinations(points, 2):
        ours, theirs = runs[(a, *points[a])], runs[(b, *points[b])]
        differences = [ours[seed][1] - theirs[seed][1] for seed in ours]
        found[a, b] = statistics.mean(differences), p_value(differences)
    rejected, order = set(), sorted(found, key=lambda pair: (math.isnan(found[pair][1]), found[pair][1]))
    for rank, pair in enumerate(order):
        if not found[pair][1] * (len(order) - rank) < 0.05:
            break
        rejected.add(pair)
    return {pair: (math.copysign(1, d), math.copysign(1, d) if pair in rejected else 0) for pair, (d, _) in found.items()}


def percent(of):
    return "%.0f" % (100 * sum(of) / len(of)) if of else ""


def report(tables, forms, scales, rates, usual):
    """tables = {name: [runs of each half]}"""
    print("| way | runs for each kept | test loss over the lowest | within 2 %, % of cells | within 10 % | halves: same order, "
          "% | same verdict | opposite verdicts |\n|" + "---|" * 8)
    for way, (points, by_first) in ways(scales, rates, usual).items():
        ratios, order, same, opposite, seeds = [], [], [], 0, 3
        for parts in tables.values():
            said = []
            for runs in parts:
                at = {form: chosen(runs, form, points, by_first) for form in forms}
                seeds = len(runs[(forms[0], *points[0])])
                ratios += [regret(runs, form, at[form], scales, rates) for form in forms]
                said.append(verdicts(runs, at))
            for one, other in itertools.combinations(said, 2):
                order += [one[pair][0] == other[pair][0] for pair in one]
                same += [one[pair][1] == other[pair][1] for pair in one]
                opposite += sum(one[pair][1] * other[pair][1] < 0 for pair in one)
        cost = (len(points) + seeds - 1) / seeds if by_first else len(points)
        print("| %s | %.3g | %.3f | %s | %s | %s | %s | %d of %d |" % (
            way.strip(), cost, math.exp(statistics.mean(map(math.log, ratios))), percent([r <= CLOSE for r in ratios]),
            percent([r <= 1.1 for r in ratios]), percent(order), percent(same), opposite, len(same)))
    print("\n%d tables, %d cells. At fixed points, test loss over the lowest:\n" % (len(tables), sum(
        len(parts) * len(forms) for parts in tables.values())))
    print("| scale | %s |\n|%s" % (" | ".join("rate %g" % rate for rate in rates), "---|" * (len(rates) + 1)))
    every = [runs for parts in tables.values() for runs in parts]
    for scale in scales:
        print("| %g | %s |" % (scale, " | ".join("%.2f" % math.exp(statistics.mean(
            math.log(regret(runs, form, (scale, rate), scales, rates)) for runs in every for form in forms))
            for rate in rates)))
    turned = [one[pair][1] * other[pair][1] < 0 for runs in every for one, other in itertools.combinations(
        [verdicts(runs, {form: (scale, usual) for form in forms}) for scale in scales if 0.25 <= scale <= 1], 2)
        for pair in one]
    print("\nBetween two of the scales 0.25 to 1, rate %g, a significant verdict turns into its opposite in %d of %d cases." % (
        usual, sum(turned), len(turned)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--forms", default="relu,tanh,gelu_exact,swiglu")
    arguments.add_argument("--scales", default="0.125,0.25,0.5,1,2")
    arguments.add_argument("--rates", default="1e-3,3.16e-3,1e-2")
    arguments.add_argument("--usual", type=float, default=1e-3)
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
    tables = {}
    for words in given.data:
        name, options = words.split(":", 1)
        tables[name] = [run(given, half, of) for half, of in halves(given, name, options).items()]
    if tables:
        report(tables, given.forms.split(","), [float(scale) for scale in given.scales.split(",")],
               [float(rate) for rate in given.rates.split(",")], given.usual)


main()
