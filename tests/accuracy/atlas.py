#!/usr/bin/env python3
"""How exact other programs' GELU and SiLU are, over x, in single precision: numbers, a picture and a table.

    python3 tests/accuracy/atlas.py results                  # needs NumPy and mpmath; and whatever else this Python has
    python3 tests/accuracy/atlas.py results --pythons /opt/torch/bin/python,/opt/jax/bin/python

Writes atlas.csv (function,order,program,x,ulp: the largest error in each of 400 bins of x), atlas.png and .svg by
gnuplot, and prints the largest error of each program as a table. References have 40 digits, by mpmath. Where a
derivative crosses zero, the error is divided by 2^-24 at least: no relative error says anything there. tapegrad's own
values come from build/libtapegrad.so.
"""

import argparse
import ctypes
import pathlib
import subprocess
import sys

import numpy as np

BINS, EACH, LOW, HIGH = 400, 48, -14, 6
FUNCTIONS = ["gelu_exact", "gelu_tanh", "silu"]
ZEROS = {"gelu_exact": -0.7517916243464655, "gelu_tanh": -0.7524614220710162, "silu": -1.2784645427610738}
SHIFT, CUBIC = np.sqrt(2 / np.pi), 0.044715

# ---- programs: the value and the derivative of a function at x; None where there is none ----


def torch(x):
    import torch
    from torch.nn import functional as f

    functions = {"gelu_exact": f.gelu, "gelu_tanh": lambda v: f.gelu(v, approximate="tanh"), "silu": f.silu}
    for name in FUNCTIONS:
        v = torch.tensor(x, requires_grad=True)
        y = functions[name](v)
        y.sum().backward()
        yield y.detach().numpy(), v.grad.numpy()


def jax(x):
    import jax

    functions = {"gelu_exact": lambda v: jax.nn.gelu(v, approximate=False), "gelu_tanh": jax.nn.gelu,
                 "silu": jax.nn.silu}
    for name in FUNCTIONS:
        compiled = [jax.jit(f)(x) for f in (functions[name], jax.vmap(jax.grad(functions[name])))]
        yield tuple(np.asarray(y) for y in compiled)


def scipy(x):
    """The formulas as they are usually written."""
    from scipy.special import erf, expit

    f = np.float32
    phi = f(0.5) * (1 + erf(x / np.sqrt(f(2))))
    yield x * phi, phi + x * np.exp(-x * x / 2) / np.sqrt(f(2 * np.pi))
    t = np.tanh(f(SHIFT) * (x + f(CUBIC) * x**3))
    yield f(0.5) * x * (1 + t), f(0.5) * (1 + t) + f(0.5) * x * (1 - t * t) * f(SHIFT) * (1 + 3 * f(CUBIC) * x * x)
    s = expit(x)
    yield x * s, s * (1 + x * (1 - s))


def onnxruntime(x):
    """It has no derivatives. SiLU is Mul(x, Sigmoid(x)), as exporters write it."""
    import onnxruntime as runtime
    from onnx import TensorProto, helper

    gelu = lambda form: [helper.make_node("Gelu", ["x"], ["y"], approximate=form)]
    silu = [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Mul", ["x", "s"], ["y"])]
    for nodes in gelu("none"), gelu("tanh"), silu:
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [len(x)]) for name in "xy"]
        model = helper.make_model(helper.make_graph(nodes, "one", ends[:1], ends[1:]),
                                  opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        yield session.run(None, {"x": x})[0], None


class Tensor(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("serial", ctypes.c_uint64)]


class Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int), ("sizes", ctypes.c_int64 * 8)]


def tapegrad(x):
    library = ctypes.CDLL(str(pathlib.Path(__file__).parents[2] / "build/libtapegrad.so"))
    library.tg_tape_new.restype = ctypes.c_void_p
    library.tg_borrow.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, Shape]
    library.tg_activate.argtypes = [ctypes.c_int, Tensor, ctypes.c_void_p]
    library.tg_activation_derivative.argtypes = [ctypes.c_int, Tensor]
    library.tg_f32.argtypes = [Tensor]
    library.tg_f32.restype = ctypes.POINTER(ctypes.c_float)
    for name in "tg_borrow", "tg_activate", "tg_activation_derivative":
        getattr(library, name).restype = Tensor
    tape, shape = library.tg_tape_new(), Shape(1, (ctypes.c_int64 * 8)(len(x)))
    v = library.tg_borrow(tape, 0, x.ctypes.data, shape)
    numbers = lambda tensor: np.ctypeslib.as_array(library.tg_f32(tensor), x.shape).copy()
    for name in FUNCTIONS:
        kind = ctypes.c_int()
        assert library.tg_activation_from_name(name.encode(), ctypes.byref(kind))
        yield numbers(library.tg_activate(kind, v, None)), numbers(library.tg_activation_derivative(kind, v))


PROGRAMS = {program.__name__: program for program in (torch, jax, scipy, onnxruntime, tapegrad)}

# ---- what is right ----


def references(x):
    """[function, order, point], as double: 2^-29 of a float's ulp."""
    import mpmath as m

    m.mp.dps = 40
    c, a = m.sqrt(2 / m.pi), m.mpf("0.044715")

    def exact(v):
        return v * m.ncdf(v), m.ncdf(v) + v * m.npdf(v)

    def tanh_form(v):
        s = 1 / (1 + m.exp(-2 * c * (v + a * v**3)))  # (1 + tanh u) / 2
        return v * s, s + v * s * (1 - s) * 2 * c * (1 + 3 * a * v * v)

    def silu(v):
        s = 1 / (1 + m.exp(-v))
        return v * s, s + v * s * (1 - s)

    return np.array([[[float(part) for part in pair] for pair in map(function, map(m.mpf, map(float, x)))]
                     for function in (exact, tanh_form, silu)]).transpose(0, 2, 1)


def errors(function, order, x, y, exact):
    least = np.full(x.shape, -149)
    if order == 1:
        ratio = x / ZEROS[function]
        least[(ratio > 1 / 1.6) & (ratio < 1.6)] = -24
    exponent = np.frexp(exact)[1] - 24
    return np.abs(y.astype(float) - exact) / np.ldexp(1.0, np.maximum(exponent, least))


# ---- the whole ----


def answers_of(program, pythons, x):
    """[function, order, point] of the first Python that has it, NaN where there is nothing; None: none has it."""
    for python in pythons:
        child = subprocess.run([python, __file__, "--program", program], input=x.tobytes(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        if child.returncode == 0:
            return np.frombuffer(child.stdout, np.float32).reshape(len(FUNCTIONS), 2, len(x))
    print(f"atlas.py: {program} left out: {child.stderr.decode().strip().splitlines()[-1]}", file=sys.stderr)
    return None


def answer(program):
    x = np.frombuffer(sys.stdin.buffer.read(), np.float32)
    for pair in PROGRAMS[program](x):
        for y in pair:
            sys.stdout.buffer.write((np.full(x.shape, np.nan) if y is None else y).astype(np.float32).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=pathlib.Path, help="folder")
    parser.add_argument("--pythons", default=sys.executable, help="Pythons that have the others, with commas between")
    parser.add_argument("--program", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.program:
        return answer(options.program)
    if not options.out:
        parser.error("a folder to write into is missing")
    x = (LOW + (HIGH - LOW) * (np.arange(BINS * EACH) + 0.5) / (BINS * EACH)).astype(np.float32)
    middles = x.reshape(BINS, EACH).mean(1)
    exact = references(x)
    options.out.mkdir(parents=True, exist_ok=True)
    titles = [f"{function}{order}" for function in FUNCTIONS for order in ("", "'")]
    print("|".join(["", "program", *titles, ""]) + "\n" + "|---" * (len(titles) + 1) + "|")
    with open(options.out / "atlas.csv", "w") as file:
        print("function,order,program,x,ulp", file=file)
        for program in PROGRAMS:
            values = answers_of(program, options.pythons.split(","), x)
            cells = []
            for i, function in enumerate(FUNCTIONS if values is not None else []):
                for order in 0, 1:
                    ulp = errors(function, order, x, values[i, order], exact[i, order])
                    cells.append("-" if np.isnan(ulp).all() else f"{ulp.max():.3g}")
                    for middle, worst in zip(middles, ulp.reshape(BINS, EACH).max(1)):
                        print(f"{function},{order},{program},{middle:.6g},{worst:.4g}", file=file)
                    print("\n", file=file)
            if cells:
                print("|".join(["", program, *cells, ""]))
    script = pathlib.Path(__file__).parents[2] / "plots/atlas.gp"
    return subprocess.run(["gnuplot", "-e", f"dir='{options.out}'", str(script)]).returncode


if __name__ == "__main__":
    sys.exit(main())
