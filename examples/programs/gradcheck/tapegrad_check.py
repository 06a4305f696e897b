"""Checks derivatives of NumPy, PyTorch and JAX functions with tapegrad's gradcheck, which finds this file by itself:

    # mine.py
    import numpy as np
    from tapegrad_check import check

    check(np.tanh, lambda x, v: v * (1 - np.tanh(x) ** 2), np.array([0.3, -1.2, 2.0]))
    check(lambda a, b: a @ b, lambda a, b, v: (v @ b.T, a.T @ v), (np.random.rand(2, 3), np.random.rand(3, 2)))
    check(lambda w: (w ** 2).sum(), lambda w: 2 * w, np.array([0.3, -1.2]))  # the gradient of a scalar

    gradcheck --command 'python3 mine.py'

f takes the arrays of x and gives an array, or a tuple of them; vjp takes the same and v, one for each output, and gives
J^T v for each array of x, None for integers and what is fixed. Of a scalar f it may take x alone and give the gradient.
Without a vjp, that of PyTorch (torch.autograd) or JAX
(jax.vjp) is checked, as defined by your Function or custom_vjp. The type of x is that of the check: float64, float32 or
bfloat16. What the program prints goes to standard error.
"""
import collections
import inspect
import json
import os
import sys

import numpy as np

Result = collections.namedtuple("Result", "result why")  # "passed", "cannot tell" or "FAILED"

if "TAPEGRAD_GRADCHECK" not in os.environ:
    sys.exit(f"run it by: gradcheck --command 'python3 {sys.argv[0]}'")
_pipe = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)


def _send(message):
    _pipe.write(json.dumps(message).encode() + b"\n")
    _pipe.flush()


def _tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _listed(x):
    """All numbers in order; JSON has neither infinities nor NaN."""
    x = np.asarray(x, np.float64)
    return x.ravel().tolist() if np.isfinite(x).all() else [a if np.isfinite(a) else None for a in x.ravel().tolist()]


class _NumPy:
    """How arrays of a library are made of doubles and back."""

    def __init__(self, x):
        self.like = tuple(np.asarray(a) for a in x)

    def kind(self, a):
        return "i32" if np.issubdtype(a.dtype, np.integer) else {"float64": "f64", "float32": "f32", "bfloat16": "bf16"}.get(str(a.dtype))

    def make(self, numbers, like):
        array = np.array(numbers, like.dtype)
        array.flags.writeable = False  # f cannot change what it is given
        return array

    def numbers(self, a):
        if np.iscomplexobj(a):
            raise TypeError("complex numbers have no gradient here: give their real and imaginary parts")
        return np.asarray(a, np.float64)

    def vjp(self, f, count):
        raise TypeError("expected a vjp or a jvp: NumPy does not differentiate")

    def value(self, f):
        return f

    unchanged = staticmethod(lambda a: True)


class _Torch(_NumPy):
    def __init__(self, x):
        import torch

        self.torch, self.like = torch, x

    def kind(self, a):
        names = {"float64": "f64", "float32": "f32", "bfloat16": "bf16"}
        return names.get(str(a.dtype)[6:]) if a.is_floating_point() else "i32"

    def make(self, numbers, like):
        return self.torch.tensor(numbers).to(like.dtype)

    def numbers(self, a):
        return a.detach().to(self.torch.float64).numpy()

    unchanged = staticmethod(lambda a: a._version == 0)

    def vjp(self, f, count):
        first = True

        def vjp(*x_and_v):
            nonlocal first
            found = self.gradients(f, x_and_v[:count], x_and_v[count:], None)
            if first and not any(a.requires_grad for a in x_and_v):
                first = False  # what f keeps beside the graph is lost when it runs on other numbers before the backward pass
                again = self.gradients(f, x_and_v[:count], x_and_v[count:], lambda x: tuple(0.75 * a if a.is_floating_point() else a for a in x))
                if not all(a is None or self.torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(found, again)):
                    raise ValueError("the gradient changes when the function runs again, on the same or other numbers, before the backward pass")
            return found

        return vjp

    def gradients(self, f, given, v, other):
        again = any(a.requires_grad for a in given + v)  # this is differentiated itself
        x = [a if a.requires_grad else a.detach().requires_grad_(a.is_floating_point()) for a in given]
        wanted = [a for a in x if a.is_floating_point()]
        with self.torch.enable_grad():
            y = _tuple(f(*x))
            if other:
                with self.torch.no_grad():
                    f(*other(x))
            found = iter(self.torch.autograd.grad(y, wanted, v, allow_unused=True, create_graph=again))
        return tuple(self.zero(next(found), a) if a.is_floating_point() else None for a in x)

    def zero(self, gradient, a):
        return self.torch.zeros_like(a) if gradient is None else gradient


class _Jax(_NumPy):
    def __init__(self, x):
        import jax

        self.jax, self.like = jax, x

    def make(self, numbers, like):
        return self.jax.numpy.asarray(numbers, like.dtype)

    def value(self, f):
        return self.jax.jit(f)

    def vjp(self, f, count):
        def both(x, v):
            y, back = self.jax.vjp(lambda *x: _tuple(f(*x)), *x)
            return back(v)

        compiled = self.jax.jit(both)
        return lambda *x_and_v: tuple(
            None if self.kind(a) == "i32" else g for a, g in zip(x_and_v, compiled(x_and_v[:count], x_and_v[count:])))


def _library_of(x):
    modules = {type(a).__module__.split(".")[0] for a in x}
    return _Torch(x) if "torch" in modules else _Jax(x) if modules & {"jax", "jaxlib"} else _NumPy(x)


def _parameters(f):
    """The names of the parameters that f must be given by position; None if it does not say."""
    if isinstance(f, np.ufunc):
        return [f"input {i}" for i in range(f.nin)]
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    needed = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    return None if any(p.kind == p.VAR_POSITIONAL for p in parameters) else needed


def _product(gradient, count):
    """The vjp of a scalar function from its gradient."""

    def vjp(*x_and_v):
        found = _tuple(gradient(*x_and_v[:count]))
        return tuple(None if g is None else x_and_v[count] * g for g in found)

    return vjp


def check(f, vjp=None, x=(), *, jvp=None, name=None, fixed=(), order=1, low=None, high=None, project=None, **known):
    """Has f and its vjp (or jvp, which takes x and u, or both) checked at x, and gives a Result. `fixed` are the numbers
    of arrays that are not differentiated. Where the vjp is PyTorch's or JAX's, `order` 2 checks the vjp as a function, too.

    What is known of f: `low` and `high`, bounds of all arrays or a list of one each (None: none); `project`, which takes
    arrays of float64 like x and gives those that are allowed; and rtol, atol, value_rtol, value_atol, evaluations,
    directions, largest_step and here_only, as in tg_gradcheck_options."""
    known = {key: value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value for key, value in known.items()}
    unknown = set(known) - {"rtol", "atol", "value_rtol", "value_atol", "evaluations", "directions", "largest_step", "here_only"}
    if unknown:
        raise TypeError(f"check has no argument {sorted(unknown)[0]!r}")
    of = _library_of(_tuple(x))
    x = of.like
    outputs = tuple(y if hasattr(y, "dtype") else of.make(np.array(y), next(a for a in x if of.kind(a) != "i32")) for y in _tuple(f(*x)))
    name = name or getattr(f, "__name__", "f")
    names = _parameters(f) or []
    if vjp is not None and _parameters(vjp) is not None and len(_parameters(vjp)) == len(x):
        if len(outputs) != 1 or np.shape(outputs[0]) != ():
            raise TypeError(f"{name} gives no scalar: expected a vjp, which takes x and v")
        vjp = _product(vjp, len(x))
    if vjp is None and jvp is None:
        f, vjp = of.value(f), of.vjp(f, len(x))
        if order > 1:
            first = check(f, vjp, x, name=name, fixed=fixed, low=low, high=high, **known)
            v = tuple(of.make(np.random.default_rng(order).uniform(0.5, 1, np.shape(y)), y) for y in outputs)
            differentiated = [i for i, a in enumerate(x) if of.kind(a) != "i32" and i not in fixed]
            higher = check(lambda *both: tuple(vjp(*both)[i] for i in differentiated), None, x + v, name=f"{name}, its vjp", fixed=fixed, order=order - 1)
            return first if first.result != "passed" else higher
    kinds = {of.kind(a) for a in x} - {"i32"}
    if len(kinds) != 1 or None in kinds:
        raise TypeError(f"expected arrays of one type, float64, float32 or bfloat16, beside which integers may be: not {', '.join(str(getattr(a, 'dtype', type(a).__name__)) for a in x)}")
    names = names if len(names) == len(x) else [f"input {i}" for i in range(len(x))]
    inputs = [{"name": names[i], "shape": list(np.shape(a)), "data": _listed(of.numbers(a)), "type": of.kind(a), "fixed": i in fixed} for i, a in enumerate(x)]
    for key, bound in (("low", low), ("high", high)):
        for i, b in enumerate(bound if isinstance(bound, (tuple, list)) else (bound,) * len(x)):
            if b is not None and np.isfinite(b):
                inputs[i][key] = b
    gives = [what for what, function in (("vjp", vjp), ("jvp", jvp)) if function]
    _send({"function": name, "type": kinds.pop(), "inputs": inputs, "outputs": [list(np.shape(y)) for y in outputs], "gives": gives, "projects": project is not None, **known})
    return _serve({"value": f, "vjp": vjp, "jvp": jvp, "project": project}, of, outputs)


def _serve(functions, of, outputs):
    """Answers until the check ends."""

    def arrays(lists, like):
        return [None if s is None else of.make(np.array(s, np.float64).reshape(np.shape(a)), a) for s, a in zip(lists, like)]

    while line := sys.stdin.buffer.readline():
        asked = json.loads(line)
        if asked["ask"] == "end":
            return Result(asked["result"], asked["why"])
        try:
            if asked["ask"] == "project":
                found = _tuple(functions["project"](*(np.array(s, np.float64).reshape(np.shape(a)) for s, a in zip(asked["in"], of.like))))
                _pipe.write(b'{"out": ' + json.dumps([_listed(a) for a in found]).encode() + b"}\n")
                _pipe.flush()
                continue
            given = arrays(asked["in"], of.like) + arrays(asked.get("v", ()), outputs) + arrays(asked.get("u", ()), of.like)
            found = _tuple(functions[asked["ask"]](*given))
            if not all(a is None or of.unchanged(a) for a in given):
                raise ValueError("it changes what it is given")
            for i, (a, like) in enumerate(zip(found, of.like if asked["ask"] == "vjp" else outputs)):
                if a is not None and np.shape(a) != np.shape(like):
                    raise ValueError(f"array {i} has shape {np.shape(a)}, where {np.shape(like)} is expected")
            out = [None if a is None else _listed(of.numbers(a)) for a in found]
            _pipe.write(b'{"out": ' + json.dumps(out).encode() + b"}\n")
        except Exception as error:
            _pipe.write(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode() + b"\n")
        _pipe.flush()
    sys.exit("gradcheck has ended")
