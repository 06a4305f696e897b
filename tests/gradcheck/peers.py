"""The wrong derivatives that tests/gradcheck/wrong_ops*.c share with this file, given to tapegrad, torch.autograd.gradcheck and JAX's check_grads.

    make && python3 tests/gradcheck/peers.py tapegrad > tapegrad.csv
    python3 tests/gradcheck/peers.py torch > torch.csv      # with a Python that has PyTorch
    python3 tests/gradcheck/peers.py jax > jax.csv
    python3 tests/gradcheck/peers.py table tapegrad.csv torch.csv jax.csv   # side by side
    python3 tests/gradcheck/peers.py sharp                  # in how many comparisons tapegrad sees an error of 1e-6

Every fault is a function with its right value and a wrong vector-Jacobian product. Each is checked in double at default settings, to
first order, for 10 seeds: by PyTorch and JAX on the inputs that tapegrad's samples have, [3, 4] and [33] numbers from -3 to 3; by tapegrad as
the operation of the same name in tests/gradcheck/wrong_ops*.c.
"""
import glob
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
except ImportError:
    np = None  # the table needs none

warnings.filterwarnings("ignore")
SEEDS = 10
SHAPES = ((3, 4), (33,))
HUNDRED = ((10, 10),)


def hashed(xp, x):
    return xp.fmod(xp.abs(x) * 1e9 + 0.123, xp.ones_like(x)) - 0.5


# name, value(xp, x), vjp(xp, g, x), shapes
square = lambda xp, x: x * x
square_plus = lambda xp, x: x * x + x
total = lambda xp, x: (x * x).sum()


def at(condition):
    return lambda xp, g, x: g * xp.where(condition(xp, x), 1.5 * (2 * x + 1), 2 * x + 1)


def shaped(condition):
    return lambda xp, g, x: g * x * (2.5 if condition(x) else 2)


FAULTS = [
    ("nothing wrong", square, lambda xp, g, x: g * 2 * x, SHAPES),
    ("right for positive cotangents only", square, lambda xp, g, x: xp.abs(g) * 2 * x, SHAPES),
    ("right for negative cotangents only", square, lambda xp, g, x: -xp.abs(g) * 2 * x, SHAPES),
    ("no gradient for negative cotangents", square, lambda xp, g, x: xp.where(g > 0, g, 0 * g) * 2 * x, SHAPES),
    ("negative cotangents a thousandth too small", square, lambda xp, g, x: xp.where(g > 0, g, 0.999 * g) * 2 * x, SHAPES),
    ("the cotangent clipped at 2", square, lambda xp, g, x: xp.clip(g, -2, 2) * 2 * x, SHAPES),
    ("the cotangent clipped at 10,000", square, lambda xp, g, x: xp.clip(g, -1e4, 1e4) * 2 * x, SHAPES),
    ("cotangents below 0.01 dropped", square, lambda xp, g, x: xp.where(xp.abs(g) < 0.01, 0 * g, g) * 2 * x, SHAPES),
    ("cotangents above 1.5 doubled", square, lambda xp, g, x: xp.where(xp.abs(g) > 1.5, 2 * g, g) * 2 * x, SHAPES),
    ("1e-9 of the cotangent's square mixed in", square, lambda xp, g, x: (g + 1e-9 * g * xp.abs(g)) * 2 * x, SHAPES),
    ("the largest cotangent counted twice", square, lambda xp, g, x: xp.where(g == g.max(), 2 * g, g) * 2 * x, SHAPES),
    ("a loss, right for positive cotangents only", total, lambda xp, g, x: xp.abs(g) * 2 * x, HUNDRED),
    ("a loss, right for negative cotangents only", total, lambda xp, g, x: -xp.abs(g) * 2 * x, HUNDRED),
    ("a loss with its cotangent squared", total, lambda xp, g, x: g * g * 2 * x, HUNDRED),
    ("pseudo-random errors of 1e-4", square, lambda xp, g, x: g * 2 * x * (1 + 1e-4 * hashed(xp, 2 * x)), SHAPES),
    ("pseudo-random errors of 1e-4 in 100 elements", square, lambda xp, g, x: g * 2 * x * (1 + 1e-4 * hashed(xp, 2 * x)), HUNDRED),
    ("pseudo-random errors of 1e-7 in 100 elements", square, lambda xp, g, x: g * 2 * x * (1 + 1e-7 * hashed(xp, 2 * x)), HUNDRED),
    ("pseudo-random errors of 1e-10 in 100 elements", square, lambda xp, g, x: g * 2 * x * (1 + 1e-10 * hashed(xp, 2 * x)), HUNDRED),
    ("wrong from rank 4 on", square, shaped(lambda x: x.ndim >= 4), SHAPES),
    ("wrong above 100 elements", square, shaped(lambda x: int(np.prod(x.shape)) > 100), SHAPES),
    ("wrong for 13 elements", square, shaped(lambda x: int(np.prod(x.shape)) == 13), SHAPES),
    ("wrong at 0 exactly", square_plus, at(lambda xp, x: x == 0), SHAPES),
    ("wrong at 1 exactly", square_plus, at(lambda xp, x: x == 1), SHAPES),
    ("wrong beyond 12", square_plus, at(lambda xp, x: xp.abs(x) > 12), SHAPES),
    ("wrong below a millionth", square_plus, at(lambda xp, x: xp.abs(x) < 1e-6), SHAPES),
    ("off by 1e-5 relative", square, lambda xp, g, x: g * x * 2.00002, SHAPES),
    ("off by 1e-9 relative", square, lambda xp, g, x: g * x * 2 * (1 + 1e-9), SHAPES),
    ("1e-10 added", square, lambda xp, g, x: g * (2 * x + 1e-10), SHAPES),
    ("a factor of two too many", square, lambda xp, g, x: g * 4 * x, SHAPES),
    ("a negated gradient", square, lambda xp, g, x: -g * 2 * x, SHAPES),
    ("wrong for negative inputs only", square, lambda xp, g, x: xp.where(x > 0, 2 * x * g, 0 * g), SHAPES),
    ("no gradient at all", square, lambda xp, g, x: 0 * g * x, SHAPES),
]


def inputs(shape, seed):
    return np.random.default_rng(seed).uniform(-3, 3, shape)


def with_torch():
    import torch

    def passes(value, vjp, x, fast):
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return value(torch, x)

            @staticmethod
            def backward(ctx, g):
                return vjp(torch, g, ctx.saved_tensors[0])

        try:
            return torch.autograd.gradcheck(F.apply, torch.tensor(x, requires_grad=True), fast_mode=fast, raise_exception=False)
        except Exception:
            return False

    print("# PyTorch", torch.__version__)
    for name, value, vjp, shapes in FAULTS:
        caught = [sum(not all(passes(value, vjp, inputs(s, seed), fast) for s in shapes) for seed in range(SEEDS)) for fast in (False, True)]
        print(f'"{name}",{caught[0]},{caught[1]}', flush=True)


def with_jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax.test_util import check_grads

    def passes(value, vjp, x):
        @jax.custom_vjp
        def f(x):
            return value(jnp, x)

        f.defvjp(lambda x: (value(jnp, x), x), lambda x, g: (vjp(jnp, g, x),))
        try:
            check_grads(f, (jnp.asarray(x),), order=1, modes=["rev"])
            return True
        except Exception:
            return False

    print("# JAX", jax.__version__)
    for name, value, vjp, shapes in FAULTS:
        print(f'"{name}",{sum(not all(passes(value, vjp, inputs(s, seed)) for s in shapes) for seed in range(SEEDS))}', flush=True)


PROGRAM = """
#include "tests/gradcheck/wrong_ops.h"
#include <stdio.h>
#include <stdlib.h>
static int caught(const tg_op *op, bool double_only, int seeds)
{
    int count = 0;
    for (int seed = 0; seed < seeds; seed++) {
        tg_gradcheck_options options = {.seed = (uint64_t)seed, .double_only = double_only};
        tg_gradcheck_result result = tg_gradcheck_op(op, &options);
        count += !result.passed && result.status != TG_GRADCHECK_CANNOT_TELL;
    }
    return count;
}
int main(int count, char **arguments)
{
    printf("# tapegrad %s\\n\\"nothing wrong\\",%d\\n", tg_version(), caught(&tg_op_square, false, atoi(arguments[1])));
    for (int i = 0; i < wrong_op_count(); i++) {
        wrong_op wrong = wrong_op_at(i);
        printf("\\"%s\\",%d\\n", wrong.fault, caught(&wrong.op, wrong.double_only, atoi(arguments[1])));
    }
    return count != 2;
}
"""


SHARP = """
#include <stdio.h>
#include <tapegrad.h>
int main(void)
{
    int64_t all = 0, sharp = 0;
    for (int i = 0; tg_op_at(i); i++) {
        if (tg_op_at(i)->flags & (TG_CONSTANT | TG_SOURCE))
            continue;
        tg_gradcheck_result result = tg_gradcheck_op(tg_op_at(i), NULL);
        printf("%5.1f %% of %4lld  %s\\n", 100. * (double)result.sharp / (double)result.comparisons, (long long)result.comparisons, tg_op_at(i)->name);
        all += result.comparisons;
        sharp += result.sharp;
    }
    printf("%5.1f %% of %lld, all operations\\n", 100. * (double)sharp / (double)all, (long long)all);
    return 0;
}
"""


def run_program(text, *arguments):
    """What a program of tests/ and the library prints."""
    build = os.environ.get("TG_BUILD", "build")
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "program.c"), os.path.join(folder, "program")
        with open(source, "w") as file:
            file.write(text)
        compiler = os.environ.get("TG_CC", "cc").split()
        subprocess.run(compiler + ["-O1", "-I.", f"-I{build}/include", source, *sorted(glob.glob("tests/gradcheck/wrong_ops*.c")), "-o", program,
                                   f"{build}/libtapegrad.a", "-ldl", "-lpthread", "-lm"], check=True)
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def with_tapegrad():
    lines = run_program(PROGRAM, str(SEEDS)).splitlines()
    caught = dict(line[1:].rsplit('",', 1) for line in lines if line[0] == '"')
    print(lines[0])
    for name, *_ in FAULTS:
        print(f'"{name}",{caught[name]}')


def table(*files):
    read = lambda path: {line.rsplit('"', 1)[0][1:]: line.rstrip("\n").rsplit('"', 1)[1].split(",")[1:] for line in open(path) if line[0] == '"'}
    rows = [read(path) for path in files]
    for path in files:
        print(open(path).readline()[2:].strip(), file=sys.stderr)
    print("| fault | tapegrad | torch, full | torch, fast | JAX |\n|---|---|---|---|---|")
    for name in rows[0]:
        print("|", name, "|", " | ".join(number for row in rows for number in row[name]), "|")


if __name__ == "__main__":
    if sys.argv[1:2] == ["tapegrad"]:
        with_tapegrad()
    elif sys.argv[1:2] == ["sharp"]:
        print(run_program(SHARP), end="")
    elif sys.argv[1:2] == ["torch"]:
        with_torch()
    elif sys.argv[1:2] == ["jax"]:
        with_jax()
    elif sys.argv[1:2] == ["table"] and len(sys.argv) == 5:
        table(*sys.argv[2:])
    else:
        sys.exit(__doc__)
