#!/usr/bin/python3
"""Follows the advice that the programs print, and counts how often it helps.

    /usr/bin/python3 tests/oracle/advice.py build/bin 10        # binaries, made data sets for each piece of advice
    /usr/bin/python3 tests/oracle/advice.py build/bin 1 cheap   # without those that train long

Each entry of examples/programs/data/advice.h has a case here and a row in docs/advice.md. A case makes data and a
command that must print the advice; follows the printed words, literally; and says whether the command then works or
has a lower loss on test rows. Prints the rows of the table. The status is 1 if an entry has no case or no row, if a
situation does not show its advice, or if advice helps fewer than eight of ten times.
"""
import csv
import math
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
FAST = ["--epochs", "3", "--no-plots"]
CASES = {}


class Case:
    """A folder with a data set, and the programs."""

    def __init__(self, binaries, folder, seed):
        self.binaries, self.folder, self.rng, self.outs = binaries, folder, random.Random(seed), 0
        self.wrong = seed % 2 == 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, program, *arguments):
        """The status and what is printed; results are in the folder `out`."""
        done = subprocess.run([os.path.join(self.binaries, program), *arguments], cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
        self.said = " ".join((done.stdout + done.stderr).split())
        return done.returncode

    def advised(self, name):
        """The advice as printed, as a match with a group for each value in it."""
        pattern = ""
        for part in re.split(r"(%[.0-9]*[zlh]*[a-z]|%\.\*s)", ADVICE[name][0]):
            pattern += r"(.+?)" if part.startswith("%") else re.escape(part).replace(r"\ ", r"\s+")
        found = re.search(pattern + r"(?=$|[\s.,;'])" if pattern.endswith("(.+?)") else pattern, self.said)
        if not found:
            raise Unsaid("%s is not in: %s" % (name, self.said[-600:]))
        return found

    def table(self, rows=200, task="classes", edit=None, name="t.csv", noise=0.3):
        """A table with two numbers, a category and a target; `edit` changes the list of its rows, header first."""
        weights = [self.rng.gauss(0, 1) for _ in range(3)]
        lines = [["a", "b", "kind", "y"]]
        for _ in range(rows):
            x, kind = [self.rng.gauss(0, 1), self.rng.gauss(5, 2)], self.rng.choice("pqr")
            y = weights[0] * x[0] + weights[1] * (x[1] - 5) + weights[2] * "pqr".index(kind) + math.sin(2 * x[0])
            y += self.rng.gauss(0, noise)
            lines.append(["%.4f" % x[0], "%.4f" % x[1], kind, y])
        middle = sorted(line[3] for line in lines[1:])[rows // 2]
        for line in lines[1:]:
            line[3] = ("yes" if line[3] > middle else "no") if task == "classes" else "%.4f" % line[3]
        lines = (edit and edit(lines)) or lines
        with open(self.path(name), "w") as file:
            file.writelines(",".join(line) + "\n" for line in lines)

    def compare(self, *arguments):
        """The mean test loss of all activations, infinite if one has none."""
        self.outs += 1
        out = "c%d" % self.outs
        if self.run("compare", "--no-plots", "--jobs", "1", "--out", out, *arguments) != 0:
            raise Unsaid("compare fails: " + self.said[-300:])
        with open(self.path(out + "/summary.csv")) as file:
            self.lines = list(csv.DictReader(file))
        losses = [float(line["test_loss_mean"] or "nan") for line in self.lines]
        return sum(math.inf if math.isnan(loss) else loss for loss in losses)

    def shell(self, command, out="u.csv"):
        """Runs a printed command, sed or awk, on the table."""
        subprocess.run("%s t.csv > %s" % (command, out), shell=True, cwd=self.folder, check=True)

    def row(self, number):
        return self.rng.randrange(1, number)

    def sub(self, old, new, name="t.csv"):
        with open(self.path(name)) as file:
            text = file.read()
        with open(self.path(name), "w") as file:
            file.write(text.replace(old, new))


class Unsaid(Exception):
    pass


class Skipped(Exception):
    pass


def case(*names):
    """Registers a case, with `long` if it trains long."""
    def add(function):
        CASES[names[0]] = function, "long" in names[1:]
        return function
    return add


def trains(c, *arguments, data="t.csv"):
    return c.run("train", "--data", "csv:" + data, *FAST, "--overwrite", *arguments, "--out", "m") == 0


def refused(c, name, *arguments):
    if trains(c, *arguments):
        raise Unsaid("is not refused")
    return c.advised(name)


# ---- hints of a comparison ----

@case("SEARCH_RATE", "long")
def search_rate(c):
    c.table(task="numbers" if c.wrong else "classes")
    o = ["--data", "csv:t.csv", "--activations", "relu,gelu_exact", "--seeds", "2", "--epochs", "20"]
    before = c.compare(*o, "--lr", "1e3")
    return c.compare(*o, *shlex.split(c.advised("SEARCH_RATE")[0])) < before and "diverged" not in c.said


@case("TRAIN_LONGER", "long")
def train_longer(c):
    c.table(task="numbers" if c.wrong else "classes")
    o = ["--data", "csv:t.csv", "--activations", "relu,gelu_exact", "--seeds", "2", "--lr", "3e-4",
         "--schedule", "constant"]
    before = c.compare(*o, "--epochs", "6" if c.wrong else "3")
    return c.compare(*o, "--epochs", c.advised("TRAIN_LONGER")[1].rstrip(")")) < before


@case("BEYOND_LIST", "long")
def beyond_list(c):
    c.table(600, "numbers" if c.wrong else "classes")
    o = ["--data", "csv:t.csv", "--activations", "relu,gelu_exact", "--seeds", "3", "--epochs", "10"]
    before = c.compare(*o, "--lr", "1e-5,3e-5" if c.wrong else "0.1,0.3")
    c.advised("BEYOND_LIST")
    after = c.compare(*o, "--lr", "auto")
    return after < before and "--lr auto." not in c.said


def accuracy_widths(c):
    """The widths of the accuracies' intervals, added up; and whether their few samples are still hinted at."""
    return (sum(float(line["test_accuracy_high"]) - float(line["test_accuracy_low"]) for line in c.lines),
            "test samples, of which" in c.said)


@case("MORE_SEEDS")
def more_seeds(c):
    c.table(rows=120)
    o = ["--data", "csv:t.csv", "--activations", "relu,tanh", "--epochs", "5"]
    c.compare(*o, "--seeds", "3")
    c.advised("MORE_SEEDS")
    before, _ = accuracy_widths(c)
    c.compare(*o, "--seeds", "12")
    seeds = accuracy_widths(c)
    c.compare(*o, "--seeds", "3", "--folds", "5")
    more = accuracy_widths(c)
    return seeds[0] < before and more[0] < before and not seeds[1] and not more[1]


@case("FOLDS")
def folds(c):
    c.table(rows=300)
    o = ["--data", "csv:t.csv", "--activations", "relu,tanh", "--epochs", "5", "--seeds", "3"]
    c.compare(*o, "--test", "first:40")
    before, _ = accuracy_widths(c)
    c.compare(*o, *c.advised("FOLDS")[0].split(" in ")[0].split())
    after, hinted = accuracy_widths(c)
    return after < before and not hinted


@case("DIRECTION")
def direction(c):
    with open(c.path("r.csv"), "w") as file:
        file.write("group,seed,zing\n" + "".join("%s,%d,%.3f\n" % (g, s, c.rng.gauss(g == "a", 0.1))
                                                 for g in "ab" for s in range(6)))
    c.run("compare", "--runs", "r.csv")
    found = c.advised("DIRECTION")
    status = c.run("compare", "--runs", "r.csv", "--more-is-better", found[1])
    return status == 0 and "a is best" in c.said


@case("NORMALISE", "long")
def normalise(c):
    c.table(task="numbers" if c.wrong else "classes")
    o = ["--data", "csv:t.csv", "--activations", "relu_squared,geglu", "--seeds", "2", "--epochs", "10", "--hidden", "32x4"]
    before = c.compare(*o, "--init", "he_normal")
    one, other = c.advised("NORMALISE")[0].split(", or ")
    return max(c.compare(*o, "--init", "he_normal", *one.split()), c.compare(*o, *other.split())) < before


@case("NORMALISE_DEEP", "long")
def normalise_deep(c):
    c.table(task="numbers" if c.wrong else "classes")
    o = ["--data", "csv:t.csv", "--activations", "relu_squared,star_relu", "--seeds", "2", "--epochs", "25", "--hidden", "16x12"]
    before = c.compare(*o)
    c.advised("NORMALISE_DEEP")
    return c.compare(*o, "--norm", "rms") < before


# ---- notes on a table ----

def test_loss(c, *arguments):
    """Of train, with enough epochs to learn."""
    if c.run("train", "--data", "csv:t.csv", "--epochs", "40", "--seed", "3", "--no-plots", "--overwrite", "--out", "m", *arguments):
        raise Unsaid("train fails: " + c.said[-300:])
    with open(c.path("m/runs.csv")) as file:
        return float(next(csv.DictReader(file))["test_loss"])


@case("CODE_IS_GAP", "long")
def code_is_gap(c):
    holes = set(c.rng.sample(range(1, 401), 60))

    def edit(lines):
        for i in holes:
            lines[i][0] = "-999"
    c.table(400, "numbers", edit)
    before = test_loss(c)
    c.advised("CODE_IS_GAP")
    c.sub("-999", "NA")
    return test_loss(c, "--missing", "mean") < before


@case("IGNORE", "long")
def ignore(c):
    def edit(lines):
        numbers = c.rng.sample(range(10000, 99999), len(lines))
        if numbers[0] % 3 == 0:
            return [["big"] + lines[0]] + [["%de36" % n] + line for n, line in zip(numbers, lines[1:])]
        return [["id"] + lines[0]] + [["N%d" % n] + line for n, line in zip(numbers, lines[1:])] if c.wrong else \
            [["day"] + lines[0]] + [["2024-%02d-%02d" % (1 + n % 12, 1 + n % 28)] + line
                                    for n, line in zip(numbers, lines[1:])]
    c.table(160, "numbers", edit)
    status = c.run("train", "--data", "csv:t.csv", "--epochs", "40", "--seed", "3", "--no-plots", "--out", "w")
    name = c.advised("IGNORE")[1]
    if status:  # it was refused
        return test_loss(c, "--ignore", name) < math.inf
    before = test_loss(c)
    return test_loss(c, "--ignore", name) < before


def copied(c):
    """Each of 150 rows, nearly coins, three times, with the number of the row; and 2,000 other rows of their kind."""
    c.table(2150, "classes", noise=30)
    with open(c.path("t.csv")) as file:
        lines = ["who," + next(file)] + ["%d,%s" % (i, line) for i, line in enumerate(file)]
    with open(c.path("new.csv"), "w") as file:
        file.writelines(lines[:1] + lines[151:])
    with open(c.path("t.csv"), "w") as file:
        file.writelines(shuffled(c, lines[:1] + [line for line in lines[1:151] for _ in range(3)]))


def gap(c, *arguments):
    """How far the measured accuracy is from that on rows of the same kind that training never saw."""
    test_loss(c, "--epochs", "300", "--patience", "0", "--refit", "no", "--lr", "0.01", "--hidden", "128x2", *arguments)
    again = c.said
    with open(c.path("m/runs.csv")) as file:
        measured = float(next(csv.DictReader(file))["test_accuracy"])
    if c.run("predict", "--model", "m", "--data", "csv:new.csv"):
        raise Unsaid("predict fails: " + c.said[-300:])
    c.said, found = again, re.search(r"accuracy ([0-9.]+) %", c.said)
    return abs(measured - float(found[1]) / 100)


@case("DUPLICATES", "long")
def duplicates(c):
    copied(c)
    with_copies = gap(c, "--ignore", "who")
    c.advised("DUPLICATES")
    return gap(c, "--ignore", "who", "--drop-duplicates") < with_copies and "features of a training sample" not in c.said


@case("GROUPS", "long")
def groups(c):
    copied(c)
    with_copies = gap(c, "--ignore", "who")
    c.advised("GROUPS")
    return gap(c, "--groups", "who") < with_copies and "features of a training sample" not in c.said


@case("SAME_SPLITS", "long")
def same_splits(c):
    c.table(2150, "classes", noise=30)  # nearly coins
    with open(c.path("t.csv")) as file:
        lines = file.readlines()
    for name, part in (("new.csv", lines[151:]), ("t.csv", lines[1:151])):
        with open(c.path(name), "w") as file:
            file.writelines(lines[:1] + part)
    if c.run("train", "--data", "csv:t.csv", "--epochs", "300", "--patience", "0", "--refit", "no", "--lr", "0.01", "--hidden",
             "128x2", "--validation", "none", "--seed", "4", "--no-plots", "--out", "first"):
        raise Unsaid("train fails: " + c.said[-300:])
    o = ["--start", "first", "--lr", "1e-5", "--validation", "none"]
    before = gap(c, *o)
    c.advised("SAME_SPLITS")
    return gap(c, *o, "--seed", "4") < before and "trained on samples" not in c.said


def shuffled(c, lines):
    rest = lines[1:]
    c.rng.shuffle(rest)
    return lines[:1] + rest


# ---- refusals of a table ----

@case("MISSING")
def missing(c):
    def edit(lines):
        for _ in range(9):
            lines[c.row(200)][c.rng.choice([0, 1, 2])] = c.rng.choice(["", "NA", "?"])
    c.table(edit=edit)
    refused(c, "MISSING")
    return trains(c, "--missing", "drop") and trains(c, "--missing", "mean")


@case("ONE_CELL")
def one_cell(c):
    where = c.row(200)

    def edit(lines):
        lines[where][c.rng.choice([0, 1])] = c.rng.choice(["total", "#DIV/0", "12 m", "abc"])
    c.table(edit=edit)
    command = "sed %sd" % refused(c, "ONE_CELL")[1]
    c.shell(command)
    return trains(c, data="u.csv") and "199 rows" in c.said


@case("ONE_MARK")
def one_mark(c):
    def edit(lines):
        for i in c.rng.sample(range(1, 200), 8):
            lines[i][1] = "unknown"
    c.table(edit=edit)
    refused(c, "ONE_MARK")
    c.sub("unknown", "NA")
    return trains(c, "--missing", "drop") and trains(c, "--missing", "mean")


@case("FEW_CELLS")
def few_cells(c):
    words = ["bad", "low", "off"]

    def edit(lines):
        for k, i in enumerate(c.rng.sample(range(1, 200), 8)):
            lines[i][0] = words[k % 3]
    c.table(edit=edit)
    refused(c, "FEW_CELLS")
    for word in words:
        c.sub(word, "NA")
    return trains(c, "--missing", "drop") and trains(c, "--missing", "mean")


@case("MINUS")
def minus(c):
    c.table()
    c.sub("-", "\u2212")
    found = refused(c, "MINUS")
    c.shell(found[0])
    return trains(c, data="u.csv")


@case("HEADER_AGAIN")
def header_again(c):
    where = c.row(200)
    c.table(edit=lambda lines: lines[:where] + lines[:1] + lines[where:])
    command = refused(c, "HEADER_AGAIN")[0][:-len(" leaves it out")]
    c.shell(command)
    return trains(c, data="u.csv") and "200 rows" in c.said


@case("CLASSES")
def classes(c):
    def edit(lines):
        for line in lines[1:]:
            line[3] = c.rng.choice(["low", "mid", "7"])
    c.table(edit=edit)
    refused(c, "CLASSES", "--task", "regression")
    return trains(c, "--task", "classification")


@case("CATEGORIES")
def categories(c):
    def edit(lines):
        for line in lines[1:]:
            line[1] = c.rng.choice(["0", "1", "2", "2", "1", "3+"])
    c.table(edit=edit)
    name = refused(c, "CATEGORIES")[1]
    return trains(c, "--categorical", name) and trains(c, "--ignore", name)


# ---- refusals of options and folders ----

@case("UNKNOWN")
def unknown(c):
    c.table()
    trains(c)
    c.table(20, name="new.csv")
    c.sub(",p,", ",new,", "new.csv")
    if c.run("predict", "--model", "m", "--data", "csv:new.csv") == 0:
        raise Unsaid("is not refused")
    advice = c.advised("UNKNOWN")[0].split(" treats")[0]
    return c.run("predict", "--model", "m", "--data", "csv:new.csv", *advice.split()) == 0


@case("OTHER_FOLDER")
def other_folder(c):
    c.table()
    o = ["--data", "csv:t.csv", "--no-plots"]
    c.run("train", *o, "--epochs", "2", "--out", "m")
    if c.run("train", *o, "--epochs", "3", "--out", "m") == 0:
        raise Unsaid("is not refused")
    c.advised("OTHER_FOLDER")
    return c.run("train", *o, "--epochs", "3", "--out", "n") == 0 and \
        c.run("train", *o, "--epochs", "3", "--out", "m", "--overwrite") == 0


@case("START")
def start(c):
    c.table()
    trains(c)
    c.table()
    if c.run("train", "--resume", "--out", "m") == 0:
        raise Unsaid("is not refused")
    c.advised("START")
    advice = re.search(r"--start \S+", c.said)[0]
    return c.run("train", "--data", "csv:t.csv", *FAST, *advice.split(), "--out", "n") == 0


@case("ACTIVATION")
def activation(c):
    c.table()
    trains(c, "--activation", "relu")
    o = ["--data", "csv:t.csv", *FAST, "--activation", "tanh", "--start", "m/best.safetensors", "--out", "n"]
    if c.run("train", *o) == 0:
        raise Unsaid("is not refused")
    c.advised("ACTIVATION")
    return all(c.run("train", *o, "--overwrite", "--activation-from", choice) == 0 for choice in ("file", "model"))


@case("CONTEXT")
def context(c):
    with open(c.path("p.tsv"), "w") as file:
        for _ in range(60):
            word = "".join(c.rng.choice("abcd") for _ in range(c.rng.randint(6, 12)))
            file.write("%s\t%s\n" % (word, word[::-1]))
    o = ["--data", "pairs:p.tsv", "--epochs", "1", "--width", "8", "--layers", "1", "--heads", "1", "--no-plots", "--out", "m"]
    if c.run("train", *o, "--context", "4") == 0:
        raise Unsaid("is not refused")
    return c.run("train", *o, "--context", c.advised("CONTEXT")[1]) == 0


# ---- hints about seeds and searches ----

@case("HEAVY_ROW", "long")
def heavy_row(c):
    """A target with a misplaced point, which is then left out; or the milder measure."""
    where = c.row(100)

    def edit(lines):
        lines[where][3] = "%.2f" % (300 + 100 * c.rng.random())
    c.table(120, "numbers", edit)
    o = ["--data", "csv:t.csv", "--activations", "relu,tanh", "--epochs", "10", "--lr", "0.01", "--seeds", "1",
         "--folds", "5"]
    before = c.compare(*o)
    c.advised("HEAVY_ROW")
    row, measure = re.search(r"Row (\d+) of the data", c.said)[1], re.search(r"or judge by (--measures \w+)", c.said)
    if measure:
        c.compare(*o, *measure[1].split())
        if "Row %s of the data" % row in c.said:
            return False
    c.shell("sed '%dd'" % (int(row) + 2))  # the header, and rows from 0
    return int(row) + 1 == where and c.compare(*o[:1], "csv:u.csv", *o[2:]) < before and "Row " not in c.said


SMALL = ["--data", "csv:t.csv", "--activations", "relu,tanh", "--epochs", "5"]


@case("SEARCH_BOTH", "long")
def search_both(c):
    c.table(600, "numbers" if c.wrong else "classes")
    o = SMALL + ["--seeds", "2"]
    before = c.compare(*o, "--lr", "1e-3")
    return c.compare(*o, *c.advised("SEARCH_BOTH")[0].split()) < before and "not searched" not in c.said


@case("SEARCH_WIDER", "long")
def search_wider(c):
    c.table(600, "numbers" if c.wrong else "classes")
    before = c.compare(*SMALL, "--seeds", "3")
    return c.compare(*SMALL, "--seeds", "3", *c.advised("SEARCH_WIDER")[0].split()) <= before


def difference_width(c):
    measure = "test_loss_difference_"
    return float(c.lines[1][measure + "high"]) - float(c.lines[1][measure + "low"])


@case("TEN_SEEDS")
def ten_seeds(c):
    c.table(task="numbers" if c.wrong else "classes")
    c.compare(*SMALL, "--lr", "3e-3", "--seeds", "3")
    c.advised("TEN_SEEDS")
    before = difference_width(c)
    c.compare(*SMALL, "--lr", "3e-3", "--seeds", "10")
    return difference_width(c) < before and "large differences only" not in c.said


@case("SEVERAL_SEEDS")
def several_seeds(c):
    c.table(task="numbers" if c.wrong else "classes")
    c.compare(*SMALL, "--lr", "3e-3", "--seeds", "1")
    c.advised("SEVERAL_SEEDS")
    c.compare(*SMALL, "--lr", "3e-3", "--seeds", "4")
    return "no verdict" not in c.said and difference_width(c) > 0


@case("TASK")
def task(c):
    def edit(lines):  # whole numbers of which few differ: a count, or classes
        for i, line in enumerate(lines[1:]):
            line[3] = str(c.rng.randrange(2 + c.rng.randrange(8)))
    c.table(edit=edit)
    if not trains(c):
        raise Unsaid("train fails: " + c.said[-300:])
    c.advised("TASK")
    return "classification" in c.said and trains(c, "--task", "regression") and "regression of 1 target" in c.said


# ---- files of other programs ----

@case("HEADER")
def choose_header(c):
    c.table(edit=lambda lines: [["n%d" % c.rng.randrange(9), "3", "4", "1"]] +
            [["%d" % c.rng.randrange(99), "%d" % c.rng.randrange(99), "%d" % c.rng.randrange(99), line[3]] for line in lines[1:]])
    refused(c, "HEADER")
    one, other = trains(c, "--header", "yes"), None
    said = c.said
    other = trains(c, "--header", "no", "--missing", "drop") or "it is the only such cell" in c.said
    return one and "200 rows" in said and other


def converts(c, name, path, write, *arguments):
    """The file is refused, and the printed command writes table.csv, with which train works."""
    c.table(rows=120, edit=lambda lines: lines)
    write()
    if trains(c, data=path):
        raise Unsaid("is not refused")
    command = c.advised(name)[0]
    for word in (" converts the file", " leaves the rows"):
        command = command.replace("if it is Latin-1, ", "").replace(word, " %s > table.csv" % shlex.quote(path))
    command = command.replace("TABLE", "people").replace("python3", "/usr/bin/python3")
    subprocess.run(command, shell=True, cwd=c.folder, check=True, capture_output=True)
    return trains(c, *arguments, data="table.csv") and "120 rows" in c.said


def by_shell(name, path, command, *arguments):
    """A file that a command writes; without the programs of both commands, skipped."""
    def follow_it(c):
        for tool in (command.split()[0], ADVICE[name][0].split()[0]):
            if tool in ("xz", "bzip2", "zstd", "sqlite3", "iconv", "unzip") and not shutil.which(tool):
                raise Skipped("there is no " + tool)
        return converts(c, name, path, lambda: subprocess.run(command, shell=True, cwd=c.folder, check=True,
                                                              capture_output=True), *arguments)
    CASES[name] = follow_it, False


def by_python(code):
    return "/usr/bin/python3 -c \"import numpy, pandas; t = pandas.read_csv('t.csv'); " + code + "\""


by_shell("XZ", "t.csv.xz", "xz -k t.csv")
by_shell("BZIP2", "t.csv.bz2", "bzip2 -k t.csv")
by_shell("ZSTD", "t.csv.zst", "zstd -q t.csv")
by_shell("ZIP", "t.zip", by_python("import os, zipfile; os.rename('t.csv', 'table.csv'); "
                                   "zipfile.ZipFile('t.zip', 'w').write('table.csv'); os.remove('table.csv')"))
by_shell("TAR", "t.tar", "mv t.csv table.csv && tar -cf t.tar table.csv && rm table.csv")
by_shell("SQLITE", "t.db", "sqlite3 t.db '.mode csv' '.import t.csv people'")
by_shell("NPY", "t.npy", by_python("numpy.save('t.npy', t[['a', 'b']].to_numpy())"))
by_shell("NPZ", "t.npz", by_python("numpy.savez('t.npz', x=t[['a', 'b']].to_numpy())"))
by_shell("JSON", "t.json", by_python("t.to_json('t.json', orient='records')"))
by_shell("JSON_LINES", "t.jsonl", by_python("t.to_json('t.jsonl', orient='records', lines=True)"))
by_shell("PICKLE", "t.pkl", by_python("t.to_pickle('t.pkl')"))
by_shell("UTF16", "t.txt", "iconv -f UTF-8 -t UTF-16 t.csv > t.txt")
by_shell("LATIN1", "l.csv", "sed 's/,yes/,gr\u00fcn/' t.csv | iconv -f UTF-8 -t LATIN1 > l.csv")
by_shell("ARFF", "t.arff", "(echo @relation t; echo @data; tail -n +2 t.csv) > t.arff", "--header", "no")


# ---- further refusals of options and folders ----

@case("STRICT")
def strict(c):
    c.table()
    if not trains(c):
        raise Unsaid("train fails: " + c.said[-300:])
    with open(c.path("new.csv"), "w") as file:
        file.write("a,b,kind\n%s\n" % c.rng.choice(["1,,p", ",2,q", "1,2,"]))
    if c.run("predict", "--model", "m", "--data", "csv:new.csv", "--strict") == 0:
        raise Unsaid("is not refused")
    c.advised("STRICT")
    return c.run("predict", "--model", "m", "--data", "csv:new.csv") == 0


@case("RUN")
def run_of_comparison(c):
    c.table()
    c.compare(*SMALL, "--seeds", "1", "--lr", "0.01", "--keep-models")
    if c.run("predict", "--model", "c1", "--data", "csv:t.csv") == 0:
        raise Unsaid("is not refused")
    c.advised("RUN")
    names = os.listdir(c.path("c1/runs"))
    return all(c.run("predict", "--model", "c1/runs/" + name, "--data", "csv:t.csv") == 0 for name in names)


@case("NAMES")
def names(c):
    c.table()
    o = ["--data", "csv:t.csv", "--epochs", "1", "--lr", "0.01", "--seeds", "1", "--no-plots", "--jobs", "1", "--out", "n"]
    one, other = "tanh(2*x)", "tanh(2 * x)"
    if c.run("compare", *o, "--activations", one + "," + other) == 0:
        raise Unsaid("is not refused")
    c.advised("NAMES")
    return c.run("compare", *o, "--activations", "%s,second: %s" % (one, other)) == 0


@case("NO_PART")
def no_part(c):
    c.table()
    o = SMALL + ["--seeds", "1", "--lr", "auto", "--no-plots", "--jobs", "1", "--out", "n"]
    if c.run("compare", *o, "--part", "1/2") == 0:
        raise Unsaid("is not refused")
    c.advised("NO_PART")
    return c.run("compare", *o) == 0


@case("REST")
def rest(c):
    c.table()
    o = SMALL + ["--seeds", "2", "--lr", "0.01", "--no-plots", "--jobs", "1", "--out", "n"]
    if c.run("compare", *o, "--part", "%d/2" % (1 + c.wrong)):
        raise Unsaid("compare fails: " + c.said[-300:])
    c.advised("REST")
    return not os.path.exists(c.path("n/summary.csv")) and c.run("compare", *o) == 0 and \
        os.path.exists(c.path("n/summary.csv"))


@case("DIVIDE")
def divide(c):
    """The same part twice; the first process waits meanwhile."""
    c.table(rows=60)
    o = ["--data", "csv:t.csv", "--activations", "relu,tanh", "--seeds", "1", "--epochs", "300", "--lr", "0.01", "--no-plots",
         "--jobs", "1", "--out", "n"]

    def begin(part):
        return subprocess.Popen([os.path.join(c.binaries, "compare"), *o, "--part", part], cwd=c.folder,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    first = begin("2/2")
    while not os.path.exists(c.path("n/runs/tanh-seed1/curves.csv")) and first.poll() is None:
        time.sleep(0.001)
    os.killpg(first.pid, signal.SIGSTOP)
    status = c.run("compare", *o, "--part", "2/2")
    os.killpg(first.pid, signal.SIGCONT)
    first.terminate()
    first.wait()
    if status == 0:
        raise Unsaid("is not refused")
    c.advised("DIVIDE")
    both = [begin("1/2"), begin("2/2")]
    return [of.wait() for of in both] == [0, 0] and c.run("compare", *o) == 0


@case("CONTINUE")
def go_on(c):
    c.table(rows=600)
    o = ["--data", "csv:t.csv", "--epochs", "900", "--patience", "0", "--refit", "no", "--batch", "4", "--no-plots", "--out", "m"]
    begun = subprocess.Popen([os.path.join(c.binaries, "train"), *o], cwd=c.folder, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    while not os.path.exists(c.path("m/curves.csv")) and begun.poll() is None:
        time.sleep(0.01)
    time.sleep(0.02)
    begun.send_signal(signal.SIGINT)
    c.said = " ".join(begun.communicate()[1].split())
    c.advised("CONTINUE")
    return c.run("train", *o) == 0 and "done, 900 epochs" in c.said


@case("MEASURES")
def choose_measures(c):
    many = ["loss%d" % i for i in range(c.rng.randint(60, 90))]
    with open(c.path("r.csv"), "w") as file:
        file.write("group,seed,%s\n" % ",".join(many))
        file.writelines("%s,%d,%s\n" % (g, s, ",".join("%.3f" % c.rng.random() for _ in many)) for g in "ab" for s in range(4))
    if c.run("compare", "--runs", "r.csv") == 0:
        raise Unsaid("is not refused")
    c.advised("MEASURES")
    return c.run("compare", "--runs", "r.csv", "--measures", "loss1,loss2") == 0


@case("EPOCHS")
def epochs(c):
    c.table()
    o = ["--data", "csv:t.csv", "--validation", "none", "--no-plots", "--out", "m"]
    if c.run("train", *o) == 0:
        raise Unsaid("is not refused")
    c.advised("EPOCHS")
    return c.run("train", *o, "--epochs", str(c.rng.randint(1, 9))) == 0


@case("PATIENCE")
def patience(c):
    c.table()
    most = c.rng.randint(2, 6)
    o = ["--data", "csv:t.csv", "--no-plots", "--overwrite", "--out", "m"]
    if c.run("train", *o, "--epochs", str(most), "--patience", str(most)) == 0:
        raise Unsaid("is not refused")
    c.advised("PATIENCE")
    return c.run("train", *o, "--epochs", str(most), "--patience", str(most - 1)) == 0 and \
        c.run("train", *o, "--epochs", str(most + 1), "--patience", str(most)) == 0


@case("FOLD")
def fold(c):
    c.table()
    count = c.rng.randint(2, 6)
    refused(c, "FOLD", "--folds", str(count))
    return all(trains(c, "--folds", str(count), "--fold", str(k)) for k in (1, count))


@case("TEXT_DATA")
def text_data(c):
    c.table()
    with open(c.path("words"), "w") as file:
        file.writelines("%s\n" % "".join(c.rng.choice("abcd") for _ in range(6)) for _ in range(100))
    small = ["--width", "8", "--layers", "1"]
    model = c.rng.choice(["rnn", "gru", "lstm"])
    refused(c, "TEXT_DATA", "--model", model)
    return all(c.run("train", "--data", kind + ":words", "--model", model, *small, *FAST, "--overwrite", "--out", "m") == 0
               for kind in ("text", "lines"))


@case("AS_TEXT")
def as_text(c):
    with open(c.path("t.txt"), "w") as file:
        for _ in range(100):
            file.write(" ".join(c.rng.choice(["to", "be,", "or", "not", "that"]) for _ in range(c.rng.randint(2, 9))) + "\n")
    if c.run("train", "--data", "t.txt", *FAST, "--out", "m") == 0:
        raise Unsaid("is not refused")
    said = c.advised("AS_TEXT")
    return c.run("train", "--data", "text:" + said[1], "--width", "8", "--layers", "1", *FAST, "--out", "m") == 0


@case("OTHER_MODEL")
def other_model(c):
    c.table()
    if not trains(c, "--hidden", "8"):
        raise Unsaid("train fails: " + c.said[-300:])
    if c.run("train", "--resume", "--hidden", "9", "--out", "m") == 0:
        raise Unsaid("is not refused")
    c.advised("OTHER_MODEL")
    return c.run("train", "--data", "csv:t.csv", "--start", "m", *FAST, "--out", "n") == 0


# ---- all ----

def read_advice():
    """The entries of the table in the source: {name: (text, condition)}."""
    with open(os.path.join(TOP, "examples/programs/data/advice.h")) as file:
        found = re.findall(r"/\* ([^/]*?) \*/\n#define ADVICE_(\w+) ((?:.*\\\n)*.*)", file.read())
    advice = {}
    for condition, name, text in found:
        text = re.sub(r"ADVICE_(\w+)", lambda m: '"%s"' % advice[m[1]][0], text)
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"')
        text = text.replace("'@'", "'%s'").replace("%%", "%")
        advice[name] = text, " ".join(re.sub(r"\n \* ", "\n", condition).split())
    return advice


ADVICE = read_advice()


def follow(binaries, name, count):
    """How often the advice helped."""
    helped = 0
    for seed in range(1, count + 1):
        with tempfile.TemporaryDirectory(prefix="tapegrad-advice-") as folder:
            helped += bool(CASES[name][0](Case(binaries, folder, seed)))
    return helped


def main():
    binaries, count, cheap = os.path.abspath(sys.argv[1]), int(sys.argv[2]), "cheap" in sys.argv[3:]
    only, wrong, done = [word for word in sys.argv[3:] if word != "cheap"], [], 0
    with open(os.path.join(TOP, "docs/advice.md")) as file:
        listed = file.read()
    for name in sorted(set(CASES) - set(ADVICE)):
        wrong.append("%s is no advice of the programs" % name)
    for name, (text, condition) in ADVICE.items():
        if name not in CASES:
            wrong.append("%s has no case" % name)
            continue
        shown = re.sub(r"%[.0-9]*s|%\.\*s", "NAME", re.sub(r"%z?[du]", "N", text)).replace("|", "\\|")
        row = "| %s | `%s` |" % (condition, shown)
        if row not in listed:
            wrong.append("docs/advice.md lacks: " + row)
        if (only and name not in only) or (cheap and CASES[name][1]):
            continue
        done += 1
        try:
            helped = follow(binaries, name, count)
        except Skipped as reason:
            print("%s SKIPPED, %s" % (name, reason))
            continue
        except (Unsaid, subprocess.CalledProcessError) as problem:
            wrong.append("%s: %s" % (name, problem))
            continue
        print("%s %d of %d |" % (row, helped, count), flush=True)
        if 10 * helped < 8 * count:
            wrong.append("%s helped %d of %d times" % (name, helped, count))
    print("\n".join(wrong))
    print("%d%%: Checks: %d, Failures: %d, Errors: 0" % (100 * (done - len(wrong)) // max(done, 1), done, len(wrong)))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
