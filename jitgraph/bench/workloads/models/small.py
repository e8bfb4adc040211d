"""Small networks, factors and processes: steps of training, in which what is not arithmetic counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...workload import Workload
from .model import Model, declare


class WideAndDeep(Model):
    """Cheng et al. 2016: embeddings of `fields` sparse features and their weights, with dense ones beside."""

    optimizer, rate, used = "adam", 1e-3, 2

    def __init__(self, fields: int, buckets: int, width: int):
        self.fields, self.buckets, self.width = fields, buckets, width

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [generator.integers(0, self.buckets, (batch, self.fields), dtype=np.int32),
                generator.random((batch, 13), dtype=np.float32),
                generator.integers(0, 2, (batch, 1)).astype(np.float32)]

    def forward(self, net: Any, ids: Any, numbers: Any) -> Any:
        deep = [net.gather(net.weight(self.buckets, self.width, scale=0.1), ids[:, k]) for k in range(self.fields)]
        wide = [net.gather(net.filled(0, self.buckets, 1), ids[:, k]) for k in range(self.fields)]
        x = net.beside([*deep, numbers])
        for units in (256, 128, 64):
            x = net.relu(net.dense(x, units))
        return net.dense(x, 1) + sum(wide)

    def loss(self, net: Any, ids: Any, numbers: Any, labels: Any) -> Any:
        return net.mean(net.sigmoid_cross_entropy(self.forward(net, ids, numbers), labels))


class DQN(Model):
    """A step of Q learning (Mnih et al. 2015) on states [batch, 84, 84, 4], of which the next ones have no gradient."""

    optimizer, rate = "adam", 1e-4

    def __init__(self, actions: int):
        self.actions = actions

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        states = [generator.random((batch, 84, 84, 4), dtype=np.float32) for _ in range(2)]
        return [states[0], states[1], generator.integers(0, self.actions, batch, dtype=np.int32),
                generator.standard_normal(batch, dtype=np.float32)]

    def forward(self, net: Any, x: Any) -> Any:
        for filters, kernel, stride in ((32, 8, 4), (64, 4, 2), (64, 3, 1)):
            x = net.relu(net.conv(x, filters, kernel, stride, "VALID", bias=True))
        return net.dense(net.relu(net.dense(net.flatten(x), 512)), self.actions)

    def loss(self, net: Any, states: Any, following: Any, actions: Any, rewards: Any) -> Any:
        wanted = rewards + 0.99 * net.max(net.stop(self.forward(net, following)), 1)
        chosen = net.sum(self.forward(net, states) * net.one_hot(actions, self.actions), 1)
        return net.mean(net.square(chosen - wanted))


class ActorCritic(Model):
    """A2C (Mnih et al. 2016): policy and value of states [batch, 16], with a bonus for entropy."""

    optimizer, rate = "adam", 7e-4

    def __init__(self, units: int):
        self.units = units

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [generator.standard_normal((batch, 16), dtype=np.float32), generator.integers(0, 4, batch, dtype=np.int32),
                generator.standard_normal(batch, dtype=np.float32)]

    def forward(self, net: Any, x: Any) -> Any:
        for _ in range(2):
            x = net.tanh(net.dense(x, self.units))
        return net.dense(x, 5)

    def loss(self, net: Any, states: Any, actions: Any, returns: Any) -> Any:
        found = self.forward(net, states)
        value, chances = found[:, 4], net.log_softmax(found[:, :4])
        advantage = returns - value
        chosen = net.sum(chances * net.one_hot(actions, 4), 1)
        entropy = -net.sum(net.exp(chances) * chances, 1)
        return net.mean(-chosen * net.stop(advantage) + 0.5 * net.square(advantage) - 0.01 * entropy)


class WassersteinCritic(Model):
    """WGAN-GP (Gulrajani et al. 2017): the critic's step, whose penalty is of its gradient."""

    optimizer, rate, used = "adam", 1e-4, 1

    def __init__(self, units: int):
        self.units = units

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [*(generator.standard_normal((batch, 784), dtype=np.float32) for _ in range(2)),
                generator.random((batch, 1), dtype=np.float32)]

    def forward(self, net: Any, x: Any) -> Any:
        return self.critic(net, self.weights(net), x)

    def weights(self, net: Any) -> list[Any]:
        sides = [784, self.units, self.units, 1]
        return [net.weight(a, b, scale=a**-0.5) for a, b in zip(sides, sides[1:])]

    def critic(self, net: Any, weights: list[Any], x: Any) -> Any:
        for w in weights[:-1]:
            x = net.tanh(net.product(x, w))
        return net.product(x, weights[-1])

    def loss(self, net: Any, real: Any, made: Any, share: Any) -> Any:
        weights = self.weights(net)
        between = made + share * (real - made)
        slopes = net.gradient(lambda x: net.sum(self.critic(net, weights, x)), between)
        penalty = net.mean(net.square(net.sqrt(net.sum(net.square(slopes), 1) + 1e-8) - 1))
        return net.mean(self.critic(net, weights, made)) - net.mean(self.critic(net, weights, real)) + 10 * penalty


class VAE(Model):
    """A variational autoencoder of images as rows of 784 (Kingma and Welling 2013), with its noise given."""

    optimizer, rate, used = "adam", 1e-3, 2

    def __init__(self, units: int, latent: int = 20):
        self.units, self.latent = units, latent

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [generator.random((batch, 784), dtype=np.float32), generator.standard_normal((batch, self.latent), dtype=np.float32)]

    def coded(self, net: Any, x: Any, noise: Any) -> tuple[Any, Any, Any]:
        x = net.relu(net.dense(net.relu(net.dense(x, self.units)), self.units))
        mean, spread = net.split(net.dense(x, 2 * self.latent), 2)
        z = mean + net.exp(spread * 0.5) * noise
        return net.dense(net.relu(net.dense(net.relu(net.dense(z, self.units)), self.units)), 784), mean, spread

    def forward(self, net: Any, x: Any, noise: Any) -> Any:
        return net.sigmoid(self.coded(net, x, noise)[0])

    def loss(self, net: Any, x: Any, noise: Any) -> Any:
        logits, mean, spread = self.coded(net, x, noise)
        divergence = -0.5 * net.sum(1 + spread - net.square(mean) - net.exp(spread), 1)
        return net.mean(net.sum(net.sigmoid_cross_entropy(logits, x), 1) + divergence)


class GaussianProcess(Model):
    """Regression on `points` of 8 numbers each: the likelihood by Cholesky's factor (Rasmussen and Williams 2006, 2.30)."""

    optimizer, rate = "adam", 1e-2

    def __init__(self, points: int):
        self.points = points

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [generator.standard_normal((self.points, 8), dtype=np.float32),
                generator.standard_normal((self.points, 1), dtype=np.float32), np.eye(self.points, dtype=np.float32)]

    def loss(self, net: Any, x: Any, y: Any, eye: Any) -> Any:
        scales, amplitude, noise = net.filled(0, 8), net.filled(0, 1), net.filled(-1, 1)
        scaled = x * net.exp(scales)
        norms = net.sum(net.square(scaled), 1)
        distances = net.reshape(norms, -1, 1) - 2 * net.product(scaled, scaled, transposed=True) + norms
        kernel = net.exp(amplitude) * net.exp(-0.5 * distances) + net.exp(noise) * eye
        lower = net.cholesky(kernel)
        return 0.5 * net.sum(net.square(net.triangular_solve(lower, y))) + net.sum(net.log(net.diagonal(lower)))


class Factors(Model):
    """Matrix factorisation (Koren et al. 2009): ratings of items by users, with biases and a penalty."""

    optimizer, rate, used = "sgd", 0.05, 2

    def __init__(self, users: int, items: int, rank: int):
        self.users, self.items, self.rank = users, items, rank

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [generator.integers(0, self.users, batch, dtype=np.int32), generator.integers(0, self.items, batch, dtype=np.int32),
                generator.standard_normal(batch, dtype=np.float32)]

    def forward(self, net: Any, users: Any, items: Any) -> Any:
        return self.predicted(net, users, items)[0]

    def predicted(self, net: Any, users: Any, items: Any) -> tuple[Any, Any]:
        p = net.gather(net.weight(self.users, self.rank, scale=0.1), users)
        q = net.gather(net.weight(self.items, self.rank, scale=0.1), items)
        a, b = net.gather(net.filled(0, self.users), users), net.gather(net.filled(0, self.items), items)
        return net.sum(p * q, 1) + a + b, net.sum(net.square(p), 1) + net.sum(net.square(q), 1)

    def loss(self, net: Any, users: Any, items: Any, ratings: Any) -> Any:
        found, norms = self.predicted(net, users, items)
        return net.mean(net.square(found - ratings) + 0.02 * norms)


declare("wide-deep", "wide & deep, 26 fields", WideAndDeep, {"fields": 26, "buckets": 10000, "width": 16},
        {"fields": 3, "buckets": 20, "width": 4}, forward=(256,), training=(256,), peers=("jax", "torch", "torch-compile"))
declare("dqn", "DQN", DQN, {"actions": 6}, forward=(1,), training=(32,), peers=("jax", "torch", "torch-compile"))
declare("a2c", "A2C", ActorCritic, {"units": 64}, {"units": 8}, forward=(), training=(32,), peers=("jax", "torch", "torch-compile"))
declare("wgan-gp", "WGAN-GP critic", WassersteinCritic, {"units": 512}, {"units": 8}, forward=(), training=(64,),
        peers=("jax", "torch"))
declare("vae", "VAE", VAE, {"units": 500}, {"units": 8}, forward=(1,), training=(128,), peers=("jax", "torch", "torch-compile"))
declare("gp", "GP regression, 512 points", GaussianProcess, {"points": 512}, {"points": 12}, forward=(), training=(1,),
        peers=("jax", "torch"))
declare("factors", "matrix factorisation", Factors, {"users": 6000, "items": 4000, "rank": 32},
        {"users": 9, "items": 7, "rank": 3}, forward=(), training=(1024,), peers=("jax", "torch", "torch-compile"))


word2vec = Workload(
    "word2vec-training-128",
    "word2vec with NCE, 64 negatives, batch 128",
    {"batch": 128, "vocabulary": 50000, "width": 128, "sampled": 64},
    {"batch": 4, "vocabulary": 40, "width": 4, "sampled": 3},
    goals={"tensorflow": 1.0},
    noise=None,     # each peer draws its own negatives
)


def _pairs(batch: int, vocabulary: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(1)
    ids = generator.zipf(1.3, (2, batch)) % vocabulary
    return ids[0].astype(np.int32), ids[1].astype(np.int32)


@word2vec.tf1
def _(tf: Any, batch: int, vocabulary: int, width: int, sampled: int) -> Callable[[], Any]:
    words, contexts = _pairs(batch, vocabulary)
    x, y = tf.placeholder(tf.int32, [batch]), tf.placeholder(tf.int32, [batch, 1])
    embeddings = tf.Variable(tf.random_uniform([vocabulary, width], -1.0, 1.0))
    weights = tf.Variable(tf.truncated_normal([vocabulary, width], stddev=width**-0.5))
    biases = tf.Variable(tf.zeros([vocabulary]))
    loss = tf.reduce_mean(tf.nn.nce_loss(weights=weights, biases=biases, labels=y, inputs=tf.nn.embedding_lookup(embeddings, x),
                                         num_sampled=sampled, num_classes=vocabulary))
    step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run([step, loss], {x: words, y: contexts[:, None]})[1]


@word2vec.torch
def _(torch: Any, compiled: Any, batch: int, vocabulary: int, width: int, sampled: int) -> Callable[[], Any]:
    words, contexts = (torch.from_numpy(ids).long() for ids in _pairs(batch, vocabulary))
    functional = torch.nn.functional
    inputs = torch.empty(vocabulary, width).uniform_(-1, 1).requires_grad_()
    weights, biases = (torch.randn(vocabulary, width) * width**-0.5).requires_grad_(), torch.zeros(vocabulary, 1).requires_grad_()
    optimizer = torch.optim.SGD([inputs, weights, biases], lr=1.0)
    chances = -torch.log1p(1 / torch.arange(1, vocabulary + 1).float()).neg() / np.log(vocabulary + 1)

    def loss_of(drawn: Any) -> Any:
        rows = lambda table, ids: functional.embedding(ids, table, sparse=True)
        x = rows(inputs, words)
        true = (x * rows(weights, contexts)).sum(1) + rows(biases, contexts)[:, 0] - torch.log(chances[contexts] * sampled)
        other = x @ rows(weights, drawn).T + rows(biases, drawn)[:, 0] - torch.log(chances[drawn] * sampled)
        cross = functional.binary_cross_entropy_with_logits
        return (cross(true, torch.ones_like(true), reduction="none")
                + cross(other, torch.zeros_like(other), reduction="none").sum(1)).mean()

    def call() -> Any:
        optimizer.zero_grad()
        loss = loss_of(torch.multinomial(chances, sampled))
        loss.backward()
        optimizer.step()
        return loss.detach()

    return call


word2vec.functions.pop("torch-compile")     # sparse gradients are not compiled
