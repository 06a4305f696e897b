"""Checks a gradient against finite differences that estimate their own error.

    import tapegrad

    def test_energy():
        assert tapegrad.gradcheck(lambda x: (x ** 2).sum(), lambda x: 2 * x, np.array([0.3, -1.2]))

A wrong gradient prints its report: which element, what is expected and found, and what the fault looks like. This is
the package of the wheel that `make wheel` builds, with the C library inside. It needs no NumPy: arrays may be nested
lists, array.array, and anything with DLPack (PyTorch, JAX, NumPy), the buffer protocol or tolist().
"""
import ctypes
import decimal
import math
import os
import random
import struct
import sys
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

__all__ = ["gradcheck", "Result", "accuracy", "Accuracy"]

_ARRAYS = POINTER(c_void_p)
_VALUE = ctypes.CFUNCTYPE(c_bool, _ARRAYS, _ARRAYS, c_void_p)
_VJP = ctypes.CFUNCTYPE(c_bool, _ARRAYS, _ARRAYS, _ARRAYS, c_void_p)
_PROJECT = ctypes.CFUNCTYPE(None, _ARRAYS, c_void_p)
_PROGRESS = ctypes.CFUNCTYPE(c_bool, c_int64, c_void_p)


# The structures of autograd/gradcheck.h, member by member.
class _Shape(ctypes.Structure):
    _fields_ = [("rank", c_int), ("dim", c_int64 * 8)]


class _Options(ctypes.Structure):
    _fields_ = [("order", c_int), ("seed", c_uint64), ("elements", c_int64), ("directions", c_int), ("rtol", c_double), ("atol", c_double),
                ("value_rtol", c_double), ("value_atol", c_double), ("evaluations", c_int64), ("largest_step", c_double), ("here_only", c_bool),
                ("project", _PROJECT), ("progress", _PROGRESS), ("user", c_void_p), ("double_only", c_bool), ("report", c_void_p), ("report_size", c_size_t)]


class _Input(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("shape", _Shape), ("data", c_void_p), ("integers", c_void_p), ("parameter", c_void_p), ("fixed", c_bool),
                ("low", c_double), ("high", c_double)]


class _Box(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("outputs", POINTER(_Shape)), ("output_count", c_int), ("value", _VALUE), ("vjp", _VJP),
                ("jvp", c_void_p), ("jacobian", c_void_p), ("user", c_void_p), ("value_rtol", POINTER(c_double)), ("value_atol", POINTER(c_double))]


class _Result(ctypes.Structure):
    _fields_ = [("passed", c_bool), ("status", c_int), ("order", c_int), ("sample", c_int), ("input", c_int), ("index", c_int64)] \
        + [(name, c_double) for name in ("analytic", "numeric", "error", "bound", "relative")] + [("samples", c_int), ("skipped", c_int)] \
        + [(name, c_int64) for name in ("comparisons", "along", "undecided", "kinks", "sharp", "evaluations", "failed")] \
        + [("ended", c_bool), ("hidden", c_double), ("where", c_char * 128), ("why", c_char * 1024)]


_library = ctypes.CDLL(os.environ.get("TAPEGRAD_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "libtapegrad.so"))
_library.tg_gradcheck_function.restype = _Result
_library.tg_gradcheck_function.argtypes = [POINTER(_Box), POINTER(_Input), c_int, POINTER(_Options)]

_STATUS = ["passed", "wrong", "not finite", "broken", "not repeatable", "disturbed", "zero", "not linear", "single", "shape", "another way", "alone",
           "adjoint", "cannot tell", "refused"]


class Result:
    """True if the gradient agrees. Where it is false, asking prints the report."""

    def __init__(self, found, report, name):
        self.passed, self.why, self.report = found.passed, found.why.decode("utf-8", "replace"), report
        self.status = _STATUS[found.status]
        self.error, self.bound, self.hidden = found.error, found.bound, found.hidden
        self.evaluations, self.failed, self.ended = found.evaluations, found.failed, found.ended
        self.name = name

    def __bool__(self):
        if not self.passed:
            print(self.report or self.why, file=sys.stderr)
        return self.passed

    def __repr__(self):
        return f"<{self.status}: {self.why}>"


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device", c_int * 2), ("rank", c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("offset", c_uint64)]


_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype, _pointer_in.argtypes = c_void_p, [ctypes.py_object, c_char_p]


def _by_dlpack(x):
    """Shape and numbers of floats or doubles in the processor's memory, one after the other; else None. The capsule is not
    consumed, so that it frees what it holds."""
    try:
        capsule = x.__dlpack__()
        t = _DLTensor.from_address(_pointer_in(capsule, b"dltensor"))
    except Exception:  # of any kind: another device, read-only memory, another type
        return None
    shape = tuple(t.shape[:t.rank])
    dense, step = True, 1
    for axis in reversed(range(t.rank)):
        dense &= not t.strides or shape[axis] < 2 or t.strides[axis] == step
        step *= shape[axis]
    if t.device[0] != 1 or t.code != 2 or t.lanes != 1 or t.bits not in (32, 64) or not dense or step == 0:
        return None
    numbers = ((c_double if t.bits == 64 else ctypes.c_float) * step).from_address(t.data + t.offset)[:]
    return shape, numbers


def _listed(x):
    """The shape of an array and its numbers in order."""
    if isinstance(x, complex) or "complex" in str(getattr(x, "dtype", "")):
        raise TypeError("complex numbers have no gradient here: give their real and imaginary parts")
    if hasattr(x, "detach"):
        x = x.detach()
    found = _by_dlpack(x) if hasattr(x, "__dlpack__") else None
    if found:
        return found
    if hasattr(x, "to_numpy"):  # of pandas
        x = x.to_numpy()
    if not isinstance(x, (list, tuple)):
        try:
            view = memoryview(x)
            return (tuple(view.shape), [float(a) for a in view.cast("B").cast(view.format).tolist()]) if view.contiguous and view.ndim else _listed(view.tolist())
        except (TypeError, ValueError, NotImplementedError):
            pass
        if hasattr(x, "tolist") and getattr(x, "shape", ()):
            return _listed(x.tolist())
        if not hasattr(x, "__float__"):
            raise TypeError(f"expected a number, an array or nested lists of numbers, found {type(x).__name__}")
        return (), [float(x)]
    parts = [_listed(a) for a in x]
    if any(shape != parts[0][0] for shape, _ in parts):
        raise ValueError("a list of arrays of several shapes is no array")
    return (len(x),) + (parts[0][0] if parts else ()), [number for _, numbers in parts for number in numbers]


def _nested(shape, numbers):
    if not shape:
        return numbers[0]
    step = len(numbers) // shape[0] if shape[0] else 0
    return [_nested(shape[1:], numbers[i * step:(i + 1) * step]) for i in range(shape[0])]


def _maker(like):
    """How an array like this one is made from a shape and numbers."""
    library = type(like).__module__.split(".")[0]
    if library == "torch":
        import torch
        return lambda shape, numbers: torch.tensor(numbers, dtype=torch.float64).reshape(shape)
    if library in ("jax", "jaxlib"):
        import jax.numpy
        return lambda shape, numbers: jax.numpy.asarray(numbers, "float64").reshape(shape)
    if library == "numpy":
        import numpy
        return lambda shape, numbers: numpy.array(numbers, "float64").reshape(shape)
    if library == "pandas":
        labels = {"index": like.index, "columns": like.columns} if len(like.shape) == 2 else {"index": like.index, "name": like.name}
        return lambda shape, numbers: type(like)(_nested(shape, numbers), dtype="float64", **labels)
    if library == "array":
        import array
        return lambda shape, numbers: array.array("d", numbers)
    return _nested


def gradcheck(f, grad, x, *, rtol=0, atol=0, value_rtol=0, value_atol=0, evaluations=0, low=None, high=None, directions=0, largest_step=0,
              here_only=False, project=None, progress=None, seed=0, name=None):
    """Checks grad at x, an array or a tuple of arrays that f takes.

    Of an f that gives a number, grad(*x) gives its gradient; else grad(*x, v) gives J^T v. Bounds are numbers, or a tuple
    of one for each array of x; value_rtol and value_atol likewise for each array that f gives. project(*x) gives the arrays
    that are allowed; progress(evaluations) is called before each evaluation, and ends the check by False, as Ctrl-C does.
    docs/gradcheck.md has the other arguments. What f or grad raises at x is raised, what they raise elsewhere is counted."""
    if not callable(f) or not callable(grad):
        raise TypeError("expected two functions, f and grad")
    several = isinstance(x, tuple)
    given = x if several else (x,)
    makers, listed = [_maker(a) for a in given], [_listed(a) for a in given]
    if not given or not all(shape == () or numbers for shape, numbers in listed):
        raise ValueError("expected arrays that are not empty")
    jax = sys.modules.get("jax")
    if jax and not jax.config.jax_enable_x64 and any(type(a).__module__.split(".")[0] in ("jax", "jaxlib") for a in given):
        raise ValueError("JAX rounds to float32, too coarse for differences: jax.config.update('jax_enable_x64', True)")
    first = f(*given)
    results = first if isinstance(first, tuple) else (first,)
    in_shapes, out_shapes = [shape for shape, _ in listed], [_listed_of("f", a)[0] for a in results]
    makes_result = [_maker(a) for a in results]
    scalar = out_shapes == [()]
    lowest, highest = _each("low", low, len(given)), _each("high", high, len(given))
    promised = [(c_double * len(results))(*_each(*p, len(results))) for p in (("value_rtol", value_rtol), ("value_atol", value_atol))]
    name = name or getattr(f, "__name__", "f")
    errors, stop, called = [], [], set()

    def take(pointers, shapes, make):
        sizes = [_size(shape) for shape in shapes]
        return [m(shape, (c_double * size).from_address(pointers[i])[:]) for i, (m, shape, size) in enumerate(zip(make, shapes, sizes))]

    def put(whose, found, pointers, shapes):
        found = found if isinstance(found, tuple) or (isinstance(found, list) and len(shapes) > 1) else (found,)
        if len(found) != len(shapes):
            raise ValueError(f"{whose} gives {len(found)} of {len(shapes)} arrays")
        for i, (a, shape) in enumerate(zip(found, shapes)):
            own, numbers = _listed_of(whose, a)
            if len(numbers) != _size(shape):
                raise ValueError(f"array {i} that {whose} gives has shape {own}, where {shape} is expected")
            (c_double * len(numbers)).from_address(pointers[i])[:] = numbers

    def call(whose, function, inputs, *more):
        """The first time with a look at what it does to its arguments: the checker sees that they have changed."""
        at = take(inputs, in_shapes, makers)
        found = function(*at, *more)
        if whose not in called:
            called.add(whose)
            put(whose, tuple(at), inputs, in_shapes)
        return found

    def guarded(run, ends=None):
        """Exceptions do not pass through C: those of f and grad are counted, others end the check and are raised after it."""
        def callback(*arguments):
            try:
                return not stop and run(*arguments) is not False
            except KeyboardInterrupt:
                stop.append(None)
            except Exception as error:
                (stop if ends else errors).append(ValueError(f"{ends} failed: {_words(error)}") if ends else error)
            except BaseException as error:
                stop.append(error)
            return False
        return callback

    @guarded
    def value(inputs, outputs, _):
        put("f", call("f", f, inputs), outputs, out_shapes)

    @guarded
    def vjp(inputs, cotangents, gradients, _):
        if not scalar:
            return put("grad", call("grad", grad, inputs, *take(cotangents, out_shapes, makes_result)), gradients, in_shapes)
        put("grad", call("grad", grad, inputs), gradients, in_shapes)
        v = c_double.from_address(cotangents[0]).value
        for i, shape in enumerate(in_shapes):
            g = (c_double * _size(shape)).from_address(gradients[i])
            g[:] = [v * a for a in g]

    def move(inputs, _):
        put("project", project(*take(inputs, in_shapes, makers)), inputs, in_shapes)

    inputs, kept = (_Input * len(given))(), []
    for i, (shape, numbers) in enumerate(listed):
        kept.append((c_double * len(numbers))(*numbers))
        if (lowest[i], highest[i]) != (None, None):
            inputs[i].low, inputs[i].high = -math.inf if lowest[i] is None else lowest[i], math.inf if highest[i] is None else highest[i]
        inputs[i].name = (f"x[{i}]" if several else "x").encode()
        inputs[i].shape = _Shape(len(shape), shape)
        inputs[i].data = ctypes.addressof(kept[-1])
    outputs = (_Shape * len(results))(*[_Shape(len(shape), shape) for shape in out_shapes])
    report = ctypes.create_string_buffer(1 << 14)
    options = _Options(seed=seed, directions=directions, rtol=rtol, atol=atol, evaluations=evaluations,
                       largest_step=largest_step, here_only=here_only, report=ctypes.addressof(report), report_size=len(report),
                       progress=_PROGRESS(guarded(lambda n, _: progress is None or progress(n), "progress")))
    if project:
        options.project = _PROJECT(guarded(move, "project"))
    box = _Box(name=name.encode(), outputs=outputs, output_count=len(results), value=_VALUE(value), vjp=_VJP(vjp), value_rtol=promised[0],
               value_atol=promised[1])
    found = _library.tg_gradcheck_function(byref(box), inputs, len(given), byref(options))
    if stop and stop[0]:
        raise stop[0]
    result = Result(found, report.value.decode("utf-8", "replace"), name)
    if errors and result.status == "refused":
        if isinstance(errors[0], TypeError):  # most often by the number of arguments
            raise TypeError(f"{errors[0]}; f gives {'a number, so grad gets x alone' if scalar else 'arrays, so grad gets x and v'}") from errors[0]
        raise errors[0]
    if errors and (found.failed or not found.passed):
        result.why += f"; the first that failed: {_words(errors[0])}"
        result.report += f"\n  failed      {_words(errors[0])}\n"
    return result


def _words(error):
    return f"{type(error).__name__}: {error}"


def _listed_of(whose, x):
    try:
        return _listed(x)
    except (TypeError, ValueError) as error:
        raise type(error)(f"what {whose} gives: {error}") from None


def _each(what, numbers, count):
    """A number, or None, for each of several arrays."""
    numbers = numbers if isinstance(numbers, (tuple, list)) else (numbers,) * count
    if len(numbers) != count:
        raise ValueError(f"{what} has {len(numbers)} numbers for {count} arrays")
    try:
        return [None if n is None else float(n) for n in numbers]
    except TypeError:
        raise TypeError(f"expected {what} to be a number, or a tuple of one for each array") from None


def _size(shape):
    size = 1
    for n in shape:
        size *= n
    return size


# ---- how many ulp is your own activation off? ----


def _tail(t):
    """1 - Phi(t) and phi(t) for t >= 0, by the series of Phi - 1/2 or the continued fraction of the tail."""
    density = (-t * t / 2).exp() / (2 * _PI).sqrt()
    if t < 5:
        term = total = t
        k = 1
        while term > total * _SMALL:
            k += 2
            term *= t * t / k
            total += term
        return decimal.Decimal("0.5") - density * total, density
    fraction = t
    for k in range(160, 0, -1):
        fraction = t + k / fraction
    return density / fraction, density


def _gelu_exact(x):
    tail, density = _tail(abs(x))
    below = x < 0
    slope = tail - abs(x) * density
    return (x * tail if below else x - x * tail), (slope if below else 1 - slope)


def _logistic(x, w, w1):
    u = (-abs(w)).exp()
    s = (u if w < 0 else 1) / (1 + u)
    return x * s, s + x * w1 * u / (1 + u) ** 2


def _gelu_tanh(x):
    a, b = 2 * (2 / _PI).sqrt(), decimal.Decimal("0.044715")
    return _logistic(x, a * (x + b * x ** 3), a * (1 + 3 * b * x * x))


_PI = decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
_SMALL = decimal.Decimal("1e-70")
_QUICK = decimal.Decimal("1.702")
_EXACT = {"gelu_exact": _gelu_exact, "gelu_tanh": _gelu_tanh, "gelu_quick": lambda x: _logistic(x, _QUICK * x, _QUICK), "silu": lambda x: _logistic(x, x, 1)}
_STARTS = [-math.inf, -8, -4, -1, -2.0 ** -10, 2.0 ** -10, 1, 4, 8]
_RANGES = ["x < -8", "-8 to -4", "-4 to -1", "-1 to -2^-10", "-2^-10 to 2^-10", "2^-10 to 1", "1 to 4", "4 to 8", "x >= 8"]


def _single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def _samples(single, numbers, seed):
    """All powers of two and a random number after each, of both signs, and random ones from the tails to 10."""
    draw, lowest, highest = random.Random(seed), (-149 if single else -1074), (127 if single else 1023)
    x = [sign * math.ldexp(m, e) for e in range(lowest, highest + 1) for m in (1, 1 + draw.random()) for sign in (-1, 1)]
    x += [draw.uniform(*(((-14, 6) if single else (-40, 10)) if i % 2 else (-3, 3))) for i in range(numbers)]
    return sorted({_single(a) for a in x} if single else set(x))


def _ulps(y, exact, single):
    if not math.isfinite(y):
        return math.inf
    lowest, digits = (-125, 24) if single else (-1021, 53)
    exponent = max(math.frexp(float(exact))[1], lowest) if float(exact) else lowest
    return float(abs(decimal.Decimal(y) - exact) * decimal.Decimal(2) ** (digits - exponent))


class Accuracy:
    """The largest errors: `ulp` and `at` of the value, `derivative_ulp` and `derivative_at` (None if it was not given), and
    `curve`, (x, ulp) of every number. True if both are at most `at_most`; str() is a table by ranges of x."""

    def __init__(self, name, against, dtype, rows, at_most):
        self.name, self.against, self.dtype, self.at_most, self._rows = name, against, dtype, at_most, rows
        worst = [max(((ulps, x) for x, *all_ulps in rows for ulps in all_ulps[k:k + 1] if ulps is not None), default=(None, None)) for k in (0, 1)]
        (self.ulp, self.at), (self.derivative_ulp, self.derivative_at) = worst
        self.curve = [(x, ulps) for x, ulps, _ in rows]

    def __bool__(self):
        fine = all(u is None or u <= self.at_most for u in (self.ulp, self.derivative_ulp))
        if not fine:
            print(self, file=sys.stderr)
        return fine

    def __repr__(self):
        columns = 1 if self.derivative_ulp is None else 2
        lines = [f"{self.name} against {self.against}, in {self.dtype}: largest error in units in the last place",
                 f"{'':18}" + "".join(f"{head:>10}{'at x =':>16}" for head in ("f", "f'")[:columns])]
        ends = _STARTS[1:] + [math.inf]
        for name, low, high in list(zip(_RANGES, _STARTS, ends)) + [("all", -math.inf, math.inf)]:
            inside = [row for row in self._rows if low <= row[0] < high]
            worst = [max((row[k], row[0]) for row in inside) for k in range(1, columns + 1) if inside]
            lines.append(f"{name:18}" + "".join(f"{ulps:10.3g}{x:16.9g}" for ulps, x in worst))
        return "\n".join(lines)


def accuracy(f, against="gelu_exact", *, derivative=None, like=None, dtype=None, numbers=4000, at_most=2, seed=0):
    """How many units in the last place f is off from the exact gelu_exact, gelu_tanh, gelu_quick or silu, over all exponents.

    `like` is an array of NumPy, PyTorch or JAX: f gets one of the same library and type with all numbers. Without it f gets
    one float at a time; `dtype` says "float32" or "float64" (the default). `derivative` is the function of f's derivative,
    which is not taken by differences, as these do not know its last place. An arithmetic error of f counts as NaN. The reference
    has 60 digits."""
    if against not in _EXACT:
        raise ValueError(f"expected {', '.join(_EXACT)}, found {against!r}")
    dtype = dtype or (str(like.dtype).split(".")[-1] if like is not None else "float64")
    if dtype not in ("float32", "float64"):
        raise ValueError(f"expected float32 or float64, found {dtype}")
    single = dtype == "float32"
    xs = _samples(single, numbers, seed)

    def one(function, x):
        try:
            return float(function(x))
        except (ArithmeticError, ValueError):  # math.exp overflows by an exception
            return math.nan

    def run(function):
        if like is None:
            found = [one(function, x) for x in xs]
        else:
            make = _maker(like)
            found = _listed(function(_typed(make((len(xs),), xs), dtype)))[1]
        if len(found) != len(xs):
            raise ValueError(f"{len(found)} results for {len(xs)} numbers")
        return found

    found, slopes = run(f), run(derivative) if derivative else [None] * len(xs)
    rows = []
    with decimal.localcontext() as context:
        context.prec, context.Emin, context.Emax = 60, decimal.MIN_EMIN, decimal.MAX_EMAX
        for x, y, slope in zip(xs, found, slopes):
            exact = _EXACT[against](max(decimal.Decimal(x), decimal.Decimal(-2000)))
            rows.append((x, _ulps(y, exact[0], single), None if slope is None else _ulps(slope, exact[1], single)))
    return Accuracy(getattr(f, "__name__", "f"), against, dtype, rows, at_most)


def _typed(a, dtype):
    return getattr(a, "to" if hasattr(a, "detach") else "astype")(getattr(sys.modules["torch"], dtype) if hasattr(a, "detach") else dtype)
