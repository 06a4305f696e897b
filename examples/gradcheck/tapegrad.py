"""Checks a gradient against finite differences that estimate their own error.

    import tapegrad

    def test_energy():
        assert tapegrad.gradcheck(lambda x: (x ** 2).sum(), lambda x: 2 * x, np.array([0.3, -1.2]))

A wrong gradient prints its report: which element, what is expected and found, and what the fault looks like. This is
the package of the wheel that `make wheel` builds, with the C library inside. It needs no NumPy: arrays may be nested
lists, array.array, anything with the buffer protocol (NumPy, JAX) or with tolist() (PyTorch).
"""
import ctypes
import os
import sys
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

__all__ = ["gradcheck", "Result"]

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
                ("jvp", c_void_p), ("jacobian", c_void_p), ("user", c_void_p)]


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


def _listed(x):
    """The shape of an array and its numbers in order."""
    if isinstance(x, (int, float)):
        return (), [float(x)]
    if hasattr(x, "detach"):
        x = x.detach()
    if not isinstance(x, (list, tuple)):
        try:
            view = memoryview(x)
            return (tuple(view.shape), [float(a) for a in view.cast("B").cast(view.format).tolist()]) if view.contiguous and view.ndim else _listed(view.tolist())
        except (TypeError, ValueError, NotImplementedError):
            x = x.tolist()
        return _listed(x)
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
    if library == "array":
        import array
        return lambda shape, numbers: array.array("d", numbers)
    return _nested


def gradcheck(f, grad, x, *, rtol=0, atol=0, value_rtol=0, value_atol=0, evaluations=0, low=None, high=None, directions=0, largest_step=0,
              here_only=False, project=None, progress=None, seed=0, name=None):
    """Checks grad at x, an array or a tuple of arrays that f takes.

    Of an f that gives a number, grad(*x) gives its gradient; else grad(*x, v) gives J^T v. Bounds are numbers, or a tuple
    of one for each array of x. project(*x) gives the arrays that are allowed; progress(evaluations) is called before each
    evaluation, and ends the check by False, as Ctrl-C does. docs/gradcheck.md has the other arguments."""
    several = isinstance(x, tuple)
    given = x if several else (x,)
    makers, listed = [_maker(a) for a in given], [_listed(a) for a in given]
    if not all(shape == () or numbers for shape, numbers in listed):
        raise ValueError("expected arrays that are not empty")
    first = f(*given)
    results = first if isinstance(first, tuple) else (first,)
    makes_result = [_maker(a) for a in results]
    out_shapes = [_listed(a)[0] for a in results]
    name = name or getattr(f, "__name__", "f")
    errors, stop = [], []

    def take(pointers, shapes, make):
        sizes = [_size(shape) for shape in shapes]
        return [m(shape, (c_double * size).from_address(pointers[i])[:]) for i, (m, shape, size) in enumerate(zip(make, shapes, sizes))]

    def put(found, pointers, shapes):
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(shapes):
            raise ValueError(f"{len(found)} arrays, where {len(shapes)} are expected")
        for i, (a, shape) in enumerate(zip(found, shapes)):
            own, numbers = _listed(a)
            if len(numbers) != _size(shape):
                raise ValueError(f"array {i} has shape {own}, where {shape} is expected")
            (c_double * len(numbers)).from_address(pointers[i])[:] = numbers

    def guarded(call):
        def run(*arguments):
            try:
                call(*arguments)
                return True
            except KeyboardInterrupt:
                stop.append(True)
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
            return False
        return run

    in_shapes = [shape for shape, _ in listed]
    scalar = out_shapes == [()]

    @guarded
    def value(inputs, outputs, _):
        put(f(*take(inputs, in_shapes, makers)), outputs, out_shapes)

    @guarded
    def vjp(inputs, cotangents, gradients, _):
        at = take(inputs, in_shapes, makers)
        if not scalar:
            return put(grad(*at, *take(cotangents, out_shapes, makes_result)), gradients, in_shapes)
        put(grad(*at), gradients, in_shapes)
        v = c_double.from_address(cotangents[0]).value
        for i, shape in enumerate(in_shapes):
            g = (c_double * _size(shape)).from_address(gradients[i])
            g[:] = [v * a for a in g]

    @guarded
    def move(inputs, _):
        put(project(*take(inputs, in_shapes, makers)), inputs, in_shapes)

    inputs, kept = (_Input * len(given))(), []
    for i, (shape, numbers) in enumerate(listed):
        kept.append((c_double * len(numbers))(*numbers))
        bounds = [b[i] if isinstance(b, (tuple, list)) else b for b in (low, high)]
        if any(b is not None for b in bounds):
            inputs[i].low, inputs[i].high = -float("inf") if bounds[0] is None else bounds[0], float("inf") if bounds[1] is None else bounds[1]
        inputs[i].name = (f"x[{i}]" if several else "x").encode()
        inputs[i].shape = _Shape(len(shape), shape)
        inputs[i].data = ctypes.addressof(kept[-1])
    outputs = (_Shape * len(results))(*[_Shape(len(shape), shape) for shape in out_shapes])
    report = ctypes.create_string_buffer(1 << 14)
    options = _Options(seed=seed, directions=directions, rtol=rtol, atol=atol, value_rtol=value_rtol, value_atol=value_atol, evaluations=evaluations,
                       largest_step=largest_step, here_only=here_only, report=ctypes.addressof(report), report_size=len(report),
                       progress=_PROGRESS(lambda n, _: not stop and (progress is None or progress(n) is not False)))
    if project:
        options.project = _PROJECT(lambda inputs, user: move(inputs, user) and None)
    box = _Box(name=name.encode(), outputs=outputs, output_count=len(results), value=_VALUE(value), vjp=_VJP(vjp))
    found = _library.tg_gradcheck_function(byref(box), inputs, len(given), byref(options))
    result = Result(found, report.value.decode("utf-8", "replace"), name)
    if errors and (found.failed or not found.passed):
        result.why += f"; the first that failed: {errors[0]}"
        result.report += f"\n  failed      {errors[0]}\n"
    return result


def _size(shape):
    size = 1
    for n in shape:
        size *= n
    return size
