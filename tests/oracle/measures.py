#!/usr/bin/python3
"""Measures of classes in result.json beside scikit-learn's, on random sets of labels.

    /usr/bin/python3 tests/oracle/measures.py build/bin 200 1       # binaries, sets, seed

Each set has two to six classes of very different sizes, some of them absent from a split. In a third of the sets rows
have weights, some of them 0, and in another third classes have balanced ones in the loss. train measures each split;
scikit-learn computes accuracy, balanced accuracy, macro F1, log loss and AUC of the same predictions, with sample_weight,
and the weights of classes. Then predict measures all rows, and prints the same four digits. The last line
counts measures and those that differ; the status is 1 if any differs. Without scikit-learn it says so and ends with 0.
"""
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    from sklearn import metrics
    from sklearn.utils.class_weight import compute_class_weight
except ImportError as missing:
    print("measures: SKIPPED, there is no %s; Debian's python3-sklearn has it" % missing.name)
    sys.exit(0)

warnings.filterwarnings("ignore")


def expected(lines, classes, columns, of_class):
    true, said = [line["true_class"] for line in lines], [line["class"] for line in lines]
    probability = np.array([[float(line[c]) for c in columns] for line in lines])
    w = np.array([float(line.get("weight", 1)) for line in lines])
    of = {"accuracy": metrics.accuracy_score(true, said, sample_weight=w),
          "balanced_accuracy": metrics.balanced_accuracy_score(true, said, sample_weight=w),
          "macro_f1": metrics.f1_score(true, said, average="macro", sample_weight=w),
          # metrics.log_loss clips probabilities, at a bound that differs between versions
          "loss": np.average([-np.log(p[classes.index(t)]) for p, t in zip(probability, true)],
                             weights=w * [of_class.get(t, 1) for t in true])}
    if len(classes) == 2 and len({t for t, weight in zip(true, w) if weight > 0}) == 2:
        of["auc"] = metrics.roc_auc_score([t == classes[1] for t in true], probability[:, 1], sample_weight=w)
    return of


def printed(said):
    """Measures in a line of train or predict, before that of a constant prediction."""
    said = said.split("constant prediction:")[0]
    found = {name: float(value) for name, value in
             re.findall(r"(loss|balanced accuracy|accuracy|macro F1|AUC) ([\d.]+)", said)}
    return {"loss": found["loss"], "accuracy": found["accuracy"] / 100, "macro_f1": found["macro F1"],
            "balanced_accuracy": found["balanced accuracy"] / 100, "auc": found.get("AUC")}


def main():
    binaries, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    compared = differ = 0
    for index in range(count):
        rng = random.Random("%d %d" % (seed, index))
        classes = ["k%d" % i for i in range(rng.randint(2, 6))]
        weights = [10 ** rng.uniform(-2, 0) for _ in classes]
        rows = rng.randint(30, 120)
        labels = classes + rng.choices(classes, weights, k=rows)
        how = rng.choice([[], ["--weights", "w"], ["--class-weights", "balanced"]])
        heavy = rng.choice([[0, 1, 2], [0, 0.3, 40], [1, 1.7]])
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "t.csv"), "w") as file:
                file.write("x,y%s,class\n" % (",w" if "w" in how else ""))
                for place, label in enumerate(labels):
                    x = float(label[1:]) + rng.gauss(0, rng.choice([0.3, 2]))
                    w = ",%g" % (rng.choice(heavy) if place >= len(classes) else 1) if "w" in how else ""
                    file.write("%.2f,%d%s,%s\n" % (x, rng.randint(0, 3), w, label))
            done = subprocess.run([os.path.join(binaries, "train"), "--data", "csv:t.csv", "--epochs", "3", "--hidden", "4",
                                   "--refit", "no", "--test", "first:%d" % rng.randint(5, 20), "--seed", str(index),
                                   "--keep-predictions", "--no-plots", "--threads", "1", "--out", "m"] + how, cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            again = subprocess.run([os.path.join(binaries, "predict"), "--model", "m", "--data", "csv:t.csv"], cwd=folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if done.returncode != 0 or again.returncode != 0:
                sys.exit("measures.py: train failed: %s" % (done.stderr + again.stderr).decode()[-300:])
            with open(os.path.join(folder, "m", "result.json")) as file:
                result = json.load(file)
            with open(os.path.join(folder, "m", "predictions.csv"), newline="") as file:
                lines = list(csv.DictReader(file))
        columns = list(lines[0])[list(lines[0]).index("probability") + 1:]
        of_class = {}
        if "balanced" in how:
            true = np.array([line["true_class"] for line in lines if line["split"] == "train"])
            of_class = dict(zip(np.unique(true), compute_class_weight("balanced", classes=np.unique(true), y=true)))
        for split in ("train", "validation", "test", "all"):
            here = [line for line in lines if split in ("all", line["split"])]
            ours = result[split] if split != "all" else printed(again.stderr.decode())
            for name, value in expected(here, sorted(columns), sorted(columns), of_class).items():
                compared += 1
                # weights are floats, and predict prints four digits
                if not np.isclose(ours.get(name, np.nan), value, rtol=0 if split == "all" else 2e-7 if how else 1e-9,
                                  atol=5.01e-5 if split == "all" else 1e-12):
                    differ += 1
                    print("set %d, %s, %s: %r, scikit-learn %r" % (index, split, name, ours.get(name), value))
    print("measures: %d numbers of %d label sets, %d differ" % (compared, count, differ))
    sys.exit(differ > 0)


main()
