"""Recurrent networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import Model, declare


class Language(Model):
    """Layers of LSTM over words [batch, length], which predict the next one (Zaremba et al. 2014; Karpathy 2015)."""

    optimizer, rate = "sgd", 0.1

    def __init__(self, layers: int, units: int, length: int, vocabulary: int, unrolled: bool = False):
        self.layers, self.units, self.length, self.vocabulary, self.unrolled = layers, units, length, vocabulary, unrolled

    def data(self, batch: int) -> list[Any]:
        words = np.random.default_rng(1).integers(0, self.vocabulary, (batch, self.length + 1), dtype=np.int32)
        return [words[:, :-1].copy(), words[:, 1:].copy()]

    def forward(self, net: Any, words: Any) -> Any:
        x = net.gather(net.weight(self.vocabulary, self.units, scale=0.1), words)
        for _ in range(self.layers):
            x = net.lstm(x, self.units, self.unrolled)
        return net.dense(net.reshape(x, -1, self.units), self.vocabulary)

    def loss(self, net: Any, words: Any, following: Any) -> Any:
        return net.cross_entropy(self.forward(net, words), net.reshape(following, -1))


class Tagger(Model):
    """A bidirectional GRU over the first `lengths` of words [batch, length], a tag for each."""

    optimizer, rate, used = "adam", 1e-3, 2

    def __init__(self, units: int, length: int, vocabulary: int, tags: int = 20):
        self.units, self.length, self.vocabulary, self.tags = units, length, vocabulary, tags

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        lengths = generator.integers(self.length // 2, self.length + 1, batch, dtype=np.int32)
        words, tags = (generator.integers(0, top, (batch, self.length), dtype=np.int32) for top in (self.vocabulary, self.tags))
        return [words, lengths, tags]

    def forward(self, net: Any, words: Any, lengths: Any) -> Any:
        x = net.gather(net.weight(self.vocabulary, self.units, scale=0.1), words)
        x = net.bidirectional_gru(x, lengths, self.units)
        return net.dense(net.reshape(x, -1, 2 * self.units), self.tags)

    def loss(self, net: Any, words: Any, lengths: Any, tags: Any) -> Any:
        return net.cross_entropy(self.forward(net, words, lengths), net.reshape(tags, -1))


MEDIUM = {"layers": 2, "units": 650, "length": 35, "vocabulary": 10000}
SMALL = {"layers": 2, "units": 8, "length": 5, "vocabulary": 30}
declare("ptb-unrolled", "PTB LSTM, medium, unrolled", Language, {**MEDIUM, "unrolled": True}, {**SMALL, "unrolled": True},
        forward=(), training=(20,), peers=("jax", "torch"))
declare("ptb-dynamic", "PTB LSTM, medium, dynamic", Language, MEDIUM, SMALL, forward=(20,), training=(20,), peers=("jax", "torch"))
declare("char-rnn", "char-RNN", Language, {"layers": 2, "units": 128, "length": 50, "vocabulary": 65}, SMALL, forward=(1,),
        training=(50,), peers=("jax", "torch"))
declare("gru-tagger", "bidirectional GRU with lengths", Tagger, {"units": 200, "length": 50, "vocabulary": 10000},
        {"units": 8, "length": 6, "vocabulary": 30}, forward=(32,), training=(32,), peers=("jax",))
