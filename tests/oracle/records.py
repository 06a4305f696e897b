"""The checks of one run's folder: which rows, which weights, which epoch, and the measures of these."""
import copy
import csv
import json
import math
import os

import numpy as np
from scipy import special

import nets
import tables


class Differs(Exception):
    """What a program says differs from what the oracle computes."""


def expect(true, *words):
    if not true:
        raise Differs(" ".join(str(word) for word in words))


def close(a, b, relative, absolute=1e-300):
    return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= relative * max(abs(a), abs(b)) + absolute


def expect_close(what, ours, theirs, relative=1e-11, absolute=1e-12):
    expect(close(ours, theirs, relative, absolute), what, "is", repr(float(theirs)) + ", the oracle has", repr(float(ours)))


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def number(text):
    return float(text) if text not in ("", None) else math.nan


# ---- epochs ----

def check_epochs(folder, o, curves, result, rows):
    """The steps of each epoch, the best epoch, and where patience ends the run. `o` has the options that count."""
    expect([int(c["epoch"]) for c in curves] == list(range(1, len(curves) + 1)), folder, "epochs are not 1, 2, ...")
    expect(result["epochs"] == len(curves), folder, "has", len(curves), "epochs and says", result["epochs"])
    a_step = o["batch"] * o["accumulate"]
    used = rows - rows % a_step if o["drop_last"] else rows - (rows % o["batch"] < o["least"]) * (rows % o["batch"])
    steps = -(-used // a_step)
    for c in curves:
        expect(int(c["step"]) == steps * int(c["epoch"]), folder, "epoch", c["epoch"], "ends at step", c["step"],
               "and not", steps * int(c["epoch"]))
    measures = [-number(c["val_accuracy"]) if o["best"] == "accuracy" else number(c["val_loss"]) for c in curves]
    best = 0
    for i, measure in enumerate(measures):
        if measure < measures[best] or (math.isnan(measures[best]) and not math.isnan(measure)):
            best = i
        expect((number(curves[i]["best"]) == 1) == (best == i), folder, "epoch", i + 1, "is marked", curves[i]["best"])
        over = i + 1 == o["epochs"] or (o["patience"] and i - best >= o["patience"])
        expect(over == (i + 1 == len(curves)), folder, "ends after epoch", len(curves), "with patience", o["patience"],
               "of", o["epochs"])
    expect(result["best_epoch"] == best + 1, folder, "best epoch", result["best_epoch"], "and not", best + 1)
    return best


# ---- rows ----

def portion(text, rows):
    if text == "none":
        return 0, False
    if text.startswith("first:"):
        return min(int(text[6:]), rows), True
    return max(1, math.floor(float(text) * rows + 0.5)), False


def check_split(folder, o, split, table):
    """`split`: positions among the used rows by name; the last `own_test` rows are the test rows of the source. Tables
    with classes are stratified, unless the first rows are taken. With groups, these are counted, and have their most
    frequent class."""
    kept, own_test = table.kept, table.own_test
    stratified = isinstance(table, tables.Table) and table.task == "classes" and "first" not in o["validation"] + o["test"]
    rows = len(kept) - own_test if table.group is None else len(set(table.group))
    counted = split if table.group is None else {name: set(table.group[of]) for name, of in split.items()}
    majority = np.array([]) if not stratified else table.labels if table.group is None else np.array(
        [np.bincount(table.labels[table.group == g]).argmax() for g in range(rows)])
    expect(sum(len(counted[name]) for name in counted) == len(kept) if table.group is None else
           sum(len(counted[name]) for name in counted) == rows, folder, "divides a group")
    everything = sorted(split["train"] + split["validation"] + split["test"])
    expect(everything == list(range(len(kept))), folder, "has not every row in one split")
    wanted = {"validation": portion(o["validation"], rows)}
    if o["folds"]:
        fold = o["fold"]
        wanted["test"] = rows * (fold + 1) // o["folds"] - rows * fold // o["folds"], False
    elif own_test:
        expect(split["test"] == list(range(rows, len(kept))), folder, "has other test rows than the source")
    else:
        wanted["test"] = portion(o["test"], rows)
    for name, (count, first) in wanted.items():
        expect(len(split[name] if first else counted[name]) == count, folder, "has", len(counted[name]), name,
               "rows or groups and not", count)
        expect(not first or sorted(split[name]) == list(range(count)), folder, name, "rows are not the first")
    for label in range(len(table.classes)) if stratified else []:
        share = (majority == label).mean()
        for name in split:
            of = np.array(sorted(counted[name]), int)
            expect(wanted.get(name, (0, False))[1] or abs((majority[of] == label).sum() - share * len(of)) < 3, folder, name,
                   "rows have another share of class", label)
    for name in split:
        expect(split[name] == sorted(split[name]), folder, name, "rows are not in the order of the file")


def class_weights(how, table, train):
    """Weights of classes in the loss, by the rows `train`; None without any. `how`: "balanced", or given weights."""
    if not how:
        return None
    weight = np.ones(len(table.kept)) if table.weight is None else table.weight
    sums = np.bincount(table.labels[train], weight[train], len(table.classes))
    if how == "balanced":
        with np.errstate(divide="ignore"):
            balanced = np.where(sums > 0, sums.sum() / ((sums > 0).sum() * sums), 1)
        return balanced.astype(np.float32).astype(np.float64)
    given = np.array([how.get(name, 1.0) for name in table.classes])
    return (given * sums.sum() / (sums * given).sum()).astype(np.float32).astype(np.float64)


def row_weights(table, of_classes, rows):
    """Weights of rows in all measures, and in the loss."""
    weight = np.ones(len(rows)) if table.weight is None else table.weight[rows]
    return weight, weight if of_classes is None else weight * of_classes[table.labels[rows]]


def measures_of(table, outputs, losses, rows, scales, of_classes):
    """Measures of rows, from outputs [rows, outputs]: probabilities, or standardised predictions."""
    weight, of_loss = row_weights(table, of_classes, rows)
    m = {"loss": math.fsum(losses * of_loss) / of_loss.sum()}
    total = weight.sum()
    if table.task == "images":
        return m, None
    if table.task == "classes":
        labels = table.labels[rows]
        answer, confidence = outputs.argmax(1), outputs.max(1)
        hit = answer == labels
        m["accuracy"] = (hit * weight).sum() / total
        bins = np.minimum((confidence * 15).astype(int), 14)
        m["calibration_error"] = sum(abs(((confidence - hit) * weight)[bins == b].sum()) for b in range(15)) / total
        counts = np.zeros((len(table.classes),) * 2)
        np.add.at(counts, (labels, answer), weight)
        present = counts.sum(1) > 0
        m["balanced_accuracy"] = (counts.diagonal()[present] / counts.sum(1)[present]).mean()
        both, seen = counts.sum(0) + counts.sum(1), np.union1d(labels, answer)
        m["macro_f1"] = (2 * counts.diagonal()[seen] / np.maximum(both[seen], 1e-300)).mean()
        if len(counts) == 2 and present.all():
            positive, negative = outputs[labels == 1, 1][:, None], outputs[labels == 0, 1][None, :]
            pairs = weight[labels == 1][:, None] * weight[labels == 0][None, :]
            m["auc"] = (pairs * ((positive > negative) + (positive == negative) / 2)).sum() / pairs.sum()
        return m, counts.ravel()
    z, scale = scales
    error, wanted = outputs - z[rows], z[rows].astype(np.float64)
    if table.targets == 1:
        m["rmse"] = math.sqrt(np.average(error[:, 0]**2, weights=weight)) * scale[0]
        m["mae"] = np.average(np.abs(error[:, 0]), weights=weight) * scale[0]
    each, mean = weight[:, None], np.average(wanted, axis=0, weights=weight)
    with np.errstate(all="ignore"):
        m["r2"] = np.mean(1 - (each * error**2).sum(0) / (each * (wanted - mean) ** 2).sum(0))
    return m, None


INFLUENCES = ("balanced_accuracy", "macro_f1", "auc", "r2", "rmse", "mae", "calibration_error")


def constant_of(table, z, rows, split, of_classes):
    """A constant prediction from the training rows alone, for these rows: outputs as of a net, losses, answers."""
    train, (weight, of_loss) = split["train"], row_weights(table, of_classes, split["train"])
    if table.task != "classes":
        outputs = np.tile(np.average(z[train].astype(np.float64), axis=0, weights=weight), (len(rows), 1))
        return outputs, ((outputs - z[rows]) ** 2).mean(1)
    shares = []
    for each in (weight, of_loss):
        sums = np.bincount(table.labels[train], each, len(table.classes))
        if each is weight:
            absent = sums == 0
        sums[absent] = 1 if each is weight or of_classes is None else of_classes[absent]
        shares.append(sums / sums.sum())
    return np.tile(shares[0], (len(rows), 1)), -np.log(shares[1][table.labels[rows]])


def check_constant(folder, table, z, scale, split, of_classes, result, name, rows):
    """The measures of a constant prediction on a split, and what single rows add to them."""
    outputs, losses = constant_of(table, z, rows, split, of_classes)
    wanted, _ = measures_of(table, outputs, losses, rows, (z, scale), of_classes)
    for key, value in wanted.items():
        if np.isfinite(value):
            expect_close("%s: constant prediction, %s %s" % (folder, name, key), value,
                         result["constant"][name].get(key, math.nan), 2e-6, 1e-6)
    if name != ("test" if split["test"] else "validation"):
        return
    for line, loss, output, row in zip(read_csv(folder + "/rows.csv"), losses, outputs, rows):
        expect_close(folder + ": constant loss of row " + line["row"], loss, float(line["constant_loss"]), 2e-6, 1e-6)
        expect(table.task != "classes" or int(line["constant_correct"]) == (output.argmax() == table.labels[row]), folder,
               "row", line["row"], "has another constant answer")
    if table.task != "images":
        check_influences(folder, table, outputs, losses, rows, (z, scale), "constant_")


def check_letters(folder, train, labels, result, name):
    """The same of a text: frequencies of the training text's characters, at least one each."""
    counts = np.maximum(np.bincount(train, minlength=labels.max() + 1), 1)
    said, found = result["constant"][name], labels.reshape(-1)
    expect_close(folder + ": constant prediction", -np.log(counts / counts.sum())[found].mean(), said["loss"], 1e-9)
    expect_close(folder + ": constant accuracy", (found == counts.argmax()).mean(), said["accuracy"], 1e-9)


def check_influences(folder, table, said, losses, rows, scales, prefix=""):
    """What rows.csv says that a row adds to a measure that is no mean over rows: the measure, plus the sum of the weights
    times its derivative in the row's weight, here by finite differences; of some rows."""
    lines = read_csv(folder + "/rows.csv")
    ours, _ = measures_of(table, said, losses, rows, scales, None)
    weight = np.ones(len(table.kept)) if table.weight is None else table.weight.astype(np.float64)
    total = weight[rows].sum()
    for name in INFLUENCES:
        if not np.isfinite(ours.get(name, math.nan)):
            continue
        expect(prefix + name in lines[0], folder, "rows.csv has no", prefix + name)
        mean = np.average([float(line[prefix + name]) for line in lines], weights=weight[rows])
        expect_close("%s: mean %s of rows" % (folder, name), ours[name], mean, 1e-4, 1e-5)
    if "calibration_error" in ours:  # smoothed, as docs of influence.h say
        more = said.max(1) - (said.argmax(1) == table.labels[rows])
        bins, w = np.minimum((said.max(1) * 15).astype(int), 14), weight[rows]
        sums, squares = (np.bincount(bins, x, 15) for x in (w * more, (w * more) ** 2))
        slope = special.erf(sums / np.sqrt(2 * np.maximum(squares, 1e-300)))
        wanted = (np.abs(sums) - slope * sums).sum() / total + slope[bins] * more
        for line, value in zip(lines, wanted):
            expect_close(folder + ": calibration of row " + line["row"], value, float(line[prefix + "calibration_error"]),
                         1e-4, 1e-5)
    for i in range(0, len(rows), max(1, len(rows) // 5)):
        if weight[rows[i]] == 0:
            continue  # its class may have no other row
        step, ends = 1e-4 * weight[rows[i]], []
        for sign in (1, -1):
            other = copy.copy(table)
            other.weight = weight.copy()
            other.weight[rows[i]] += sign * step
            ends.append(measures_of(other, said, losses, rows, scales, None)[0])
        for name in INFLUENCES[:-1]:
            if np.isfinite(ours.get(name, math.nan)):
                wanted = ours[name] + total * (ends[0][name] - ends[1][name]) / (2 * step)
                own = abs(ours[name]) * (4e-15 * total / step + 4 * (step / total) ** 2)  # of the difference, if huge
                expect_close("%s: row %d, %s" % (folder, i, name), wanted, float(lines[i][prefix + name]), 1e-3,
                             1e-4 + own)


def check_rows(folder, o, table, spec, tensors, result):
    """predictions.csv against the file, the saved weights, and the measures; returns the split."""
    listed = read_csv(folder + "/predictions.csv")
    place = {r: i for i, r in enumerate(table.kept)}
    split = {"train": [], "validation": [], "test": []}
    for line in listed:
        split[line["split"]].append(place[int(line["row"])])
    rows = np.array([place[int(line["row"])] for line in listed])
    if isinstance(table, tables.Synthetic):
        table.fill(rows, listed)
    check_split(folder, o, split, table)
    of_classes = class_weights(o["class_weights"], table, split["train"])
    expect(table.weight is None or all(np.float32(line["weight"]) == w for line, w in zip(listed, table.weight[rows])),
           folder, "has other weights than the file")
    x, z, mean, scale = table.standardised(split["train"])
    with np.errstate(all="ignore"):
        raw = None if x is None else nets.forward(spec, tensors, x[rows])
        if os.path.exists(folder + "/refit.safetensors"):  # validation rows are measured before they are trained on
            again = np.array([line["split"] != "validation" for line in listed])
            meta, kept = nets.read(folder + "/refit.safetensors")
            said = [column.get("limit", 0) for column in json.loads(meta["tapegrad.data"])["inputs"]]
            seen, limits = table.softened(split["train"]) if any(said) else (x, said)
            expect(np.allclose(said, limits, 1e-5), folder, "softens with the limits", said, "and not", limits)
            expect(result.get("softened", 0) == np.count_nonzero(said), folder, "says another number of softened inputs")
            raw[again] = nets.forward(json.loads(meta["tapegrad.model"]), kept, seen[rows])[again]
    losses = np.array([float(line["loss"]) for line in listed])
    columns, said = list(listed[0]), raw
    if table.task == "classes":
        first = columns.index("probability") + 1
        said = np.array([[float(line[c]) for c in columns[first:]] for line in listed])
        expect(columns[first:] == table.classes, folder, "has the classes", columns[first:], "and not", table.classes)
        shifted = np.log(said + 1e-300) if raw is None else raw - raw.max(1, keepdims=True)
        ours = np.exp(shifted) / np.exp(shifted).sum(1, keepdims=True)
        expect(np.allclose(ours, said, rtol=1e-3, atol=2e-4 * o["loose"]), folder, "probabilities differ by",
               np.abs(ours - said).max())
        for line, p, row in zip(listed, said, rows):
            expect(line["true_class"] == table.classes[table.labels[row]], folder, "row", line["row"], "has another class")
            expect(line["class"] == table.classes[int(p.argmax())] and float(line["probability"]) == p.max(), folder,
                   "row", line["row"], "is not of the most probable class")
        p = said[np.arange(len(rows)), table.labels[rows]]
        safe = p > 1e-290
        expect(np.allclose(-np.log(p[safe]), losses[safe], rtol=1e-10, atol=1e-13), folder, "losses of rows differ")
    elif table.task == "images":
        expect(all(line["loss"] == "%.17g" % float(line["squared_error"]) for line in listed), folder, "has two errors")
        expect(np.allclose(((raw - z[rows]) ** 2).mean(1), losses, rtol=1e-3, atol=1e-6), folder, "losses of rows differ")
    else:
        names = columns[-table.targets:]
        first = 3 + ("weight" in columns)
        true = np.array([[float(line[c]) for c in columns[first:first + table.targets]] for line in listed])
        expect((true == table.y[rows]).all(), folder, "right answers are not those of the file")
        said = ((np.array([[float(line[c]) for c in names] for line in listed]) - mean) / scale).astype(np.float32)
        said = said.astype(np.float64)
        raw = said if raw is None else raw
        expect(np.allclose(raw, said, rtol=1e-3, atol=2e-4 * o["loose"]), folder, "predictions differ by",
               np.abs(raw - said).max())
        expect(np.allclose(((said - z[rows]) ** 2).mean(1), losses, rtol=1e-4, atol=1e-9), folder,
               "losses of rows differ")
    for name, of in split.items():
        expect((name in result) == bool(of), folder, "result.json has", name, name in result)
        if not of:
            continue
        here = np.array([line["split"] == name for line in listed])
        m, counts = measures_of(table, said[here], losses[here], rows[here], (z, scale), of_classes)
        exact = 1e-9 if table.task == "classes" else 1e-4
        for key, value in m.items():
            if np.isfinite(value):
                expect_close("%s: %s %s" % (folder, name, key), value, result[name].get(key, math.nan),
                             1e-12 if key in ("loss", "accuracy") else exact, 1e-12 if key != "r2" else 1e-6)
        expect(set(result[name]) <= set(m), folder, name, "has further measures", set(result[name]) - set(m))
        check_constant(folder, table, z, scale, split, of_classes, result, name, rows[here])
        if counts is not None and name == ("test" if split["test"] else "validation"):
            expect(np.allclose(counts, result["confusion"], 1e-12, 0), folder, "confusion differs")
    here = [line["split"] == ("test" if split["test"] else "validation") for line in listed]
    kept = [line for line, is_here in zip(listed, here) if is_here]
    weight, of_loss = row_weights(table, of_classes, rows[np.array(here)])
    for ours, theirs, w, l in zip(kept, read_csv(folder + "/rows.csv"), weight, of_loss):
        expect_close(folder + ": a row's weight", w, float(theirs.get("weight", 1)), 1e-7)
        expect_close(folder + ": a row's weight in the loss", l, float(theirs.get("loss_weight", w)), 1e-6)
        expect(table.group is None or int(theirs["group"]) == table.group[place[int(ours["row"])]], folder, "row",
               ours["row"], "has another group")
        expect(ours["row"] == theirs["row"] and ours["loss"] == theirs["loss"], folder, "rows.csv differs")
        expect(table.task != "classes" or int(theirs["correct"]) == (ours["class"] == ours["true_class"]), folder,
               "row", ours["row"], "is not as correct as rows.csv says")
    expect(len(kept) == len(read_csv(folder + "/rows.csv")), folder, "rows.csv has another number of rows")
    if table.task != "images":
        check_influences(folder, table, said[np.array(here)], losses[np.array(here)], rows[np.array(here)], (z, scale))
    return split


def loss_of(spec, weights, x, labels, z, of_rows=None):
    """Mean loss of rows, with their weights: cross-entropy with labels, or squared error."""
    with np.errstate(all="ignore"):
        out = nets.forward(spec, weights, x)
        if labels is None:
            return np.average(((out - z) ** 2).mean(1), weights=of_rows)
        return cross_entropy(out, labels, of_rows)


def cross_entropy(out, labels, of_rows=None):
    out, labels = out.reshape(-1, out.shape[-1]), labels.reshape(-1)
    out = out - out.max(1, keepdims=True)
    return np.average(np.log(np.exp(out).sum(1)) - out[np.arange(len(labels)), labels], weights=of_rows)


def last_weights(folder, o):
    """The weights after the last epoch, or their averages."""
    _, last = nets.read(folder + "/last.safetensors")
    prefix = "ema." if o["ema"] else ""
    return {n[len(prefix):]: v for n, v in last.items()
            if n.startswith(prefix) and (prefix or not n.startswith(("optimizer.", "ema.")))}


def check_text(folder, o, text, model, context):
    """A run on a text: the best epoch, and the losses of the saved and of the last weights."""
    with open(folder + "/result.json") as file:
        result = json.load(file)
    curves = read_csv(folder + "/curves.csv")
    meta, tensors = nets.read(folder + "/best.safetensors")
    spec = json.loads(meta["tapegrad.model"])
    (x, labels), test, train = text.rows(model, context, 0.1 if o["validation"] == "0.2" else float(o["validation"]),
                                         float(o["test"]))
    best = check_epochs(folder, o, curves, result, train)
    expect(int(meta["fit.epoch"]) == best + 1, folder, "saved the weights of epoch", meta["fit.epoch"])
    expect(result["validation"]["loss"] == number(curves[best]["val_loss"]), folder, "has another validation loss")
    expect_close(folder + ": validation loss", loss_of(spec, tensors, x, labels, None), result["validation"]["loss"], 2e-5)
    expect_close(folder + ": the last validation loss", loss_of(spec, last_weights(folder, o), x, labels, None),
                 number(curves[-1]["val_loss"]), 2e-5)
    expect(("test" in result) == (o["test"] != "0"), folder, "has test rows:", "test" in result)
    seen = text.seen(0.1 if o["validation"] == "0.2" else float(o["validation"]), float(o["test"]))
    check_letters(folder, seen, labels, result, "validation")
    if "test" in result:
        check_letters(folder, seen, test[1], result, "test")
        expect_close(folder + ": test loss", loss_of(spec, tensors, *test, None), result["test"]["loss"], 2e-5)
    right = nets.forward(spec, tensors, x).argmax(-1) == labels
    expect(abs(right.sum() - result["validation"]["accuracy"] * right.size) < 2.5, folder, "accuracy",
           result["validation"]["accuracy"], "and not", right.mean())
    return result


def check_whole(folder, o, table, context):
    """A run on pairs or lines: the best epoch; and the losses and exact answers of the splits, which the oracle does not
    know, added up over all of them."""
    with open(folder + "/result.json") as file:
        result = json.load(file)
    curves = read_csv(folder + "/curves.csv")
    meta, tensors = nets.read(folder + "/best.safetensors")
    spec = json.loads(meta["tapegrad.model"])
    expect(spec["context"] == context, folder, "has the context", spec["context"])
    parts = table.parts(float(o["validation"]), float(o["test"]))
    best = check_epochs(folder, o, curves, result, parts[0])
    expect(int(meta["fit.epoch"]) == best + 1, folder, "saved the weights of epoch", meta["fit.epoch"])
    expect(result["validation"]["loss"] == number(curves[best]["val_loss"]), folder, "has another validation loss")
    x, labels = table.rows(context)
    out = nets.forward(spec, tensors, x)
    out = out[:, -1] if out.ndim > labels.ndim + 1 else out
    exact = (out.argmax(-1) == labels).reshape(len(x), -1).all(1)
    names = [name for name, part in zip(("train", "validation", "test"), parts) if part]
    expect(("test" in result) == (parts[2] > 0), folder, "has test rows:", "test" in result)
    measures = dict(result)
    if "train" not in result:  # of lines: measured after each epoch
        measures["train"] = {"loss": number(curves[best]["whole_train_loss"]), "accuracy": math.nan}
    loss, right = (sum(measures[name][key] * part for name, part in zip(names, parts)) for key in ("loss", "accuracy"))
    expect_close(folder + ": loss of all splits", cross_entropy(out, labels), loss / len(x), 2e-5)
    expect(not abs(exact.sum() - right) >= 1.5, folder, "exact are", right, "and not", exact.sum())
    return result


def check_targets(folder, pairs, context, said, beams):
    """Targets of `predict`: greedy ones are the largest logits, one after the other; those of a beam search are at least
    as probable as one in NumPy finds. Nearly equal choices may differ. An empty line is answered by one."""
    meta, tensors = nets.read(folder + "/best.safetensors")
    spec = json.loads(meta["tapegrad.model"])
    lines = said.split("\n")[::2 if pairs.end == "\n\n" else 1][:len(pairs.pairs)]
    for (source, _), line in list(zip(pairs.pairs, lines))[:12]:
        ids = np.array([pairs.numbers(source, context) + [1]])

        def logs(target):
            """The logarithms of the next token's probabilities, after each token of a target; not of padding."""
            out = nets.forward(spec, tensors, np.concatenate([ids, np.array([target], int)], 1))[0][:, 1:]
            return out - np.log(np.exp(out - out.max(1, keepdims=True)).sum(1, keepdims=True)) - out.max(1, keepdims=True)

        pool = [(0.0, [], False)]
        for _ in range(context):
            longer = [beam for beam in pool if beam[2]]
            for score, target, done in pool:
                for token, more in enumerate(logs(target)[-1], 1) if not done else ():
                    longer.append((score + more, target + [token], token == 1))
            pool = sorted(longer, key=lambda beam: -beam[0])[:beams]
            if pool[0][2]:
                break
        ours = [pairs.known.index(letter) for letter in line]
        ours += [1] if len(ours) < context else []
        if ours == pool[0][1]:
            continue
        score = sum(row[token - 1] for row, token in zip(logs(ours[:-1]), ours))
        expect(abs(score - pool[0][0]) < 1e-3, folder, "predict writes", line, "for", source, "of log-probability", score,
               "and not", pool[0])


def check_best_targets(folder, pairs, context, said):
    """Targets of a search with room for all beginnings: none of all possible targets is more probable. A target ends with
    its newline, or has as many tokens as the context; the sum of logarithms is not normalised by its length."""
    meta, tensors = nets.read(folder + "/best.safetensors")
    spec = json.loads(meta["tapegrad.model"])
    lines = said.split("\n")[::2 if pairs.end == "\n\n" else 1][:len(pairs.pairs)]
    for (source, _), line in list(zip(pairs.pairs, lines))[:5]:
        ids = pairs.numbers(source, context) + [1]
        scores, begun = {}, {(): 0.0}
        for _ in range(context):
            out = nets.forward(spec, tensors, np.array([ids + list(target) for target in begun]))[:, -1, 1:]
            out = out - out.max(1, keepdims=True)
            out -= np.log(np.exp(out).sum(1, keepdims=True))
            longer = {target + (token,): score + more for (target, score), row in zip(begun.items(), out)
                      for token, more in enumerate(row, 1)}
            scores.update((target, score) for target, score in longer.items() if target[-1] == 1 or len(target) == context)
            begun = {target: score for target, score in longer.items() if target[-1] != 1}
        ours = [pairs.known.index(letter) for letter in line]
        ours += [1] if len(ours) < context else []
        best = max(scores, key=scores.get)
        expect(scores[best] - scores.get(tuple(ours), -math.inf) < 1e-3, folder, "predict writes", line, "for", source,
               "and the most probable of", len(scores), "is", best)


def check_last(folder, o, table, spec, curves, best, split):
    """The last epoch's validation loss is that of the weights in last.safetensors, or of their averages."""
    if not os.path.exists(folder + "/last.safetensors"):
        return
    weights = last_weights(folder, o)
    x, z, _, _ = table.standardised(split["train"])
    if x is None:
        return
    rows = np.array(split["validation"])
    classes = table.task == "classes"
    of_rows = row_weights(table, class_weights(o["class_weights"], table, split["train"]), rows)[1]
    loss = loss_of(spec, weights, x[rows], table.labels[rows] if classes else None, None if classes else z[rows], of_rows)
    if np.isfinite(loss):
        expect_close(folder + ": the last validation loss", loss, number(curves[-1]["val_loss"]), 2e-3 * o["loose"], 2e-5)
    if best == len(curves) - 1:
        saved = nets.read(folder + "/best.safetensors")[1]
        for name, values in saved.items():
            expect((values == weights[name]).all(), folder, "best.safetensors is not of the last epoch:", name)


def check_run(folder, o, table):
    """Everything about a finished run; returns its result, its curves and its split, or None if it diverged."""
    with open(folder + "/result.json") as file:
        result = json.load(file)
    if "diverged" in result:
        return None
    curves = read_csv(folder + "/curves.csv")
    meta, tensors = nets.read(folder + "/best.safetensors")
    spec = json.loads(meta["tapegrad.model"])
    split = check_rows(folder, o, table, spec, tensors, result)
    best = check_epochs(folder, o, curves, result, len(split["train"]))
    expect(int(meta["fit.epoch"]) == best + 1, folder, "saved the weights of epoch", meta["fit.epoch"])
    for key, column in (("loss", "val_loss"), ("accuracy", "val_accuracy")):
        if key in result["validation"]:
            expect(result["validation"][key] == number(curves[best][column]), folder, "was chosen by", column,
                   curves[best][column], "and has", result["validation"][key])
    check_last(folder, o, table, spec, curves, best, split)
    return result, curves, split


NAMES = {"train": "best_train", "validation": "best_val", "test": "test"}


def check_line(line, result, where):
    """A line of runs.csv against the record."""
    expect(int(line["best_epoch"]) == result["best_epoch"] and int(line["epochs"]) == result["epochs"], where,
           "runs.csv has another best epoch")
    for split, name in NAMES.items():
        for key, value in result.get(split, {}).items():
            expect(value is None or number(line["%s_%s" % (name, key)]) == value, where, "runs.csv has", name, key,
                   line.get("%s_%s" % (name, key)), "and the record", value)
