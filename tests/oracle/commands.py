"""Random commands of `train` and `compare`, run and checked. Each has the data, rows, weights and epochs that its options
mean, which records.py and verdicts.py compute again."""
import csv
import itertools
import json
import math
import os
import re
import signal
import subprocess
import time

import numpy as np

import moments
import nets
import records
import tables
import verdicts
from records import expect, expect_close, number


class Refused(Exception):
    """The program refused the combination of options, or training diverged."""


def weighed(values, weights):
    """Each value as far from the weighted mean as its weight says: plain means of these are weighted ones."""
    mean = np.average(values, weights=weights)
    return mean + weights / weights.mean() * (np.array(values) - mean)


class Commands:
    def __init__(self, binaries, folder, rng):
        self.binaries, self.folder, self.rng, self.said = binaries, folder, rng, ""

    # ---- programs ----

    def argv(self, program, arguments):
        return [os.path.join(self.binaries, program)] + [str(a) for a in arguments]

    def run(self, program, arguments):
        self.said = " ".join(self.argv(program, arguments))
        done = subprocess.run(self.argv(program, arguments), capture_output=True, text=True, errors="surrogateescape",
                              cwd=self.folder)
        if done.returncode == 2 or "is infinite or not a number" in done.stderr:
            raise Refused(done.stderr.strip().splitlines()[-1])
        expect(done.returncode == 0, "status", done.returncode, done.stderr[-300:])
        return done.stdout

    def interrupt(self, program, arguments, how):
        """Starts the program and ends it by a signal after a moment."""
        child = subprocess.Popen(self.argv(program, arguments), cwd=self.folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(self.rng.uniform(0.01, 0.12))
        child.send_signal(how)
        child.wait()

    # ---- options ----

    def net(self):
        rng = self.rng
        o = ["--hidden", rng.choice(["6", "8x2", "5x3", "9,4", "12"])]
        norm = rng.choice(["none"] * 4 + nets.NORMS[1:])
        if norm != "none":
            o += ["--norm", norm]
        if rng.random() < 0.2 and o[1] in ("8x2", "5x3"):
            o += ["--residual"]
        if rng.random() < 0.2:
            o += ["--dropout", "0.2"]
        return o, norm

    def training(self, table, compares):
        """Options of training, and what they mean for rows and epochs."""
        rng = self.rng
        means = {"epochs": rng.randint(1, 7), "batch": rng.choice([4, 7, 16, 32]), "accumulate": 1, "patience": 0,
                 "best": "loss", "ema": 0, "drop_last": False, "folds": 0, "fold": 0, "validation": "0.2",
                 "test": "0.2", "least": 1, "loose": 1, "fixed": False, "class_weights": None}
        o = ["--epochs", means["epochs"], "--batch", means["batch"]]

        def maybe(share, name, value, key=None):
            if rng.random() < share:
                o.extend(["--" + name] + ([] if value is True else [value]))
                if key:
                    means[key] = value
                return True
            return False

        maybe(0.35, "ema", rng.choice([0.5, 0.9, 0.99]), "ema")
        if table.task == "classes":
            maybe(0.35, "best", "accuracy", "best")
            maybe(0.2, "label-smoothing", 0.2)
            if not isinstance(table, (tables.Text, tables.Lines, tables.Pairs)):
                o += self.weights_of_classes(table, means)
        maybe(0.3, "patience", rng.randint(1, 3), "patience")
        if means["patience"] >= means["epochs"]:
            means["epochs"] = means["patience"] + rng.randint(1, 4)
            o[1] = means["epochs"]
        maybe(0.25, "accumulate", rng.choice([2, 3]), "accumulate")
        maybe(0.25, "clip", rng.choice([0.1, 1, 10]))
        maybe(0.15, "drop-last", True, "drop_last")
        maybe(0.2, "shards", rng.choice([2, 3, 4]))
        schedule = rng.choice(["", "", "constant", "linear", "step", "inverse_sqrt"])
        if schedule:
            o += ["--schedule", schedule]
        maybe(0.2, "warmup", rng.choice([0, 0.1, 0.3]))
        maybe(0.3, "weight-decay", 0.1)
        o += ["--optimizer", rng.choice(["adamw", "adamw", "adam", "sgd", "lion", "rmsprop"])] if rng.random() < 0.4 else []
        o += ["--lr", rng.choice([0.001, 0.003, 0.01, 0.03])]
        seed = rng.randint(1, 50)
        o += ["--seed", seed]
        means["seed"] = seed
        maybe(0.3, "validation", rng.choice(["0.1", "0.3", "first:9"]), "validation")
        if compares and rng.random() < 0.25:
            means["folds"] = rng.choice([2, 3])
            o += ["--folds", means["folds"]]
        else:
            maybe(0.35, "test", rng.choice(["0.1", "0.33", "none"] + ["first:8"] * (means["validation"][0] == "0")), "test")
        maybe(0.2, "split", "fixed")
        means["fixed"] = "fixed" in o
        maybe(0.15, "train-loss-every", 2)
        return o, means

    def weights_of_classes(self, table, means):
        how = self.rng.choice([None] * 4 + ["balanced", "file"])
        if how != "file":
            means["class_weights"] = how
            return ["--class-weights", how] if how else []
        means["class_weights"] = {name: self.rng.choice([0.2, 1, 7]) for name in table.classes[:2]}
        path = os.path.join(self.folder, "weights.csv")
        with open(path, "w") as file:
            file.writelines("%s,%g\n" % line for line in means["class_weights"].items())
        return ["--class-weights", path]

    # ---- train ----

    def train(self, index):
        rng = self.rng
        table = tables.Table(rng, os.path.join(self.folder, "data%d.csv" % index))
        net, norm = self.net()
        activation = rng.choice(nets.ACTIVATIONS)
        o, means = self.training(table, False)
        means["least"], means["loose"] = 2 if norm == "batch" else 1, 1 if norm == "none" else 10
        if rng.random() < 0.4:
            again = "no" if means["ema"] else rng.choice(["yes", "no"])
            o += ["--refit", again]
            if again == "yes" and norm == "none" and activation in nets.PLAIN and rng.random() < 0.5:
                o += ["--nets", rng.choice([1, 2, 3])]
        out = "train%d" % index
        options = ["--data", "csv:" + table.path] + table.options + net + ["--activation", activation] + o + \
            ["--no-plots", "--keep-predictions", "--threads", 1, "--out"]
        mode = rng.choice(["whole", "whole", "again", "killed", "stopped", "longer"])
        self.run("train", options + [out])
        if mode == "again":
            self.same(out, options, out, 0)
        if mode in ("killed", "stopped"):
            self.same(out, options, out + "part", signal.SIGKILL if mode == "killed" else signal.SIGINT)
        if mode == "longer":
            means["epochs"] += rng.randint(1, 4)
            self.run("train", ["--resume", "--epochs", means["epochs"], "--out", out])
        self.said = "train " + " ".join(str(a) for a in options + [out])
        folder = os.path.join(self.folder, out)
        found = records.check_run(folder, means, table)
        line = records.read_csv(folder + "/runs.csv")[0]
        records.check_line(line, found[0], folder)
        expect(line["activation"] == activation and int(line["seed"]) == means["seed"], folder, "is another run")
        summary = records.read_csv(folder + "/summary.csv")[0]
        for column, value in summary.items():
            if column.endswith("_mean") and value:
                expect_close(folder + ": " + column, number(line[column[:-5]]), number(value), 1e-8)
        if table.missing != "drop":
            self.predict(folder, table)

    # ---- synthetic data, images and texts ----

    def synthetic(self, index):
        table, out = tables.Synthetic(self.rng), "synthetic%d" % index
        o, means = self.training(table, False)
        net, norm = self.net()
        means["least"] = 2 if norm == "batch" else 1
        self.run("train", table.options + net + ["--activation", self.rng.choice(nets.ACTIVATIONS)] + o +
                 ["--no-plots", "--keep-predictions", "--threads", 1, "--out", out])
        folder = os.path.join(self.folder, out)
        found = records.check_run(folder, means, table)
        records.check_line(records.read_csv(folder + "/runs.csv")[0], found[0], folder)

    def boundary(self, index):
        """The grid of classes in the picture of two features, as the first run's saved net predicts them; its test rows."""
        rng = self.rng
        net, norm = self.net()
        out, activations, seed = "boundary%d" % index, rng.sample(nets.ACTIVATIONS, 2), rng.randint(1, 50)
        self.run("compare", ["--data", rng.choice(["moons", "circles", "spirals"]), "--rows", rng.randint(40, 120)] + net +
                 ["--activations", ",".join(activations), "--seeds", rng.choice([1, 2]), "--epochs", 2, "--lr", 0.02,
                  "--seed", seed, "--keep-models", "--keep-predictions", "--no-plots", "--out", out])
        folder = os.path.join(self.folder, out)
        surface, points = (records.read_csv(os.path.join(folder, name)) for name in ("surface.csv", "points.csv"))
        for activation in activations:
            run = os.path.join(folder, "runs", "%s-seed%d" % (activation, seed))
            meta, tensors = nets.read(run + "/best.safetensors")
            lines, grid = [line for line in surface if line["activation"] == activation], records.read_csv(run + "/grid.csv")
            expect([[float("%.6g" % number(line[c])) for c in line] for line in grid] ==
                   [[number(line[c]) for c in grid[0]] for line in lines], run, "has another grid than surface.csv")
            x = np.array([[number(line["x"]), number(line["y"])] for line in grid])
            expect(len(set(map(tuple, x))) == len(x) > 1000, run, "has a grid of", len(x), "points")
            chance = nets.softmax(nets.forward(json.loads(meta["tapegrad.model"]), tensors, x))
            worst = np.abs(chance.max(1) - [number(line["probability"]) for line in grid]).max()
            expect(worst < (2e-6 if norm == "none" else 1e-4), run, "has a probability in the grid that is off by", worst)
            sure = chance.max(1) > 0.501
            expect((chance.argmax(1) == [int(line["class"]) for line in grid])[sure].all(), run, "has other classes in the grid")
            tested = [line for line in records.read_csv(run + "/predictions.csv") if line["split"] == "test"]
            drawn = [line["class"] for line in points if line["activation"] == activation]
            expect(drawn == [line["true_class"] for line in tested], run, "has other points in the picture")

    def images(self, index):
        rng = self.rng
        model = rng.choice(["autoencoder", "convnet", "mlp", "vit"])
        table = tables.Images(rng, os.path.join(self.folder, "images%d" % index), model == "autoencoder")
        o, means = self.training(table, False)
        for name in ("--test", "--split"):
            if name in o:
                del o[o.index(name):o.index(name) + 2]
        means["validation"] = "0.1" if means["validation"] == "0.2" else means["validation"]
        norm = "batch" if model == "convnet" else "none"
        o += {"convnet": ["--filters", rng.choice(["3", "2,3"])], "mlp": ["--hidden", "6x2"],
              "autoencoder": ["--hidden", rng.choice(["8", "9,5"]), "--code", 3],
              "vit": ["--patch", 2, "--layers", rng.choice([1, 2]), "--heads", 2, "--width", 8] +
                     ["--post-norm"] * (rng.random() < 0.3)}[model]
        if model == "vit":
            o += ["--norm", rng.choice(["layer", "rms"])]
        elif rng.random() < 0.3:
            norm = rng.choice(["none", "batch"])
            o += ["--norm", norm]
        means["least"], means["loose"] = 2 if norm == "batch" and model != "convnet" else 1, 10
        out = "images%dout" % index
        self.run("train", ["--data", "idx:" + table.path, "--model", model, "--activation", rng.choice(nets.ACTIVATIONS)] + o +
                 ["--no-plots", "--keep-predictions", "--threads", 1, "--out", out])
        folder = os.path.join(self.folder, out)
        found = records.check_run(folder, means, table)
        records.check_line(records.read_csv(folder + "/runs.csv")[0], found[0], folder)

    def text(self, index):
        rng = self.rng
        text = tables.Text(rng, os.path.join(self.folder, "text%d.txt" % index))
        model, context = rng.choice(["charmlp", "gpt", "gpt", "rnn", "lstm", "gru"]), rng.choice([3, 5, 8])
        o, means = self.training(text, False)
        for name in ("--test", "--split", "--validation"):
            if name in o:
                del o[o.index(name):o.index(name) + 2]
        means["validation"] = "0.2"
        if rng.random() < 0.4:
            means["validation"] = "0.3"
            o += ["--validation", "0.3"]
        means["test"] = rng.choice(["0", "0.2"])
        if means["test"] != "0":
            o += ["--test", means["test"]]
        if model == "gpt":
            o += ["--layers", rng.choice([1, 2]), "--heads", 2, "--width", 8, "--activation", rng.choice(nets.ACTIVATIONS),
                  "--norm", rng.choice(["layer", "rms", "none"])]
            for option in (["--rotary"], ["--post-norm"], ["--kv-heads", 1]):
                o += option if rng.random() < 0.3 else []
        else:
            o += self.net_of_letters(model)
        out = "text%d" % index
        options = ["--data", "text:" + text.path, "--model", model, "--context", context] + o + \
            ["--no-plots", "--threads", 1, "--out", out]
        self.run("train", options)
        folder = os.path.join(self.folder, out)
        result = records.check_text(folder, means, text, model, context)
        records.check_line(records.read_csv(folder + "/runs.csv")[0], result, folder)

    def net_of_letters(self, model):
        rng = self.rng
        if model == "charmlp":
            return ["--hidden", rng.choice(["8", "6x2"]), "--embedding", 4, "--activation", rng.choice(nets.ACTIVATIONS)]
        o = ["--layers", rng.choice([1, 2]), "--width", rng.choice([4, 7]), "--embedding", 3]
        if rng.random() < 0.5:
            o += ["--hidden", rng.choice(["5", "6x2"]), "--activation", rng.choice(nets.ACTIVATIONS)]
        return o

    def shares(self, o, means):
        """Shares for validation and test in place of those in the options."""
        for name in ("--test", "--split", "--validation"):
            if name in o:
                del o[o.index(name):o.index(name) + 2]
        means["validation"], means["test"] = self.rng.choice(["0.1", "0.2"]), self.rng.choice(["0", "0.1", "0.2"])
        return ["--validation", means["validation"], "--test", means["test"] if means["test"] != "0" else "none"]

    def lines(self, index):
        rng = self.rng
        lines = tables.Lines(rng, os.path.join(self.folder, "lines%d" % index))
        o, means = self.training(lines, False)
        o += self.shares(o, means) + ["--train-loss-every", 1]  # the last one given counts
        model, context = rng.choice(["charmlp", "rnn", "lstm", "gru"]), rng.choice([2, 4, 9])
        out = "lines%dout" % index
        self.run("train", ["--data", "lines:" + lines.path, "--model", model, "--context", context] + o +
                 self.net_of_letters(model) + ["--no-plots", "--threads", 1, "--out", out])
        folder = os.path.join(self.folder, out)
        records.check_line(records.read_csv(folder + "/runs.csv")[0], records.check_whole(folder, means, lines, context), folder)

    def pairs(self, index):
        rng = self.rng
        pairs = tables.Pairs(rng, os.path.join(self.folder, "pairs%d" % index))
        o, means = self.training(pairs, False)
        o += self.shares(o, means)
        o += ["--layers", rng.choice([1, 2]), "--heads", 2, "--width", 8, "--activation", rng.choice(nets.ACTIVATIONS),
              "--norm", rng.choice(["rms", "rms", "layer", "none"])]
        for option in ("--relative", "--post-norm"):
            o += [option] if rng.random() < 0.3 else []
        o += ["--kv-heads", 1] if rng.random() < 0.3 else []
        context = pairs.longest + rng.choice([0, 0, 2])
        o += ["--context", context] if context > pairs.longest else []
        out = "pairs%dout" % index
        self.run("train", ["--data", "pairs:" + pairs.path] + o + ["--no-plots", "--threads", 1, "--out", out])
        folder = os.path.join(self.folder, out)
        records.check_line(records.read_csv(folder + "/runs.csv")[0], records.check_whole(folder, means, pairs, context), folder)
        for beams in (1, rng.randint(2, 5)):
            said = self.run("predict", ["--model", folder, "--data", "pairs:" + pairs.path, "--beams", beams])
            records.check_targets(folder, pairs, context, said, beams)
        if (len(pairs.known) - 2) ** context <= 1000:  # characters but newline and tab
            said = self.run("predict", ["--model", folder, "--data", "pairs:" + pairs.path, "--beams", 1000])
            records.check_best_targets(folder, pairs, context, said)

    def moments(self, index):
        width, seed = self.rng.choice([32, 48, 64]), self.rng.randrange(10**6)
        self.said = "activations --moments %d" % width
        moments.check(self.binaries, width, seed)

    FILES = ["result.json", "rows.csv", "predictions.csv", "curves.csv", "runs.csv", "summary.csv", "best.safetensors",
             "last.safetensors"]

    def same(self, whole, options, out, how):
        """The same command again, or interrupted a few times, leaves the same bytes."""
        before = {}
        for name in self.FILES:
            with open(os.path.join(self.folder, whole, name), "rb") as file:
                before[name] = file.read()
        for _ in range(self.rng.randint(1, 2) if how else 0):
            self.interrupt("train", options + [out], how)
        self.run("train", options + [out])
        for name in self.FILES:
            with open(os.path.join(self.folder, out, name), "rb") as file:
                expect(file.read() == before[name], out, "has another", name, "than", whole)

    def predict(self, folder, table):
        said = self.run("predict", ["--model", folder, "--data", "csv:" + table.path] +
                        (["--probabilities"] if table.task == "classes" else []))
        predicted = list(csv.reader(said.splitlines()))
        with open(folder + "/predictions.csv", newline="") as file:
            kept = list(csv.reader(file))
        width = len(predicted[0])
        expect(kept[0][-width:] == predicted[0], folder, "predict has the columns", predicted[0])
        refit, split = os.path.exists(folder + "/refit.safetensors"), kept[0].index("split")
        for row in kept[1:]:  # answers may lack rows that have no target: none here
            if refit and row[split] == "validation":
                continue  # recorded before these rows were trained on
            expect(row[-width:] == predicted[1 + int(row[0])], folder, "row", row[0], "is predicted as",
                   predicted[1 + int(row[0])], "and recorded as", row[-width:])

    # ---- training, again in NumPy ----

    def retrain(self, index):
        """A step an epoch from known weights: the same losses, norms and weights as in NumPy."""
        rng = self.rng
        while True:
            table = tables.Table(rng, os.path.join(self.folder, "data%d.csv" % index))
            if table.missing != "drop":
                break
        rows, activation = len(table.kept), rng.choice(list(nets.SLOPES))
        hidden = rng.choice(["5", "6x2", "4,7"])
        sizes = [table.source.shape[1]] + nets.widths(hidden)
        sizes.append(len(table.classes) if table.task == "classes" else table.targets)
        draw = np.random.default_rng(rng.randrange(10**6))
        w = [(draw.normal(0, 1 / math.sqrt(a), (b, a)).astype(np.float32), draw.normal(0, 0.1, b).astype(np.float32))
             for a, b in zip(sizes, sizes[1:])]
        nets.write(os.path.join(self.folder, "start%d.safetensors" % index),
                   {"layers.%d.%s" % (i, n): part for i, layer in enumerate(w) for n, part in zip(("weight", "bias"), layer)})
        o = {"activation": activation, "epochs": rng.randint(2, 8), "lr": rng.choice([0.003, 0.02, 0.1]),
             "optimizer": rng.choice(["adamw", "adam", "sgd"]), "schedule": rng.choice(["cosine", "linear", "constant", "step",
                                                                                        "inverse_sqrt"]),
             "warmup": rng.choice([0, 0.3]), "end": 0, "clip": rng.choice([0, 0.3, 3]), "decay": rng.choice([0, 0.3]),
             "momentum": 0, "ema": rng.choice([0, 0, 0.3, 0.8]), "smoothing": 0}
        if o["schedule"] in ("cosine", "linear"):
            o["end"] = rng.choice([0, 0.2])
        if o["optimizer"] == "sgd":
            o["momentum"] = rng.choice([0, 0.9])
        if table.task == "classes":
            o["smoothing"] = rng.choice([0, 0.3])
        o["round"] = "float32" if table.weighted else rng.choice(["float32", "float32", "bfloat16", "float16"])
        passes = rng.choice([1, 1, 2, 4]) if o["round"] == "float32" else 1
        batch = rows if passes == 1 else -(-rows // passes)
        out = "again%d" % index
        options = ["--data", "csv:" + table.path] + table.options + \
            ["--hidden", hidden, "--activation", activation, "--start", "start%d.safetensors" % index, "--epochs", o["epochs"],
             "--batch", batch, "--accumulate", passes, "--lr", o["lr"], "--optimizer", o["optimizer"], "--schedule",
             o["schedule"], "--warmup", o["warmup"], "--clip", o["clip"], "--weight-decay", o["decay"], "--seed",
             rng.randint(1, 99), "--dropout", 0, "--no-plots", "--keep-predictions", "--threads", 1, "--out", out]
        again = rng.choice([0, 0, 1, 3]) if not o["ema"] else 0
        options += ["--refit", "yes", "--nets", again] if again else ["--refit", "no"]
        if again == 3:  # all begin with the same weights, and have the same validation rows
            options += ["--validation", "first:9"]
        for name, key in (("end", "end"), ("momentum", "momentum"), ("ema", "ema"), ("label-smoothing", "smoothing")):
            options += ["--" + name, o[key]] if o[key] else []
        if o["round"] != "float32":
            options += ["--round", o["round"]]
        elif rng.random() < 0.3:
            options += ["--shards", rng.choice([2, 3])]
        means = {"class_weights": None}
        options += self.weights_of_classes(table, means) if table.task == "classes" and o["round"] == "float32" else []
        self.run("train", options)
        folder = os.path.join(self.folder, out)
        curves = records.read_csv(folder + "/curves.csv")
        split = {"train": [], "validation": [], "test": []}
        for line in records.read_csv(folder + "/predictions.csv"):
            split[line["split"]].append(table.kept.index(int(line["row"])))
        x, z, _, _ = table.standardised(split["train"])
        x = x.astype(np.float64)

        def part(values, rows_of):
            return None if values is None else values[rows_of]

        labels = table.labels if table.task == "classes" else None
        of_classes = records.class_weights(means["class_weights"], table, split["train"])
        of_rows = {name: records.row_weights(table, of_classes, np.array(split[name]))[1] for name in split}
        for curve, (loss, norm, weights) in zip(curves, nets.train(o, w, x[split["train"]], part(labels, split["train"]),
                                                                 part(z, split["train"]), of_rows["train"])):
            valid, _ = nets.loss_and_gradient(activation, weights, x[split["validation"]], part(labels, split["validation"]),
                                              part(z, split["validation"]), 0, of_rows["validation"])
            what = "%s: epoch %s: " % (folder, curve["epoch"])
            first = o["round"] != "float32" and curve["epoch"] == "1"  # later a number may be rounded up here, down there
            expect_close(what + "training loss", loss, number(curve["train_loss"]), 1e-5 if first else 2e-3, 1e-5)
            expect_close(what + "norm of the gradient", norm, number(curve["grad_norm"]), 1e-2, 1e-4)
            expect_close(what + "validation loss", valid, number(curve["val_loss"]), 3e-3, 1e-5)
        if not again:
            return
        best, both = int(curves[-1]["epoch"]), split["train"] + split["validation"]
        while number(curves[best - 1]["best"]) != 1:
            best -= 1
        with open(folder + "/result.json") as file:
            results = json.load(file)
        soft, limits = table.softened(split["train"])
        soft = soft.astype(np.float64)
        losses = [] if not limits.any() else [
            nets.loss_and_gradient(activation, weights, soft[split["validation"]], part(labels, split["validation"]),
                                   part(z, split["validation"]), 0, of_rows["validation"])[0]
            for _, _, weights in nets.train(o, w, soft[split["train"]], part(labels, split["train"]),
                                            part(z, split["train"]), of_rows["train"])]
        gain = min(losses) / results["validation"]["loss"] - 1 if losses else math.inf
        if losses and (abs(gain) < 0.01 or sorted(losses)[0] > 0.999 * sorted(losses)[1]):
            return  # either may be right
        expect(("softened" in results) == (gain < 0), folder, "softens, or does not, where that changes the loss by", gain)
        if gain < 0:
            x, best = soft, int(np.argmin(losses)) + 1
        of_rows["both"] = records.row_weights(table, of_classes, np.array(both))[1]
        *_, (_, _, weights) = itertools.islice(
            nets.train(o, w, x[both], part(labels, both), part(z, both), of_rows["both"]), best)
        said = results["test"]["loss"]
        test, _ = nets.loss_and_gradient(activation, weights, x[split["test"]], part(labels, split["test"]),
                                         part(z, split["test"]), 0, of_rows["test"])
        expect_close("%s: test loss of the refit" % folder, test, said, 3e-3, 1e-5)

    # ---- compare ----

    def compare(self, index):
        rng = self.rng
        table = tables.Table(rng, os.path.join(self.folder, "data%d.csv" % index))
        net, norm = self.net()
        activations = rng.sample(nets.ACTIVATIONS, rng.randint(2, 3))
        o, means = self.training(table, True)
        means["least"], means["loose"] = 2 if norm == "batch" else 1, 1 if norm == "none" else 10
        seeds, first = rng.choice([1, 2, 3, 4, 6]), means["seed"]
        lists = {}  # options with several values, in the order of the options
        if "--norm" not in net and rng.random() < 0.2:
            lists["norm"] = ["none", "layer"]
            net += ["--norm", "none,layer"]
            means["loose"] = 10
        if rng.random() < 0.3:
            lists["lr"] = ["0.001", "0.02"]
            o[o.index("--lr") + 1] = "0.001,0.02"
        points = [", ".join(words) for words in itertools.product(*[[n + " " + v for v in vs] for n, vs in lists.items()])]
        brief = not lists and ("--optimizer" not in o or "adamw" in o) and rng.random() < 0.3
        if brief:
            del o[o.index("--lr"):o.index("--lr") + 2]
            lists = dict.fromkeys(["init-scale", "lr"])
            points = ["init-scale 0.25, lr 0.01", "init-scale 0.5, lr 0.00316", "init-scale 1, lr 0.001"]
        noise = rng.random() < 0.3
        o += ["--test-noise", "0,0.5"] if noise else []
        equal = rng.choice([None, None, 0.01, 0.02, 0.1])
        o += ["--margin", rng.choice(["%g" % equal, "%g%%" % (100 * equal)])] if equal else []
        out = "compare%d" % index
        options = ["--data", "csv:" + table.path] + table.options + net + o + \
            ["--activations", ",".join(activations), "--seeds", seeds, "--jobs", 1, "--no-plots", "--keep-models",
             "--keep-predictions"]
        if rng.random() < 0.25:
            self.interrupt("compare", options + ["--out", out], rng.choice([signal.SIGKILL, signal.SIGINT]))
        elif rng.random() < 0.2:
            self.run("compare", options + ["--part", "1/2", "--out", out])
        printed = self.run("compare", options + ["--out", out])
        folder = os.path.join(self.folder, out)
        lines = records.read_csv(folder + "/runs.csv")
        expect(len(lines) == len(activations) * len(points) * seeds * max(1, means["folds"]), folder, "has", len(lines),
               "runs")
        groups, splits, losses, recorded = {}, {}, {}, {}
        redrawn, diverged = 0, False
        for line in lines:
            seed, fold = int(line["seed"]), int(line["fold"]) - bool(means["folds"])  # counted from 1; 0: none
            point = ", ".join("%s %s" % (name, line[name]) for name in lists)
            name = line["activation"] + ("-" + point.replace(" ", "").replace(",", "-") if point else "") + "-seed%d" % seed
            name += "-fold%d" % (fold + 1) if means["folds"] else ""
            found = records.check_run(os.path.join(folder, "runs", name), dict(means, fold=fold), table)
            if found is None:
                expect(line["state"] == "diverged", folder, name, "is", line["state"])
                diverged = True
                continue
            expect(line["state"] == "finished" and first <= seed < first + seeds, folder, name, "is", line["state"])
            result, curves, split = found
            records.check_line(line, result, name)
            expect(splits.setdefault((seed, fold), split) == split, folder, name, "has other rows than its seed")
            for place, size in enumerate((0.0, 0.5) if noise else ()):
                of = result["test" if split["test"] else "validation"]
                expect(result["noise"][3 * place] == size, folder, name, "has other noise")
                if size == 0:
                    expect(result["noise"][1] == of["loss"], folder, name, "without noise has another loss")
            measures = {records.NAMES[s] + "_" + key: value for s in records.NAMES for key, value in result.get(s, {}).items()}
            tested = "test_" if split["test"] else "best_val_"
            rows = records.read_csv(os.path.join(folder, "runs", name, "rows.csv"))
            of_classes = records.class_weights(means["class_weights"], table, split["train"])
            place = np.array([table.kept.index(int(r["row"])) for r in rows])
            weight, of_loss = records.row_weights(table, of_classes, place)
            measures["rows"] = {"row": np.array([int(r["row"]) for r in rows]) if table.group is None else table.group[place],
                                "grouped": table.group is not None,
                                "weighted": table.weight is not None or of_classes is not None,
                                tested + "loss": weighed([float(r["loss"]) for r in rows], of_loss)}
            measures["parts"] = {tested + {"correct": "accuracy"}.get(key, key): np.array([float(r[key]) for r in rows]) * w / w.mean()
                                 for key in ("loss", "correct") + records.INFLUENCES if key in rows[0]
                                 for w in [of_loss if key == "loss" else weight]}
            if table.task == "classes":
                measures["rows"][tested + "accuracy"] = weighed([float(r["correct"]) for r in rows], weight)
            for influence in records.INFLUENCES:
                if influence in rows[0]:
                    measures["rows"][tested + influence] = weighed([float(r[influence]) for r in rows], weight)
            measures["constant"] = {records.NAMES[s] + "_" + key: value for s in records.NAMES
                                    for key, value in result["constant"].get(s, {}).items() if value is not None}
            measures["constant"]["rows"] = {
                tested + {"correct": "accuracy"}.get(key, key): weighed([float(r["constant_" + key]) for r in rows],
                                                                        of_loss if key == "loss" else weight)
                for key in ("loss", "correct") + records.INFLUENCES if "constant_" + key in rows[0]}
            groups.setdefault((line["activation"], point), {})[seed, fold] = measures
            recorded.setdefault((line["activation"], point), {})[seed, fold] = dict(
                self.recorded(os.path.join(folder, "runs", name)), noise=result.get("noise"))
            losses.setdefault((line["activation"], point), {})[seed, fold] = result["validation"]["loss"]
            redrawn = int(bool(means["folds"] or not means["fixed"]))
            if redrawn and not means["folds"] and (means["test"] if split["test"] else means["validation"]).startswith("first:"):
                unit = table.group if table.group is not None else table.kept  # the same rows for all seeds
                units = len(set(measures["rows"]["row"]))
                redrawn = min(1, units / (len(set(unit)) - units))
        self.check_splits(folder, means, splits, table)
        merged = records.read_csv(folder + "/curves.csv")
        expect(len(merged) == sum(int(line["epochs"]) for line in lines), folder, "curves.csv has", len(merged), "lines")
        if diverged or not groups:
            raise Refused("a run diverged")
        best, same_folds = {}, bool(means["folds"] and means["fixed"])
        by_fold = same_folds or seeds == 1
        for activation in activations:
            best[activation] = min(points, key=lambda p: np.mean(list(losses[activation, p].values())))
        if lists:
            searched = records.read_csv(folder + "/search.csv")
            expect({(line["activation"], line["point"]) for line in searched} == set(losses), folder, "search.csv has others")
            for line in searched:
                verdicts.check_band(folder + ": search.csv", losses[line["activation"], line["point"]], by_fold, line,
                                    ["best_val_loss_" + end for end in ("mean", "low", "high")])
        summary = {line["activation"]: line for line in records.read_csv(folder + "/summary.csv")}
        kind = ["accuracy", "loss"] if table.task == "classes" else ["loss"]
        tested = "test_" if means["folds"] or means["test"] != "none" else "best_val_"
        judged = [tested + k for k in kind]
        chosen = {a: groups[a, best[a]] for a in activations}
        fraction = {"test": means["test"], "validation": means["validation"]}
        validates = (not means["folds"] and all(re.fullmatch(r"0?\.\d+", f) for f in fraction.values()) and
                     float(fraction["validation"]) <= float(fraction["test"]))
        known = {m for of in chosen.values() for run in of.values() for m in run if run[m] is not None}
        paired = [m for m in ("calibration_error", "balanced_accuracy", "macro_f1", "auc", "rmse", "mae", "r2")
                  if tested + m in known and (tested == "test_" or (table.task == "classes" and m != "calibration_error"))]
        compared = verdicts.check(summary, records.read_csv(folder + "/pairs.csv"), chosen,
                                  judged + [tested + m for m in paired], redrawn, same_folds, validates, equal)
        bands = records.read_csv(folder + "/step_bands.csv")
        for activation in activations:
            verdicts.check_bands(bands, activation, recorded[activation, best[activation]], by_fold)
        for line in records.read_csv(folder + "/noise.csv") if noise else ():
            of = recorded[line["activation"], best[line["activation"]]]
            place = 3 * [0.0, 0.5].index(number(line["noise"]))
            for k, name in enumerate(["loss"] + ["accuracy"] * (table.task == "classes"), 1):
                verdicts.check_band(folder + ": noise.csv", {run: r["noise"][place + k] for run, r in of.items()}, by_fold,
                                    line, verdicts.of_band(name), name == "accuracy")
        if not lists or brief:  # one table
            verdicts.check_sentences(printed, compared, judged, equal, "folds" if means["folds"] else "seeds")
            verdicts.check_beaten(printed, chosen, judged, redrawn, same_folds, validates)
            units = (len(table.kept), "rows") if table.group is None else (len(set(table.group)), "groups")
            few = bool(redrawn) and not same_folds and units[0] < 200 and "95 % interval of the mean" in printed
            expect(("From fewer than 200 %s, here %d, " % units[::-1] in printed) == few, out, "has", *units)
            self.check_table(options + ["--out", out], summary, judged)
        if rng.random() < 0.2:
            self.run("compare", ["--config", out + "/config.json", "--out", out + "config"])
            expect(self.without_seconds(out + "config") == self.without_seconds(out), out, "by --config has other runs.csv")

    # ---- results of other programs ----

    def elsewhere(self, index):
        """compare --runs: a table of runs, or of their steps in any order, W&B's chart or TensorBoard's curves."""
        rng = self.rng
        groups = rng.sample(["relu", "gelu", "a b", "x-1 y", "swiglu", "net v", "0.5 k"], rng.randint(2, 5))
        seeds = rng.sample(range(1, 60), rng.randint(2, 12))
        measures = [(name, 10 ** rng.uniform(-4, 4)) for name in rng.sample(["accuracy", "loss", "nll", "err"], rng.randint(1, 3))]
        form = rng.choice(["rows", "steps", "wide", "curves"])
        steps = rng.sample(range(1, 500), 1 if form == "rows" else rng.randint(1, 5))
        values, runs = {}, {}  # all numbers; and those of the last steps
        for group, seed in itertools.product(groups, seeds):
            if rng.random() < 0.1:
                continue
            for (measure, size), step in itertools.product(measures, steps):
                number_ = (0.5 + 0.4 * rng.random() if measure == "accuracy" else rng.gauss(measure != "nll", 0.3) * size)
                values[group, seed, measure, step] = float("%.9g" % number_)
            runs.setdefault(group, {})[seed, 0] = {m: values[group, seed, m, max(steps)] for m, _ in measures}
        if len(runs) < 2 or any(len(of) < 2 for of in runs.values()) or \
                any(len(set(a) & set(b)) < 2 for a, b in itertools.combinations(runs.values(), 2)):
            raise Refused("too few runs")
        path = os.path.join(self.folder, "runs%d.csv" % index)
        order = self.write_runs(path, form, values, [m for m, _ in measures], steps)
        groups = {group: runs[group] for group in order}
        options, equal = ["--runs", path], None
        if rng.random() < 0.5:
            equal = rng.choice([0.01, 0.1])
            options += ["--margin", "%g%%" % (100 * equal)]
        judged = [m for m, _ in measures]
        if form == "curves":  # files are read by their names
            judged.sort()
        if rng.random() < 0.3:
            judged = rng.sample(judged, 1)
            options += ["--measures", judged[0]]
        groups = {group: {key: {m: run[m] for m in judged} for key, run in of.items()} for group, of in groups.items()}
        printed = self.run("compare", options + ["--out", "elsewhere%d" % index])
        folder = os.path.join(self.folder, "elsewhere%d" % index)
        summary = {line["group"]: line for line in records.read_csv(folder + "/summary.csv")}
        compared = verdicts.check(summary, records.read_csv(folder + "/pairs.csv"), groups, judged, False, False, False, equal)
        verdicts.check_sentences(printed, compared, judged, equal, "seeds")

    def write_runs(self, path, form, values, measures, steps):
        """Writes a file or a folder in this form; returns the groups in the order in which compare meets them."""
        rng = self.rng
        runs = list(dict.fromkeys(key[:2] for key in values))
        rng.shuffle(runs)
        if form in ("rows", "steps"):
            with open(path, "w", newline="") as file:
                to = csv.writer(file)
                to.writerow(["group", "seed"] + ["epoch"] * (form == "steps") + measures)
                lines = [run + (step,) for run in runs for step in steps]
                if rng.random() < 0.5:
                    rng.shuffle(lines)
                for group, seed, step in lines:
                    to.writerow([group, seed] + [step] * (form == "steps") +
                                [values[group, seed, m, step] for m in measures])
            return list(dict.fromkeys(line[0] for line in lines))
        if form == "wide":
            with open(path, "w", newline="") as file:
                to = csv.writer(file)
                to.writerow(["Step"] + ["%s-seed%d - %s" % (*run, m) for run in runs for m in measures])
                for step in sorted(steps, reverse=rng.random() < 0.5):
                    to.writerow([step] + [values[(*run, m, step)] for run in runs for m in measures])
            return list(dict.fromkeys(group for group, _ in runs))
        os.mkdir(path)
        for group, seed in runs:
            for measure in measures:
                with open(os.path.join(path, "run-%s-seed%d-tag-%s.csv" % (group, seed, measure)), "w") as file:
                    file.write("Wall time,Step,Value\n")
                    file.writelines("%g,%d,%.9g\n" % (1.7e9 + step, step, values[group, seed, measure, step])
                                    for step in sorted(steps))
        return list(dict.fromkeys(name[4:name.index("-seed")] for name in sorted(os.listdir(path))))

    def recorded(self, folder):
        """What a run recorded: the training loss of steps, and the validation loss at the ends of epochs."""
        with open(folder + "/steps.csv", newline="") as file:
            train = {int(line["step"]): float(line["train_loss"]) for line in csv.DictReader(file)}
        return {"train_loss": train, "val_loss": {int(line["step"]): number(line["val_loss"])
                                                  for line in records.read_csv(folder + "/curves.csv")}}

    # ---- --lr auto, --init-scale auto, and neither ----

    def auto(self, index):
        """The points of a search, and the best of each activation, follow from the validation losses in runs.csv."""
        rng = self.rng
        table = tables.Table(rng, os.path.join(self.folder, "data%d.csv" % index))
        activations = rng.sample(nets.ACTIVATIONS, rng.randint(2, 3))
        how = rng.choice(["lr", "init-scale", "init-scale lr", "init-scale lr", "", "", "lr of three"])
        brief = how in ("", "lr of three")
        usual, optimizer = ("0.001", "adamw") if brief else rng.choice([("0.001", "adamw"), ("0.02", "sgd")])
        o = ["--folds", 2] if rng.random() < 0.2 else []
        o += ["--init-scale", rng.choice(["0.5", "1", "2"])] if how == "lr of three" else []
        names = {"": ["init-scale", "lr"], "lr of three": ["lr"]}.get(how, how.split())
        for name in [] if brief else names:
            o += ["--" + name, "auto"]
        out = "auto%d" % index
        printed = self.run("compare", ["--data", "csv:" + table.path] + table.options + o + [
            "--hidden", "5", "--activations", ",".join(activations), "--optimizer", optimizer, "--seeds", rng.randint(1, 3),
            "--epochs", rng.randint(2, 6), "--seed", rng.randint(1, 50), "--jobs", 1, "--no-plots", "--out", out])
        losses = {}
        for line in records.read_csv(os.path.join(self.folder, out, "runs.csv")):
            expect(line["state"] in ("finished", "diverged"), out, "has a run that is", line["state"])
            loss = number(line["best_val_loss"]) if line["state"] == "finished" else math.nan
            losses.setdefault((line["activation"], tuple(float(line[name]) for name in names)), []).append(loss)
        means = {key: math.inf if np.isnan(of).any() else np.mean(of) for key, of in losses.items()}
        if any(all(math.isinf(loss) for (name, _), loss in means.items() if name == a) for a in activations):
            raise Refused("an activation diverged everywhere")
        if brief:
            points = [(1, 0.001), (0.5, 0.00316), (0.25, 0.01)] if not how else [(0.001,), (0.00316,), (0.01,)]
            tried = set(itertools.product(activations, points))
            best = {a: min(sorted(points), key=lambda point: means.get((a, point), math.inf)) for a in activations}
        else:
            kinds = {"lr": verdicts.RATES, "init-scale": verdicts.SCALES}
            start = {"lr": float(usual), "init-scale": 1.0}
            tried, best = verdicts.search([start[n] for n in names], activations, means, tuple(kinds[n] for n in names))
        expect(tried == set(means), out, "has", sorted(set(means) - tried), "and not", sorted(tried - set(means)))
        said = [line for line in printed.splitlines() if "Each is at its best by validation:" in line]
        expect(len(said) == 1, out, "says", len(said), "times what is best")
        for activation in activations:
            point = ", ".join("%s %g" % of for of in zip(names, best[activation]))
            expect(re.search(r"[:;] %s %s[ .;]" % (activation, re.escape(point)), said[0]), "'%s' and not %s at %s" % (
                said[0], activation, point))
        ends = {best[a] for a in activations if best[a] in (points[0], points[-1])} if brief else set()
        beyond = brief and all(best[a] in ends for a in activations) and len(ends) == 1
        expect(("best at one end of them" in said[0]) == beyond, "'%s' where best are %s" % (said[0], best))
        expect(("Each was tried at 3 points" in said[0]) == brief, "'%s' of the search '%s'" % (said[0], how))
        if names[0] == "init-scale":
            self.check_order(said[0], verdicts.order_by_scale(activations, means, lambda point: point[0]))

    def check_order(self, said, order):
        """The sentence that says which activation comes first at which scale."""
        runs = [(first, [scale for scale, _ in of]) for first, of in itertools.groupby(order.items(), lambda of: of[1])]
        if len(order) < 2:
            expect("comes first" not in said, "'%s' where one scale is compared" % said)
        elif len(runs) == 1:
            expect("%s comes first at each of %d initial scales, perhaps by chance." % (runs[0][0], len(order)) in said, "'%s' and not %s at all %d" % (
                said, runs[0][0], len(order)))
        else:
            words = ", ".join("%s comes first at %s" % (first, " and ".join("%g" % scale for scale in scales))
                              for first, scales in runs)
            expect("differs between initial scales, perhaps by chance: %s." % words in said, "'%s' and not '%s'" % (said, words))

    def without_seconds(self, out):
        return [{k: v for k, v in line.items() if k != "seconds"}
                for line in records.read_csv(os.path.join(self.folder, out, "runs.csv"))]

    def check_splits(self, folder, means, splits, table):
        seeds = sorted({seed for seed, _ in splits})
        for (seed, fold), split in splits.items():
            same = splits[seeds[0], fold] if (seeds[0], fold) in splits else split
            if means["fixed"]:
                expect(split == same, folder, "seed", seed, "has other rows, and --split fixed")
            elif seed != seeds[0] and table.group is None and (not means["validation"].startswith("first") or split["test"] != same["test"]):
                expect(split != same, folder, "seed", seed, "has the same rows as the first")
        for seed in seeds if means["folds"] else []:
            of = [splits[seed, fold]["test"] for fold in range(means["folds"]) if (seed, fold) in splits]
            if len(of) == means["folds"] and not means["validation"].startswith("first"):
                expect(sorted(sum(of, [])) == list(range(len(table.kept))), folder, "folds do not test each row once")

    def check_table(self, options, summary, judged):
        said = self.run("compare", options + ["--format", "csv"])
        for line in csv.DictReader(said.splitlines()):
            for measure in judged:
                name, kind = line["activation"], "_mean"
                if name == "constant":
                    name, kind = next(iter(summary)), "_constant"
                theirs, ours = number(line[measure]), number(summary[name][measure + kind])
                expect_close("the table's " + measure, ours, theirs, 1e-5, 1e-9)
                if measure + "_difference" in line and line[measure + "_difference"]:
                    expect_close("the table's difference of " + measure,
                                 number(summary[line["activation"]][measure + "_difference"]),
                                 number(line[measure + "_difference"]), 1e-5, 1e-9)
