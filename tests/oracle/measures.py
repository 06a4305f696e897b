#!/usr/bin/python3
"""Measures of classes in result.json beside scikit-learn's, on random sets of labels.

    /usr/bin/python3 tests/oracle/measures.py build/bin 200 1       # binaries, sets, seed

Each set has two to six classes of very different sizes, some of them absent from a split. train measures each split;
scikit-learn computes accuracy, balanced accuracy, macro F1, log loss and AUC of the same predictions. The last line
counts measures and those that differ; the status is 1 if any differs. Without scikit-learn it says so and ends with 0.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    from sklearn import metrics
except ImportError as missing:
    print("measures: SKIPPED, there is no %s; Debian's python3-sklearn has it" % missing.name)
    sys.exit(0)

warnings.filterwarnings("ignore")


def expected(lines, classes, columns):
    true, said = [line["true_class"] for line in lines], [line["class"] for line in lines]
    probability = np.array([[float(line[c]) for c in columns] for line in lines])
    of = {"accuracy": metrics.accuracy_score(true, said), "balanced_accuracy": metrics.balanced_accuracy_score(true, said),
          "macro_f1": metrics.f1_score(true, said, average="macro"),
          "loss": metrics.log_loss(true, probability, labels=classes, eps=1e-300)}
    if len(classes) == 2 and len(set(true)) == 2:
        of["auc"] = metrics.roc_auc_score([t == classes[1] for t in true], probability[:, 1])
    return of


def main():
    binaries, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    compared = differ = 0
    for index in range(count):
        rng = random.Random("%d %d" % (seed, index))
        classes = ["k%d" % i for i in range(rng.randint(2, 6))]
        weights = [10 ** rng.uniform(-2, 0) for _ in classes]
        rows = rng.randint(30, 120)
        labels = classes + rng.choices(classes, weights, k=rows)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "t.csv"), "w") as file:
                file.write("x,y,class\n")
                for label in labels:
                    x = float(label[1:]) + rng.gauss(0, rng.choice([0.3, 2]))
                    file.write("%.2f,%d,%s\n" % (x, rng.randint(0, 3), label))
            done = subprocess.run([os.path.join(binaries, "train"), "--data", "csv:t.csv", "--epochs", "3", "--hidden", "4",
                                   "--refit", "no", "--test", "first:%d" % rng.randint(5, 20), "--seed", str(index),
                                   "--keep-predictions", "--no-plots", "--threads", "1", "--out", "m"], cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if done.returncode != 0:
                sys.exit("measures.py: train failed: %s" % done.stderr.decode()[-300:])
            with open(os.path.join(folder, "m", "result.json")) as file:
                result = json.load(file)
            with open(os.path.join(folder, "m", "predictions.csv"), newline="") as file:
                lines = list(csv.DictReader(file))
        columns = list(lines[0])[list(lines[0]).index("probability") + 1:]
        for split in ("train", "validation", "test"):
            here = [line for line in lines if line["split"] == split]
            for name, value in expected(here, sorted(columns), sorted(columns)).items():
                compared += 1
                if not np.isclose(result[split].get(name, np.nan), value, rtol=1e-9, atol=1e-12):
                    differ += 1
                    print("set %d, %s, %s: %r, scikit-learn %r" % (index, split, name, result[split].get(name), value))
    print("measures: %d numbers of %d label sets, %d differ" % (compared, count, differ))
    sys.exit(differ > 0)


main()
