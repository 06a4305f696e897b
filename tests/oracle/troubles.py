#!/usr/bin/python3
"""Tables with the troubles that people's files have, read by train and predict and by pandas.

    /usr/bin/python3 tests/oracle/troubles.py build/bin 300 1       # binaries, tables, seed
    /usr/bin/python3 tests/oracle/troubles.py build/bin 60 1 forms  # of the forms that programs and people write

Every table is either read as pandas reads it, when told what the generator knows (separator, marks, comments, types),
or refused in one line that names the file. Compared are the scales and categories in the model file, with all rows
training, and the prediction for each row, which NumPy computes from the saved weights and pandas' cells. The last line
counts tables, refusals and silent differences; the status is 1 if there are any. A fourth number runs one table alone
and keeps its folder. With `forms`, tables have a header of years, gaps in the first row, columns padded with blanks,
empty columns and rows at the ends, leading zeros, or a header behind #, and what was read is compared with the means and
deviations that pandas finds; or they are files of other programs, which must be refused by name. Without pandas it says so and ends with status 0.
"""
import io
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import pandas as pd
except ImportError as missing:
    print("troubles: SKIPPED, there is no %s; Debian's python3-pandas has it" % missing.name)
    sys.exit(0)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nets  # noqa: E402

ALWAYS = ["", "?", "NA", "N/A", "n/a", "nan", "NaN", "NULL", "null", "\\N", "#N/A", "<NA>"]
AMONG_NUMBERS = ["None", "-", "."]
WORDS = ["red", "#blue", "dark green", "x;y", "a,b", "a|b", "né", "say \"hi\"", "O'Brien", "None", "-", "#1", "12 m", "3+"]


class Trouble(Exception):
    pass


class Column:
    def __init__(self, rng, index, rows, separator, comma, missing):
        self.name = rng.choice(["c%d", "Größe %d", "x y %d", "#%d", "q\"%d", "a,b%d"]) % index
        self.kind = rng.choice(["number"] * 4 + ["flag", "word", "word", "mixed", "codes"])
        self.asked = self.kind in ("codes",) or (self.kind == "mixed" and rng.random() < 0.7)
        self.refused = False
        words = [w for w in WORDS if w not in ("12 m", "3+")]
        self.cells = []
        scale, offset = 10.0 ** rng.randint(-6, 6), rng.choice([0, 0, 1, 1e6])
        entries = rng.sample(words, rng.randint(2, 5))
        mostly = rng.random() < 0.5  # words, in a mixed column
        for _ in range(rows):
            if self.kind == "number":
                self.cells.append(self.number(rng, rng.gauss(offset, 1) * scale, comma))
            elif self.kind == "flag":
                self.cells.append(rng.choice(["0", "1"]))
            elif self.kind == "codes":
                self.cells.append(rng.choice(["7", "10", "9", "123456789012"]))
            elif self.kind == "word":
                self.cells.append(rng.choice(entries))
            else:
                self.cells.append(rng.choice(entries + ["3+"] if rng.random() < (0.8 if mostly else 0.2) else
                                             ["0", "1", "01", "38"]))
        if self.kind == "number" and rng.random() < 0.08:
            form = rng.choice(["%d%%", "$%d", "€ %d", "1'%03d'000"])
            self.cells = [form % rng.randint(0, 999) for _ in range(rows)]
            self.refused = True
        self.categories = self.kind in ("word", "mixed", "codes")
        if missing and rng.random() < 0.5:
            marks = ALWAYS + ([] if self.categories else AMONG_NUMBERS)
            for i in range(rows):
                if rng.random() < 0.12:
                    self.cells[i] = rng.choice(marks)
        if self.kind == "word" and rng.random() < 0.15:  # mostly empty
            for i in range(2, rows):
                if rng.random() < 0.7 and missing:
                    self.cells[i] = ""

    def number(self, rng, value, comma):
        text = rng.choice(["%.3f", "%.17g", "%g", "%.1e", "%+.5g", "%d", "%.25g", "%.0f."]) % value
        text = text.replace("0.", ".", 1) if rng.random() < 0.1 and text.startswith("0.") and text != "0." else text
        return text.replace(".", ",") if comma else text


class Table:
    def __init__(self, rng, folder):
        self.path = os.path.join(folder, "table.csv")
        self.separator = rng.choice([",", ",", ",", ";", "\t", "|"])
        self.comma = self.separator != "," and rng.random() < 0.4
        self.missing = rng.choice(["error", "drop", "mean", "mean"])
        self.header = rng.random() < 0.8
        rows = rng.randint(30, 70)
        self.columns = [Column(rng, i, rows, self.separator, self.comma, self.missing != "error")
                        for i in range(rng.randint(1, 5))]
        self.classes = rng.random() < 0.5
        target = Column(rng, len(self.columns), 0, ",", False, False)
        target.kind, target.categories, target.asked, target.refused = "target", self.classes, False, False
        kinds = rng.sample(["yes", "no", "k1", "#3", "None"], rng.randint(2, 4))
        target.cells = [rng.choice(kinds) if self.classes else target.number(rng, rng.gauss(3, 5), self.comma)
                        for _ in range(rows)]
        self.columns.append(target)
        self.rows = rows
        self.text = self.write(rng)
        self.options = ["--target", str(len(self.columns) - 1), "--missing", self.missing, "--task",
                        "classification" if self.classes else "regression"]
        asked = [str(i) for i, c in enumerate(self.columns) if c.asked]
        if asked:
            self.options += ["--categorical", ",".join(asked)]
        if not self.header:
            self.options += ["--header", "no"]
        with open(self.path, "w", encoding="utf-8", newline="") as file:
            file.write(self.text)

    def cell(self, rng, text):
        quote = any(c in text for c in "\"\n" + self.separator) or rng.random() < 0.1
        quote |= text != text.strip()
        text = '"' + text.replace('"', '""') + '"' if quote else text
        if self.separator != "\t" and not quote and rng.random() < 0.05:
            text = " " + text + " "
        return text

    def write(self, rng):
        end = rng.choice(["\n", "\n", "\r\n"])
        lines = []
        self.skipped = 0
        if rng.random() < 0.15 and self.separator in ";,\t|":
            lines.append("sep=" + self.separator)
        elif rng.random() < 0.2:
            lines += ["# made by hand", "# \"quoted, once"][:rng.randint(1, 2)]
        self.skipped = len(lines)
        if self.header:
            # A header that begins with # would be a comment.
            if self.columns[0].name.startswith("#"):
                self.columns[0].name = "n" + self.columns[0].name
            lines.append(self.separator.join(self.cell(rng, c.name) for c in self.columns))
        elif self.columns[0].cells[0].startswith("#"):
            self.columns[0].cells[0] = "red" if self.columns[0].categories else "1"
        for i in range(self.rows):
            lines.append(self.separator.join(self.cell(rng, c.cells[i]) for c in self.columns))
        if len(self.columns) > 1 and rng.random() < 0.1:
            lines.insert(rng.randint(self.skipped + 1, len(lines)), "")
        return ("\ufeff" if rng.random() < 0.1 else "") + end.join(lines) + rng.choice([end, "", end + end])

    def read(self):
        """As pandas reads it: columns of floats, or of strings, with NaN where a value is missing."""
        names = list(range(len(self.columns)))
        read = pd.read_csv(io.StringIO(self.text.lstrip("\ufeff")), sep=self.separator, header=None, names=names,
                           skiprows=self.skipped + self.header, dtype=str, keep_default_na=False, na_values=[],
                           skipinitialspace=True, skip_blank_lines=True)
        frame = pd.DataFrame(index=read.index)
        for i, c in enumerate(self.columns):
            cells = read[i].fillna("").str.strip()
            lost = cells.str.lower().isin([m.lower() for m in ALWAYS])
            named = c.categories
            if c.kind in ("mixed", "codes"):  # by number, if there is no word
                maybe = cells.str.lower().isin([m.lower() for m in AMONG_NUMBERS])
                numbers = pd.to_numeric(cells[~lost & ~maybe], errors="coerce")
                named = bool(numbers.isna().any())
            if not named:
                lost |= cells.str.lower().isin([m.lower() for m in AMONG_NUMBERS])
            cells = cells.where(~lost)
            if not c.categories or not named:
                text = cells.str.replace(",", ".", regex=False) if self.comma else cells
                values = [self.float(v) for v in text]
                cells = pd.Series(values, index=read.index)
                if c.categories:
                    cells = cells.map(lambda v: math.nan if math.isnan(v) else "%d" % v, na_action="ignore")
                    c.order = lambda words: sorted(words, key=float)
            frame[i] = cells
            if c.categories and not hasattr(c, "order"):
                c.order = lambda words: sorted(words, key=lambda w: w.encode())
        return frame

    @staticmethod
    def float(text):
        """NaN for a cell without a value and for a number for people, which is refused."""
        try:
            return float(text)
        except (TypeError, ValueError):
            return math.nan

    def may_be_refused(self, frame):
        """Why the table may be refused; None: it must be read."""
        for i, c in enumerate(self.columns):
            if c.refused:
                return "a number for people"
            if c.kind == "mixed" and not c.asked:
                words = pd.to_numeric(frame[i].dropna(), errors="coerce").isna().sum()
                if 0 < words and 2 * words <= frame[i].notna().sum():
                    return "a few words among numbers"
            if frame[i].notna().sum() == 0 or (c.categories and c.kind == "target" and frame[i].nunique() < 2):
                return "nothing to learn"
        complete = frame.dropna() if self.missing == "drop" else frame
        if len(complete) < 2 or (self.classes and complete[len(self.columns) - 1].nunique() < 2):
            return "too few rows"
        return None


def run(binaries, folder, program, arguments):
    return subprocess.run([os.path.join(binaries, program)] + arguments, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=folder)


def inputs_of(table, frame, used):
    """Names, scales and values of the inputs: of all rows, with scales of the used ones."""
    listed, blocks = [], []
    for i, c in enumerate(table.columns[:-1]):
        here, rows = frame[i], used[i]
        numbers = here.dtype == float and not c.categories
        parts = [(None, here.to_numpy(float))] if numbers else [
            (word, (here == word).to_numpy(float)) for word in c.order(set(rows.dropna()))]
        if table.missing == "mean" and rows.isna().any():
            parts.append((True, here.isna().to_numpy(float)))
        for word, values in parts:
            trained = pd.Series(values, index=frame.index)[used.index].to_numpy()
            trained = trained[~np.isnan(trained)]
            mean, scale = (trained.mean(), trained.std()) if len(trained) else (0.0, 0.0)
            if len(trained) and trained.min() == trained.max():
                mean, scale = trained[0], 0.0
            elif np.isin(trained, [0, 1]).all():
                mean, scale = 0.0, 1.0
            listed.append((i, word, mean, scale))
            with np.errstate(all="ignore"):
                blocks.append(np.nan_to_num((values - mean) / scale) if scale > 0 else np.zeros(len(values)))
    return listed, np.array(blocks).T.astype(np.float32)


def check(condition, *words):
    if not condition:
        raise Trouble(" ".join(str(w) for w in words))


def one(binaries, seed, index, folder):
    """'read', or the reason of a refusal."""
    rng = random.Random("%d %d" % (seed, index))
    table = Table(rng, folder)
    frame = table.read()
    target = len(table.columns) - 1
    done = run(binaries, folder, "train", ["--data", "csv:table.csv"] + table.options + [
        "--validation", "none", "--test", "none", "--epochs", "2", "--hidden", "4", "--dropout", "0", "--no-plots",
        "--threads", "1", "--out", "m"])
    reason, said = table.may_be_refused(frame), done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
    if done.returncode == 2:
        if "fields, expected" in said and table.separator == "|" and "," in table.text:
            reason = "commas or |"  # the first lines allow both
        check(reason, "refused:", said)
        check("table.csv" in said and len(said) < 700, "refused without the file's name:", said)
        return reason
    check(done.returncode == 0, "status", done.returncode, said)
    used = frame[frame[target].notna()] if table.missing == "mean" else frame.dropna() if table.missing == "drop" else frame
    listed, x = inputs_of(table, frame, used)
    meta, tensors = nets.read(os.path.join(folder, "m", "best.safetensors"))
    card = json.loads(meta["tapegrad.data"])
    check(len(card["inputs"]) == len(listed), "there are", len(card["inputs"]), "inputs, not", len(listed))
    for theirs, (column, word, mean, scale) in zip(card["inputs"], listed):
        check(theirs["number"] == column and theirs.get("missing", False) == (word is True), "another input", theirs)
        check(theirs.get("category") == (word if isinstance(word, str) else None), "another category", theirs, word)
        check(math.isclose(theirs["mean"], mean, rel_tol=1e-9, abs_tol=1e-9 * scale) and
              math.isclose(theirs["scale"], scale, rel_tol=1e-7), "another scale", theirs, mean, scale)
    rows = frame
    if table.missing == "drop" and len(used) < len(frame):  # predict gets the complete rows
        lines = [line for line in table.text.lstrip("\ufeff").splitlines()[table.skipped + table.header:] if line.strip()]
        head = table.text.lstrip("\ufeff").splitlines()[:table.skipped + table.header]
        with open(os.path.join(folder, "table.csv"), "w", encoding="utf-8", newline="") as file:
            file.write("\n".join(head + [lines[i] for i in used.index]) + "\n")
        rows, x = used, x[[frame.index.get_loc(i) for i in used.index]]
    done = run(binaries, folder, "predict", ["--model", "m", "--data", "csv:table.csv"] +
               (["--probabilities"] if table.classes else []))
    check(done.returncode == 0, "predict:", done.stderr.decode("utf-8", "replace")[-300:])
    said = pd.read_csv(io.BytesIO(done.stdout), keep_default_na=False)
    check(len(said) == len(rows), len(said), "predictions for", len(rows), "rows")
    raw = nets.forward(json.loads(meta["tapegrad.model"]), tensors, x)
    if table.classes:
        names = table.columns[-1].order(set(used[target].dropna()))
        check(card["classes"] == names, "other classes", card["classes"], names)
        power = np.exp(raw - raw.max(1, keepdims=True))
        ours, theirs = power / power.sum(1, keepdims=True), said.iloc[:, 2:].to_numpy(float)
    else:
        ours = raw * card["targets"][0]["scale"] + card["targets"][0]["mean"]
        theirs = said.iloc[:, :1].to_numpy(float)
        check(math.isclose(card["targets"][0]["mean"], used[target].mean(), rel_tol=1e-9, abs_tol=1e-9), "another target")
    width = 1 if table.classes else card["targets"][0]["scale"]
    check(np.allclose(ours, theirs, rtol=1e-4, atol=1e-3 * width), "predictions differ by", np.abs(ours - theirs).max())
    return "read"


# ---- forms ----

def numbers(rng, rows):
    return ["%.2f" % rng.gauss(0, 20) for _ in range(rows)]


def words(rng, rows):
    return [rng.choice(["north", "south", "east"]) for _ in range(rows)]


def form_years(rng, rows):
    """A header of a word and of years, and of another word."""
    first, count = rng.randint(1950, 2090), rng.randint(1, 5)
    columns = [words(rng, rows)] + [numbers(rng, rows) for _ in range(count)] + [numbers(rng, rows)]
    head = ["region"] + [str(first + i) for i in range(count)] + ["t"]
    return "\n".join([",".join(head)] + [",".join(row) for row in zip(*columns)]) + "\n", {"sep": ","}, []


def form_gap(rng, rows):
    """A mark of a gap in the first row, and no header."""
    columns = [numbers(rng, rows) for _ in range(rng.randint(2, 4))]
    at = rng.randrange(len(columns) - 1)
    columns[at][0] = rng.choice(["?", "NA", "nan", "<NA>", "#N/A"])
    return ("\n".join(",".join(row) for row in zip(*columns)) + "\n", {"sep": ",", "header": None, "na_values": ["?"]},
            ["--missing", "mean"])


def form_padded(rng, rows):
    """Columns of a fixed width, and a text behind a tab."""
    columns = [numbers(rng, rows) for _ in range(rng.randint(5, 7))]
    lines = ["".join("%9s" % cell for cell in row) + '\t"car %d"' % (i % 3) for i, row in enumerate(zip(*columns))]
    return "\n".join(lines) + "\n", {"sep": r"\s+", "header": None}, ["--target", "0"]


def form_ends(rng, rows):
    """Columns without name and value at the ends of the lines, and empty rows at the end."""
    more, columns = rng.randint(1, 3), [numbers(rng, rows) for _ in range(rng.randint(2, 4))]
    lines = [",".join("c%d" % i for i in range(len(columns))) + "," * more]
    lines += [",".join(row) + "," * more for row in zip(*columns)]
    lines += ["," * (len(columns) + more - 1)] * rng.randint(0, 4)
    return rng.choice(["\n", "\r\n"]).join(lines) + "\n", {"sep": ","}, []


def form_zeros(rng, rows):
    """Zip codes, of which some begin with zeros."""
    codes = ["%05d" % rng.randint(100, 9999), "%05d" % rng.randint(10000, 99999), "%05d" % rng.randint(10000, 99999)]
    columns = [[codes[i % 3] for i in range(rows)], numbers(rng, rows), numbers(rng, rows)]
    return ("\n".join(["zip,a,t"] + [",".join(row) for row in zip(*columns)]) + "\n",
            {"sep": ",", "dtype": {"zip": str}}, [])


def form_hash(rng, rows):
    """A header behind #, with or without a blank."""
    columns = [words(rng, rows)] + [numbers(rng, rows) for _ in range(rng.randint(1, 3))]
    head = rng.choice(["#", "# "]) + ",".join(["Label"] + ["c%d" % i for i in range(len(columns) - 1)])
    return "\n".join([head] + [",".join(row) for row in zip(*columns)]) + "\n", {"sep": ","}, []


def other_file(rng, path):
    """Writes a file of another program; gives a word of the refusal."""
    frame = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9) % 2})
    kind = rng.choice(["npy", "npz", "pickle", "xz", "bz2", "zip", "sqlite"])
    if kind in ("npy", "npz"):
        with open(path, "wb") as file:
            np.save(file, frame.to_numpy()) if kind == "npy" else np.savez(file, x=frame.to_numpy())
        return "NumPy (.%s)" % kind
    if kind in ("xz", "bz2", "zip"):
        frame.to_csv(path, index=False, compression=kind)
        return {"xz": "packed by xz", "bz2": "packed by bzip2", "zip": "a zip archive"}[kind]
    if kind == "pickle":
        frame.to_pickle(path)
        return "a pickle"
    import sqlite3
    with sqlite3.connect(path) as base:
        frame.to_sql("t", base)
    base.close()
    return "an SQLite database"


FORMS = [form_years, form_gap, form_padded, form_ends, form_zeros, form_hash]


def one_form(binaries, seed, index, folder):
    rng = random.Random("form %d %d" % (seed, index))
    path = os.path.join(folder, "table.csv")
    train = ["--data", "csv:table.csv", "--validation", "none", "--test", "none", "--epochs", "1", "--hidden", "4",
             "--no-plots", "--threads", "1", "--task", "regression", "--out", "m"]
    if index % (len(FORMS) + 1) == len(FORMS):
        kind = other_file(rng, path)
        done = run(binaries, folder, "train", train)
        check(done.returncode == 2 and kind in done.stderr.decode(), "not refused as", kind, done.stderr[-200:])
        return "another program's"
    make = FORMS[index % (len(FORMS) + 1)]
    text, how, options = make(rng, rng.randint(30, 60))
    with open(path, "w", newline="") as file:
        file.write(text)
    done = run(binaries, folder, "train", train + options)
    check(done.returncode == 0, make.__name__, done.stderr.decode("utf-8", "replace")[-300:])
    frame = pd.read_csv(io.StringIO(text), **how).dropna(axis=0, how="all").dropna(axis=1, how="all")
    frame.columns = [str(c).lstrip("# ") for c in frame.columns]
    named = make not in (form_gap, form_padded)
    target = 0 if "--target" in options else len(frame.columns) - 1
    meta, _ = nets.read(os.path.join(folder, "m", "best.safetensors"))
    card, found = json.loads(meta["tapegrad.data"]), []
    for i, name in enumerate(frame.columns):
        cells = frame[name]
        if i == target:
            check(math.isclose(card["targets"][0]["mean"], cells.mean(), rel_tol=1e-9, abs_tol=1e-9), "another target")
            continue
        used = cells.dropna()
        if cells.dtype == object:
            found += [(i, name, word, 0.0, 1.0) for word in sorted(set(used))]
        else:
            found.append((i, name, None, used.mean(), used.std(ddof=0)))
            if len(used) < len(cells):
                found.append((i, name, True, 0.0, 1.0))
    check(len(card["inputs"]) == len(found), make.__name__, len(card["inputs"]), "inputs, not", len(found))
    for theirs, (number, name, word, mean, scale) in zip(card["inputs"], found):
        check(theirs["number"] == number and theirs.get("column") == (name if named else None), "another column", theirs)
        check(theirs.get("category") == (word if isinstance(word, str) else None), "another category", theirs, word)
        check(theirs.get("missing", False) == (word is True), "another mark", theirs)
        check(math.isclose(theirs["mean"], mean, rel_tol=1e-9, abs_tol=1e-9) and
              math.isclose(theirs["scale"], scale, rel_tol=1e-7), "another scale", theirs, mean, scale)
    return make.__name__[5:]


def main():
    binaries, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    forms = sys.argv[4:5] == ["forms"]
    only = int(sys.argv[-1]) if len(sys.argv) > 4 + forms else None
    counts, differ = {}, 0
    for index in range(count) if only is None else [only]:
        folder = tempfile.mkdtemp(prefix="tapegrad-troubles-")
        try:
            outcome = (one_form if forms else one)(binaries, seed, index, folder)
            counts[outcome] = counts.get(outcome, 0) + 1
        except Exception as problem:
            differ += 1
            print("table %d (%s): %s: %s" % (index, folder, type(problem).__name__, problem))
        else:
            if only is None:
                shutil.rmtree(folder, ignore_errors=True)
    print("troubles: %d tables (%s), %d differ" % (
        count if only is None else 1, ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items())), differ))
    sys.exit(differ > 0)


main()
