#!/usr/bin/python3
"""Runs and comparisons that are stopped, continued and repeated, against the same in one piece.

    /usr/bin/python3 tests/oracle/continued.py build/bin 60 1       # binaries, runs, seed

Each run has random data, model and options; a third begin with the weights of another (--start). It is trained as a
whole; again, but interrupted or killed at random moments and continued by the same command or by --resume; and once
more by --config. All must leave the same bytes, and both commands, given again at the end, must change none.

A fourth are comparisons instead: as a whole; stopped and continued with other numbers of jobs; by parts; with fewer
seeds and activations at first; and by --config. The last line is libcheck's; the status is 1 if anything differs.
"""
import csv
import math
import multiprocessing
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

FILES = ("best.safetensors", "last.safetensors", "refit.safetensors", "curves.csv", "steps.csv", "result.json", "rows.csv",
         "predictions.csv")
COMPARED = ("runs.csv", "summary.csv", "pairs.csv", "curves.csv", "step_bands.csv", "points.csv", "surface.csv")
ACTIVATIONS = "gelu_exact gelu_tanh silu relu relu_squared tanh sine xielu stochastic_gelu swiglu reglu glu bilinear".split()

# Options of any run, of rows, of tables, and of each model; "" is a flag.
ANY = {"activation": ACTIVATIONS, "batch": ["4", "7", "32"], "lr": ["0.001", "0.02", "0.1"], "seed": ["2", "3"],
       "optimizer": "adam sgd nadam rmsprop lion adagrad muon".split(), "accumulate": ["2", "3"], "clip": ["0", "0.1"],
       "ema": ["0.9", "0.99"], "schedule": "constant linear step stable_decay inverse_sqrt one_cycle".split(),
       "shards": ["2", "3"], "train-loss-every": ["1", "2"], "weight-decay": ["0", "0.5"], "patience": ["1", "3"],
       "round": ["bfloat16", "float16"], "dropout": ["0", "0.3"], "threads": ["1", "3"],
       "init": ["orthogonal", "unit_rows", "he_normal"], "init-scale": ["0.3", "3"], "gated": ["width", "parameters"]}
ROWS = {"refit": ["yes", "no"], "validation": ["0.3", "first:9"], "test": ["0.1", "none"], "best": ["loss"]}
TABLES = {"keep-predictions": [""], "weights": ["w"], "categorical": ["b"], "ignore": ["a"], "soften": ["yes", "no"]}
MODELS = {"mlp": {"hidden": ["3", "6x2", "9,4"], "norm": ["rms", "batch", "layer"], "nets": ["2", "3"]},
          "gpt": {"layers": ["1"], "heads": ["1", "2"], "width": ["4"], "context": ["8"], "rotary": [""]},
          "gru": {"width": ["6"], "context": ["6"], "embedding": ["3"]},
          "rnn": {"width": ["6"], "context": ["6"], "layers": ["1", "2"]},
          "lstm": {"width": ["6"], "context": ["6"], "hidden": ["9"]},
          "convnet": {"filters": ["2", "2,3"], "norm": ["none", "batch"]},
          "vit": {"patch": ["4"], "layers": ["1"], "heads": ["1", "2"], "width": ["4"]},
          "autoencoder": {"hidden": ["9", "7,5"], "code": ["2"]},
          "charmlp": {"context": ["3"], "embedding": ["3"]},
          "seq2seq": {"layers": ["1"], "heads": ["1", "2"], "width": ["4"], "relative": [""]}}
DATA = {"csv:classes.csv": "mlp", "csv:numbers.csv": "mlp", "moons": "mlp", "sine": "mlp", "idx:images": "mlp convnet vit autoencoder",
        "text:text": "gpt gru rnn lstm", "lines:text": "charmlp", "pairs:pairs": "seq2seq"}


def write_data(rng):
    with open("classes.csv", "w") as classes, open("numbers.csv", "w") as numbers, open("text", "w") as text, \
            open("pairs", "w") as pairs:
        classes.write("a,b,c,w,y\n")
        numbers.write("a,b,c,w,y\n")
        for _ in range(90):
            a, b, c, w = rng.gauss(0, 1), rng.choice("xyz"), math.exp(rng.gauss(0, 2)), rng.random()
            row = "%.4f,%s,%.4f,%.3f" % (a, b, c, w)
            classes.write("%s,%s\n" % (row, "yes" if a + rng.gauss(0, 0.5) > 0 else "no"))
            numbers.write("%s,%.4f\n" % (row, math.log(c) + a))
            word = "".join(rng.choice("abcde") for _ in range(rng.choice([1, 2, 9])))
            pairs.write("%s\t%s\n" % (word, word[::-1]))
            text.write(word + "\n")


    os.mkdir("images")
    for name, count in ("train", 80), ("t10k", 30):
        with open("images/%s-images-idx3-ubyte" % name, "wb") as images, \
                open("images/%s-labels-idx1-ubyte" % name, "wb") as labels:
            images.write(struct.pack(">IIII", 0x803, count, 8, 8))
            labels.write(struct.pack(">II", 0x801, count))
            for label in (rng.randrange(3) for _ in range(count)):
                images.write(bytes(min(255, rng.randrange(90) + 80 * (i % 3 == label)) for i in range(64)))
                labels.write(bytes([label]))


def options(rng):
    """The options of a run, without those of the initial weights, and those."""
    data = rng.choice(list(DATA))
    model = rng.choice(DATA[data].split())
    pool = dict(ANY)
    pool.update(ROWS if data[:3] in ("csv", "idx") or ":" not in data else {})
    pool.update(TABLES if data[0] == "c" else {})
    chosen = dict.fromkeys(rng.sample(list(pool), rng.choice([1, 2, 4, 6])))
    chosen = {name: rng.choice(pool[name]) for name in chosen}
    for name, values in MODELS[model].items():
        if name in ("layers", "width", "context", "hidden", "filters", "patch", "code") or rng.random() < 0.3:
            chosen[name] = rng.choice(values)
    words = ["--data", data, "--model", model, "--epochs", str(rng.choice([2, 5, 9])), "--no-plots"]
    initial = []
    for name, value in chosen.items():
        (initial if name.startswith("init") else words).extend(["--" + name] + [value] * (value != ""))
    return words, initial


def drop(words, *names):
    """Without these options and their values."""
    left = list(words)
    for name in names:
        while "--" + name in left:
            at = left.index("--" + name)
            del left[at:at + (2 if at + 1 < len(left) and not left[at + 1].startswith("--") else 1)]
    return left


def contents(folder, names=FILES):
    """The files' bytes."""
    found = {}
    for name in names:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                found[name] = file.read()
    return found


def untidy(folder):
    """What is wrong with the table of losses of a finished run, which ends at the run's last step; None: nothing."""
    if os.path.exists(os.path.join(folder, "pending.csv")):
        return "pending.csv is left"
    tables = []
    for name in "steps.csv", "curves.csv":
        with open(os.path.join(folder, name), newline="") as file:
            tables.append(list(csv.DictReader(file)))
    steps = [(int(line["step"]), float(line["train_loss"])) for line in tables[0]]
    if [step for step, _ in steps] != sorted({step for step, _ in steps}) or any(map(math.isnan, (loss for _, loss in steps))):
        return "steps.csv has no ascending steps with losses"
    last = int(tables[1][-1]["step"])
    return None if steps[-1][0] == last else "steps.csv ends at step %d, the run at %d" % (steps[-1][0], last)


def train(binaries, words, seconds=None, how=None, program="train"):
    """Status and output; with `seconds`, a signal is sent after that time, and the status is None if it came in time."""
    child = subprocess.Popen([os.path.join(binaries, program)] + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said = child.communicate(timeout=seconds)[0]
        return child.returncode, said.decode("latin1")
    except subprocess.TimeoutExpired:
        child.send_signal(how)
        child.communicate()
        return None, ""


def check(binaries, rng):
    """None, or what differs; False if the run was refused or diverged."""
    words, initial = options(rng)
    if rng.random() < 0.33 and train(binaries, words + initial + ["--out", "begun"])[0] == 0:
        initial = ["--start", "begun"]
        words = drop(words, "soften")
    words += initial
    begun = time.monotonic()
    status, said = train(binaries, words + ["--out", "whole"])
    took = time.monotonic() - begun
    if status in (1, 2):
        return False
    line = "train " + " ".join(words)
    if status != 0:
        return "%s\n    status %d: %s" % (line, status, said[-300:])
    whole = contents("whole")
    resume, same = ["--resume", "--out", "parts"], words + ["--out", "parts"]
    for attempt in range(8):
        now = resume if os.path.exists("parts/last.safetensors") and rng.random() < 0.5 else same
        seconds = took * rng.random() * (1 + attempt / 3) if attempt < 6 else None
        status, said = train(binaries, now, seconds, rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL]))
        if status is not None:
            break
    ways = [("continued by " + " ".join(now), status, said, "parts")]
    ways.append(("repeated by --config",) + train(binaries, ["--config", "whole/config.json", "--out", "again"]) + ("again",))
    for again in (words + ["--out", "whole"], ["--resume", "--out", "whole"]):
        ways.append(("given again at the end: " + " ".join(again),) + train(binaries, again) + ("whole",))
    for how, status, said, folder in ways:
        if status != 0:
            return "%s\n    %s: status %s: %s" % (line, how, status, said[-300:])
        found = contents(folder)
        wrong = untidy(folder)
        if wrong:
            return "%s\n    %s: %s" % (line, how, wrong)
        other = [name for name in FILES if found.get(name) != whole.get(name)]
        if other:
            return "%s\n    %s: %s differ" % (line, how, ", ".join(other))
    return None


# Options of comparisons; several values of one number are compared, too.
COMPARISONS = {"lr": ["auto", "0.001,0.02"], "dropout": ["0,0.3"], "init-scale": ["1,3", "auto"], "weight-decay": ["0,0.5"],
               "optimizer": ["adam,lion"], "folds": ["2", "3"], "split": ["fixed"], "margin": ["1%"], "keep-models": [""],
               "measures": ["test_loss", "best_val_loss"], "test-noise": ["0.1,1"], "label-smoothing": ["0.1"]}


def table_of(text):
    """The cells of a CSV file, without columns of seconds."""
    rows = list(csv.DictReader(text.decode().splitlines()))
    return [{name: cell for name, cell in row.items() if "seconds" not in name} for row in rows]


def comparison_of(folder):
    """What a comparison and its runs leave, without seconds."""
    found = contents(folder, COMPARED)
    for run in os.listdir(os.path.join(folder, "runs")):
        found.update(("%s/%s" % (run, name), text)
                     for name, text in contents(os.path.join(folder, "runs", run)).items())
    return {name: table_of(text) if name.endswith(".csv") else text for name, text in found.items()}


def ways_to_compare(binaries, rng, words, seeds, activations, took):
    """Ways to the same comparison: what was done, and the status, output and folder of the last command."""
    def last(what, options, folder):
        return (what,) + train(binaries, options + ["--out", folder], program="compare") + (folder,)
    whole = words + ["--seeds", str(seeds), "--activations", ",".join(activations)]
    for _ in range(rng.choice([1, 2, 5])):
        train(binaries, whole + ["--jobs", rng.choice("123"), "--out", "parts"], took * rng.random(),
              rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL]), "compare")
    yield last("stopped and continued", whole + ["--jobs", rng.choice("12")], "parts")
    if "auto" not in words:
        number = rng.choice([2, 3])
        for part in rng.sample(range(1, number + 1), number):
            yield last("part %d of %d" % (part, number), whole + ["--part", "%d/%d" % (part, number)], "divided")
        yield last("by parts", whole, "divided")
    fewer = ["--seeds", str(seeds - 1), "--activations", ",".join(rng.sample(activations, rng.choice([1, 2])))]
    yield last("fewer", words + fewer, "grown")
    yield last("fewer seeds and activations first", whole, "grown")
    yield last("repeated by --config", ["--config", "whole/config.json"], "again")
    yield last("given again at the end", whole, "whole")


def check_comparison(binaries, rng):
    """The same for a comparison."""
    words, initial = options(rng)
    words = drop(words + initial, "activation", "accumulate", "shards", "gated")
    for name in rng.sample(list(COMPARISONS), rng.choice([0, 1, 2])):
        words = drop(words, name) + ["--" + name] + [value for value in [rng.choice(COMPARISONS[name])] if value]
    activations, seeds = rng.sample(ACTIVATIONS, rng.choice([2, 3])), rng.choice([2, 3])
    whole = words + ["--seeds", str(seeds), "--activations", ",".join(activations), "--out", "whole"]
    begun = time.monotonic()
    status, said = train(binaries, whole, program="compare")
    took = time.monotonic() - begun
    if status in (1, 2):
        return False
    line = "compare " + " ".join(whole)
    if status != 0:
        return "%s\n    status %d: %s" % (line, status, said[-300:])
    expected = comparison_of("whole")
    for what, status, said, folder in ways_to_compare(binaries, rng, words, seeds, activations, took):
        if status != 0:
            return "%s\n    %s: status %s: %s" % (line, what, status, said[-300:])
        if what == "fewer" or what.startswith("part "):
            continue
        found = comparison_of(folder) # fewer seeds may have chosen other rates
        other = [name for name in sorted(expected) if found.get(name) != expected[name]]
        if other:
            return "%s\n    %s: %s differ" % (line, what, ", ".join(other[:9]))
    return None


def one(job):
    name, check_one, binaries, seed, index = job
    for attempt in range(40):
        rng = random.Random("%s %d %d %d" % (name, seed, index, attempt))
        folder = tempfile.mkdtemp(prefix="tapegrad-%s-" % name)
        os.chdir(folder)
        write_data(rng)
        problem = check_one(binaries, rng, index)
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
        if problem is not False:
            return problem
    return "%s %d: 40 combinations were refused" % (name, index)


def check_all(name, check_one, what):
    """Checks as many random commands as the command line says, each by check_one(binaries, rng, index): None if they
    agree, False if the programs refuse this one, or a text about what differs."""
    binaries, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    differ = 0
    with multiprocessing.Pool(min(2, os.cpu_count() or 1)) as pool:
        for problem in pool.imap_unordered(one, [(name, check_one, binaries, seed, i) for i in range(count)]):
            if problem:
                differ += 1
                print(problem, flush=True)
    print("%s: %d %s, %d differ" % (name, count, what, differ))
    print("%d%%: Checks: %d, Failures: %d, Errors: 0" % (100 * (count - differ) / count, count, differ))
    return differ > 0


def check_any(binaries, rng, index):
    return (check_comparison if index % 4 == 3 else check)(binaries, rng)


if __name__ == "__main__":
    sys.exit(check_all("continued", check_any, "runs stopped, continued and repeated"))
