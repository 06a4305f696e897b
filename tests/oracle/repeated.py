#!/usr/bin/python3
"""`compare` prints the command of `train` that repeats the first run of its winner. A shell runs that command, and the run
must have the same numbers.

    /usr/bin/python3 tests/oracle/repeated.py build/bin 100 1       # binaries, comparisons, seed

Comparisons have random data, models and options; a third leave the epochs, the batch and the learning rate to defaults,
which differ between both programs. The winner has the lowest mean validation loss, computed here from runs.csv; its curve,
the losses of its steps and its measures are compared as texts. Where one activation with one seed has a search, `train` with
that search must find the same net. The last line is libcheck's; the status is 1 if anything differs.
"""
import csv
import json
import math
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import continued  # noqa: E402

SAID = " %s the lowest mean validation loss; its first run again, to the same digits:"
ODD = {"classes.csv": "it's a table.csv", "numbers.csv": "$HOME & co.csv", "text": "a text; with \"quotes\"", "pairs": "pairs*"}


def several_models(rng, words):
    """A fourth of what could have them compares several models."""
    models = [model for model in continued.DATA[words[1]].split() if model != "autoencoder"]
    if len(models) < 2 or rng.random() > 0.25:
        return words
    words = continued.drop(words, "model", *{option for model in models for option in continued.MODELS[model]})
    return words + ["--model", ",".join(rng.sample(models, 2))] + ["--width", "8"] * ("text" in words[1])


def command(rng):
    """The words of a comparison."""
    words, initial = continued.options(rng)
    words = continued.drop(words + initial, "activation", "threads")
    for name in rng.sample(list(continued.COMPARISONS), rng.choice([0, 1, 2])):
        words = continued.drop(words, name)
        words += ["--" + name] + [value for value in [rng.choice(continued.COMPARISONS[name])] if value]
    if rng.random() < 0.15:
        words = continued.drop(words, "lr", "init-scale") + ["--lr", "auto", "--init-scale", "auto"]
    if rng.random() < 0.33:
        words = continued.drop(words, *rng.choice([("epochs",), ("epochs", "batch"), ("epochs", "batch", "lr")]))
    words = several_models(rng, words)
    for name, odd in ODD.items():
        if words[1].endswith(":" + name) and rng.random() < 0.5:
            os.rename(name, odd)
            words[1] = words[1][:-len(name)] + odd
    activations, seeds = rng.sample(continued.ACTIVATIONS, rng.choice([2, 3])), rng.choice("12")
    if "auto" in words and rng.random() < 0.5:  # the search of `train` is that of one activation and one seed
        activations, seeds = activations[:1], "1"
    return words + ["--activations", ",".join(activations), "--seeds", seeds, "--out", "all of it"]


def winner_of(folder):
    """What may be said of the activation (or model, or both) whose mean validation loss is lowest at its best point: of
    one of them, if some share it. And the loss."""
    losses = {}
    with open(os.path.join(folder, "runs.csv"), newline="") as file:
        for line in csv.DictReader(file):
            varied = [line[name] for name in line if name in ("point", "lr", "dropout", "init-scale", "weight-decay", "optimizer")]
            loss = math.inf if line["state"] == "diverged" else float(line["best_val_loss"])
            losses.setdefault((line["activation"], *varied), []).append(loss)
    means = {key: sum(of) / len(of) for key, of in losses.items()}
    least = min(means.values())
    winners = {key[0] for key in means if means[key] == least}
    return {winner + SAID % ("shares" if len(winners) > 1 else "has") for winner in winners}, least


def record_of(folder):
    """The numbers of a run as they are written, without seconds."""
    with open(os.path.join(folder, "curves.csv"), newline="") as file:
        curves = [{name: cell for name, cell in line.items() if name != "seconds"} for line in csv.DictReader(file)]
    with open(os.path.join(folder, "steps.csv")) as file:
        steps = file.read()
    with open(os.path.join(folder, "result.json")) as file:
        result = json.load(file)
    return curves, steps, {name: result.get(name) for name in ("train", "validation", "test", "best_epoch", "parameters")}


def searched(words, line):
    """The printed command with the options of the search in place of the values that it found; None where the search of
    `train` is another one."""
    given = dict(zip(words, words[1:]))
    names = [name for name in ("lr", "init-scale") if given.get("--" + name) == "auto"]
    lists = [name for name, value in given.items() if name.startswith("--") and name != "--hidden" and "," in value]
    if not names or lists or given["--seeds"] != "1" or "--folds" in given:
        return None
    for name in names:
        line = re.sub(r" --%s \S+" % name, "", line)
    line = re.sub(r" --out .*", "", line)
    return line + "".join(" --%s auto" % name for name in names) + " --out searched"


def check(binaries, rng, _index):
    """None, or what differs; False if the comparison was refused or diverged."""
    words = command(rng)
    status, said = continued.train(binaries, words, program="compare")
    if status in (1, 2):
        return False
    line = "compare " + " ".join(words)
    if status != 0:
        return "%s\n    status %d: %s" % (line, status, said[-300:])
    said_of_winner, loss = winner_of("all of it")
    lines = said.rstrip("\n").split("\n")
    if math.isinf(loss):
        return "%s\n    all diverged, and there is a winner" % line if "validation loss; its first run" in lines[-2] else False
    if lines[-2] not in said_of_winner:
        return "%s\n    '%s', and not '%s'" % (line, lines[-2], " or ".join(sorted(said_of_winner)))
    done = subprocess.run(["bash", "-c", lines[-1] + " --no-plots"], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        return "%s\n    %s\n    status %d: %s" % (line, lines[-1], done.returncode, done.stderr[-300:])
    name = os.listdir("all of it/train")[0]
    ours, theirs = (record_of(os.path.join("all of it", place, name)) for place in ("runs", "train"))
    names = ("curves.csv", "steps.csv", "result.json")
    other = [what for what, a, b in zip(names, ours, theirs) if a != b]
    again = searched(words, lines[-1])
    if again and not other:
        lines[-1] = again
        done = subprocess.run(["bash", "-c", again + " --no-plots"], capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            return "%s\n    %s\n    status %d: %s" % (line, again, done.returncode, done.stderr[-300:])
        other = [what for what, a, b in zip(names, ours, record_of("searched")) if a != b]
    return "%s\n    %s\n    other %s" % (line, lines[-1], ", ".join(other)) if other or not ours[0] else None


if __name__ == "__main__":
    sys.exit(continued.check_all("repeated", check, "winners of comparisons trained again"))
