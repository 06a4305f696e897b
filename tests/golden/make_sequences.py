"""Writes tests/golden/sequences.safetensors: PyTorch's recurrent layers and cross-attention, with weights, results, gradients, and what
AdamW makes of them.

    python3 tests/golden/make_sequences.py        (needs torch; 2.15.0 wrote the file that is kept)

As tests/golden/make_layers.py, which explains the names. Besides, "padding" is 0 behind the end of a sequence, "last" is the state
after it, one layer after the other (h, then c of an LSTM), and "trained.NAME" are the parameters after 20 steps of AdamW on
mean((output - cotangent)^2), with weight decay on matrices alone. Names of cells have no number. "memory" is the second sequence of
attention, and "padding" then its own.
"""
import os

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from make_layers import write_all

torch.set_default_dtype(torch.float64)
FILE = os.path.join(os.path.dirname(__file__), "sequences.safetensors")
all_tensors = {}


def keep(name, layer, forward, x, more, prefix="rnn."):
    torch.manual_seed(sum(map(ord, name)))
    layer.zero_grad()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    tensors = {prefix + key: value.detach().clone() for key, value in layer.named_parameters()}
    tensors.update(more, input=x.clone())
    x.requires_grad_(True)
    memory = more.get("memory", x)
    memory.requires_grad_(True)
    output, last = forward(layer, x)
    cotangent = torch.randn_like(output)
    (output * cotangent).sum().backward()
    tensors.update({"output": output, "cotangent": cotangent, "grad.input": x.grad, "last": last})
    if memory is not x:
        tensors["grad.memory"] = memory.grad.clone()
    tensors.update({"grad." + prefix + key: value.grad.clone() for key, value in layer.named_parameters()})
    matrices = [p for p in layer.parameters() if p.dim() > 1]
    vectors = [p for p in layer.parameters() if p.dim() == 1]
    adamw = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}] + ([{"params": vectors, "weight_decay": 0.0}] if vectors else []), lr=0.01)
    for _ in range(20):
        adamw.zero_grad()
        ((forward(layer, x.detach())[0] - cotangent) ** 2).mean().backward()
        adamw.step()
    tensors.update({"trained." + prefix + key: value.detach().clone() for key, value in layer.named_parameters()})
    all_tensors.update((name + "/" + key, tensor) for key, tensor in tensors.items())


def both(state):
    return torch.cat([s for s in state]) if isinstance(state, tuple) else state


def sequences():
    for kind, layers, bias in (("RNN", 1, True), ("GRU", 1, True), ("LSTM", 1, True), ("GRU", 2, False), ("LSTM", 2, True)):
        module = getattr(nn, kind)(3, 4, num_layers=layers, bias=bias, batch_first=True)

        def run(layer, x):
            output, state = layer(x)
            return output, both(state)

        keep(f"{kind.lower()}_{layers}", module, run, torch.randn(2, 5, 3), {})
        lengths = torch.tensor([5, 2, 3])

        def run_packed(layer, x):
            output, state = layer(pack_padded_sequence(x, lengths, True, False))
            return pad_packed_sequence(output, True)[0], both(state)

        padding = (torch.arange(5)[None] < lengths[:, None]).double()
        keep(f"{kind.lower()}_{layers}_padded", module, run_packed, torch.randn(3, 5, 3), {"padding": padding})


def cells():
    for kind in ("RNN", "GRU", "LSTM"):
        def run(cell, x):
            state = None
            for t in range(x.shape[1]):
                state = cell(x[:, t], state)
            h = state[0] if kind == "LSTM" else state
            return h, torch.stack(state) if kind == "LSTM" else h[None]

        keep(f"{kind.lower()}_cell", getattr(nn, kind + "Cell")(3, 4), run, torch.randn(2, 3, 3), {})


def cross_attention():
    for name, heads, width, positions, others, bias, padded in (("cross_1", 3, 6, 5, 4, True, False), ("cross_2", 2, 8, 3, 7, True, True),
                                                                 ("cross_3", 1, 5, 1, 2, False, True)):
        memory, mask = torch.randn(2, others, width), torch.ones(2, others)
        mask[1, -1:] = 0

        def run(layer, x):
            y = layer(x, memory, memory, key_padding_mask=mask == 0 if padded else None)[0]
            return y, y

        keep(name, nn.MultiheadAttention(width, heads, bias=bias, batch_first=True), run, torch.randn(2, positions, width),
             {"memory": memory, "padding": mask}, "attn.")


torch.manual_seed(0)
sequences()
cells()
cross_attention()
write_all(FILE, all_tensors)
