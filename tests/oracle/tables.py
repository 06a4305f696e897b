"""Random tables, images and texts as files, and their inputs and targets as the documentation says that programs read them."""
import csv
import math
import os
import struct

import numpy as np
from scipy import stats

MISSING = ["", "?", "NA", "nan"]
WORDS = ["red", "green", "blue", "amber", "grey"]


class Table:
    """A file `path` with `rows` rows of cells; the options that say how it is read."""

    own_test = 0  # the number of last rows that the source defines as the test split
    weight = None  # of each used row
    group = None

    def __init__(self, rng, path):
        self.path, self.options = path, []
        self.delimiter = rng.choice([",", ",", ";", "\t"])
        count, self.header = rng.randint(40, 120), rng.random() < 0.8
        kinds = ["number"] * rng.randint(1, 4) + ["word"] * rng.choice([0, 0, 1, 2]) + ["code"] * rng.choice([0, 0, 1])
        rng.shuffle(kinds)
        self.missing = rng.choice(["error", "error", "drop", "mean"])
        self.task = rng.choice(["classes", "classes", "numbers", "numbers", "several"])
        self.names = ["%s%d" % (kind, i) for i, kind in enumerate(kinds)]
        if not self.header and "word" in kinds:
            kinds = ["number" if kind == "word" else kind for kind in kinds]
        targets = {"classes": ["class"], "numbers": ["y"], "several": ["y1", "y2", "y3"]}[self.task]
        self.class_words = self.task == "classes" and self.header and rng.random() < 0.5
        classes = rng.randint(2, 4)
        noise = rng.choice([0.1, 0.5, 2.0])
        tailed = [i for i in range(len(kinds)) if rng.random() < 0.3]
        cells = []
        for _ in range(count):
            row, hidden = [], 0.0
            for i, kind in enumerate(kinds):
                z = rng.gauss(0, 1)
                if kind == "number":
                    row.append("%.4g" % (math.exp(1.5 * z) if i in tailed else z * 10 ** (i % 3) + i))
                    hidden += math.sin(z + i)
                elif kind == "word":
                    k = rng.randrange(3 + i % 3)
                    row.append(WORDS[k])
                    hidden += 0.5 * k
                else:
                    k = rng.randrange(3)
                    row.append(str(10 * k))
                    hidden -= 0.5 * k
                if self.missing != "error" and rng.random() < 0.06:
                    row[-1] = rng.choice(MISSING)
            hidden += noise * rng.gauss(0, 1)
            if self.task == "classes":
                k = min(classes - 1, max(0, int(math.floor(hidden + classes / 2))))
                row.append("k%d" % k if self.class_words else str(k))
            for i, _ in enumerate(targets if self.task != "classes" else []):
                row.append("%.6g" % (hidden * (i + 1) * 7.5 + rng.gauss(0, 0.3 + i)))
            cells.append(row)
        self.weighted = rng.random() < 0.3
        if self.weighted:  # the column before the targets
            own = rng.choice([[0, 1, 1, 2], [0.1, 0.25, 3], [1, 5, 1000]])
            for row in cells:
                row.insert(len(kinds), str(rng.choice(own)))
            kinds.append("weight")
            self.names.insert(len(kinds) - 1, "weight")
            self.options += ["--weights", "weight" if self.header else str(len(kinds) - 1)]
        self.grouped = rng.random() < 0.25
        if self.grouped:  # behind the features and the weight
            names = ["g%d" % i for i in range(rng.randint(9, 20))] if self.header else [str(7 * i) for i in range(15)]
            for row in cells:
                row.insert(len(kinds), rng.choice(MISSING) if self.missing != "error" and rng.random() < 0.03 else
                           rng.choice(names + names[:3] * 4))
            kinds.append("group")
            self.names.insert(len(kinds) - 1, "group")
            self.options += ["--groups", "group" if self.header else str(len(kinds) - 1)]
        self.kinds = kinds + [self.task] * len(targets)
        self.names = self.names[:len(kinds)] + targets
        self.cells = cells
        if self.missing != "error":
            self.options += ["--missing", self.missing]
        if self.task == "several":
            self.options += ["--target", ",".join(targets) if self.header else "-3,-2,-1"]
        codes = [i for i, kind in enumerate(kinds) if kind == "code"]
        self.categorical = []
        if codes and rng.random() < 0.6:
            self.categorical = codes
            self.options += ["--categorical", ",".join(self.names[i] if self.header else str(i) for i in codes)]
        numbers = [i for i, kind in enumerate(kinds) if kind == "number"]
        self.ignored = []
        if len(numbers) > 1 and rng.random() < 0.2:
            self.ignored = [numbers[0]]
            self.options += ["--ignore", self.names[numbers[0]] if self.header else str(numbers[0])]
        if not self.header:
            self.options += ["--header", "no"]
        self.options += ["--task", "classification" if self.task == "classes" else "regression"]
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, delimiter=self.delimiter, lineterminator="\n")
            if self.header:
                writer.writerow(self.names)
            writer.writerows(cells)
        self.targets = len(targets)
        self.read()

    def read(self):
        """Sets kept (indices of the used rows), and of these source [rows, inputs], labels or y."""
        with open(self.path, newline="") as file:
            cells = list(csv.reader(file, delimiter=self.delimiter))[self.header:]
        features = [i for i in range(len(self.names) - self.targets)
                    if i not in self.ignored and self.kinds[i] not in ("weight", "group")]
        asked = [self.kinds.index("group")] if self.grouped else []
        lacks = [[cell in MISSING for cell in row] for row in cells]
        self.kept = [r for r in range(len(cells))
                     if not any(lacks[r][i] for i in asked + (features if self.missing == "drop" else []))]
        rows = [cells[r] for r in self.kept]
        columns = []
        for i in features:
            gone = [cell in MISSING for cell in (row[i] for row in rows)]
            if self.kinds[i] == "word" or i in self.categorical:
                present = {row[i] for row, lack in zip(rows, gone) if not lack}
                for category in sorted(present, key=(lambda c: c) if self.kinds[i] == "word" else float):
                    columns.append([float(row[i] == category) for row in rows])
            else:
                columns.append([math.nan if lack else float(row[i]) for row, lack in zip(rows, gone)])
            if self.missing == "mean" and any(gone):
                columns.append([float(lack) for lack in gone])
        self.source = np.array(columns).T.reshape(len(rows), -1)
        weights = [row[self.kinds.index("weight")] for row in rows] if self.weighted else None
        self.weight = np.array(weights, np.float32).astype(np.float64) if self.weighted else None
        if self.grouped:
            groups = [row[asked[0]] for row in rows]
            known = sorted(set(groups), key=str if self.header else float)
            self.group = np.array([known.index(group) for group in groups])
        answers = [row[len(row) - self.targets:] for row in rows]
        if self.task == "classes":
            found = {answer[0] for answer in answers}
            self.classes = sorted(found, key=str if self.class_words else float)
            self.labels = np.array([self.classes.index(answer[0]) for answer in answers])
        else:
            self.y = np.array([[float(cell) for cell in answer] for answer in answers])

    def standardised(self, train):
        """Inputs (and targets, with their means and scales) by the mean and deviation over the rows `train`, which are
        positions among the used rows, with their weights. Inputs that are 0 or 1 there stay so."""
        weight = np.ones(len(train)) if self.weight is None else self.weight[train]

        def moments(c):
            here = ~np.isnan(c) & (weight > 0)
            mean = np.average(c[here], weights=weight[here]) if here.any() else 0
            return mean, math.sqrt(np.average((c[here] - mean)**2, weights=weight[here])) if len(set(c[here])) > 1 else 0

        def scale(block, keeps):
            with np.errstate(all="ignore"):
                mean, deviation = np.array([moments(c) for c in block[train].T]).T
                if keeps:
                    deviation[deviation == 0] = 1
                for i in range(0 if keeps else block.shape[1]):
                    used = block[train, i][~np.isnan(block[train, i]) & (weight > 0)]
                    if deviation[i] > 0 and set(used) <= {0.0, 1.0}:
                        mean[i], deviation[i] = 0, 1
                z = (block - mean) / deviation
            z[:, deviation == 0] = 0
            return np.where(np.isnan(z), 0, z).astype(np.float32), mean, deviation

        x = scale(self.source, False)[0]
        return (x, None, None, None) if self.task == "classes" else (x,) + scale(self.y, True)

    def softened(self, train):
        """Inputs as a refit may have them, columns with long tails softened, and their limits, 0 for other columns."""
        x, limits = self.standardised(train)[0].copy(), np.zeros(self.source.shape[1])
        counts = np.ones(len(train), bool) if self.weight is None else self.weight[train] > 0
        for i, column in enumerate(self.source.T):
            used = column[train][~np.isnan(column[train]) & counts]
            if len(set(used)) < 2 or set(used) <= {0.0, 1.0} or (abs(stats.skew(used)) < 1.5 and stats.kurtosis(used) < 6):
                continue
            low, median, high = np.quantile(used, [0.25, 0.5, 0.75])
            unit = high - low if high > low else (used.max() - used.min()) / 2
            soft = (column - median) / unit / np.sqrt(1 + ((column - median) / unit / 3)**2)
            deviation = ((used - median) / unit / np.sqrt(1 + ((used - median) / unit / 3)**2)).std()
            x[:, i], limits[i] = np.where(np.isnan(column), 0, soft / deviation), 3 / deviation
        return x, limits


class Synthetic:
    """Data that programs make: only the right answers are known, from what a run kept."""

    own_test, missing, weight, group = 0, "error", None, None

    def __init__(self, rng):
        name, count = rng.choice(["moons", "circles", "spirals", "sine"]), rng.randint(40, 120)
        self.path, self.kept, self.task = name, list(range(count)), "numbers" if name == "sine" else "classes"
        self.options = ["--data", name, "--rows", count, "--noise", rng.choice([0.05, 0.3, -1])]
        self.targets, self.classes = int(name == "sine"), ["0", "1"]

    def fill(self, rows, lines):
        if self.task == "classes":
            self.labels = np.zeros(len(rows), int)
            self.labels[rows] = [int(line["true_class"]) for line in lines]
        else:
            self.y = np.zeros((len(rows), 1))
            self.y[rows, 0] = [float(line["true_target_0"]) for line in lines]

    def standardised(self, train):
        return (None, None, None, None) if self.task == "classes" else (None, self.y.astype(np.float32), 0, np.ones(1))


class Images:
    """A folder with MNIST's four files of small images."""

    missing, targets, weight, group = "error", 0, None, None

    def __init__(self, rng, path, reconstructs):
        os.mkdir(path)
        self.path, self.options, self.task = path, [], "images" if reconstructs else "classes"
        count, self.own_test = rng.randint(40, 80), rng.randint(10, 30)
        side, classes = rng.choice([6, 8]), rng.randint(2, 4)
        draw = np.random.default_rng(rng.randrange(10**6))
        labels = np.concatenate([np.arange(classes), draw.integers(0, classes, count + self.own_test - classes)])
        pixels = draw.normal(70, 60, (len(labels), side, side))
        pixels[np.arange(len(labels)), labels] += 120
        pixels = np.clip(pixels, 0, 255).astype(np.uint8)
        for name, part in (("train", slice(0, count)), ("t10k", slice(count, None))):
            for what, values in (("images-idx3", pixels[part]), ("labels-idx1", labels[part].astype(np.uint8))):
                with open(os.path.join(path, "%s-%s-ubyte" % (name, what)), "wb") as file:
                    file.write(struct.pack(">HBB", 0, 8, values.ndim) + struct.pack(">%dI" % values.ndim, *values.shape))
                    file.write(values.tobytes())
        self.kept, self.labels = list(range(len(labels))), labels
        self.classes = [str(i) for i in range(classes)]
        self.x = (pixels.reshape(len(labels), -1) / np.float32(255)).astype(np.float32)

    def standardised(self, train):
        return self.x, self.x if self.task == "images" else None, None, None


class Text:
    """A text of few letters, and the rows of its last part, on which a model is validated."""

    task = "classes"

    def __init__(self, rng, path):
        letters = rng.choice(["abcd ", "ab c\ndef", "xyz\n", "\u0430\u0431 \U0001d11e\n"])
        words = ["".join(rng.choice(letters) for _ in range(rng.randint(2, 5))) for _ in range(6)]
        text = letters + "".join(rng.choice(words) for _ in range(rng.randint(150, 400)))
        self.path = path
        with open(path, "w", encoding="utf-8") as file:
            file.write(rng.choice(["", "\ufeff"]) + text)
        known = sorted(set(text))
        self.ids, self.end = np.array([known.index(c) for c in text]), known.index("\n") if "\n" in known else 0

    def rows(self, model, context, validation, test):
        """Inputs and right answers of the validation and of the test rows, and the number of training rows."""
        size = len(self.ids)
        last = size - int(test * size + 0.5)
        first = last - int(validation * size + 0.5)
        parts = [self.part(model, context, self.ids[a:b]) for a, b in ((first, last), (last, size))]
        return parts + [first if model == "charmlp" else (first - 1) // context]

    def seen(self, validation, test):
        """The characters of the training text."""
        last = len(self.ids) - int(test * len(self.ids) + 0.5)
        return self.ids[:last - int(validation * len(self.ids) + 0.5)]

    def part(self, model, context, part):
        if model != "charmlp":
            count = (len(part) - 1) // context
            at = np.arange(count)[:, None] * context + np.arange(context)
            return part[at], part[at + 1]
        before = np.concatenate([np.full(context, self.end), part])
        return before[np.arange(len(part))[:, None] + np.arange(context)], part


class Lines:
    """Words, one a line, of one length, so that losses of splits add up; each letter is told from those before it in its
    line."""

    task = "classes"

    def __init__(self, rng, path):
        letters, self.length = rng.choice(["ab", "abcd", "xy\tz"]), rng.randint(2, 6)
        self.lines = ["".join(rng.choice(letters) for _ in range(self.length - 1)) + rng.choice(letters[:2])
                      for _ in range(rng.randint(50, 150))]  # blanks at the end would be trimmed
        self.path = path
        with open(path, "w") as file:
            file.write("\n".join(self.lines) + rng.choice(["", "\n", "\n\n"]))
        self.known = sorted(set("\n".join(self.lines)))

    def rows(self, context):
        """Inputs and right answers of all letters, and of the ends of lines."""
        numbers = [[self.known.index(c) for c in "\n" * context + line + "\n"] for line in self.lines]
        every = np.array(numbers)
        at = np.arange(self.length + 1)[:, None] + np.arange(context)
        return every[:, at].reshape(-1, context), every[:, context:].reshape(-1)

    def parts(self, validation, test):
        count = len(self.lines)
        held = [int(share * count + 0.5) for share in (validation, test)]
        return [(self.length + 1) * part for part in [count - sum(held)] + held]


class Pairs:
    """Lines of a source, a tab and a target. All targets have one length, so that losses of splits add up."""

    task = "classes"

    def __init__(self, rng, path):
        letters, length = rng.choice(["ab", "abcd", "x\u00e9z"]), rng.randint(1, 3)
        self.pairs = [["".join(rng.choice(letters) for _ in range(size)) for size in (rng.randint(1, 5), length)]
                      for _ in range(rng.randint(60, 160))]
        self.path, self.end = path, rng.choice(["\n", "\r\n", "\n\n"])
        with open(path, "wb") as file:
            file.write("".join("\t".join(pair) + self.end for pair in self.pairs).encode())
        self.known = sorted(set("".join("\t\n".join(pair) for pair in self.pairs)))
        self.longest = max(len(text) for pair in self.pairs for text in pair) + 1

    def numbers(self, text, context):
        ids = [self.known.index(letter) for letter in text] + [1]
        return ids + [0] * (context - len(ids))

    def rows(self, context):
        """Inputs and right answers of all pairs, without padding behind the targets."""
        length = len(self.pairs[0][1]) + 1
        source = np.array([self.numbers(source, context) for source, _ in self.pairs])
        target = np.array([self.numbers(target, length) for _, target in self.pairs])
        begin = np.ones((len(target), 1), int)
        return np.concatenate([source, begin, target[:, :-1]], 1), target

    def parts(self, validation, test):
        count = len(self.pairs)
        held = [int(share * count + 0.5) for share in (validation, test)]
        return [count - sum(held)] + held
