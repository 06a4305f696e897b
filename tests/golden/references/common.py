"""How a reference is computed: by PyTorch in double, or by mpmath with 50 digits.

    REFERENCES = {
        "mul": by_torch(lambda a, b: a * b),
        "erf": by_mpmath(mp.erf),
    }

A reference takes the inputs in their order and the attributes by their names, and returns the output. Gradients are
never written down: PyTorch's own differentiation gives them, or mpmath's numerical one.
"""

import itertools
from dataclasses import dataclass, field

import numpy
import torch
from mpmath import mp

mp.dps = 50

GRADIENTS = ("gradients",)
EVERYTHING = ("output", "gradients")


@dataclass
class Case:
    """One sample of an operation, as golden-samples printed it."""

    operation: str
    sample: int
    attributes: dict
    inputs: list  # numpy arrays, int64 or float64
    differentiated: list  # for each input
    cotangent: object  # a numpy array like the output, or None


@dataclass
class Answer:
    """What the case should give. `terms` are the sizes of what was added up to make each element, where an element can
    be much smaller than those; it can then be no more exact than they are."""

    output: object
    gradients: dict = field(default_factory=dict)  # number of the input -> array
    output_terms: object = None
    gradient_terms: dict = field(default_factory=dict)


# ---- PyTorch ----


def by_torch(function, sums=()):
    """`function` of tensors. `sums` names what is added up from terms that may cancel, "output" or "gradients" or both: for
    these the sizes of the terms are computed too."""

    def evaluate(case):
        inputs = [torch.tensor(x) for x in case.inputs]
        wanted = [i for i, flag in enumerate(case.differentiated) if flag]
        for i in wanted:
            inputs[i].requires_grad_(True)
        output = function(*inputs, **case.attributes)
        answer = Answer(output.detach().numpy())
        if case.cotangent is None:
            return answer
        cotangent = torch.tensor(case.cotangent)
        if cotangent.shape != output.shape:
            raise ValueError(f"the output is {list(output.shape)} here and {list(cotangent.shape)} there")
        variables = [inputs[i] for i in wanted]
        gradients = gradients_of(output, variables, cotangent, create_graph=bool(sums))
        answer.gradients = {i: g.detach().numpy() for i, g in zip(wanted, gradients)}
        if sums:
            of_output, of_gradients = sizes_of_terms(output, variables, cotangent, gradients)
            answer.output_terms = of_output if "output" in sums else None
            answer.gradient_terms = dict(zip(wanted, of_gradients)) if "gradients" in sums else {}
        return answer

    return evaluate


def gradients_of(output, variables, cotangent, create_graph=False, retain_graph=None):
    if not output.requires_grad:
        return [torch.zeros_like(v) for v in variables]
    found = torch.autograd.grad(
        output, variables, cotangent, create_graph=create_graph, retain_graph=retain_graph, allow_unused=True
    )
    return [torch.zeros_like(v) if g is None else g for v, g in zip(variables, found)]


def sizes_of_terms(output, variables, cotangent, gradients):
    """The first order effect of rounding: for each element y the sum of |dy/dx x| over the inputs x, and for each element
    of a gradient the sum of its parts |dy/dx cotangent| and of |dg/dx x|."""
    flat, weights = output.reshape(-1), cotangent.reshape(-1)
    of_output = torch.zeros_like(flat)
    of_gradients = [torch.zeros_like(v) for v in variables]
    for i in range(flat.numel()):
        rows = gradients_of(flat[i], variables, None, retain_graph=True)
        of_output[i] = sum((row * v).abs().sum() for row, v in zip(rows, variables))
        for total, row in zip(of_gradients, rows):
            total += (row * weights[i]).abs()
    for gradient, total in zip(gradients, of_gradients):
        sizes = total.reshape(-1)
        for k, element in enumerate(gradient.reshape(-1)):
            rows = gradients_of(element, variables, None, retain_graph=True)
            sizes[k] += sum((row * v).abs().sum() for row, v in zip(rows, variables))
    return of_output.reshape(output.shape).detach().numpy(), [total.detach().numpy() for total in of_gradients]


# ---- mpmath: elementwise functions ----


def by_mpmath(function, order=0, limits=None, direction=0):
    """`function` of scalars; the operation is its derivative of this order (of one input). limits[sign] lists the values at
    infinity of this sign, of the function and its derivatives, where mpmath does not know them. `direction` -1 or 1
    differentiates at zero from one side."""

    def evaluate(case):
        def slope(x, orders):
            return derivative_at(lambda *z: function(*z, **case.attributes), x, orders, limits, direction)

        arrays = numpy.broadcast_arrays(*case.inputs)
        shape = arrays[0].shape
        points = list(zip(*(a.reshape(-1) for a in arrays)))
        value_orders = (order,) + (0,) * (len(arrays) - 1)
        output = numpy.array([slope(x, value_orders) for x in points], dtype=float).reshape(shape)
        answer = Answer(output)
        if case.cotangent is None:
            return answer
        if case.cotangent.shape != shape:
            raise ValueError(f"the output is {list(shape)} here and {list(case.cotangent.shape)} there")
        for i in (i for i, flag in enumerate(case.differentiated) if flag):
            orders = tuple(n + (k == i) for k, n in enumerate(value_orders))
            slopes = numpy.array([slope(x, orders) for x in points], dtype=float).reshape(shape)
            answer.gradients[i] = sum_to(slopes * case.cotangent, case.inputs[i].shape)
            if slopes.shape != case.inputs[i].shape:
                answer.gradient_terms[i] = sum_to(abs(slopes * case.cotangent), case.inputs[i].shape)
        return answer

    return evaluate


def derivative_at(function, x, orders, limits, direction):
    if any(numpy.isnan(v) for v in x):
        return numpy.nan
    if limits and len(x) == 1 and numpy.isinf(x[0]):
        return limits[1 if x[0] > 0 else -1][orders[0]]
    point = tuple(mp.mpf(float(v)) for v in x)
    if not any(orders):
        value = function(*point)
    elif len(x) == 1:
        side = direction if x[0] == 0 else 0
        value = mp.diff(function, point[0], orders[0], direction=side)
    else:
        value = mp.diff(function, point, orders)
    return to_float(value)


def to_float(value):
    if abs(value) > mp.mpf(2) ** 1024:
        return numpy.inf if value > 0 else -numpy.inf
    return float(value)


def sum_to(x, shape):
    """x summed over the axes along which `shape` was broadcast."""
    extra = x.ndim - len(shape)
    x = x.sum(axis=tuple(range(extra)))
    stretched = tuple(axis for axis, (a, b) in enumerate(itertools.zip_longest(x.shape, shape)) if a != b)
    return x.sum(axis=stretched, keepdims=True)
