"""`tf.examples.tutorials.mnist.mnist`: a network of two hidden layers for MNIST, its loss and its training step."""

from __future__ import annotations

import math

from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.top_k import in_top_k
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.cast import cast, to_int64
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits
from jitgraph.ops.random.draws import truncated_normal
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum
from jitgraph.summary.summaries import scalar
from jitgraph.train.gradient_descent import GradientDescentOptimizer
from jitgraph.variables.variable import Variable

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def inference(images: Tensor, hidden1_units: int, hidden2_units: int) -> Tensor:
    """Return the logits [batch, 10] of images [batch, 784], float32, by two hidden layers of so many units."""
    hidden1 = relu(_linear(images, IMAGE_PIXELS, hidden1_units, "hidden1"))
    hidden2 = relu(_linear(hidden1, hidden1_units, hidden2_units, "hidden2"))
    return _linear(hidden2, hidden2_units, NUM_CLASSES, "softmax_linear")


def _linear(x: Tensor, inputs: int, units: int, name: str) -> Tensor:
    with name_scope(name):
        weights = Variable(truncated_normal([inputs, units], stddev=1.0 / math.sqrt(inputs)), name="weights")
        return matmul(x, weights) + Variable(zeros([units]), name="biases")


def loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross entropy of logits [batch, 10] for the integer labels [batch], a float32 scalar."""
    each = sparse_softmax_cross_entropy_with_logits(labels=to_int64(labels), logits=logits, name="xentropy")
    return reduce_mean(each, name="xentropy_mean")


def training(loss: Tensor, learning_rate: float) -> Operation:
    """Return the step of gradient descent that makes `loss` smaller; it counts in the variable `global_step`.

    The loss becomes a scalar summary.
    """
    scalar("loss", loss)
    global_step = Variable(0, name="global_step", trainable=False)
    return GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)


def evaluation(logits: Tensor, labels: Tensor) -> Tensor:
    """Return how many of the labels, int32 [batch], are the greatest of their logits [batch, 10]: an int32 scalar."""
    return reduce_sum(cast(in_top_k(logits, labels, 1), "int32"))
