#!/usr/bin/env python3
"""Formulas as activations against other implementations: values against mpmath with 50 digits, derivatives of first and second
order, by x, u, v and trained numbers, against PyTorch's autograd in double or, without PyTorch, against mpmath's differences, but at kinks.

    python tests/oracle/formulas.py build/libtapegrad.so          # needs mpmath, and PyTorch for kinks

Each formula is written twice: as ours, and as a Python expression for PyTorch and mpmath alike.
"""

import ctypes
import sys

import mpmath as mp

try:
    import torch
except ImportError:
    torch = None

mp.mp.dps = 50

FORMULAS = [
    # built-in twins
    ("0.5 x (1 + erf(x / sqrt(2)))", "0.5 * x * (1 + erf(x / sqrt(2)))"),
    ("0.5 x erfc(-x / sqrt(2))", "0.5 * x * erfc(-x / sqrt(2))"),
    ("0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))", "0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))"),
    ("x sigmoid(1.702 x)", "x * sigmoid(1.702 * x)"),
    ("x sigmoid(x)", "x * sigmoid(x)"),
    ("x tanh(softplus(x))", "x * tanh(log1p(exp(x)))"),
    ("max(0, x)", "relu(x)"),
    ("where(x > 0, x, x / 100)", "where(x > 0, x, x / 100)"),
    ("where(x > 0, x, e^x - 1)", "where(x > 0, x, exp(x) - 1)"),
    ("1.0507009873554805 where(x > 0, x, 1.6732632423543772 expm1(x))",
     "1.0507009873554805 * where(x > 0, x, 1.6732632423543772 * expm1(x))"),
    ("x clamp(x + 3, 0, 6) / 6", "x * clamp(x + 3, 0, 6) / 6"),
    ("log(1 + e^x)", "log(1 + exp(x))"),
    ("tanh(x)", "tanh(x)"),
    ("1 / (1 + e^-x)", "1 / (1 + exp(-x))"),
    ("max(0, x)^2", "relu(x)**2"),
    ("0.8944 max(0, x)^2 - 0.4472", "0.8944 * relu(x)**2 - 0.4472"),
    ("sin(x)", "sin(x)"),
    ("x + sin(x)^2", "x + sin(x)**2"),
    ("where(x > 0, 0.8 x^2 + 0.5 x, 0.8 (e^x - 1 - x) + 0.5 x)",
     "where(x > 0, 0.8 * x**2 + 0.5 * x, 0.8 * (exp(x) - 1 - x) + 0.5 * x)"),
    ("where(x > 0, tanh(x), tanh(x) / 4)", "where(x > 0, tanh(x), tanh(x) / 4)"),
    ("x / (1 + abs(x))", "x / (1 + abs(x))"),
    ("x", "x"),
    # named functions of the library
    ("gelu_exact(x)", "0.5 * x * erfc(-x / sqrt(2))"),
    ("silu(2 x - 1)", "(2 * x - 1) * sigmoid(2 * x - 1)"),
    ("mish(x) + softsign(x)", "x * tanh(log1p(exp(x))) + x / (1 + abs(x))"),
    ("elu(x, 0.7)", "where(x > 0, x, 0.7 * expm1(x))"),
    ("leaky_relu(x, 0.3)", "where(x > 0, x, 0.3 * x)"),
    ("hardsigmoid(x) cos(x)", "clamp(x / 6 + 0.5, 0, 1) * cos(x)"),
    ("power(x, 5)", "x**5"),
    ("rsqrt(1 + x^2)", "1 / sqrt(1 + x**2)"),
    # compositions
    ("mine: x sigmoid(1.5 x)", "x * sigmoid(1.5 * x)"),
    ("x tanh(e^x)", "x * tanh(exp(x))"),
    ("x e^(-x^2 / 2)", "x * exp(-x**2 / 2)"),
    ("sin(x) sigmoid(x) + cos(2 x)", "sin(x) * sigmoid(x) + cos(2 * x)"),
    ("log1p(x^2) / 2", "log1p(x**2) / 2"),
    ("sqrt(x^2 + 1) - 1", "sqrt(x**2 + 1) - 1"),
    ("(x + sqrt(x^2 + 4)) / 2", "(x + sqrt(x**2 + 4)) / 2"),
    ("x^3 - 2 x^2 + x - 3", "x**3 - 2 * x**2 + x - 3"),
    ("tanh(x) tanh(x) tanh(x)", "tanh(x) * tanh(x) * tanh(x)"),
    ("sigmoid(sigmoid(sigmoid(4 x)))", "sigmoid(sigmoid(sigmoid(4 * x)))"),
    ("erf(x) erfc(x)", "erf(x) * erfc(x)"),
    ("-x^2 / -(1 + x^2)", "-x**2 / -(1 + x**2)"),
    ("pow(1 + x^2, x / 3)", "(1 + x**2) ** (x / 3)"),
    ("2 pi x / e - x / (pi e)", "2 * pi * x / e - x / (pi * e)"),
    # kinks
    ("abs(x) + abs(x - 1)", "abs(x) + abs(x - 1)"),
    ("max(x, x^2)", "maximum(x, x**2)"),
    ("sqrt(clamp(x, 0, 2.5))", "sqrt(clamp(x, 0, 2.5))"),
    ("sqrt(max(x^3, 0)) / 2", "sqrt(maximum(x**3, 0 * x)) / 2"),
    ("min(max(x, -1), 1)", "minimum(maximum(x, -1 + 0 * x), 1 + 0 * x)"),
    ("max(0, x) - 0.1 max(0, -x)", "relu(x) - 0.1 * relu(-x)"),
    ("where(abs(x) < 1, x^2 / 2, abs(x) - 0.5)", "where(abs(x) < 1, x**2 / 2, abs(x) - 0.5)"),
    ("sign(x) sqrt(1 + abs(x)) - sign(x)", "sign(x) * sqrt(1 + abs(x)) - sign(x)"),
    ("(x > 0) x^3", "where(x > 0, x**3, 0 * x)"),
    # poles
    ("1 / x", "1 / x"),
    ("x / (x - 0.75)", "x / (x - 0.75)"),
    ("1 / -expm1(x)", "1 / -expm1(x)"),
    ("log(abs(x)) x", "log(abs(x)) * x"),
    ("x^-3", "x**-3"),
    # trained numbers
    ("x sigmoid(b x), b = 1.25", "x * sigmoid(b * x)"),
    ("a tanh(b x) + c, a = 0.5, b = 2, c = -1", "a * tanh(b * x) + c"),
    ("where(x > 0, x, b x), b = 0.25", "where(x > 0, x, b * x)"),
    ("x + sin(a x)^2 / a, a = 1.5", "x + sin(a * x)**2 / a"),
    ("max(a x, b x), a = 1, b = -0.5", "maximum(a * x, b * x)"),
    # gates
    ("u * gelu_exact(v)", "u * 0.5 * v * erfc(-v / sqrt(2))"),
    ("u v", "u * v"),
    ("u sigmoid(v) + v sigmoid(u)", "u * sigmoid(v) + v * sigmoid(u)"),
    ("max(u, v)", "maximum(u, v)"),
    ("u silu(b v), b = 0.5", "u * (b * v) * sigmoid(b * v)"),
]
POINTS = [-30.0, -7.5, -2.9, -2.3, -1.0, -0.6, -1e-3, 1e-9, 0.1, 0.5, 1.0, 1.7, 2.9, 4.2, 12.0]


# ---- ours, through the shared library ----

class Tensor(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("serial", ctypes.c_uint64)]


class Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int), ("dim", ctypes.c_int64 * 8)]


class Number(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 32), ("value", ctypes.c_double), ("per_unit", ctypes.c_bool)]


def bind(path):
    lib = ctypes.CDLL(path)
    lib.tg_formula_new.restype = lib.tg_tape_new.restype = ctypes.c_void_p
    lib.tg_formula_number_at.restype = ctypes.POINTER(Number)
    lib.tg_variable.restype = lib.tg_formula_apply.restype = lib.tg_sum.restype = Tensor
    lib.tg_variable.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, Shape]
    lib.tg_formula_apply.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    lib.tg_formula_is_gated.argtypes = [ctypes.c_void_p]
    lib.tg_formula_is_gated.restype = ctypes.c_bool
    lib.tg_formula_number_at.argtypes = [ctypes.c_void_p, ctypes.c_int]
    lib.tg_sum.argtypes = [Tensor]
    lib.tg_grad.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_bool,
                            ctypes.c_void_p]
    lib.tg_grad.restype = ctypes.c_bool
    lib.tg_read.argtypes = [Tensor, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64]
    lib.tg_tape_error.argtypes = [ctypes.c_void_p]
    lib.tg_tape_error.restype = ctypes.c_char_p
    return lib


def read(lib, tensor):
    numbers = (ctypes.c_double * len(POINTS))()
    assert lib.tg_read(tensor, 1, numbers, len(POINTS))
    return list(numbers)


def inputs_of(gated):
    """Lists of numbers, one for x, or two for u and v."""
    return [POINTS, [0.5 - p / 3 for p in POINTS[3:] + POINTS[:3]]] if gated else [POINTS]


def ours(lib, text):
    """Values; and [[first derivatives], [second derivatives]] by every input and trained number, which has the size of an input."""
    error = ctypes.create_string_buffer(800)
    formula = lib.tg_formula_new(text.encode(), error)
    assert formula, f"{text}: {error.value.decode()}"
    tape, shape = lib.tg_tape_new(), Shape(1, (ctypes.c_int64 * 8)(len(POINTS)))
    lists, numbers = inputs_of(lib.tg_formula_is_gated(formula)), []
    while lib.tg_formula_number_at(formula, len(numbers)):
        numbers.append(lib.tg_formula_number_at(formula, len(numbers)).contents.value)
    lists = lists + [[n] * len(POINTS) for n in numbers]
    variables = (Tensor * len(lists))(*[lib.tg_variable(tape, 1, (ctypes.c_double * len(POINTS))(*l), shape) for l in lists])
    first = len(lists) - len(numbers)
    trained = (Tensor * max(1, len(numbers)))(*variables[first:])
    y = lib.tg_formula_apply(formula, variables, trained if numbers else None)
    orders, outputs = [], [y]
    for order in range(2):
        found = []
        for out in outputs:
            slopes = (Tensor * len(lists))()
            total = (Tensor * 1)(lib.tg_sum(out))
            assert lib.tg_grad(total, 1, variables, len(lists), None, True, slopes), lib.tg_tape_error(tape)
            found += list(slopes)
        orders.append([read(lib, s) for s in found])
        outputs = found
    return read(lib, y), orders


# ---- theirs ----

def torch_names():
    names = {n: getattr(torch, n) for n in "sigmoid tanh exp expm1 log log1p sin cos erf erfc relu abs sign maximum minimum "
             "clamp".split()}
    names["sqrt"] = lambda a: torch.sqrt(a) if isinstance(a, torch.Tensor) else a**0.5
    names["where"] = torch.where
    return dict(names, pi=torch.pi, e=float(mp.e))


def mp_names():
    return dict(sigmoid=lambda a: 1 / (1 + mp.exp(-a)), tanh=mp.tanh, exp=mp.exp, expm1=mp.expm1, log=mp.log, log1p=mp.log1p,
                sin=mp.sin, cos=mp.cos, erf=mp.erf, erfc=mp.erfc, relu=lambda a: max(a, 0), abs=abs, sign=mp.sign,
                maximum=max, minimum=min, clamp=lambda a, low, high: min(max(a, low), high), sqrt=mp.sqrt,
                where=lambda c, a, b: a if c else b, pi=mp.pi, e=mp.e)


def trained_of(text):
    return {part.split("=")[0].strip(): float(part.split("=")[1]) for part in text.split(",") if "=" in part and "==" not in part}


def mp_derivative(expression, names, place, order):
    """A derivative of some orders by the names at a place; None at a kink, where it depends on the side."""
    def value(*numbers):
        return mp.mpf(eval(expression, mp_names(), dict(zip(names, numbers))))
    left, right = (mp.diff(value, tuple(place), tuple(order), direction=side, h=mp.mpf(10) ** -30) for side in (-1, 1))
    return right if abs(left - right) < 1e-8 * max(1, abs(left)) else None


def by_mpmath(expression, lists):
    """As PyTorch's: for each order and each choice of inputs one after the other, a list over the points."""
    names, count = list(lists), len(lists)
    unit = [[int(i == k) for k in range(count)] for i in range(count)]
    orders = [unit, [[a + b for a, b in zip(unit[i], unit[k])] for i in range(count) for k in range(count)]]
    return [[[mp_derivative(expression, names, [mp.mpf(lists[n][i]) for n in names], order) for i in range(len(POINTS))]
             for order in chosen] for chosen in orders]


def theirs(text, expression):
    gated = "v" in expression.replace("over", "")
    trained = trained_of(text)
    lists = dict(zip("uv" if gated else "x", inputs_of(gated)))
    lists.update({name: [value] * len(POINTS) for name, value in trained.items()})
    exact = [eval(expression, mp_names(), {name: mp.mpf(numbers[i]) for name, numbers in lists.items()}) for i in range(len(POINTS))]
    return exact, by_torch(expression, lists) if torch else by_mpmath(expression, lists)


def by_torch(expression, lists):
    tensors = {name: torch.tensor(numbers, dtype=torch.float64, requires_grad=True) for name, numbers in lists.items()}
    y = eval(expression, torch_names(), tensors)
    orders, outputs = [], [y]
    for order in range(2):
        found = []
        for out in outputs:
            slopes = torch.autograd.grad(out.sum(), tensors.values(), create_graph=True, allow_unused=True) \
                if out.requires_grad else [None] * len(tensors)
            found += [torch.zeros(len(POINTS), dtype=torch.float64) if s is None else s for s in slopes]
        orders.append([(torch.zeros(len(POINTS), dtype=torch.float64) + s).tolist() for s in found])
        outputs = found
    return orders


def far(a, b, tolerance):
    """Whether two numbers differ by more than the rounding of a composition of a few operations."""
    if mp.isnan(a) or mp.isnan(b) or mp.isinf(a) or mp.isinf(b):
        return not (mp.isnan(a) and mp.isnan(b)) and a != b
    return abs(a - b) > tolerance * max(1, abs(a), abs(b))


def main():
    lib = bind(sys.argv[1])
    differ = compared = 0
    for text, expression in FORMULAS:
        value, orders = ours(lib, text)
        exact, expected = theirs(text, expression)
        wrong = [f"f at {i}: {v!r}, not {mp.nstr(x, 17)}" for i, (v, x) in enumerate(zip(value, exact)) if far(v, x, 4e-15)]
        for order, (mine, other) in enumerate(zip(orders, expected)):
            assert len(mine) == len(other)
            for k, (a, b) in enumerate(zip(mine, other)):
                wrong += [f"derivative {order + 1}, {k} at {POINTS[i]}: {p!r}, not {q!r}"
                          for i, (p, q) in enumerate(zip(a, b)) if q is not None and far(p, q, 2e-13)]
                compared += sum(q is not None for q in b)
        differ += bool(wrong)
        for line in wrong[:4]:
            print(f"{text}: {line}")
    print(f"{len(FORMULAS)} formulas, {compared} derivatives by {'PyTorch' if torch else 'mpmath'}: {differ} differ")
    return differ > 0


if __name__ == "__main__":
    sys.exit(main())
