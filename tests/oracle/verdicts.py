"""Summaries, intervals, p-values and verdicts of a comparison, computed with SciPy from one value a run.

The only part of the oracle that knows how programs judge; records.py knows what they measure.
"""
import math

import numpy as np
from scipy import stats

from records import close, expect, expect_close, number

SHARES = ("test_accuracy", "best_val_accuracy", "test_calibration_error")


def units(runs, measure, same_folds):
    """One value for each seed and fold; folds that all seeds share are averaged over the seeds. {unit: value}."""
    values = {}
    for (seed, fold), run in runs.items():
        values.setdefault(fold if same_folds else (seed, fold), []).append(run[measure])
    return {unit: np.mean(v) for unit, v in values.items()}


def interval(values, overlap):
    """Mean, deviation and half width of the 95 % interval (Nadeau and Bengio's for overlapping splits)."""
    n, mean = len(values), np.mean(values)
    deviation = np.std(values, ddof=1) if n > 1 else math.nan
    if deviation <= 1e-14 * max(abs(np.array(values))):
        deviation = 0.0
    return mean, deviation, stats.t.ppf(0.975, n - 1) * deviation * math.sqrt(1 / n + overlap) if n > 1 else math.nan


def share_interval(values, overlap):
    """On the scale asin(sqrt(x)), as shares lie between 0 and 1."""
    mean, _, margin = interval(values, overlap)
    slope = 2 * math.sqrt(mean * (1 - mean))
    angle = math.asin(math.sqrt(min(1, max(0, mean))))
    if not margin > 0 or slope == 0:
        return mean, mean
    low, high = angle - margin / slope, angle + margin / slope
    return math.sin(max(low, 0)) ** 2, math.sin(min(high, math.pi / 2)) ** 2


def holm(p):
    order = sorted((value, i) for i, value in enumerate(p) if not math.isnan(value))
    corrected, most = [math.nan] * len(p), 0.0
    for rank, (value, i) in enumerate(order):
        most = max(most, min(1, value * (len(order) - rank)))
        corrected[i] = most
    return corrected


def compare(ours, theirs, overlap):
    """Of two lists of values, paired: mean difference, deviation, margin, p, p of the sign test, greater, less."""
    difference = np.array(ours) - np.array(theirs)
    mean, deviation, margin = interval(difference, overlap)
    n, p, sign = len(difference), math.nan, math.nan
    if n > 1 and deviation > 0:
        t = abs(mean) / (deviation * math.sqrt(1 / n + overlap))
        p = 2 * stats.t.sf(t, n - 1)
    greater, less = int((difference > 0).sum()), int((difference < 0).sum())
    if greater + less:
        sign = stats.binomtest(greater, greater + less).pvalue
    return {"mean": mean, "deviation": deviation, "margin": margin, "p": p, "sign": sign, "greater": greater,
            "less": less}


def check(summary, groups, judged, overlap, same_folds):
    """summary.csv, as lines by activation, against the runs of each: groups = {activation: {(seed, fold): measures}}.
    Returns the comparisons with the first activation, by activation and measure."""
    first = next(iter(groups))
    found, p = {}, []
    for activation, runs in groups.items():
        line = summary[activation]
        expect(int(line["runs"]) == len(runs), activation, "has", line["runs"], "runs and not", len(runs))
        for measure in next(iter(runs.values())) if runs else []:
            if measure + "_mean" not in line:
                continue
            values = list(units(runs, measure, same_folds).values())
            mean, deviation, margin = interval(values, overlap)
            what = "%s: %s" % (activation, measure)
            expect_close(what + " mean", mean, number(line[measure + "_mean"]), 1e-7)
            if len(values) > 1 and deviation > 0:
                expect_close(what + " deviation", deviation, number(line[measure + "_deviation"]), 1e-6, 1e-9)
                low, high = share_interval(values, overlap) if measure in SHARES else (mean - margin, mean + margin)
                expect_close(what + " low", low, number(line[measure + "_low"]), 1e-5, 1e-7)
                expect_close(what + " high", high, number(line[measure + "_high"]), 1e-5, 1e-7)
            if activation == first:
                continue
            common = {key: run for key, run in runs.items() if key in groups[first]}
            ours = units(common, measure, same_folds)
            theirs = units({key: groups[first][key] for key in common}, measure, same_folds)
            c = compare(list(ours.values()), [theirs[unit] for unit in ours], overlap)
            expect_close(what + " difference", c["mean"], number(line[measure + "_difference"]), 1e-6, 1e-9)
            if len(ours) > 1:
                expect_close(what + " difference low", c["mean"] - c["margin"],
                             number(line[measure + "_difference_low"]), 1e-5, 1e-8)
                for key, name in (("p", "_p"), ("sign", "_sign_p")):
                    expect_close(what + name, c[key], number(line.get(measure + name)), 1e-5, 1e-8)
            expect((c["greater"], c["less"]) == (int(line[measure + "_greater"]), int(line[measure + "_less"])), what,
                   "is greater or less in", line[measure + "_greater"], line[measure + "_less"], "and not", c["greater"],
                   c["less"])
            found[activation, measure] = c
            if measure in judged:
                p.append((activation, measure, c["p"]))
    for (activation, measure, _), corrected in zip(p, holm([value for _, _, value in p])):
        said = number(summary[activation].get(measure + "_p_corrected"))
        expect(close(corrected, said, 1e-5, 1e-8), activation, measure, "corrected p", said, "and not", corrected)
        found[activation, measure]["corrected"] = corrected
    return found


def check_sentences(printed, found, judged, first):
    """A sentence for each judged difference, that says significant where Holm's p is below 5 %, and no more."""
    for (activation, measure), c in found.items():
        if measure not in judged:
            continue
        words = measure.replace("best_val_", "validation ").replace("_", " ")
        start = "%s against %s: " % (activation, first)
        said = [s for s in printed.splitlines() if s.startswith(start) and words in s]
        expect(len(said) == 1, "no sentence, or several, on", start, words)
        significant = c.get("corrected", math.nan) < 0.05
        expect((", significant at" in said[0]) == significant, "'%s'" % said[0], "where p is", c.get("corrected"))
        low, high = c["mean"] - c["margin"], c["mean"] + c["margin"]
        if not math.isnan(c["margin"]) and c["deviation"] > 0:
            zero = low <= 0 <= high
            expect(not zero or "no difference" in said[0] or "no verdict" in said[0], "'%s'" % said[0], "where", low,
                   high)
