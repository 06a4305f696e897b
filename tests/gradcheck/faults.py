"""Wrong derivatives of tests/gradcheck/wrong_ops*.c, and right ones, as PyTorch's torch.autograd.Function or JAX's custom_vjp, given to gradcheck over
a pipe. With a Python that has PyTorch or JAX:

    build/bin/gradcheck --command 'python3 tests/gradcheck/faults.py torch'
    build/bin/gradcheck --command 'python3 tests/gradcheck/faults.py jax' --seed 1
    build/bin/gradcheck --command 'python3 tests/gradcheck/faults.py jax float32'

It says at the end what was missed, and fails if any fault was, or if anything right was called wrong. Faults below the
promise, a millionth in float64 and a thousandth in float32, are left out. Those of peers.py are here with inputs at which they show; a fault that no input shows is none of the function.
"""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here]
from tapegrad_check import check  # noqa: E402, first: it keeps what is printed out of the pipe
from peers import FAULTS  # noqa: E402

import numpy as np  # noqa: E402

library, dtype = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "float64"
if library == "torch":
    import torch as xp
else:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as xp

random = np.random.default_rng(0)
draw = lambda *shape: random.uniform(-3, 3, shape)
small = lambda *shape: random.uniform(0.2, 2, shape)
VECTOR, MATRIX, SQUARE = draw(4), draw(3, 4), draw(3, 3)
T = lambda x: x.T

# Where a fault of peers.py shows, if not at usual numbers.
PLACES = {
    "wrong from rank 4 on": draw(2, 1, 2, 2),
    "wrong above 100 elements": draw(101),
    "wrong for 13 elements": draw(13),
    "wrong at 0 exactly": np.array([0, 1.5, -0.7]),
    "wrong at 1 exactly": np.array([1, 1.5, -0.7]),
    "wrong beyond 12": np.array([13.5, 1.5, -0.7]),
    "wrong below a millionth": np.array([1e-7, 1.5, -0.7]),
}
FINE = {"1e-9 of the cotangent's square mixed in", "pseudo-random errors of 1e-4", "pseudo-random errors of 1e-4 in 100 elements",
        "pseudo-random errors of 1e-7 in 100 elements", "pseudo-random errors of 1e-10 in 100 elements", "off by 1e-5 relative",
        "off by 1e-9 relative", "1e-10 added", "the cotangent clipped at 10,000", "a gradient rounded to single precision",
        "a slope kept with half of its digits"}
BELOW = {"pseudo-random errors of 1e-7 in 100 elements", "pseudo-random errors of 1e-10 in 100 elements", "off by 1e-9 relative",
         "a gradient rounded to single precision"}  # errors of less than a millionth, which are not promised to be caught

square = lambda x: x * x
sech2 = lambda x: 1 - xp.tanh(x) ** 2
sigmoid = lambda x: 1 / (1 + xp.exp(-x))
softmax = lambda x: xp.exp(x) / xp.exp(x).sum(-1, keepdims=True)
gelu_tanh = lambda x: 0.5 * x * (1 + xp.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def gelu_tanh_slope(x, c=0.7978845608028654, a=3 * 0.044715):
    t = xp.tanh(0.7978845608028654 * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + a * x * x)


def kept(value):
    """A state that the value leaves behind."""
    state = {}

    def f(x):
        if library == "torch":
            state["x"] = x.detach().clone()
        return value(x)

    return f, state


calls = {"count": 0}


def drifting():
    calls["count"] += 1
    return calls["count"]


def roll(x):
    return xp.roll(x, 1) if library == "jax" else xp.roll(x, 1, 0)


total = lambda x: x.sum(0)
mse = lambda x, y: ((x - y) ** 2).mean()
linear = lambda x, w, b: x @ T(w) + b
linear_vjp = lambda g, x, w, b: (g @ w, T(g) @ x, total(g))
mean_gradient = lambda g, x, y: 2 * g * (x - y) / float(np.prod(tuple(x.shape)))

# fault, f(*x), vjp(g, *x), x
MORE = [
    ("a factor of two too few", square, lambda g, x: g * x, VECTOR),
    ("a gradient rounded to single precision", square, lambda g, x: g * rounded(2 * x), VECTOR),
    ("the sign of abs lost", xp.abs, lambda g, x: g * 1, VECTOR),
    ("cos without its minus", xp.cos, lambda g, x: g * xp.sin(x), VECTOR),
    ("the tanh form's slope under the quick form", lambda x: x * sigmoid(1.702 * x), lambda g, x: g * gelu_tanh_slope(x), VECTOR),
    ("1/sqrt(2) for sqrt(2/pi)", gelu_tanh, lambda g, x: g * gelu_tanh_slope(x, c=0.5**0.5), VECTOR),
    ("a for 3a", gelu_tanh, lambda g, x: g * gelu_tanh_slope(x, a=0.044715), VECTOR),
    ("silu's gradient through its gate missing", lambda x: x * sigmoid(x), lambda g, x: g * sigmoid(x), VECTOR),
    ("clamp that lets everything through", lambda x: xp.clip(x, -1, 1), lambda g, x: g * 1, draw(6)),
    ("wrong in the tails only", xp.tanh, lambda g, x: g * xp.where(xp.abs(x) > 2, 0 * x, sech2(x)), np.array([2.5, -0.3, 1.0])),
    ("wrong right at a kink only", lambda x: xp.where(x > 0, x, 0 * x), lambda g, x: g * xp.where(x > 0, 1 + 0 * x, xp.where(x == 0, 5 + 0 * x, 0 * x)),
     np.array([-1, 0, 1, 2.0])),
    ("wrong for one element only", square, lambda g, x: -2 * g * x, draw(1)),
    ("the cotangent ignored", square, lambda g, x: 2 * x, VECTOR),
    ("a constant added", square, lambda g, x: 2 * g * x + 0.01, VECTOR),
    ("the cotangent squared", square, lambda g, x: 2 * g * g * x, VECTOR),
    ("the cotangent clipped at 1/2", square, lambda g, x: 2 * xp.clip(g, -0.5, 0.5) * x, VECTOR),
    ("right for a cotangent of ones only", softmax, lambda g, x: 0 * g, MATRIX),
    ("NaN everywhere", square, lambda g, x: g * x * float("nan"), VECTOR),
    ("NaN at zero", square, lambda g, x: g * (2 * x * x / x), np.array([-1, 0, 1.0])),
    ("a sum over the wrong axis", softmax, lambda g, x: softmax(x) * (g - (g * softmax(x)).sum(0, keepdims=True)), MATRIX),
    ("softmax without its sum", softmax, lambda g, x: softmax(x) * g, MATRIX),
    ("a transposed gradient", lambda x: x * 1, lambda g, x: T(g), SQUARE),
    ("permuted, and not back", lambda x: T(x) * 1, lambda g, x: g.reshape(x.shape), MATRIX),
    ("the gradient of the mean for that of the sum", lambda x: x.sum(), lambda g, x: g * (0 * x + 1) / float(np.prod(tuple(x.shape))), MATRIX),
    ("a mean not divided by its count", mse, lambda g, x, y: (2 * g * (x - y), -2 * g * (x - y)), (draw(5), draw(5))),
    ("the two inputs' gradients swapped", lambda a, b: a * b, lambda g, a, b: (g * a, g * b), (draw(5), draw(5))),
    ("the minus of the second input lost", lambda a, b: a - b, lambda g, a, b: (g * 1, g * 1), (draw(5), draw(5))),
    ("both inputs of a maximum get the whole gradient", xp.maximum, lambda g, a, b: (g * 1, g * 1), (draw(5), draw(5))),
    ("a matrix not transposed", lambda a, b: a @ b, lambda g, a, b: (g @ b, T(a) @ g), (draw(3, 3), draw(3, 3))),
    ("a bias without the sum over rows", linear, lambda g, x, w, b: linear_vjp(g, x, w, b)[:2] + (g[0] * 1,), (draw(3, 4), draw(2, 4), draw(2))),
    ("a bias added twice", linear, lambda g, x, w, b: linear_vjp(g, x, w, b)[:2] + (2 * total(g),), (draw(3, 4), draw(2, 4), draw(2))),
    ("an index off by one", lambda x: roll(x) * 1, lambda g, x: g * 1, draw(5)),
    ("one element of a hundred", square, lambda g, x: 2 * g * x * xp.where(x == x.max(), 1.1 + 0 * x, 1 + 0 * x), draw(10, 10)),
    ("a term missing", lambda x: x * xp.tanh(x), lambda g, x: g * xp.tanh(x), VECTOR),
    ("a norm taken for a constant", lambda x: x / xp.sqrt((x * x).sum()), lambda g, x: g / xp.sqrt((x * x).sum()), VECTOR),
]

# Faults that a compiled function has not: something is kept from call to call, or what was given is changed.
stale, state = kept(square)
TORCH_ONLY = [
    ("a gradient of another shape", square, lambda g, x: (2 * g * x).reshape(-1), draw(2, 3)),
    ("a gradient that changes from call to call", square, lambda g, x: 2 * g * x * (1 + 1e-3 * drifting()), VECTOR),
    ("a result that changes from call to call", lambda x: x * x * (1 + 1e-3 * drifting()), lambda g, x: 2 * g * x, VECTOR),
    ("a stale saved value", stale, lambda g, x: 2 * g * state["x"], VECTOR),
    ("an input overwritten in the forward pass", lambda x: x.mul_(x) * 1, lambda g, x: 2 * g * x, VECTOR),
]

RIGHT = [
    ("square", square, lambda g, x: 2 * g * x, draw(3, 4)),
    ("tanh", xp.tanh, lambda g, x: g * sech2(x), draw(33)),
    ("softmax", softmax, lambda g, x: softmax(x) * (g - (g * softmax(x)).sum(-1, keepdims=True)), MATRIX),
    ("product", lambda a, b: a @ b, lambda g, a, b: (g @ T(b), T(a) @ g), (draw(2, 3), draw(3, 2))),
    ("linear", linear, linear_vjp, (draw(3, 4), draw(2, 4), draw(2))),
    ("gelu_tanh", gelu_tanh, lambda g, x: g * gelu_tanh_slope(x), draw(9)),
    ("relu", lambda x: xp.where(x > 0, x, 0 * x), lambda g, x: g * xp.where(x > 0, 1 + 0 * x, 0 * x), np.array([-1, 0, 1, 2.0])),
    ("log of small ones", xp.log, lambda g, x: g / x, np.array([1e-6, 0.5, 3])),
    ("norm", lambda x: xp.sqrt((x * x).sum()), lambda g, x: g * x / xp.sqrt((x * x).sum() + 1e-30), draw(100)),
    ("log sum exp", lambda x: xp.log(xp.exp(x).sum()), lambda g, x: g * xp.exp(x) / xp.exp(x).sum(), draw(5)),
    ("mean of squares", mse, lambda g, x, y: (mean_gradient(g, x, y), -mean_gradient(g, x, y)), (draw(5), draw(5))),
    ("roll", lambda x: roll(x) * 1, (lambda g, x: xp.roll(g, -1)) if library == "jax" else (lambda g, x: xp.roll(g, -1, 0)), draw(5)),
    ("maximum", xp.maximum, lambda g, a, b: (g * xp.where(a > b, 1 + 0 * a, 0 * a), g * xp.where(a > b, 0 * a, 1 + 0 * a)), (draw(5), draw(5))),
    ("power", lambda x: x**3.5, lambda g, x: 3.5 * g * x**2.5, small(6)),
    ("sine of many", xp.sin, lambda g, x: g * xp.cos(x), draw(200)),
]


def rounded(x):
    return x.to(xp.float32).to(x.dtype) if library == "torch" else x.astype("float32").astype(x.dtype)


def array(numbers):
    return xp.tensor(numbers, dtype=getattr(xp, dtype)) if library == "torch" else xp.asarray(numbers, dtype)


def tuple_of(x):
    return x if isinstance(x, tuple) else (x,)


def as_function(f, vjp):
    """With a derivative of its own, as a user defines it."""
    if library == "jax":
        function = jax.custom_vjp(f)
        function.defvjp(lambda *x: (f(*x), x), lambda x, g: tuple_of(vjp(g, *x)))
        return function

    class Function(xp.autograd.Function):
        @staticmethod
        def forward(ctx, *x):
            ctx.save_for_backward(*x)
            return f(*x)

        @staticmethod
        def backward(ctx, g):
            return vjp(g, *ctx.saved_tensors)

    return Function.apply


def row_of(name, value, vjp, shapes):
    return name, lambda x: value(xp, x), lambda g, x: vjp(xp, g, x), PLACES.get(name, draw(*shapes[-1]))


def main():
    peers = [row_of(*fault) for fault in FAULTS if fault[0] != "nothing wrong"]
    wrong = peers + MORE + (TORCH_ONLY if library == "torch" else [])
    wrong = [row for row in wrong if row[0] not in BELOW and (dtype == "float64" or row[0] not in FINE)]
    missed, rejected, undecided = [], [], 0
    for rows, is_right in ((RIGHT, True), (wrong, False)):
        for name, f, vjp, x in rows:
            result = check(as_function(f, vjp), None, tuple(array(a) for a in tuple_of(x)), name=("right: " if is_right else "") + name)
            undecided += result.result == "cannot tell"
            if is_right and result.result == "FAILED":
                rejected.append(name)
            elif not is_right and result.result != "FAILED":
                missed.append(name)
    print(f"{library}, {dtype}: caught {len(wrong) - len(missed)} of {len(wrong)} faults; called {len(rejected)} of {len(RIGHT)} right ones wrong; "
          f"cannot tell {undecided}")
    for name in missed + rejected:
        print("not as expected:", name)
    sys.exit(bool(missed or rejected))


main()
