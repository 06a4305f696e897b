#!/usr/bin/env python3
"""Compares the rates that `--lr auto` chooses with those of a dense grid.

    tests/bench/learning_rates.py [--forms NAMES] [--usual RATE] [--seeds N] [--chosen-by K] [--out FOLDER]
                                  [--compare build/bin/compare] "NAME: OPTIONS OF COMPARE"...

    tests/bench/learning_rates.py "oj: --data csv:OJ.csv --target Purchase --epochs 20"

Trains every form at the rates of a grid of eighths of a decade, from a third of the usual rate to 32 times as much, and
repeats the search of --lr auto on it, whose rates are every second one of the grid. K of the seeds choose a rate by their
mean validation loss, once among the rates of the search and once among all; the test losses of the other seeds judge.
Prints for each data set and form the ratio of these losses, geometric mean over all subsets of K seeds, and the two as
multiples of the lowest loss of any rate. A single choice differs from the dense one's by more, because both are noisy.
"""
import argparse
import itertools
import math
import statistics

from initial_weights import trained

FIRST, LAST = -4, 12  # eighths of a decade from the usual rate


def run(given, name, options):
    """{(form, eighths): {seed: (validation loss, test loss)}}"""
    rates = {eighths: "%.3g" % (given.usual * 10 ** (eighths / 8)) for eighths in range(FIRST, LAST + 1)}
    place = {float(rate): eighths for eighths, rate in rates.items()}
    runs = {}
    for row, losses in trained(given, name, options, ["--lr", ",".join(rates.values())]):
        runs.setdefault((row["activation"], place[float(row["lr"])]), {})[int(row["seed"])] = losses
    return runs


def mean(of, seeds, which):
    return statistics.mean(of[seed][which] for seed in seeds)


def search(forms, validation):
    """The rates of --lr auto, as documented, as far as the grid reaches; validation(form, eighths) is a loss."""
    tried = {-4, 0, 4}
    while True:
        best = {form: min(sorted(tried), key=lambda at: validation(form, at)) for form in forms}
        if max(tried) not in best.values() or max(tried) + 4 > LAST:
            break
        tried.add(max(tried) + 4)
    return sorted(tried | {at for b in best.values() for at in (b - 2, b + 2) if FIRST <= at <= LAST})


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--forms", default="relu,gelu_exact,silu,tanh,relu_squared,swiglu")
    arguments.add_argument("--usual", type=float, default=1e-3)
    arguments.add_argument("--seeds", type=int, default=6)
    arguments.add_argument("--seed", type=int, default=301)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--chosen-by", type=int, default=3)
    arguments.add_argument("--out", default="results/learning-rates")
    arguments.add_argument("--compare", default="build/bin/compare")
    arguments.add_argument("data", nargs="+", metavar="NAME: OPTIONS")
    given = arguments.parse_args()
    forms, every = given.forms.split(","), []
    print("| | %s |\n|%s" % (" | ".join(forms), "---|" * (len(forms) + 1)))
    for words in given.data:
        name, options = words.split(":", 1)
        runs = run(given, name, options)
        seeds, found = sorted(next(iter(runs.values()))), {form: [] for form in forms}
        for chosen in itertools.combinations(seeds, given.chosen_by):
            others = [seed for seed in seeds if seed not in chosen] or seeds
            tried = search(forms, lambda form, at: mean(runs[form, at], chosen, 0))
            for form in forms:
                auto, dense = (min(places, key=lambda at: mean(runs[form, at], chosen, 0))
                               for places in (tried, range(FIRST, LAST + 1)))
                lowest = min(mean(runs[form, at], others, 1) for at in range(FIRST, LAST + 1))
                found[form].append([math.log(mean(runs[form, at], others, 1) / lowest) for at in (auto, dense)])
        cells = []
        for form in forms:
            auto, dense = (math.exp(statistics.mean(of)) for of in zip(*found[form]))
            every.append(auto / dense)
            cells.append("%.3f (%.2f, %.2f)" % (auto / dense, auto, dense))
        print("| %s | %s |" % (name, " | ".join(cells)))
    print("\nMean %.4f; within 1 %% of the dense grid's in %d of %d cases." % (
        math.exp(statistics.mean(math.log(ratio) for ratio in every)), sum(ratio <= 1.01 for ratio in every), len(every)))


main()
