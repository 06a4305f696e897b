"""Summaries, intervals, p-values and verdicts of a comparison, computed with SciPy from the records of the runs.

The only part of the oracle that knows how programs judge; records.py knows what they measure. docs/comparing.md has the
formula of the interval; here it is written with arrays over seeds and rows.
"""
import itertools
import math
import re

import numpy as np
from scipy import stats

from records import close, expect, expect_close, number

SHARES = ("accuracy", "test_calibration_error") + tuple(
    split + measure for split in ("test_", "best_val_") for measure in ("accuracy", "balanced_accuracy", "macro_f1", "auc"))


def more_is_better(measure):
    return measure.endswith("r2") or (measure in SHARES and not measure.endswith("error"))


def units(runs, measure, same_folds):
    """One value for each seed and fold; folds that all seeds share are averaged over the seeds. {unit: value}."""
    values = {}
    for (seed, fold), run in runs.items():
        values.setdefault(fold if same_folds else (seed, fold), []).append(run[measure])
    return {unit: np.mean(v) for unit, v in values.items()}


def plain(values):
    """Mean, deviation, standard error, degrees of freedom of values that are independent; and 0, the part of the error
    that more seeds would not mend."""
    n = len(values)
    deviation = np.std(values, ddof=1) if n > 1 else math.nan
    if deviation <= 1e-12 * max(abs(np.array(values))):
        deviation = 0.0
    return np.mean(values), deviation, deviation / math.sqrt(n) if n > 1 else math.nan, n - 1, 0.0


def by_rows(values, rows, validation=None, trained=1):
    """The same of seeds that redraw the split: values are [rows] of each seed, rows their numbers or those of their
    groups, which are then the units, validation the values of the seeds on their validation rows, and trained what shared
    training rows add, as a share of shared test rows."""
    n, size = len(values), max(max(r) for r in rows) + 1
    means = np.array([v.mean() for v in values])
    share = np.zeros((n, size))  # what each seed's row adds to the error of the mean; 0 where it was not tested
    within = 0.0
    for s, (v, r) in enumerate(zip(values, rows)):
        np.add.at(share[s], r, (v - means[s]) / (n * len(v)))
        units_here = len(set(r))
        if units_here > 1:
            within += (share[s] ** 2).sum() * units_here / (units_here - 1)
    _, deviation, error, _, _ = plain(means)
    between = error ** 2
    known, most = float(n - 1), error ** 2
    if validation is not None and np.isfinite(validation).all() and n > 1:
        other = plain(validation)[2] ** 2
        most = max(most, other)
        training = max(0.0, 1 - 2 * within / (between + other)) if between + other > 0 else 0.0
        more = (1 - training ** 2) / (1 + training ** 2)
        if more > 0:
            between = (known * between + more * other) / (known + more)
            known += more
    weight = min(1.0, within / most) ** 2 if most > 0 else 1.0
    pooled = (known * between + weight * within) / (known + weight)
    r = (share.sum(0) ** 2 - (share ** 2).sum(0)) * n / (n - 1)
    r[(share != 0).sum(0) < 2] = 0
    shared = r.sum() if r.sum() > 1e-12 * math.sqrt((r ** 2).sum()) else 0.0
    variance = pooled + (1 + trained) * shared
    spread = 2 * pooled ** 2 / (known + weight) + ((1 + trained) ** 2 * (r ** 2).sum() if shared > 0 else 0)
    degrees = max(1.0, 2 * variance ** 2 / spread) if variance > 0 else n - 1
    return means.mean(), deviation, math.sqrt(variance), degrees, math.sqrt((1 + trained) * shared)


def less(ours, theirs):
    """Differences of rows; those that are only rounding are none, as two nets that are equally good sum in other orders."""
    difference = np.asarray(ours) - theirs
    return np.where(np.abs(difference) < 1e-12 * np.abs(theirs), 0, difference)


def estimate(runs, others, measure, redrawn, same_folds, validates):
    """Of a measure's mean over runs or, with others, of the mean difference to them: what plain returns. `redrawn` is 0, or
    what rows of redrawn splits add by being trained on, as a share of what they add by being tested."""
    ours = units(runs, measure, same_folds)
    values = np.array(list(ours.values()))
    if others:
        theirs = units(others, measure, same_folds)
        values = values - np.array([theirs[unit] for unit in ours])
    if not redrawn or same_folds or len(values) < 2 or any(measure not in run["rows"] for run in runs.values()):
        return plain(values) if len(values) else (math.nan,) * 5
    rows = [run["rows"] for run in runs.values()]
    seen = [less(r[measure], others[key]["rows"][measure]) if others else r[measure] for key, r in zip(runs, rows)]
    valid = None
    if validates and measure.startswith("test_"):
        on = measure.replace("test_", "best_val_")
        valid = np.array([run.get(on, math.nan) - (others[key].get(on, math.nan) if others else 0)
                          for key, run in runs.items()])
    return by_rows(seen, [r["row"] for r in rows], valid, redrawn if others or more_is_better(measure) else 0.5)


def margin(error, degrees):
    return stats.t.ppf(0.975, degrees) * error if error > 0 else error


def p_of(mean, error, degrees):
    return 2 * stats.t.sf(abs(mean) / error, degrees) if error > 0 else math.nan


def equal_p_of(mean, error, degrees, bound):
    """Two one-sided tests: that the mean is not above -bound, and not below bound. The larger p-value counts."""
    if not error > 0:
        return math.nan
    return max(stats.t.sf((mean + bound) / error, degrees), stats.t.cdf((mean - bound) / error, degrees))


def seeds_needed(error, floor, n, effect, comparisons):
    """With how many seeds a t test shows the effect in 80 % of cases: for the variance found, and for its upper 90 %
    limit; infinite beyond 1,000."""
    counts = np.arange(2, 1001)
    quantiles = stats.t.ppf(1 - 0.025 / max(1, comparisons), counts - 1) + stats.t.ppf(0.8, counts - 1)
    found = (error ** 2 - floor ** 2) * n
    both = []
    for variance in (found, found * (n - 1) / stats.chi2.ppf(0.1, n - 1)):
        enough = counts[quantiles * np.sqrt(variance / counts + floor ** 2) <= effect]
        both.append(int(enough[0]) if len(enough) else math.inf)
    return both


def share_interval(mean, half):
    """On the scale asin(sqrt(x)), as shares lie between 0 and 1."""
    slope = 2 * math.sqrt(max(0, mean * (1 - mean)))
    angle = math.asin(math.sqrt(min(1, max(0, mean))))
    if not half > 0 or slope == 0:
        return mean, mean
    low, high = angle - half / slope, angle + half / slope
    return math.sin(max(low, 0)) ** 2, math.sin(min(high, math.pi / 2)) ** 2


def holm(p):
    order = sorted((value, i) for i, value in enumerate(p) if not math.isnan(value))
    corrected, most = [math.nan] * len(p), 0.0
    for rank, (value, i) in enumerate(order):
        most = max(most, min(1, value * (len(order) - rank)))
        corrected[i] = most
    return corrected


def check_means(summary, groups, redrawn, same_folds, validates):
    for activation, runs in groups.items():
        line = summary[activation]
        expect(int(line["runs"]) == len(runs), activation, "has", line["runs"], "runs and not", len(runs))
        for measure in next(iter(runs.values())):
            if measure + "_mean" not in line:
                continue
            mean, deviation, error, degrees, _ = estimate(runs, None, measure, redrawn, same_folds, validates)
            what = "%s: %s" % (activation, measure)
            expect_close(what + " mean", mean, number(line[measure + "_mean"]), 1e-7)
            if error > 0 and deviation > 0:
                half = margin(error, degrees)
                low, high = share_interval(mean, half) if measure in SHARES else (mean - half, mean + half)
                if measure not in SHARES and not measure.endswith("r2") and all(run[measure] >= 0 for run in runs.values()):
                    low = max(low, 0.0)  # losses and errors are not below 0
                if measure.endswith("r2"):
                    high = min(high, 1.0)
                expect_close(what + " deviation", deviation, number(line[measure + "_deviation"]), 1e-6, 1e-9)
                expect_close(what + " low", low, number(line[measure + "_low"]), 1e-5, 1e-7)
                expect_close(what + " high", high, number(line[measure + "_high"]), 1e-5, 1e-7)


def over_constant(groups, measure, redrawn, same_folds, validates):
    """Of each group: the estimate of its difference to the constant prediction, whether it beats it, and the constant
    prediction's mean; None where a run does not know it."""
    found, ps = {}, []
    for activation, runs in groups.items():
        others = {key: run.get("constant", {}) for key, run in runs.items()}
        if any(measure not in other for other in others.values()):
            return None
        of = estimate(runs, others, measure, redrawn, same_folds, validates)
        found[activation] = [of, False, np.mean(list(units(others, measure, same_folds).values()))]
        ps.append(p_of(of[0], of[2], of[3]))
    sign = 1 if more_is_better(measure) else -1
    for line, p in zip(found.values(), holm(ps)):
        line[1] = sign * line[0][0] > 0 and (p < 0.05 or line[0][2] == 0)
        line.append(abs(p - 0.05) < 1e-4)
    return found


def check_over_constant(summary, groups, redrawn, same_folds, validates):
    for measure in next(iter(next(iter(groups.values())).values())):
        found = over_constant(groups, measure, redrawn, same_folds, validates) if measure != "rows" else None
        for activation, (of, _, mean, _) in (found or {}).items():
            line, what, half = summary[activation], "%s: %s" % (activation, measure), margin(of[2], of[3])
            if measure + "_constant" in line and math.isfinite(mean):
                expect_close(what + " of a constant", mean, number(line[measure + "_constant"]), 1e-7, 1e-9)
                expect_close(what + " over it", of[0], number(line[measure + "_over_constant"]), 1e-6, 1e-8)
                if of[2] > 0:
                    most = 1 if measure in SHARES else math.inf
                    expect_close(what + " over it, low", max(of[0] - half, -most), number(line[measure + "_over_constant_low"]), 1e-5, 1e-7)
                    expect_close(what + " over it, high", min(of[0] + half, most), number(line[measure + "_over_constant_high"]), 1e-5, 1e-7)


def check_beaten(printed, groups, judged, redrawn, same_folds, validates):
    """Which groups do not beat the constant prediction, in the verdict of each judged measure."""
    for measure in judged:
        found = over_constant(groups, measure, redrawn, same_folds, validates)
        words = measure.replace("best_val_", "validation ").replace("_", " ").capitalize()
        said = [s for s in printed.splitlines() if s.startswith(words + ": ") and "beat" in s]
        if not found or any(unsure or not math.isfinite(of[2]) for of, _, _, unsure in found.values()):
            continue
        beaten = [activation for activation, (_, beats, _, _) in found.items() if not beats]
        expect(len(said) == (len(beaten) > 0), "'%s' of" % said, measure, "where not better are", beaten)
        if len(beaten) == len(groups):
            sign = 1 if more_is_better(measure) else -1
            best = max(found, key=lambda activation: sign * found[activation][0][0])
            ahead = sign * found[best][0][0] > 1e-15  # else it is rounding
            expect("no net %sbeats the constant prediction, " % ("significantly " if ahead else "") in said[0], "'%s'" % said[0])
            p = p_of(*[found[best][0][k] for k in (0, 2, 3)])
            expect(("not significant among %d nets" % len(groups) in said[0]) == (ahead and p < 0.05), "'%s' of" % said[0], p)
        elif beaten:
            expect(said[0].split(": ", 1)[1].split(" do")[0].replace(" and ", ", ").split(", ") == beaten,
                   "'%s' and not" % said[0], beaten)


def rows_won(runs, others, measure, redrawn, same_folds):
    """The row with the largest share in the loss of all rows, of both as (share, row), and the interval of the share of
    rows with less loss; None where rows are not compared."""
    if not redrawn or same_folds or len(runs) < 2 or any(measure not in run["rows"] for run in runs.values()):
        return None
    if any(run["rows"]["grouped"] for run in runs.values()):
        return None
    ours, theirs = ([run["rows"][measure] for run in of.values()] for of in (runs, others))
    numbers = np.concatenate([run["rows"]["row"] for run in runs.values()])
    heaviest = []
    for of in (runs, others):
        part = np.bincount(numbers, np.concatenate([of[key]["parts"][measure] for key in runs]))
        share = part.max() / max(part.sum(), 1e-300) if len(set(numbers)) >= 20 else 0
        heaviest.append((share, int(part.argmax())))
    won = [(a < b) + 0.5 * (a == b) for a, b in zip(ours, theirs)]
    if any(run["rows"]["weighted"] for run in runs.values()):  # values are moved by weights, and in another order than losses
        return heaviest, 0, None, None, None
    mean, _, error, degrees, _ = by_rows(won, [run["rows"]["row"] for run in runs.values()], None, redrawn)
    half = margin(error, degrees)
    return heaviest, error, mean, max(0, mean - half), min(1, mean + half)


def same_samples(runs, others, measure, redrawn, same_folds):
    """For other splits of the same rows: the p-value of a t test of the seeds' differences, the fewest rows that make half
    of the mean difference, and all rows; None where rows are not compared."""
    if not redrawn or same_folds or len(runs) < 2 or any(measure not in run["rows"] for run in runs.values()):
        return None
    both = [(run["rows"], others[key]["rows"]) for key, run in runs.items()]
    differences = [mine[measure] - theirs[measure] for mine, theirs in both]
    rows = np.concatenate([mine["row"] for mine, _ in both])
    if any(mine["grouped"] for mine, _ in both):  # a group's part is linearised, as intervals have it
        sums = np.zeros(max(rows) + 1)
        for (mine, _), d in zip(both, differences):
            np.add.at(sums, mine["row"], (d - d.mean()) / len(d))
            seen = sorted(set(mine["row"]))
            sums[seen] += d.mean() / len(seen)
    else:
        sums = np.bincount(rows, np.concatenate([(run["parts"][measure] - others[key]["parts"][measure]) / len(run["rows"]["row"])
                                                 for key, run in runs.items()]))
    parts = np.cumsum(sorted(sums * np.sign(sums.sum()), reverse=True))
    mean, _, error, degrees, _ = plain(np.array([d.mean() for d in differences]))
    half = int(np.argmax(parts >= abs(sums.sum()) / 2)) + 1 if sums.sum() != 0 else 0
    unsure = np.abs(parts - abs(sums.sum()) / 2).min() <= 1e-9 * abs(sums.sum())  # by rounding one row more or less
    return p_of(mean, error, degrees), half, len(set(rows)), unsure


def check_pair(line, what, ours, theirs, measure, redrawn, same_folds, validates):
    """A line of pairs.csv; returns what was computed for it."""
    common = {key: run for key, run in ours.items() if key in theirs}
    others = {key: theirs[key] for key in common}
    mean, deviation, error, degrees, floor = estimate(common, others, measure, redrawn, same_folds, validates)
    a, b = units(others, measure, same_folds), units(common, measure, same_folds)
    greater, less = sum(b[u] > a[u] for u in b), sum(b[u] < a[u] for u in b)
    better, worse = (greater, less) if more_is_better(measure) else (less, greater)
    have = sum(not math.isnan(a[u] - b[u]) for u in b)
    half = margin(error, degrees)
    expect_close(what + " difference", mean, number(line["difference"]), 1e-6, 1e-9)
    expect((better, worse, have) == tuple(int(line[k]) for k in ("better", "worse", "pairs")), what, "is better in",
           line["better"], "and worse in", line["worse"], "of", line["pairs"], "and not", better, worse, have)
    if error > 0:
        most = 1 if measure in SHARES else math.inf
        expect_close(what + " difference low", max(mean - half, -most), number(line.get("difference_low")), 1e-5, 1e-8)
        expect_close(what + " difference high", min(mean + half, most), number(line.get("difference_high")), 1e-5, 1e-8)
    p = p_of(mean, error, degrees)
    expect(close(p, number(line.get("p")), 1e-5, 1e-8), what, "p is", line.get("p"), "and not", p)
    base = 1 if measure in SHARES else estimate(theirs, None, measure, redrawn, same_folds, validates)[0]
    here = same_samples(common, others, measure, redrawn, same_folds)
    won = None if not measure.endswith("loss") else rows_won(common, others, measure, redrawn, same_folds)
    return {"mean": mean, "error": error, "degrees": degrees, "floor": floor, "p": p, "better": better, "worse": worse,
            "pairs": len(b), "base": base, "won": won, "here": here}


def check(summary, pairs, groups, judged, redrawn, same_folds, validates, margin_of=None):
    """summary.csv, as lines by activation, and pairs.csv against the runs of each group:
    groups = {activation: {(seed, fold): measures}}; margin_of is --margin. Returns what was computed, by measure,
    activation and other."""
    measures = {m for runs in groups.values() for run in runs.values() for m in run}
    groups = {a: {unit: {m: math.nan if run.get(m) is None else run[m] for m in measures}  # R2 of one row, AUC of one class
                  for unit, run in runs.items()} for a, runs in groups.items()}
    check_means(summary, groups, redrawn, same_folds, validates)
    check_over_constant(summary, groups, redrawn, same_folds, validates)
    lines = {(line["measure"], line["name"], line["against"]): line for line in pairs
             if line["measure"] in judged or line["difference"]}  # else no split has the measure, as AUC of one class
    expect(len(lines) == len(judged) * len(groups) * (len(groups) - 1) // 2, "pairs.csv has", len(lines), "lines")
    found = {}
    for measure in judged:
        keys = [(measure, b, a) for a, b in itertools.combinations(groups, 2)]
        for key in keys:
            found[key] = check_pair(lines[key], " ".join(key), groups[key[1]], groups[key[2]], measure, redrawn,
                                    same_folds, validates)
        for key, corrected in zip(keys, holm([found[key]["p"] for key in keys])):
            said = number(lines[key].get("p_corrected"))
            expect(close(corrected, said, 1e-5, 1e-8), *key, "corrected p", said, "and not", corrected)
            found[key].update(corrected=corrected, effect=abs(found[key]["base"]) * (margin_of or 0.01),
                              comparisons=len(keys))
            if key[2] == next(iter(groups)):
                expect(close(corrected, number(summary[key[1]].get(measure + "_p_corrected")), 1e-5, 1e-8), *key,
                       "has another p in summary.csv")
        for key, corrected in zip(keys, holm([found[key]["here"][0] if found[key]["here"] else math.nan for key in keys])):
            said = number(lines[key].get("p_same_samples"))
            expect(close(corrected, said, 1e-5, 1e-8), *key, "p for the same samples", said, "and not", corrected)
            found[key]["here_p"] = corrected
        equal = [equal_p_of(*[found[key][k] for k in ("mean", "error", "degrees", "effect")]) if margin_of else math.nan
                 for key in keys]
        for key, corrected in zip(keys, holm(equal)):
            said = number(lines[key].get("p_equal_within_margin"))
            expect(close(corrected, said, 1e-5, 1e-8), *key, "p of equality", said, "and not", corrected)
            found[key]["equal"] = corrected
    return found


def check_band(what, values, by_fold, line, column, share=False):
    """The mean over seeds of what runs recorded, {(seed, fold): value}, and around it the 95 % interval, of two or three
    the least and the greatest; over folds with one seed, or if all seeds have the same."""
    found = {}
    for (seed, fold), value in values.items():
        found.setdefault(fold if by_fold else seed, []).append(value)
    means = np.array([np.mean(v) for v in found.values()])
    expect_close(what, means.mean(), number(line[column[0]]), 1e-7)
    low, high = means.min(), means.max()
    if len(means) > 3:
        half = margin(*plain(means)[2:4])
        low, high = share_interval(means.mean(), half) if share else (means.mean() - half, means.mean() + half)
    for end, name in ((low, column[1]), (high, column[2])):
        expect((len(means) > 1) == bool(line[name]), what, "has the band", line[name])
        if len(means) > 1:
            expect_close(what + ", " + name, end, number(line[name]), 1e-6, 1e-7)


def of_band(name):
    return name, name + "_low", name + "_high"


def check_bands(lines, activation, recorded, by_fold):
    """The rows of step_bands.csv for an activation. recorded = {(seed, fold): {column: {step: loss}}}."""
    for column in ("train_loss", "val_loss"):
        ours = {int(line["step"]): line for line in lines if line["activation"] == activation and line[column]}
        longest = max((of[column] for of in recorded.values()), key=len)  # folds may have fewer steps
        expect(set(ours) == set(longest), activation, column, "has other steps in step_bands.csv")
        for place, step in enumerate(longest):
            values = {}
            for run, of in recorded.items():  # one that ended before keeps its last value
                steps = list(of[column])
                if step in (steps[place:place + 1] or [step]):
                    values[run] = of[column][step if place < len(steps) else steps[-1]]
            what = "%s, step %d: %s" % (activation, step, column)
            units = {fold if by_fold else seed for seed, fold in values}
            expect(int(ours[step]["runs"]) == len(units), what, "is of", ours[step]["runs"], "and not", len(units))
            check_band(what, values, by_fold, ours[step], of_band(column))


# A value that is searched: the factor between two of the grid, the coarse ones in the beginning and how many they may be.
RATES, SCALES = (10 ** 0.25, (-2, 0, 2), 9), (2, (-2, 0), 6)


def search(usual, activations, means, kinds):
    """--lr auto and --init-scale auto: {(activation, point)} of all that are tried, and the best point of each activation.
    usual, and a point, have a value for each of the kinds; means = {(activation, point): loss}."""
    def at(steps):
        return tuple(float("%.3g" % (u * k[0] ** n)) for u, k, n in zip(usual, kinds, steps))

    def best(activation, steps):
        return min(sorted(steps), key=lambda of: means.get((activation, at(of)), math.inf))

    grid, grows = [set(first) for _, first, _ in kinds], True
    while grows:
        tried = set(itertools.product(*grid))
        found, grows = {a: best(a, tried) for a in activations}, False
        for place, (values, (_, _, most)) in enumerate(zip(grid, kinds)):
            ends = {of[place] for of in found.values()}
            for end, more in ((min(values), -2), (max(values), 2)):
                if end in ends and len(values) < most:
                    values.add(end + more)
                    grows = True
    own = {a: tried | {of[:place] + (of[place] + side,) + of[place + 1:] for place in range(len(kinds)) for side in (-1, 1)}
           for a, of in found.items()}
    if kinds == (RATES,):  # then all try them
        own = dict.fromkeys(activations, set().union(*own.values()))
    return {(a, at(of)) for a in activations for of in own[a]}, {a: at(best(a, own[a])) for a in activations}


def order_by_scale(activations, means, scale_of):
    """The activation that comes first at each scale at which all have a finite loss, the smallest scale first."""
    order = {}
    for scale in sorted({scale_of(point) for _, point in means}):
        least = {a: min([loss for (name, point), loss in means.items() if name == a and scale_of(point) == scale],
                        default=math.inf) for a in activations}
        first = [a for a in activations if least[a] == min(least.values())]
        if math.isfinite(max(least.values())) and len(first) == 1:
            order[scale] = first[0]
    return order


def check_seeds(said, c, pairs, what):
    """The sentence's range of seeds that would show the margin. The quantile of chi-square is approximate there."""
    unclear = not (c["corrected"] < 0.05 or c["equal"] < 0.05)
    range_said = re.search(r"; (?:more than )?(\d+) (?:to (\d+)|or many more)? ?%s would show %s" % (pairs, re.escape(what)), said)
    room = abs(c["mean"]) + margin(c["error"], c["degrees"]) if c["error"] > 0 else math.nan
    if abs(room / c["effect"] - 1) < 1e-6:
        return
    if not unclear or c["pairs"] < 10 or not room >= c["effect"] or not c["base"] > 0:  # nor percent of less than 0
        expect(not range_said, "'%s' has a number of %s" % (said, pairs))
        return
    low, high = seeds_needed(c["error"], c["floor"], c["pairs"], c["effect"], c["comparisons"])
    if high <= 0.97 * c["pairs"]:
        expect(not range_said, "'%s' has a number of %s, where %g are enough" % (said, pairs, high))
    elif low < 970 and high > 1.03 * c["pairs"]:
        expect(range_said is not None, "'%s' and not %g to %g %s" % (said, low, high, pairs))
        expect(close(low, int(range_said.group(1)), 1e-9), "'%s' and not %g" % (said, low))
        if range_said.group(2):
            expect(close(high, int(range_said.group(2)), 0.03, 1), "'%s' and not %g" % (said, high))
        else:
            expect(high > 970, "'%s' and not %g" % (said, high))


def check_single_rows(lines, name, against, words, c):
    """Where a row of 20 or more has more than a quarter of a loss, a line names it, and another has the share of rows that
    were won."""
    if c["won"] is None or any(abs(share - 0.25) < 1e-6 for share, _ in c["won"][0]):
        return
    heaviest, error, mean, low, high = c["won"]
    for of, (share, row) in zip((name, against), heaviest):
        said = [s for s in lines if re.match(r"Row \d+ of the data .* of the %s of %s, so that mean" % (re.escape(words), re.escape(of)), s)]
        expect(len(said) == (share > 0.25), of, "says", said, "where a row makes", share)
        for line in said:
            numbers = [int(n) for n in re.match(r"Row (\d+) .* makes (\d+) % of the ", line).groups()]
            expect(numbers[0] == row and abs(numbers[1] - 100 * share) < 0.5001, line, "and not row", row, share)
    said = [s for s in lines if s.startswith("Of single samples, %s has less %s than %s on " % (name, words, against))]
    expect(len(said) == (max(share for share, _ in heaviest) > 0.25 and error > 0), name, against, "say", said, heaviest)
    for line in said:
        numbers = [float(n) for n in re.findall(r"(\d+) (?:%|to)", line)]
        ours = [100 * x for x in (mean, low, high)]
        expect(len(numbers) == 3 and all(abs(a - b) < 0.5001 for a, b in zip(numbers, ours)), line, "and not", ours)


def check_here(said, c):
    """Significant on these samples alone: said, with the fewest rows that make half of the difference if they are at most
    a tenth of all."""
    here = c["here_p"] < 0.05 and not c["corrected"] < 0.05 and not c["equal"] < 0.05
    expect(("significant on these samples" in said) == here, "'%s'" % said, "where p is", c["here_p"], c["corrected"])
    half = re.search(r"; (\d+) of (\d+) (?:samples|groups) makes? half", said)
    if here and not c["here"][3]:
        few = 10 * c["here"][1] <= c["here"][2]
        expect((half is not None) == few and (not few or half.groups() == (str(c["here"][1]), str(c["here"][2]))),
               "'%s' and not %d of %d" % (said, *c["here"][1:3]))


def check_sentences(printed, found, judged, margin_of, pairs):
    """A sentence for each pair of the first judged measure, that says significant where Holm's p is below 5 %, and equal
    where that of the margin is; how many seeds, or folds (`pairs`), would show the margin; and nothing that contradicts
    runs which all agree."""
    lines = printed.splitlines()
    for (measure, name, against), c in found.items():
        if measure not in judged:
            continue
        words = measure.replace("best_val_", "validation ").replace("_", " ")
        if c["pairs"] > 1:
            check_single_rows(lines, name, against, words, c)
        start = "%s against %s: %s " % (name, against, words)
        said = [s for s in lines if s.startswith(start)]
        if measure != judged[0] and c["pairs"] > 1:
            here = c["here_p"] < 0.05 and not c["corrected"] < 0.05
            expect(len(said) == (here or margin_of is not None), "'%s'" % said, "where p is", c["here_p"], c["corrected"])
            if here:
                check_here(said[0], c)
        if measure != judged[0] or c["pairs"] < 2:
            continue
        expect(len(said) == 1, "no sentence, or several, on", start)
        expect((": significant, " in said[0]) == (c["corrected"] < 0.05), "'%s'" % said[0], "where p is", c["corrected"])
        expect((" corrected p " in said[0]) == (" p " in said[0] and c["comparisons"] > 1), "'%s'" % said[0])
        check_here(said[0], c)
        expect("no difference" not in said[0], "'%s'" % said[0])
        expect(("among %d comparisons" % c["comparisons"] in said[0]) ==
               (c["p"] < 0.05 <= c["corrected"] and not c["equal"] < 0.05 and not c["here_p"] < 0.05), "'%s'" % said[0], "where p is", c["p"])
        if c["error"] > 0:
            expect((": equal within" in said[0]) == (c["equal"] < 0.05 <= c["corrected"]) and
                   (", though equal within" in said[0]) == (c["equal"] < 0.05 and c["corrected"] < 0.05) and
                   ("; not shown to be equal within" in said[0]) == (margin_of is not None and not c["equal"] < 0.05),
                   "'%s'" % said[0], "where p is", c["equal"])
            percent = 100 * (margin_of or 0.01)
            what = "%g %s" % (percent, "%" if measure not in SHARES else "point" if percent == 1 else "points")
            check_seeds(said[0], c, pairs, what)
        if not math.isnan(c["p"]):
            count = "better in %d" % c["better"] if c["better"] > c["worse"] else "worse in %d" % c["worse"]
            if c["better"] == c["worse"] or c["better"] + c["worse"] < c["pairs"]:  # others have no difference
                count = "better in %d and worse in %d" % (c["better"], c["worse"])
            agree = ", %s of %d" % (count, c["pairs"])
            expect(agree in said[0], "'%s' and not %s" % (said[0], agree))
    defined = any(line.startswith('"On these samples" means') for line in lines)
    used = any("n these samples" in line for line in lines if not line.startswith('"On'))
    expect(defined or not used, "nothing says what 'on these samples' means")
    hidden = any(c["here_p"] < 0.05 <= c["corrected"] for c in found.values())
    expect(used or hidden or not defined, "'on these samples' is explained and not used")
    for measure in judged:
        of = [c for key, c in found.items() if key[0] == measure]
        words = measure.replace("best_val_", "validation ").replace("_", " ").capitalize()
        direction = "more" if more_is_better(measure) else "less"
        said = [s for s in lines if s.startswith(tuple("%s (%s is better), " % (start, direction) for start in (words, measure)))]
        if all(c["pairs"] > 1 for c in of):
            expect(len(said) == 1, "no answer, or several, on", words)
            plain_words = not any(word in said[0].split(": ", 1)[1] for word in ("worse", "better", "best", ", then "))
            clear = any(c["corrected"] < 0.05 or c["here_p"] < 0.05 and c["pairs"] > 1 or (c["pairs"] > 5 and c["pairs"] in (c["better"], c["worse"])) for c in of)
            if "runs are missing, and pairs differ in their order" in said[0]:  # what pairs say is no order of all
                expect(clear, "'%s'" % said[0], "where no pair differs")
            else:
                expect(clear != plain_words, "'%s'" % said[0])
