#!/usr/bin/env python3
"""Scores of train's defaults beside scikit-learn's MLP and boosted trees, on tables of classes and numbers.

    tests/bench/table_scores.py [--train build/bin/train] [--seeds 3] FOLDER [NAME...]
    tests/bench/table_scores.py --own FOLDER            writes five tables of scikit-learn into FOLDER, and scores these

FOLDER has the tables and a file NOTE.md, in which a line "| NAME.csv | source | TARGET | rows | columns | missing |
TEST |" names the target and how many first rows are the test split. Needs scikit-learn and pandas. train gets no option
but data, target and split, --missing mean where cells are missing, and --task. The MLP has default settings; numbers
are standardised, categories one-hot. Prints a table in Markdown: accuracy or R2, means over the seeds, the difference
to the MLP in points, and the processor seconds of one training.
"""
import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

warnings.filterwarnings("ignore")


def write_own(folder):
    """Five tables that come with scikit-learn, rows shuffled once."""
    os.makedirs(folder, exist_ok=True)
    lines = []
    for name in ("diabetes", "wine", "breast_cancer", "digits", "iris"):
        loaded = getattr(datasets, "load_" + name)(as_frame=True)
        frame = loaded.frame.sample(frac=1, random_state=0)
        if name != "diabetes":
            frame["target"] = ["class %s" % loaded.target_names[int(i)] for i in frame["target"]]
        frame.to_csv(os.path.join(folder, name + ".csv"), index=False)
        lines.append("| %s.csv | scikit-learn | target | %d | %d | 0 | %d |" % (
            name, len(frame), frame.shape[1] - 1, len(frame) // 5))
    with open(os.path.join(folder, "NOTE.md"), "w") as file:
        file.write("\n".join(lines) + "\n")


def processor_time(of):
    used = resource.getrusage(of)
    return used.ru_utime + used.ru_stime


def score_train(program, path, target, test, classes, missing, seed):
    out = tempfile.mkdtemp()
    command = [program, "--data", "csv:" + path, "--target", target, "--test", "first:%d" % test, "--seed", str(seed),
               "--task", "classification" if classes else "regression", "--no-plots", "--out", os.path.join(out, "m")]
    before = processor_time(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command + (["--missing", "mean"] if missing else []), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, env=dict(os.environ, TG_THREADS="1"))
    shutil.rmtree(out)
    found = re.search(r"^test: .*?(?:accuracy|R2) (-?[\d.]+)", said.stdout, re.M)
    if not found:
        sys.exit("table_scores.py: %s failed: %s" % (" ".join(command), said.stderr[-500:]))
    return float(found.group(1)) / (100 if classes else 1), processor_time(resource.RUSAGE_CHILDREN) - before


def score_peers(data, target, test, seeds):
    data = data[data[target].notna()].reset_index(drop=True)
    y = data.pop(target)
    classes = not pd.api.types.is_numeric_dtype(y) or (y.nunique() <= 20 and (y == y.round()).all())
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
    trees = kind(random_state=0).fit(data[test:], y[test:]).score(data[:test], y[:test])
    return classes, statistics.mean(scores), trees, seconds


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--train", default="build/bin/train")
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--own", action="store_true")
    arguments.add_argument("folder")
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_args()
    if given.own:
        write_own(given.folder)
    with open(os.path.join(given.folder, "NOTE.md")) as note:
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in note if ".csv |" in line]
    print("| table | train | MLP | difference | boosted trees | seconds: train | MLP |\n|---|---|---|---|---|---|---|")
    differences = []
    for row in rows:
        name, target, test = row[0][:-4], row[2], int(row[6])
        if given.names and name not in given.names:
            continue
        path = os.path.join(given.folder, row[0])
        data = pd.read_csv(path)
        classes, mlp, trees, mlp_seconds = score_peers(data.copy(), target, test, given.seeds)
        missing = bool(data.isna().any().any())
        ours = [score_train(given.train, path, target, test, classes, missing, seed + 1)
                for seed in range(given.seeds)]
        score = statistics.mean(one[0] for one in ours)
        differences.append(100 * (score - mlp))
        print("| %s | %.3f | %.3f | %+.1f | %.3f | %.2f | %.2f |" % (
            name, score, mlp, differences[-1], trees, statistics.mean(one[1] for one in ours), mlp_seconds), flush=True)
    print("\nDifference to the MLP: median %+.1f points, smallest %+.1f." % (
        statistics.median(differences), min(differences)))


main()
