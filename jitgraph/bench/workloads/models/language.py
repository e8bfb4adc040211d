"""Transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...workload import Workload
from .model import Model, declare


class Transformer(Model):
    """Blocks of attention over words [batch, length] of int32, with a layer norm before or after each half.

    `used` arrays are words; the last one is what the words predict, at every place.
    """

    optimizer, rate = "adam", 1e-4

    def __init__(self, layers: int, width: int, heads: int, length: int, vocabulary: int, first: bool):
        self.layers, self.width, self.heads, self.length = layers, width, heads, length
        self.vocabulary, self.first = vocabulary, first

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [generator.integers(0, self.vocabulary, (batch, self.length), dtype=np.int32) for _ in range(self.used + 1)]

    def attention(self, net: Any, x: Any, memory: Any, mask: Any = None) -> Any:
        """x looks at `memory`, both [batch, length, width]."""
        depth = self.width // self.heads
        parts = net.split(net.dense(x, 3 * self.width), 3) if memory is x else \
            [net.dense(x, self.width), *net.split(net.dense(memory, 2 * self.width), 2)]
        q, k, v = (net.transpose(net.reshape(part, -1, self.length, self.heads, depth), 0, 2, 1, 3) for part in parts)
        scores = net.product(q, k, transposed=True) * depth**-0.5
        found = net.product(net.softmax(scores if mask is None else scores + mask), v)
        return net.dense(net.reshape(net.transpose(found, 0, 2, 1, 3), -1, self.length, self.width), self.width)

    def half(self, net: Any, x: Any, function: Callable[[Any], Any]) -> Any:
        """x and function(x), with the layer norm where it belongs."""
        return x + function(net.layer_norm(x)) if self.first else net.layer_norm(x + function(x))

    def perceptron(self, net: Any, x: Any) -> Any:
        return net.dense(net.gelu(net.dense(x, 4 * self.width)), self.width)

    def blocks(self, net: Any, x: Any, mask: Any = None, memory: Any = None) -> Any:
        for _ in range(self.layers):
            x = self.half(net, x, lambda y: self.attention(net, y, y, mask))
            if memory is not None:
                x = self.half(net, x, lambda y: self.attention(net, y, memory))
            x = self.half(net, x, lambda y: self.perceptron(net, y))
        return x

    def embedded(self, net: Any, words: Any) -> tuple[Any, Any]:
        """Words and places as numbers [batch, length, width], and the table of the words."""
        table, places = net.weight(self.vocabulary, self.width, scale=0.02), net.weight(self.length, self.width, scale=0.02)
        return net.gather(table, words) + places, table

    def predicted(self, net: Any, x: Any, table: Any) -> Any:
        """Logits [batch * length, vocabulary] by the table of the words."""
        return net.product(net.reshape(x, -1, self.width), table, transposed=True)

    def loss(self, net: Any, *inputs: Any) -> Any:
        return net.cross_entropy(self.forward(net, *inputs[:-1]), net.reshape(inputs[-1], -1))


class Encoder(Transformer):
    """BERT (Devlin et al. 2018): forward it gives what its pooler makes of the first word, training predicts words."""

    def forward(self, net: Any, words: Any) -> Any:
        x, table = self.embedded(net, words)
        return self.predicted(net, self.blocks(net, net.layer_norm(x)), table)


class Decoder(Transformer):
    """GPT-2 (Radford et al. 2019): each word sees those before it."""

    def forward(self, net: Any, words: Any) -> Any:
        x, table = self.embedded(net, words)
        return self.predicted(net, net.layer_norm(self.blocks(net, x, net.causal(self.length))), table)


class Translator(Transformer):
    """Encoder and decoder (Vaswani et al. 2017): words, the words so far, and the words wanted."""

    used = 2

    def forward(self, net: Any, words: Any, before: Any) -> Any:
        x, table = self.embedded(net, words)
        memory = self.blocks(net, x)
        y = net.gather(table, before) + net.weight(self.length, self.width, scale=0.02)
        return self.predicted(net, self.blocks(net, y, net.causal(self.length), memory), table)


SMALL = {"layers": 2, "width": 16, "heads": 2, "length": 8, "vocabulary": 50}
declare("bert", "BERT-base 128", Encoder,
        {"layers": 12, "width": 768, "heads": 12, "length": 128, "vocabulary": 30522, "first": False}, {**SMALL, "first": False})
declare("gpt2", "GPT-2 small 128", Decoder,
        {"layers": 12, "width": 768, "heads": 12, "length": 128, "vocabulary": 50257, "first": True}, {**SMALL, "first": True},
        training=())
declare("transformer", "Transformer base 64", Translator,
        {"layers": 6, "width": 512, "heads": 8, "length": 64, "vocabulary": 8000, "first": False}, {**SMALL, "first": False},
        forward=())


decoding = Workload(
    "gpt2-decoding-1",
    "GPT-2 small, 32 words one after another with cached keys, batch 1",
    {"batch": 1, "layers": 12, "width": 768, "heads": 12, "vocabulary": 50257, "words": 32},
    {"batch": 2, "layers": 2, "width": 16, "heads": 2, "vocabulary": 50, "words": 5},
    goals={"tensorflow": 1.0, "jax": 1.0},
)


class Weights:
    """What decoding needs, a leading axis for the layers."""

    def __init__(self, layers: int, width: int, vocabulary: int, words: int):
        from .parameters import Parameters

        made = Parameters()
        self.table, self.places = made.normal((vocabulary, width), 0.1), made.normal((words + 1, width), 0.1)
        self.mix = made.normal((layers, width, 3 * width), width**-0.5)
        self.out = made.normal((layers, width, width), width**-0.5)
        self.wide = made.normal((layers, width, 4 * width), width**-0.5)
        self.narrow = made.normal((layers, 4 * width, width), (4 * width) ** -0.5)


@decoding.tf1
def _(tf: Any, batch: int, layers: int, width: int, heads: int, vocabulary: int, words: int) -> Callable[[], Any]:
    from .net_tf1 import Net

    net, values, depth = Net(tf, False), Weights(layers, width, vocabulary, words), width // heads
    weights = {name: tf.Variable(value) for name, value in vars(values).items()}
    layer = lambda name: tf.unstack(weights[name])
    blocks = list(zip(layer("mix"), layer("out"), layer("wide"), layer("narrow")))

    def norm(x: Any) -> Any:
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        return (x - mean) * tf.rsqrt(variance + 1e-5)

    def step(t: Any, word: Any, found: Any, *caches: Any) -> tuple[Any, ...]:
        x, kept = tf.gather(weights["table"], word) + weights["places"][t], []
        here = tf.reshape(tf.one_hot(t, words), [1, 1, words, 1])
        beyond = tf.cast(tf.range(words) > t, tf.float32) * -1e9
        for (mix, out, wide, narrow), keys, items in zip(blocks, caches[::2], caches[1::2]):
            q, k, v = (tf.reshape(part, [batch, heads, 1, depth]) for part in tf.split(tf.matmul(norm(x), mix), 3, 1))
            keys, items = keys * (1 - here) + k * here, items * (1 - here) + v * here
            kept += [keys, items]
            scores = tf.nn.softmax(tf.matmul(q, keys, transpose_b=True) * depth**-0.5 + beyond)
            x += tf.matmul(tf.reshape(tf.matmul(scores, items), [batch, width]), out)
            x += tf.matmul(net.gelu(tf.matmul(norm(x), wide)), narrow)
        word = tf.argmax(tf.matmul(norm(x), weights["table"], transpose_b=True), 1, output_type=tf.int32)
        return (t + 1, word, found.write(t, word), *kept)

    start = tf.placeholder(tf.int32, [batch])
    caches = [tf.zeros([batch, heads, words, depth]) for _ in range(2 * layers)]
    end = tf.while_loop(lambda t, *_: t < words, step, (tf.constant(0), start, tf.TensorArray(tf.int32, words), *caches))
    result = end[2].stack()
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run(result, {start: np.arange(batch, dtype=np.int32)})


@decoding.on("jax")
def _(batch: int, layers: int, width: int, heads: int, vocabulary: int, words: int) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    from ...workload import jitted

    depth = width // heads
    weights = {name: jnp.asarray(value) for name, value in vars(Weights(layers, width, vocabulary, words)).items()}

    def norm(x: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(jnp.square(x - mean).mean(-1, keepdims=True) + 1e-5)

    def decode(w: Any, start: Any) -> Any:
        def step(t: Any, state: Any) -> Any:
            word, found, caches = state
            x, kept = w["table"][word] + w["places"][t], []
            beyond = jnp.where(jnp.arange(words) > t, -1e9, 0.0)
            for index in range(layers):
                keys, items = caches[index]
                q, k, v = (part.reshape(batch, heads, 1, depth) for part in jnp.split(norm(x) @ w["mix"][index], 3, 1))
                keys = jax.lax.dynamic_update_slice(keys, k, (0, 0, t, 0))
                items = jax.lax.dynamic_update_slice(items, v, (0, 0, t, 0))
                kept.append((keys, items))
                scores = jax.nn.softmax(q @ keys.swapaxes(-1, -2) * depth**-0.5 + beyond)
                x += (scores @ items).reshape(batch, width) @ w["out"][index]
                x += jax.nn.gelu(norm(x) @ w["wide"][index]) @ w["narrow"][index]
            word = jnp.argmax(norm(x) @ w["table"].T, 1).astype(jnp.int32)
            return word, found.at[t].set(word), kept

        zero = jnp.zeros((batch, heads, words, depth))
        state = start, jnp.zeros((words, batch), jnp.int32), [(zero, zero)] * layers
        return jax.lax.fori_loop(0, words, step, state)[1]

    return jitted(decode, weights, np.arange(batch, dtype=np.int32))


@decoding.torch
def _(torch: Any, compiled: Any, batch: int, layers: int, width: int, heads: int, vocabulary: int, words: int) -> Any:
    functional, depth = torch.nn.functional, width // heads
    w = {name: torch.from_numpy(value) for name, value in vars(Weights(layers, width, vocabulary, words)).items()}
    norm = lambda x: functional.layer_norm(x, (width,))

    def block(x: Any, cache: Any, t: int, mix: Any, out: Any, wide: Any, narrow: Any) -> Any:
        keys, items = cache
        q, k, v = ((norm(x) @ mix).view(batch, 3, heads, 1, depth)).unbind(1)
        keys[:, :, t : t + 1], items[:, :, t : t + 1] = k, v
        found = functional.scaled_dot_product_attention(q, keys[:, :, : t + 1], items[:, :, : t + 1])
        x = x + found.reshape(batch, width) @ out
        return x + functional.gelu(norm(x) @ wide, approximate="tanh") @ narrow

    def call() -> Any:
        with torch.inference_mode():
            caches = torch.zeros(layers, 2, batch, heads, words, depth)
            word, found = torch.arange(batch), []
            for t in range(words):
                x = w["table"][word] + w["places"][t]
                for index in range(layers):
                    x = block(x, caches[index], t, *(w[name][index] for name in ("mix", "out", "wide", "narrow")))
                word = (norm(x) @ w["table"].T).argmax(1)
                found.append(word)
            return torch.stack(found)

    return call


decoding.functions.pop("torch-compile")     # a step of another length would be another program
