#!/usr/bin/env python3
"""Computes what the samples of the operations should give, independently of the library.

    make golden          (golden-samples > samples; make_golden.py < samples)

Reads the samples that golden-samples prints and writes tests/golden/expected.txt, which tests/autograd/test_golden.c compares with.
Needs PyTorch 1.13 or later and mpmath: Debian's python3-torch and python3-mpmath, or `pip install torch mpmath`.
"""

import importlib
import json
import math
import pathlib
import pkgutil
import sys

try:
    import mpmath
    import numpy
    import torch
except ImportError as error:
    sys.exit(f"make_golden.py: {error}. Debian: apt-get install python3-torch python3-mpmath; or pip install torch mpmath")

import references
from references.common import Case

HERE = pathlib.Path(__file__).parent

HEADER = """\
# What the operations should give; compared with what they give by tests/autograd/test_golden.c.
# Made by `make golden` from tests/golden/references/CATEGORY.py in double precision, gradients by their own differentiation.
# Not for editing by hand. The lines:
#   OPERATION SAMPLE inputs CHECKSUM                the sample that was computed
#   OPERATION SAMPLE output TYPE[SHAPE] NUMBERS     its value
#   OPERATION SAMPLE gradient-I TYPE[SHAPE] NUMBERS for input I and a random cotangent
#   ... output-terms or gradient-I-terms ...        sizes of what these numbers were added up from: errors are relative to that
"""


def categories():
    """Name of a category -> its references, from the modules of references/."""
    names = [module.name for module in pkgutil.iter_modules(references.__path__) if module.name != "common"]
    return {name: importlib.import_module(f"references.{name}").REFERENCES for name in names}


def read_case(record):
    def array(values, tensor):
        dtype = numpy.int64 if tensor["type"] == "i32" else numpy.float64
        return numpy.array(values, dtype=dtype).reshape(tensor["shape"])

    inputs = record["inputs"]
    cotangent = record["cotangent"]
    return Case(
        operation=record["operation"],
        sample=record["sample"],
        attributes=record["attributes"],
        inputs=[array(x["values"], x) for x in inputs],
        differentiated=[x["differentiated"] for x in inputs],
        cotangent=None if cotangent is None else array(cotangent, record["output"]),
    )


def exact(number):
    """The shortest text that gives the number back: 0.1, nan, -inf."""
    text = repr(float(number))
    return text[:-2] if text.endswith(".0") else text


def rough(number):
    """The size of the terms: two digits do, and where it is not a number the result is not either."""
    return f"{number:.1e}" if math.isfinite(number) and number > 0 else "0"


def lines_of(record, answer):
    start = f"{record['operation']} {record['sample']}"

    def line(what, values, write):
        values = numpy.asarray(values)
        dtype = {"i": "i32", "b": "i32"}.get(values.dtype.kind, "f64")
        shape = ",".join(map(str, values.shape))
        return " ".join([start, what, f"{dtype}[{shape}]", *map(write, values.reshape(-1))])

    yield f"{start} inputs {record['checksum']}"
    yield line("output", answer.output, exact)
    if answer.output_terms is not None:
        yield line("output-terms", answer.output_terms, rough)
    for i, gradient in answer.gradients.items():
        yield line(f"gradient-{i}", gradient, exact)
        if i in answer.gradient_terms:
            yield line(f"gradient-{i}-terms", answer.gradient_terms[i], rough)


def main():
    known = {operation: (category, function) for category, table in categories().items() for operation, function in table.items()}
    written, unknown = {}, set()
    for record in map(json.loads, sys.stdin):
        operation = record["operation"]
        if operation not in known:
            unknown.add(operation)
            continue
        category, function = known[operation]
        try:
            answer = function(read_case(record))
        except Exception as error:
            sys.exit(f"{operation}, sample {record['sample']} {record['attributes']}: {error}")
        here, there = list(answer.output.shape), record["output"]["shape"]
        if here != there:
            sys.exit(f"{operation}, sample {record['sample']}: the output is {here} here and {there} there")
        written.setdefault(category, []).extend(lines_of(record, answer))
    versions = f"PyTorch {torch.__version__}, mpmath {mpmath.__version__} and NumPy {numpy.__version__}"
    path = HERE / "expected.txt"
    path.write_text(HEADER + "".join(f"#\n# {category}, with {versions}\n" + "\n".join(lines) + "\n" for category, lines in sorted(written.items())))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    if unknown:
        print("no reference yet in tests/golden/references:", ", ".join(sorted(unknown)))


if __name__ == "__main__":
    main()
