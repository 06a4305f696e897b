#!/usr/bin/env python3
"""What other programs compute under the names of activations: columns of tests/golden/identify.csv.

    build/bin/activations --identify-points | sed 1i"x" > tests/golden/identify.csv
    python3 tests/golden/make_identify.py torch scipy onnxruntime     # in whichever Python has them
    python3 tests/golden/make_identify.py jax

A column is called PROGRAM FORM ARITHMETIC, the form as --identify should find it. tests/programs/test_identify.c reads them."""
import pathlib
import sys

import numpy as np

PATH = pathlib.Path(__file__).with_name("identify.csv")


def torch_columns(x):
    import torch
    from torch.nn import functional as f

    def quick(v):
        return v * torch.sigmoid(1.702 * v)

    # Where the processor has AVX-512, PyTorch's kernel for f16 computes erf by formula 7.1.26.
    f16 = "gelu_as_7_1_26" if torch.backends.cpu.get_cpu_capability() == "AVX512" else "gelu_exact"
    all_formats = {"gelu_exact": f.gelu, "gelu_tanh": lambda v: f.gelu(v, approximate="tanh"), "gelu_quick": quick,
                   "silu": f.silu}
    f32_only = {"mish": f.mish, "hardswish": f.hardswish, "elu": f.elu, "selu": f.selu, "relu": f.relu,
                "relu6": f.relu6, "leaky_relu": f.leaky_relu, "softplus": f.softplus, "tanh": torch.tanh,
                "sigmoid": torch.sigmoid, "softsign": f.softsign, "hardsigmoid": f.hardsigmoid}
    formats = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    for name, function in all_formats.items():
        for arithmetic, dtype in formats.items():
            shown = f16 if name == "gelu_exact" and arithmetic == "f16" else name
            yield f"torch {shown} {arithmetic}", function(torch.tensor(x).to(dtype)).float().numpy()
    for name, function in f32_only.items():
        yield f"torch {name} f32", function(torch.tensor(x)).numpy()


def jax_columns(x):
    import jax
    import jax.numpy as jnp

    functions = {"gelu_exact": lambda v: jax.nn.gelu(v, approximate=False), "gelu_tanh": jax.nn.gelu,
                 "silu": jax.nn.silu}
    for name, function in functions.items():
        for arithmetic, dtype in {"f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16}.items():
            yield f"jax {name} {arithmetic}", np.asarray(function(jnp.asarray(x, dtype)), np.float32)
    for name, function in {"mish": jax.nn.mish, "hardswish": jax.nn.hard_swish, "softplus": jax.nn.softplus}.items():
        yield f"jax {name} f32", np.asarray(function(jnp.asarray(x, jnp.float32)), np.float32)


def scipy_columns(x):
    """The formulas written out, each operation rounded."""
    from scipy import special

    for arithmetic, dtype in {"f32": np.float32, "f16": np.float16}.items():
        v, c = x.astype(dtype), dtype
        cubic = np.sqrt(c(2 / np.pi)) * (v + c(0.044715) * v * v * v)
        t, tail = c(1) / (c(1) + c(0.3275911) * np.abs(v) / np.sqrt(c(2))), c(0)
        for coefficient in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
            tail = (tail + c(coefficient)) * t
        erf_26 = np.sign(v) * (c(1) - tail * np.exp(-v * v / c(2)))
        yield f"scipy gelu_exact {arithmetic}", c(0.5) * v * (c(1) + special.erf(v / np.sqrt(c(2))).astype(dtype))
        yield f"scipy gelu_as_7_1_26 {arithmetic}", c(0.5) * v * (c(1) + erf_26)
        yield f"scipy gelu_tanh {arithmetic}", c(0.5) * v * (c(1) + np.tanh(cubic))
        with np.errstate(over="ignore"):
            yield f"scipy gelu_quick {arithmetic}", v / (c(1) + np.exp(c(-1.702) * v))
            yield f"scipy silu {arithmetic}", v / (c(1) + np.exp(-v))


def onnxruntime_columns(x):
    import onnxruntime
    from onnx import TensorProto, helper

    def run(operator, domain="", **attributes):
        node = helper.make_node(operator, ["x"], ["y"], domain=domain, **attributes)
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [len(x)]) for name in "xy"]
        graph = helper.make_graph([node], "one", ends[:1], ends[1:])
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(None, {"x": x})[0]

    yield "onnxruntime gelu_exact f32", run("Gelu")
    yield "onnxruntime gelu_tanh f32", run("Gelu", approximate="tanh")
    yield "onnxruntime gelu_quick f32", run("QuickGelu", "com.microsoft")
    yield "onnxruntime hardswish f32", run("HardSwish")
    yield "onnxruntime mish f32", run("Mish")


def main():
    rows = [line.split(",") for line in PATH.read_text().splitlines()]
    x = np.array([float(row[0]) for row in rows[1:]], np.float32)
    for program in sys.argv[1:]:
        for name, values in globals()[f"{program}_columns"](x):
            column = [name] + [f"{float(v):.9g}" for v in values]
            place = rows[0].index(name) if name in rows[0] else len(rows[0])
            for row, cell in zip(rows, column):
                row[place:place + 1] = [cell]
    PATH.write_text("\n".join(",".join(row) for row in rows) + "\n")


if __name__ == "__main__":
    main()
