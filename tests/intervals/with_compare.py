#!/usr/bin/env python3
"""How often do the intervals that `compare` writes cover the truth, where the truth is known?

    tests/intervals/with_compare.py [--compare build/bin/compare] [--tables 100] [--rows 200] [POPULATION...]

build/bin/intervals asks this of the formula; here whole comparisons run. Each table is a sample of a population: classes,
coin (classes that depend on nothing), numbers, or skewed (numbers with heavy tails). It is written as a file, `compare`
trains relu, gelu_exact and swiglu on it with 3, 5 and 10 seeds, and the intervals are read from pairs.csv. The true
difference is 0 for accuracies of the coin, and otherwise the mean over all tables. Prints for each number of seeds how
many intervals cover it, the median half-width as a multiple of the one that 95 % would need, in how many comparisons of
the coin a difference in accuracy is called significant, and how many first sentences of them name a best.
"""
import argparse
import csv
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

SEEDS = (3, 5, 10)


def target(population, x, rng):
    signal = math.sin(1.5 * x[0]) + x[1] * x[2] + 0.5 * x[3]
    if population == "classes":
        return "yes" if rng.random() < 1 / (1 + math.exp(-2.5 * signal)) else "no"
    if population == "coin":
        return rng.choice(["yes", "no"])
    if population == "numbers":
        return "%.6g" % (signal + rng.gauss(0, 0.5))
    return "%.6g" % math.exp(0.5 * signal + rng.gauss(0, 0.5))


def write_table(path, population, rows, rng):
    with open(path, "w") as file:
        file.write("".join("x%d," % i for i in range(8)) + "y\n")
        for _ in range(rows):
            x = [rng.gauss(0, 1) for _ in range(8)]
            file.write("".join("%.6g," % v for v in x) + target(population, x, rng) + "\n")


def judge(given, population, folder, number):
    """{(seeds, measure, name, against): (difference, low, high, corrected p)} of a table, and {seeds: first line}."""
    path, out, found, said = os.path.join(folder, "t.csv"), os.path.join(folder, "o"), {}, {}
    write_table(path, population, given.rows, random.Random("%s %d" % (population, number)))
    for seeds in SEEDS:
        done = subprocess.run([given.compare, "--data", "csv:" + path, "--activations", "relu,gelu_exact,swiglu", "--hidden",
                               "16", "--epochs", "12", "--batch", "16", "--lr", "0.01", "--jobs", "1", "--no-plots",
                               "--seeds", str(seeds), "--out", out], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        said[seeds] = next((line for line in done.stdout.splitlines() if line.startswith("Test accuracy (")), "")
        with open(os.path.join(out, "pairs.csv"), newline="") as file:
            for row in csv.DictReader(file):
                numbers = [float(row[k] or "nan") for k in ("difference", "difference_low", "difference_high",
                                                            "p_corrected")]
                found[seeds, row["measure"], row["name"], row["against"]] = numbers
    shutil.rmtree(out)
    return found, said


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--compare", default="build/bin/compare")
    arguments.add_argument("--tables", type=int, default=100)
    arguments.add_argument("--rows", type=int, default=200)
    arguments.add_argument("populations", nargs="*", default=["classes", "coin", "numbers", "skewed"])
    given = arguments.parse_args()
    print("%-11s %-14s %-12s %-11s %5s %8s %11s" % ("population", "measure", "name", "against", "seeds", "covered %",
                                                    "half-width"))
    for population in given.populations:
        with tempfile.TemporaryDirectory() as folder:
            tables = [judge(given, population, folder, number) for number in range(given.tables)]
        found = [of for of, _ in tables]
        claims = {seeds: 0 for seeds in SEEDS}
        for key in found[0]:
            seeds, measure, name, against = key
            known = population == "coin" and measure == "test_accuracy"
            truth = 0 if known else statistics.mean(of[(SEEDS[-1],) + key[1:]][0] for of in found)
            needed = 1.96 * statistics.stdev(of[key][0] for of in found)
            margins = [0 if math.isnan(of[key][1]) else (of[key][2] - of[key][1]) / 2 for of in found]
            covered = sum(abs(of[key][0] - truth) <= margin + 1e-12 for of, margin in zip(found, margins))
            print("%-11s %-14s %-12s %-11s %5d %8.1f %11.2f" % (population, measure, name, against, seeds,
                                                             100 * covered / len(found),
                                                             statistics.median(margins) / needed), flush=True)
        for of in found:
            for seeds in SEEDS:
                claims[seeds] += any(numbers[3] < 0.05 for key, numbers in of.items()
                                     if key[:2] == (seeds, "test_accuracy"))
        if population == "coin":
            for seeds in SEEDS:
                best = sum(" is best" in said[seeds] or "is better than" in said[seeds] for _, said in tables)
                print("coin: with %d seeds %d of %d comparisons claim a difference in accuracy, %d a best one" % (
                    seeds, claims[seeds], len(found), best))


main()
