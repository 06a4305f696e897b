"""Writes tests/golden/python.safetensors with Python's safetensors package, which the tests of the reader read.

    python3 tests/golden/make_safetensors.py        (needs torch and safetensors)
"""
import os

import torch
from safetensors.torch import save_file

tensors = {
    "layers.0.weight": torch.arange(6, dtype=torch.float32).reshape(2, 3) / 4 - 0.5,
    "layers.0.bias": torch.tensor([1e-300, -2.5], dtype=torch.float64),
    "half": torch.tensor([1.5, -0.25, 65504.0, 6e-8, float("inf")], dtype=torch.float16),
    "bfloat": torch.tensor([1.5, -0.25, 3.140625, 1e38], dtype=torch.bfloat16),
    "scalar": torch.tensor(7.0),
    "empty": torch.zeros(0, 3),
    "labels": torch.tensor([1, 2, 3]),
    'odd "name" \\ übung': torch.tensor([1.0]),
}
path = os.path.join(os.path.dirname(__file__), "python.safetensors")
save_file(tensors, path, metadata={"activation": "gelu_exact", "note": 'a "quote", a \\ and ü'})
