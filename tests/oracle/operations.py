#!/usr/bin/env python3
"""Operations of random and larger shapes, where fast ways are chosen by size, against PyTorch in double: values, gradients by all inputs,
and gradients of these by inputs and cotangent.

    python tests/oracle/operations.py build/libtapegrad.so [COUNT [SEED [NAME...]]]       # needs PyTorch and NumPy

Prints a line for each difference, with the seed that makes it again, and one of counts. Errors are judged by the largest number of the
result: 3e-4 of it in single, 1e-9 in double precision, ten times as much for gradients of gradients.
"""

import ctypes as c
import math
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F

lib = c.CDLL(sys.argv[1])
COUNT, SEED = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 1000), (3, 1)))
F32, F64, I32 = 0, 1, 2
NUMPY = {F32: np.float32, F64: np.float64, I32: np.int32}
any_of = random.choice
MOST = 2e8  # multiplications of a product or a convolution


class Tensor(c.Structure):
    _fields_ = [("value", c.c_void_p), ("serial", c.c_uint64)]


class Shape(c.Structure):
    _fields_ = [("rank", c.c_int), ("dim", c.c_int64 * 8)]

    def __init__(self, dims=()):
        super().__init__(len(dims), (c.c_int64 * 8)(*dims))


class Axes(c.Structure):
    _fields_ = [("count", c.c_int), ("axis", c.c_int * 8)]

    def __init__(self, axes):
        super().__init__(len(axes), (c.c_int * 8)(*axes))


class Window(c.Structure):
    _fields_ = [("stride", c.c_int * 2), ("padding", c.c_int * 2), ("dilation", c.c_int * 2), ("groups", c.c_int)]

    def __init__(self, stride, padding, dilation=(1,), groups=1):
        super().__init__((c.c_int * 2)(*stride), (c.c_int * 2)(*padding), (c.c_int * 2)(*dilation), groups)


KINDS = {
    "t": Tensor,
    "s": Shape,
    "a": Axes,
    "w": Window,
    "i": c.c_int,
    "l": c.c_int64,
    "d": c.c_double,
    "b": c.c_bool,
    "p": c.c_void_p,
    "*": c.POINTER(Tensor),
}


def function(name, arguments, result=Tensor):
    found = getattr(lib, "tg_" + name)
    found.restype, found.argtypes = result, [KINDS[k] for k in arguments]
    return found


def numbers(*dims):
    return np.asarray(generator.standard_normal(dims), np.float32).astype(np.float64)


def put(numbers_, dtype, kind="constant"):
    array = np.array(numbers_, NUMPY[dtype], order="C")
    return function(kind, "pips")(tape, dtype, array.ctypes.data, Shape(array.shape))


def get(tensor):
    shape = function("shape_of", "t", Shape)(tensor)
    result = np.empty(tuple(shape.dim[: shape.rank]))
    assert function("read", "tipl", c.c_bool)(tensor, F64, result.ctypes.data, result.size)
    return result


# ---- operations: inputs, our function of them, PyTorch's, and what they are ----


def size():
    small = [1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127, 128, 129, 200, 257]
    return any_of(small + [272, 273, 384, 513, 820, 1025, 2048])  # these exceed panels of products and what lies close in rows


def sizes(most, axes=5):
    dims = [any_of([1, 2, 3, 5, 16, 17, 40, 257, 1025]) for _ in range(random.randint(1, axes))]
    while math.prod(dims) > most:
        dims.pop()
    return dims


def convolution(axes):
    groups, channels, outputs = (
        any_of([1, 1, 1, 2, 3]),
        any_of([1, 2, 3, 8, 16, 17, 20, 32, 33, 48, 64, 160]),
        any_of([1, 3, 16, 18, 24, 32, 40, 64, 200]),
    )
    kernel, stride, dilation = (
        [any_of(of) for _ in range(axes)]
        for of in ([1, 2, 3, 3, 3, 4, 5, 6, 7, 9] + [66, 4097][: 3 - axes], [1, 1, 1, 2, 3], [1, 1, 1, 2, 3])
    )
    padding = [any_of([0, k // 2 * d, random.randint(0, 4)]) for k, d in zip(kernel, dilation)]
    least = [max(1, (k - 1) * d + 1 - 2 * p) for k, d, p in zip(kernel, dilation, padding)]
    image = [n + random.randint(0, any_of([0, 3, 9, 24, 130])) for n in least]
    if groups * channels * outputs * math.prod(kernel) * math.prod(image) > MOST:
        return convolution(axes)
    inputs = [
        numbers(any_of([1, 2, 5]), groups * channels, *image),
        numbers(groups * outputs, channels, *kernel),
        numbers(groups * outputs),
    ]
    ours, theirs = function("conv%dd" % axes, "tttw"), (F.conv1d, F.conv2d)[axes - 1]
    return (
        inputs,
        lambda x, w, b: ours(x, w, b, Window(stride, padding, dilation, groups)),
        lambda x, w, b: theirs(x, w, b, stride, padding, dilation, groups),
        (stride, padding, dilation, groups),
    )


def conv2d():
    return convolution(2)


def conv1d():
    return convolution(1)


def pool():
    kind, axes = any_of(["max", "average"]), any_of([1, 2, 2])
    kernel, stride = [random.randint(1, 5) for _ in range(axes)], [random.randint(1, 4) for _ in range(axes)]
    dilation = [any_of([1, 1, 2, 3]) if kind == "max" else 1 for _ in kernel]
    padding = [random.randint(0, k // 2) for k in kernel]
    least = [max(1, (k - 1) * d + 1 - 2 * p) for k, d, p in zip(kernel, dilation, padding)]
    x = numbers(any_of([1, 2, 5]), any_of([1, 3, 16, 33]), *[n + random.randint(0, any_of([30, 130])) for n in least])
    ours = function("%s_pool%dd" % (kind, axes), "t" + "i" * axes + "w")
    theirs = {"max": [F.max_pool1d, F.max_pool2d], "average": [F.avg_pool1d, F.avg_pool2d]}[kind][axes - 1]
    return (
        [x],
        lambda x: ours(x, *kernel, Window(stride, padding, dilation)),
        lambda x: theirs(x, kernel, stride, padding, *[dilation][: kind == "max"]),
        (kind, kernel, stride, padding, dilation),
    )


def windows_of():
    """Windows, and the sizes of images that have some: kernel, stride, dilation, padding, image, number of windows."""
    kernel, stride, dilation = ([any_of(of) for _ in "hw"] for of in ([1, 2, 3, 5], [1, 1, 2, 3], [1, 1, 2]))
    padding = [random.randint(0, 3) for _ in "hw"]
    image = [max(1, (k - 1) * d + 1 - 2 * p) + random.randint(0, 20) for k, d, p in zip(kernel, dilation, padding)]
    counts = [(n + 2 * p - (k - 1) * d - 1) // s + 1 for n, p, k, d, s in zip(image, padding, kernel, dilation, stride)]
    return kernel, stride, dilation, padding, image, counts


def unfold():
    kernel, stride, dilation, padding, image, counts = windows_of()
    batch, channels, window = any_of([1, 2, 5]), any_of([1, 3, 17]), Window(stride, padding, dilation)
    about = kernel, stride, dilation, padding
    if any_of([True, False]):
        return (
            [numbers(batch, channels, *image)],
            lambda x: function("unfold", "tllw")(x, *kernel, window),
            lambda x: F.unfold(x, kernel, dilation, padding, stride)
            .view(batch, channels, *kernel, *counts)
            .permute(1, 2, 3, 0, 4, 5),
            about,
        )
    return (
        [numbers(channels, *kernel, batch, *counts)],
        lambda x: function("fold", "tllw")(x, *image, window),
        lambda x: F.fold(x.permute(3, 0, 1, 2, 4, 5).reshape(batch, -1, math.prod(counts)), image, kernel, dilation, padding, stride),
        about,
    )


def convolution_grads():
    kernel, stride, dilation, padding, image, counts = windows_of()
    groups, channels, outputs, batch = any_of([1, 1, 2]), any_of([1, 3, 16, 33]), any_of([1, 5, 16, 20]), any_of([1, 2, 9])
    window, by_weight = Window(stride, padding, dilation, groups), any_of([True, False])
    cotangent, images = numbers(batch, groups * outputs, *counts), numbers(batch, groups * channels, *image)
    weight = numbers(groups * outputs, channels, *kernel)

    def gradient(cotangent, other):
        one = torch.zeros(weight.shape if by_weight else images.shape, dtype=torch.double, requires_grad=True)
        image_and_weight = (other, one) if by_weight else (one, other)
        y = F.conv2d(*image_and_weight, None, stride, padding, dilation, groups)
        return torch.autograd.grad(y, one, cotangent, create_graph=True)[0]

    ours = function("conv2d_grad_" + ("weight" if by_weight else "image"), "ttllw")
    return (
        [cotangent, images if by_weight else weight],
        lambda a, b: ours(a, b, *(kernel if by_weight else image), window),
        gradient,
        (by_weight, stride, padding, dilation, groups),
    )


def matmul():
    m, k, n, lead = size(), size(), size(), any_of([[], [], [1], [3], [2, 3], [16]])
    if math.prod(lead) * m * k * n > MOST:
        return matmul()
    of = [[any_of([1, d, d]) for d in lead] if any_of([0, 0, 0, 1]) == 0 else [] for _ in "ab"]
    a, b = any_of([True, False]), any_of([True, False])
    inputs = [numbers(*of[0], *((k, m) if a else (m, k))), numbers(*of[1], *((n, k) if b else (k, n)))]
    ours = function("matmul_transposed", "ttbb")
    return inputs, lambda x, y: ours(x, y, a, b), lambda x, y: (x.mT if a else x) @ (y.mT if b else y), (a, b)


def linear():
    k, n, lead, groups = size(), size(), any_of([[], [size()], [3, size()]]), any_of([1, 1, 2, 4])
    if math.prod(lead) * groups * k * n > MOST:
        return linear()
    ours = function("grouped_linear", "tttl") if groups > 1 else function("linear", "ttt")
    return (
        [numbers(*lead, groups * k), numbers(groups * n, k), numbers(groups * n)],
        lambda x, w, b: ours(x, w, b, groups) if groups > 1 else ours(x, w, b),
        lambda x, w, b: torch.einsum("...gk,gnk->...gn", x.reshape(*lead, groups, k), w.reshape(groups, n, k)).reshape(*lead, groups * n)
        + b,
        groups,
    )


def attend(q, k, v, causal, mask=1):
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(torch.tensor(mask) == 0, -math.inf)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    blind = (scores == -math.inf).all(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(blind, 0), -1).masked_fill(blind, 0) @ v


def attention():
    lead, causal, n = any_of([[], [2], [3, 2]]), any_of([True, False]), any_of([1, 4, 8, 16, 32, 33])
    queries, keys = (any_of([1, 2, 5, 16, 33, 64, 65, 130, 300]) for _ in "qk")
    mask = (generator.random(any_of([[], [keys], [queries, keys], [*lead, 1, keys]])) < any_of([0.3, 0.9, 1])).astype(float)
    ours = function("scaled_dot_product_attention", "ttttb")
    return (
        [numbers(*lead, queries, n), numbers(*lead, keys, n), numbers(*lead, keys, any_of([1, 4, 16, 33]))],
        lambda q, k, v: ours(q, k, v, put(mask, dtype) if mask.ndim else Tensor(), causal),
        lambda q, k, v: attend(q, k, v, causal, mask if mask.ndim else 1),
        (causal, mask.shape),
    )


def self_attention():
    heads, n, positions, causal = (
        any_of([1, 2, 3, 4, 8]),
        any_of([1, 2, 4, 8, 16, 32, 33]),
        any_of([1, 2, 3, 16, 17, 31, 64, 65, 129, 300]),
        any_of([True, False]),
    )
    shared = any_of([of for of in range(1, heads + 1) if heads % of == 0])
    ours, last = function("self_attention", "tllb"), causal and any_of([True, False])

    def theirs(x):
        parts = [y.unflatten(-1, (-1, n)).transpose(-2, -3) for y in x.split([heads * n, shared * n, shared * n], -1)]
        q, k, v = parts[0], *(y.repeat_interleave(heads // shared, -3) for y in parts[1:])
        y = attend(q, k, v, causal).transpose(-2, -3).flatten(-2)
        return y[..., -1:, :] if last else y

    x = numbers(*any_of([[], [1], [3]]), positions, (heads + 2 * shared) * n)
    return (
        [x],
        lambda x: function("self_attention_last", "tll")(x, heads, shared) if last else ours(x, heads, shared, causal),
        theirs,
        (heads, shared, n, causal, last),
    )


def norm():
    kind, n, epsilon = any_of(["layer", "rms", "batch", "group"]), any_of([2, 4, 8, 16, 17, 33, 64, 257, 513]), any_of([1e-5, 1e-3])
    rows, images = (any_of([1, 2, 17, 130]), any_of([1, 3])), (any_of([2, 3, 33]), n, *any_of([[7], [5, 11]]))
    x = numbers(*rows, n) if kind in ("layer", "rms") else numbers(*images)
    w, b, groups = numbers(n), numbers(n), any_of([g for g in range(1, n + 1) if n % g == 0])
    ours = function(kind + "_norm", {"rms": "ttd", "group": "tittd"}.get(kind, "tttd"))
    theirs = {
        "layer": lambda x, w, b: F.layer_norm(x, (n,), w, b, epsilon),
        "rms": lambda x, w: F.rms_norm(x, (n,), w, epsilon),
        "batch": lambda x, w, b: F.batch_norm(x, None, None, w, b, True, 0, epsilon),
        "group": lambda x, w, b: F.group_norm(x, groups, w, b, epsilon),
    }[kind]
    if kind == "group":
        return [x, w, b], lambda x, w, b: ours(x, groups, w, b, epsilon), theirs, (kind, groups)
    return [x, w] + [b] * (kind != "rms"), lambda *of: ours(*of, epsilon), theirs, kind


def softmax():
    dims = any_of([[size()], [any_of([1, 3, 17, 130]), size()], [3, 5, size()], [2, size(), 33], [2, 8193]])
    kind, axis = any_of(["softmax", "log_softmax", "causal_softmax", "cumsum"]), random.randrange(len(dims))
    if kind == "causal_softmax" and len(dims) > 1:
        hidden = torch.ones(dims[-2:]).triu(1).bool()
        return [numbers(*dims)], function(kind, "t"), lambda x: torch.softmax(x.masked_fill(hidden, -math.inf), -1), (kind, dims)
    kind = "softmax" if kind == "causal_softmax" else kind
    if kind == "cumsum":
        return [numbers(*dims)], lambda x: function(kind, "tib")(x, axis, False), lambda x: x.cumsum(axis), (kind, axis)
    return [2 * numbers(*dims)], lambda x: function(kind, "ti")(x, axis), lambda x: getattr(torch, kind)(x, axis), (kind, axis)


def cross_entropy():
    dims, smoothing = any_of([[size() + 1], [130, size() + 1], [3, 5, size() + 1], [2000, 10]]), any_of([0, 0.1])
    labels = generator.integers(0, dims[-1], dims[:-1])
    ignored = 0 if np.any(labels) else -1
    return (
        [numbers(*dims)],
        lambda x: function("cross_entropy_with", "ttdi")(x, put(labels, I32), smoothing, ignored),
        lambda x: F.cross_entropy(
            x.reshape(-1, dims[-1]), torch.tensor(labels).reshape(-1), ignore_index=ignored, label_smoothing=smoothing
        ),
        ignored,
    )


def reduction():
    dims = sizes(300000)
    axes, kind, keep = (
        sorted(random.sample(range(len(dims)), random.randint(1, len(dims)))),
        any_of(["sum", "max", "min", "logsumexp", "var", "norm"]),
        any_of([True, False]),
    )
    if math.prod(dims[axis] for axis in axes) == 1:  # where the norm's second derivative is only rounding
        kind = "sum"
    theirs = {"sum": torch.sum, "max": torch.amax, "min": torch.amin, "var": torch.var, "norm": torch.linalg.vector_norm}
    return (
        [numbers(*dims)],
        lambda x: function("var_over", "taib")(x, Axes(axes), 1, keep)
        if kind == "var"
        else function(kind + "_over", "tab")(x, Axes(axes), keep),
        lambda x: theirs.get(kind, torch.logsumexp)(x, dim=axes, keepdim=keep),
        (kind, axes, keep),
    )


def pair():
    dims, kind = sizes(200000), any_of(["add", "sub", "mul", "div", "maximum"])
    of = [[any_of([1, d, d]) for d in dims] for _ in "ab"]
    of[1] = of[1][any_of([0, random.randint(0, len(dims))]) :]
    random.shuffle(of)
    a, b = (numbers(*d) for d in of)
    b = np.float32(b + 3 * np.sign(b)).astype(float) if kind == "div" else b
    return [a, b], function(kind, "tt"), getattr(torch, kind), kind


def three():
    dims = sizes(20000, 3)
    of = [[any_of([1, d, d]) for d in dims][any_of([0, 0, 1, 2]) :] for _ in "abc"]
    condition = (numbers(*of[0]) > 0).astype(float)
    if any_of([True, False]):
        return [numbers(*d) for d in of], function("mul_add", "ttt"), lambda a, b, c_: a * b + c_, of
    return (
        [numbers(*d) for d in of[1:]],
        lambda a, b: function("where", "ttt")(put(condition, dtype), a, b),
        lambda a, b: torch.where(torch.tensor(condition) != 0, a, b),
        of,
    )


def channel_moments():
    x = numbers(any_of([2, 3, 17]), any_of([1, 5, 33]), any_of([1, 7, 16, 300]))
    return [x], function("channel_moments", "t"), lambda x: torch.stack([x.mean((0, 2)), x.var((0, 2))]), None


def move():
    dims = sizes(200000)
    kind, axis, count = (
        any_of(["permute", "slice", "index_select", "gather", "scatter_add", "index_add"]),
        random.randrange(len(dims)),
        any_of([1, 3, 30]),
    )
    if kind == "permute":
        order = random.sample(range(len(dims)), len(dims))
        return [numbers(*dims)], lambda x: function(kind, "ta")(x, Axes(order)), lambda x: x.permute(order), (kind, order)
    if kind == "slice":
        start, step = random.randrange(dims[axis]), any_of([1, 2, 3])
        places = [slice(None)] * axis + [slice(start, None, step)]
        return (
            [numbers(*dims)],
            lambda x: function(kind, "tilll")(x, axis, start, dims[axis], step),
            lambda x: x[tuple(places)],
            (kind, axis, start, step),
        )
    to = dims[:axis] + [count] + dims[axis + 1 :]
    index = generator.integers(
        0,
        dims[axis] if kind in ("index_select", "gather") else count,
        {"index_select": count, "gather": to, "scatter_add": dims, "index_add": dims[axis]}[kind],
    )
    if kind in ("index_select", "gather"):
        theirs = torch.index_select if kind == "index_select" else torch.gather
        return (
            [numbers(*dims)],
            lambda x: function(kind, "tit")(x, axis, put(index, I32)),
            lambda x: theirs(x, axis, torch.tensor(index)),
            (kind, axis),
        )
    return (
        [numbers(*dims)],
        lambda x: function(kind, "titl")(x, axis, put(index, I32), count),
        lambda x: getattr(torch.zeros(to, dtype=x.dtype), kind)(axis, torch.tensor(index), x),
        (kind, axis),
    )


def concat():
    dims = sizes(5000, 4)
    axis, count = random.randrange(len(dims)), random.randint(1, 4)
    inputs = [numbers(*dims[:axis], any_of([1, 2, 16, 31]), *dims[axis + 1 :]) for _ in range(count)]
    return inputs, lambda *of: function("concat", "*ii")((Tensor * count)(*of), count, axis), lambda *of: torch.cat(of, axis), axis


def pad():
    dims = sizes(20000, 4)
    before, after = ([random.randint(0, 3) for _ in dims] for _ in "ba")
    pairs = [n for i in reversed(range(len(dims))) for n in (before[i], after[i])]
    return (
        [numbers(*dims)],
        lambda x: function("pad", "tssd")(x, Shape(before), Shape(after), 2.5),
        lambda x: F.pad(x, pairs, value=2.5),
        pairs,
    )


def lstm_cell():
    n, rows = any_of([1, 2, 3, 7, 8, 15, 16, 17, 33, 64, 100]), any_of([1, 2, 3, 8, 17, 33])

    def theirs(x, h, c_):
        i, f, g, o = (x + h).chunk(4, -1)
        cell = torch.sigmoid(f) * c_ + torch.sigmoid(i) * torch.tanh(g)
        return torch.stack([torch.sigmoid(o) * torch.tanh(cell), cell])

    return [numbers(rows, 4 * n), numbers(rows, 4 * n), numbers(rows, n)], function("lstm_cell", "ttt"), theirs, n


OPERATIONS = [
    conv2d,
    conv1d,
    pool,
    unfold,
    convolution_grads,
    matmul,
    linear,
    attention,
    self_attention,
    norm,
    softmax,
    cross_entropy,
    reduction,
    pair,
    three,
    channel_moments,
    move,
    concat,
    pad,
    lstm_cell,
]


# ---- comparing ----

compared = different = 0


def compare(what, ours, theirs, tolerance):
    global compared, different
    compared += 1
    ours, theirs = get(ours), theirs.detach().numpy()
    fine = ours.shape == theirs.shape
    error = np.max(np.abs(ours - theirs), initial=0) / max(np.max(np.abs(theirs), initial=0), 1e-6) if fine else math.inf
    if not error <= tolerance:
        different += 1
        print(what, "differ by %.2g of the largest" % error if fine else "have shapes %s and %s" % (ours.shape, theirs.shape), flush=True)


def derivatives(outputs, inputs, cotangents, create_graph):
    results = (Tensor * len(inputs))()
    lists = [(Tensor * len(of))(*of) for of in (outputs, inputs, cotangents)]
    fine = function("grad", "*i*i*b*", c.c_bool)(lists[0], len(outputs), lists[1], len(inputs), lists[2], create_graph, results)
    assert fine, function("tape_error", "p", c.c_char_p)(tape)
    return list(results)


def try_one(make, seed):
    global dtype
    dtype = any_of([F32, F32, F32, F64])
    tolerance = 3e-4 if dtype == F32 else 1e-9
    arrays, our_function, their_function, about = make()
    what = "%s %s of %s, seed %d:" % (make.__name__, about, [a.shape for a in arrays], seed)
    ours = [put(a, dtype, "variable") for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    y, their_y = our_function(*ours), their_function(*theirs)
    compare(what + " values", y, their_y, tolerance)
    cotangent = numbers(*their_y.shape)
    ours.append(put(cotangent, dtype, "variable"))
    theirs.append(torch.tensor(cotangent, requires_grad=True))
    first = derivatives([y], ours[:-1], ours[-1:], True)
    their_first = torch.autograd.grad(their_y, theirs[:-1], theirs[-1], create_graph=True)
    for i, (one, other) in enumerate(zip(first, their_first)):
        compare("%s gradients %d" % (what, i), one, other, tolerance)
    vectors = [numbers(*a.shape) for a in arrays]
    second = derivatives(first, ours, [put(v, dtype) for v in vectors], False)
    linked = [g + 0 * sum(x.sum() for x in theirs) for g in their_first]
    for i, (one, other) in enumerate(zip(second, torch.autograd.grad(linked, theirs, [torch.tensor(v) for v in vectors]))):
        compare("%s second derivatives %d" % (what, i), one, other, 10 * tolerance)


chosen = [make for make in OPERATIONS if len(sys.argv) < 5 or make.__name__ in sys.argv[4:]]
torch.set_num_threads(1)
for seed in range(SEED, SEED + COUNT):
    random.seed(seed)
    generator = np.random.default_rng(seed)
    function("set_threads", "i", None)(any_of([1, 3]))
    tape = function("tape_new", "", c.c_void_p)()
    try_one(chosen[seed % len(chosen)], seed)
    function("tape_free", "p", None)(tape)
print("operations: %d comparisons, %d differ" % (compared, different))
sys.exit(different > 0)
