"""JAX's side of `bench --peers`: one compiled function computes loss, gradients and optax's AdamW, and writes parameters and moments where they
were. peer_loop.py has the arguments and what is asked.
"""
import contextlib
import functools
import os

import peer_loop

peer_loop.require("jax", "optax")

# XLA makes as many threads as there are processors for it. Afterwards they may run on any, as everybody's do.
anywhere = os.sched_getaffinity(0)
os.sched_setaffinity(0, sorted(anywhere)[:peer_loop.threads()])

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import optax  # noqa: E402

jax.devices()
for thread in os.listdir("/proc/self/task"):
    with contextlib.suppress(ProcessLookupError):  # it may have ended meanwhile
        os.sched_setaffinity(int(thread), anywhere)

ACTIVATIONS = {"relu": jax.nn.relu, "gelu_exact": functools.partial(jax.nn.gelu, approximate=False), "swiglu": jax.nn.silu}


def linear(key, inputs, outputs):
    bound = inputs**-0.5
    return {"weight": jax.random.uniform(key, (inputs, outputs), minval=-bound, maxval=bound), "bias": jnp.zeros(outputs)}


def apply(layer, x):
    return x @ layer["weight"] + layer["bias"]


def initial(key, gated, widths):
    """Linear layers; with `gated` each hidden one has a second matrix, its gate."""
    keys = iter(jax.random.split(key, 2 * len(widths)))
    layers = [{"up": linear(next(keys), *pair)} for pair in zip(widths, widths[1:])]
    for layer, *pair in zip(layers[:-1] if gated else [], widths, widths[1:]):
        layer["gate"] = linear(next(keys), *pair)
        layer["up"]["bias"] += 1  # so that a deep net's numbers do not vanish
    return layers


def training_step(activation, batch, widths):
    act, gated = ACTIVATIONS[activation], activation == "swiglu"
    net_key, x_key, label_key = jax.random.split(jax.random.key(1), 3)
    x = jax.random.normal(x_key, (batch, widths[0]))
    labels = jax.random.randint(label_key, (batch,), 0, widths[-1])
    adamw = optax.adamw(1e-5, weight_decay=0)
    net = initial(net_key, gated, widths)
    state = (net, adamw.init(net))

    def loss_of(layers, x, labels):
        for layer in layers[:-1]:
            x = act(apply(layer["gate"], x)) * apply(layer["up"], x) if gated else act(apply(layer["up"], x))
        return optax.softmax_cross_entropy_with_integer_labels(apply(layers[-1]["up"], x), labels).mean()

    @functools.partial(jax.jit, donate_argnums=0)
    def update(state, x, labels):
        net, moments = state
        loss, gradients = jax.value_and_grad(loss_of)(net, x, labels)
        changes, moments = adamw.update(gradients, moments, net)
        return (optax.apply_updates(net, changes), moments), loss

    def step():
        nonlocal state
        state, loss = update(state, x, labels)
        return state, loss

    return step


if __name__ == "__main__":
    peer_loop.answer(f"JAX {jax.__version__}", training_step, wait=jax.block_until_ready)
