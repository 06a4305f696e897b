"""The GPT of `bench --gpt` in PyTorch: pre-norm blocks as GPT-2's, a plain or gated feed-forward layer, the head tied to the embedding."""
import torch
from torch import nn
from torch.nn import functional

PLAIN = {"gelu_exact": nn.GELU(), "gelu_tanh": nn.GELU(approximate="tanh"), "relu": nn.ReLU(), "silu": nn.SiLU()}
GATES = {"swiglu": functional.silu, "geglu": functional.gelu, "reglu": functional.relu}


class Gated(nn.Module):
    def __init__(self, gate, width, hidden):
        super().__init__()
        self.gate = gate
        self.gate_proj, self.up_proj = nn.Linear(width, hidden), nn.Linear(width, hidden)
        self.down_proj = nn.Linear(hidden, width)

    def forward(self, x):
        return self.down_proj(self.gate(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, activation, heads, width, hidden, causal=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        if activation in GATES:
            self.mlp = Gated(GATES[activation], width, hidden)
        else:
            self.mlp = nn.Sequential(nn.Linear(width, hidden), PLAIN[activation], nn.Linear(hidden, width))

    def forward(self, x):
        batch, positions, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, positions, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).reshape(batch, positions, width))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, activation, layers, heads, width, context, letters, hidden):
        super().__init__()
        self.token, self.position = nn.Embedding(letters, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(activation, heads, width, hidden) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.token.weight, std=0.02)

    def forward(self, ids, following):
        x = self.token(ids) + self.position.weight[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = functional.linear(self.norm(x), self.token.weight)
        return functional.cross_entropy(logits.flatten(0, 1), following.flatten())


def gpt_step(activation, batch, layers, heads, width, context, letters, hidden, compiled, wrap=lambda net: net):
    """A training step to call."""
    model = wrap(GPT(activation, layers, heads, width, context, letters, hidden))
    adamw = torch.optim.AdamW(model.parameters(), lr=1e-6, weight_decay=0.1, fused=True)
    ids, following = (torch.randint(letters, (batch, context)) for _ in range(2))
    loss = torch.compile(model) if compiled else model

    def step():
        adamw.zero_grad(set_to_none=True)
        loss(ids, following).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adamw.step()

    return step
