"""How a reference is computed: by PyTorch in double, with functions of one number by mpmath with 50 digits.

    REFERENCES = {
        "mul": by_torch(lambda a, b: a * b, sums=GRADIENTS),
        "erf": by_torch(exactly(mp.erf, LEVEL)),
    }

A reference takes the inputs in their order and the attributes by their names, and returns the output. Gradients are
never written down: PyTorch's own differentiation gives them, and mpmath's numerical one for functions made by `exactly`.
"""

import functools
from dataclasses import dataclass, field

import numpy
import torch
from mpmath import mp

mp.dps = 50
DIGITS_OF_DERIVATIVES = 200  # of numerical ones: what is left of the differences is then below every double

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
    """The expected result of the case. `terms` has, for each element that can be much smaller than the terms it is a sum of,
    the size of these terms: the element can be no more exact than they are."""

    output: object
    gradients: dict = field(default_factory=dict)  # number of the input -> array
    output_terms: object = None
    gradient_terms: dict = field(default_factory=dict)


def by_torch(function, sums=(), unseen={}):
    """`function` of tensors. `sums` names the results that are sums of terms that may cancel, "output" or "gradients" or both:
    for these the sizes of the terms are computed too, from the inputs. Where intermediate results cancel, `unseen` is their
    size: {"output": 1.0}."""

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
            if "output" in sums:
                answer.output_terms = numpy.maximum(of_output, unseen.get("output", 0.0))
            if "gradients" in sums:
                least = unseen.get("gradients", 0.0)
                answer.gradient_terms = {i: numpy.maximum(g, least) for i, g in zip(wanted, of_gradients)}
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
    """The effect of rounding to first order: for each element y the sum of |dy/dx x| over the inputs x; for each element g
    of a gradient the sum of its terms |dy/dx cotangent| and of |dg/dx x|."""

    def effects(element):
        rows = gradients_of(element, variables, None, retain_graph=True)
        return rows, sum(torch.where(row == 0, 0.0, (row * v).abs()).sum() for row, v in zip(rows, variables))

    flat, weights = output.reshape(-1), cotangent.reshape(-1)
    of_output = torch.zeros_like(flat)
    of_gradients = [torch.zeros_like(v) for v in variables]
    for i in range(flat.numel()):
        rows, of_output[i] = effects(flat[i])
        for total, row in zip(of_gradients, rows):
            total += (row * weights[i]).abs()
    for gradient, total in zip(gradients, of_gradients):
        sizes = total.view(-1)
        for k, element in enumerate(gradient.reshape(-1)):
            sizes[k] += effects(element)[1]
    return of_output.reshape(output.shape).detach().numpy(), [total.detach().numpy() for total in of_gradients]


# ---- functions of one number, by mpmath ----

INFINITY, NAN = numpy.inf, numpy.nan

# Limits at -infinity and at +infinity: of the function, its first derivative and so on. The last number holds for all higher ones.
RAMP = ((0,), (INFINITY, 1, 0))  # 0 on the left, x on the right
STEP = ((0,), (1, 0))
LEVEL = ((-1, 0), (1, 0))  # of odd functions
NOWHERE = ((NAN,), (NAN,))


def exactly(function, limits, order=0):
    """Makes an elementwise function of tensors from a function of mpmath numbers, or from its derivative of this order. The
    derivatives are mpmath's numerical ones."""

    @functools.lru_cache(maxsize=None)
    def slope(x, n):
        if x != x:
            return NAN
        if numpy.isinf(x):
            known = limits[x > 0]
            return known[min(n, len(known) - 1)]
        if n == 0:
            return to_float(function(mp.mpf(x)))
        with mp.workdps(DIGITS_OF_DERIVATIVES):
            return to_float(mp.diff(function, mp.mpf(x), n))

    class Slope(torch.autograd.Function):
        @staticmethod
        def forward(context, x, n):
            context.save_for_backward(x)
            context.n = n
            values = [slope(float(v), n) for v in x.detach().reshape(-1)]
            return torch.tensor(values, dtype=torch.float64).reshape(x.shape)

        @staticmethod
        def backward(context, cotangent):
            (x,) = context.saved_tensors
            return cotangent * Slope.apply(x, context.n + 1), None

    return lambda x: Slope.apply(x, order)


def to_float(value):
    if abs(value) >= mp.mpf(2) ** 1024:
        return INFINITY if value > 0 else -INFINITY
    return float(value)
