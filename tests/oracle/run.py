#!/usr/bin/python3
"""An oracle for the programs: random commands whose results it computes again, sharing no code with them.

    /usr/bin/python3 tests/oracle/run.py build/bin 500 1       # binaries, commands, seed

From the data file, the split and the saved weights it computes inputs, predictions, measures, the best epoch, summaries,
intervals and p-values with NumPy and SciPy, and compares them with what train, compare and predict wrote and printed.
A part of the commands trains with one step an epoch, and NumPy trains beside it. The last lines count commands and those
that differ; the status is 1 if any differs. Without NumPy or SciPy it says so and ends with status 0. A fourth number
runs one command alone and keeps its folder.

tables.py reads data, nets.py computes nets, records.py checks a run's folder, verdicts.py the judgement of a comparison
and the search of learning rates, moments.py those of nets at the start, commands.py makes the commands. troubles.py,
measures.py, continued.py, repeated.py and advice.py are oracles of their own: of files as people have them, of
scikit-learn's measures, of runs that are stopped and continued, of `train` after `compare`, and of what is advised.
"""
import collections
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import traceback

try:
    import numpy
    import scipy
except ImportError as missing:
    print("oracle: SKIPPED, there is no %s; Debian's python3-numpy and python3-scipy have it" % missing.name)
    sys.exit(0)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commands  # noqa: E402
from records import Differs  # noqa: E402


KINDS = {"train": 16, "retrain": 8, "compare": 8, "auto": 4, "synthetic": 2, "boundary": 1, "images": 4, "text": 4, "moments": 1,
         "lines": 2, "pairs": 4, "elsewhere": 4}


def one(job):
    """Runs a command; its kind, and None, what differs or why it was refused."""
    binaries, seed, index, keep = job
    for attempt in range(20):  # a refused combination of options is no test: take another
        rng = random.Random("%d %d %d" % (seed, index, attempt))
        folder = tempfile.mkdtemp(prefix="tapegrad-oracle-")
        c = commands.Commands(binaries, folder, rng)
        kind = rng.choices(list(KINDS), KINDS.values())[0]
        try:
            getattr(c, kind)(index)
            return kind, None, attempt
        except commands.Refused as reason:
            last = str(reason)
        except Differs as difference:
            keep = True
            return kind, "command %d: %s\n    %s" % (index, c.said, difference), attempt
        except Exception:  # a file that is missing, a column that is not there
            keep = True
            return kind, "command %d: %s\n%s" % (index, c.said, traceback.format_exc()), attempt
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)
    return kind, "command %d: 20 combinations were refused, the last: %s" % (index, last), attempt


def main():
    binaries, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    jobs = [(binaries, seed, index, False) for index in range(count)]
    if len(sys.argv) > 4:  # a single command, whose folder stays
        jobs = [(binaries, seed, int(sys.argv[4]), True)]
    kinds, refused, differ = collections.Counter(), 0, 0
    os.environ["OMP_NUM_THREADS"] = "1"
    with multiprocessing.Pool(min(2, os.cpu_count() or 1)) as pool:
        for kind, problem, attempts in pool.imap_unordered(one, jobs):
            kinds[kind] += 1
            refused += attempts
            if problem:
                differ += 1
                print(problem, flush=True)
    print("oracle: %d commands (%s; %d more were refused or diverged), %d differ" % (
        sum(kinds.values()), ", ".join("%d %s" % (n, kind) for kind, n in sorted(kinds.items())), refused, differ))
    done = sum(kinds.values())
    print("%d%%: Checks: %d, Failures: %d, Errors: 0" % (100 * (done - differ) / done, done, differ))  # as libcheck's
    return differ > 0


if __name__ == "__main__":
    sys.exit(main())
