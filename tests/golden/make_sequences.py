"""Writes tests/golden/sequences.safetensors: PyTorch's recurrent layers and cross-attention, T5's block and whole T5, written here
from the paper's formulas (arXiv 1910.10683), with weights, results, gradients, and what AdamW makes of them.

    python3 tests/golden/make_sequences.py        (needs torch; 2.15.0 wrote the file that is kept)

As tests/golden/make_layers.py, which explains the names. Besides, "padding" is 0 behind the end of a sequence, "last" is the state
after it, one layer after the other (h, then c of an LSTM), and "trained.NAME" are the parameters after 20 steps of AdamW on
mean((output - cotangent)^2), with weight decay on matrices alone. Names of cells have no number. "memory" is the second sequence of
attention, and "padding" then its own. T5's input is its source, then its target.
"""
import math
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
    x.requires_grad_(x.dtype == torch.float64)
    memory = more.get("memory", x)
    memory.requires_grad_(memory.dtype == torch.float64)
    output, last = forward(layer, x)
    cotangent = torch.randn_like(output)
    (output * cotangent).sum().backward()
    tensors.update({"output": output, "cotangent": cotangent, "last": last})
    if x.grad is not None:
        tensors["grad.input"] = x.grad
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


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)


def buckets_of(queries, keys, causal, buckets, most):
    """The bucket of each pair: half of a direction's are for one distance each, the others grow in geometric progression."""
    distance = torch.arange(keys)[None] - torch.arange(queries)[:, None]
    first = torch.zeros_like(distance)
    if causal:
        d = torch.clamp(-distance, min=0)
    else:
        buckets //= 2
        first, d = torch.where(distance > 0, buckets, 0), distance.abs()
    exact = buckets // 2
    large = exact + (torch.log(d.clamp(min=1) / exact) / math.log(most / exact) * (buckets - exact)).long()
    return first + torch.where(d < exact, d, large.clamp(max=buckets - 1))


class Bias(nn.Module):
    def __init__(self, heads, causal, buckets, most):
        super().__init__()
        self.weight, self.how = nn.Parameter(torch.zeros(buckets, heads)), (causal, buckets, most)

    def forward(self, positions):
        return self.weight[buckets_of(positions, positions, *self.how)].permute(2, 0, 1)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(width, width, bias=False))

    def forward(self, x, memory, bias=0, mask=None):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in (self.q_proj(x), self.k_proj(memory), self.v_proj(memory)))
        scores = q @ k.transpose(-1, -2) + bias  # not divided by the root of the size
        scores = scores if mask is None else scores.masked_fill(mask == 0, -math.inf)
        return self.o_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self, width, hidden, gated):
        super().__init__()
        self.gated = gated
        if gated:
            self.gate_proj, self.up_proj, self.down_proj = (nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False),
                                                            nn.Linear(hidden, width, bias=False))

    def forward(self, x):
        return self.down_proj(nn.functional.gelu(self.gate_proj(x), approximate="tanh") * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, width, heads, hidden, gated, cross):
        super().__init__()
        self.self_attn = Attention(width, heads)
        if cross:
            self.multihead_attn = Attention(width, heads)
        if gated:
            self.mlp = FeedForward(width, hidden, gated)
        else:
            self.linear1, self.linear2 = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        if cross:
            self.norm3 = RMSNorm(width)
        self.gated, self.cross = gated, cross

    def forward(self, x, bias, mask=None, memory=None, memory_mask=None):
        h = self.norm1(x)
        x = x + self.self_attn(h, h, bias, mask)
        if self.cross:
            x = x + self.multihead_attn(self.norm2(x), memory, 0, memory_mask)
        h = (self.norm3 if self.cross else self.norm2)(x)
        return x + (self.mlp(h) if self.gated else self.linear2(torch.relu(self.linear1(h))))


class BlockWithBias(nn.Module):
    def __init__(self, width, heads, hidden, gated, cross, buckets, most):
        super().__init__()
        self.relative_attention_bias = Bias(heads, cross, buckets, most)
        self.block, self.cross = Block(width, heads, hidden, gated, cross), cross

    def forward(self, x, mask, memory):
        bias, positions = self.relative_attention_bias(x.shape[1]), x.shape[1]
        if not self.cross:
            return self.block(x, bias, mask[:, None, None])
        return self.block(x, bias, torch.tril(torch.ones(positions, positions)), memory, mask[:, None, None])


class T5(nn.Module):
    def __init__(self, vocabulary, width, heads, hidden, gated, layers, buckets, most):
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary, width)
        for name in ("encoder", "decoder"):
            stack = nn.Module()
            stack.relative_attention_bias = Bias(heads, name == "decoder", buckets, most)
            stack.layers = nn.ModuleList([Block(width, heads, hidden, gated, name == "decoder") for _ in range(layers)])
            stack.norm = RMSNorm(width)
            setattr(self, name, stack)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, source, target):
        mask, positions = (source != 0)[:, None, None], target.shape[1]
        x, bias = self.token_embedding(source), self.encoder.relative_attention_bias(source.shape[1])
        for block in self.encoder.layers:
            x = block(x, bias, mask)
        memory, x = self.encoder.norm(x), self.token_embedding(target)
        bias, causal = self.decoder.relative_attention_bias(positions), torch.tril(torch.ones(positions, positions))
        for block in self.decoder.layers:
            x = block(x, bias, causal, memory, mask)
        return self.head(self.decoder.norm(x))


def t5():
    for name, width, heads, gated, cross, positions, others, buckets, most in (
            ("t5_1", 6, 2, False, False, 9, 9, 8, 12), ("t5_2", 8, 4, True, False, 5, 5, 32, 128), ("t5_3", 6, 3, False, True, 7, 4, 6, 10),
            ("t5_4", 4, 1, True, True, 3, 6, 32, 128)):
        memory, mask = torch.randn(2, others, width), torch.ones(2, others)
        mask[1, -2:] = 0

        def run(layer, x):
            y = layer(x, mask, memory)
            return y, y

        more = {"memory": memory, "padding": mask} if cross else {"padding": mask}
        keep(name, BlockWithBias(width, heads, 4 * width - 1, gated, cross, buckets, most), run, torch.randn(2, positions, width), more, "")
    for name, gated, layers in (("t5_model_1", False, 2), ("t5_model_2", True, 1)):
        source, target = torch.randint(1, 7, (2, 6)), torch.randint(1, 7, (2, 4))
        source[1, 4:] = 0

        def run_whole(layer, x):
            y = layer(x[:, :6], x[:, 6:])
            return y, y

        keep(name, T5(7, 8, 2, 15, gated, layers, 8, 12), run_whole, torch.cat((source, target), 1), {}, "")


torch.manual_seed(0)
sequences()
cells()
cross_attention()
t5()
write_all(FILE, all_tensors)
