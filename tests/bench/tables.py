#!/usr/bin/env python3
"""Times the reader of tables beside pandas and polars, as far as these can be imported.

    tests/bench/tables.py [--rows N] [--columns N] [--rounds N] [BENCH]      BENCH: build/bin/bench

Writes a table of numbers into a temporary folder, once with six decimals and once with all digits, and reads it in
turn with each reader, in a process of its own. Prints the median of processor seconds and of the wall clock, and the
largest memory of the process as a multiple of the file's size.
"""
import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON = {
    "pandas": "import pandas, sys; pandas.read_csv(sys.argv[1])",
    "pandas round_trip": "import pandas, sys; pandas.read_csv(sys.argv[1], float_precision='round_trip')",
    "polars": "import polars, sys; polars.read_csv(sys.argv[1])",
}


def measure(command):
    """Processor seconds, seconds and bytes of one command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit("tables.py: %s failed" % " ".join(command))
    return used.ru_utime + used.ru_stime, time.time() - begin, used.ru_maxrss * 1024


def readers(bench):
    """The commands that read a file, by name, and what a Python reader takes without a file."""
    found = {"tapegrad": ([bench, "--table"], None)}
    for name, program in PYTHON.items():
        empty = [sys.executable, "-c", program.split(";")[0]]
        if subprocess.run(empty, stderr=subprocess.DEVNULL).returncode == 0:
            found[name] = ([sys.executable, "-c", program], empty)
        else:
            print("%s is not there" % name)
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--rows", type=int, default=1000000)
    arguments.add_argument("--columns", type=int, default=20)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("bench", nargs="?", default="build/bin/bench")
    given = arguments.parse_args()
    found = readers(given.bench)
    with tempfile.TemporaryDirectory() as folder:
        for digits, form in (("six decimals", "%.6f"), ("all digits", "%r")):
            path = os.path.join(folder, "table.csv")
            drawn = random.Random(1)
            with open(path, "w") as file:
                file.write(",".join("c%d" % i for i in range(given.columns)) + "\n")
                for _ in range(given.rows):
                    file.write(",".join(form % drawn.gauss(0, 1) for _ in range(given.columns)) + "\n")
            size = os.path.getsize(path)
            print("%d rows of %d numbers with %s, %.0f MB" % (given.rows, given.columns, digits, size / 1e6))
            results = {name: [] for name in found}
            for _ in range(given.rounds):
                for name, (command, empty) in found.items():
                    start = measure(empty) if empty else (0, 0, 0)
                    taken = measure(command + [path])
                    results[name].append((taken[0] - start[0], taken[1] - start[1], taken[2]))
            for name, taken in results.items():
                print("  %-18s %6.2f s of processor time, %6.2f s, %5.2f times the file's size" %
                      (name, *(statistics.median(of) for of in list(zip(*taken))[:2]),
                       statistics.median(one[2] for one in taken) / size))


main()
