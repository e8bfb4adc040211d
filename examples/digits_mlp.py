"""Handwritten digits, read by a small network: a plain TensorFlow 1 program.

    jitgraph run examples/digits_mlp.py             # compiled by jitgraph, no TensorFlow installed
    python examples/digits_mlp.py                   # the same file on TensorFlow 1.15

1,797 real digits of 8 x 8 pixels (see data/README.md), a 64-128-64-10 network, Adam, mini-batches fed by hand.
"""
from __future__ import print_function

import argparse
import os
import sys
import time

import numpy as np
import tensorflow as tf

PIXELS, CLASSES, BATCH = 64, 10, 32
TEST_DIGITS = 360


def load():
    """Return (training images, labels), (test images, labels); pixels in 0..1, shuffled once by a fixed seed."""
    archive = np.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "digits.npz"))
    images = archive["images"].astype(np.float32) / 16
    labels = archive["labels"].astype(np.int32)
    order = np.random.RandomState(0).permutation(len(images))
    images, labels = images[order], labels[order]
    return (images[TEST_DIGITS:], labels[TEST_DIGITS:]), (images[:TEST_DIGITS], labels[:TEST_DIGITS])


def dense(inputs, units, name, seed, activation=None):
    """A fully connected layer: activation(inputs . weights + bias)."""
    width = int(inputs.shape[1])
    with tf.name_scope(name):
        initial = tf.truncated_normal([width, units], stddev=(2.0 / width) ** 0.5, seed=seed)
        weights = tf.Variable(initial, name="weights")
        bias = tf.Variable(tf.zeros([units]), name="bias")
        outputs = tf.matmul(inputs, weights) + bias
        return activation(outputs) if activation else outputs


class Progress(object):
    """One line that rewrites itself on a terminal; a line now and then where the output goes to a file."""

    def __init__(self, total):
        self.total = total
        self.on_terminal = sys.stdout.isatty()

    def show(self, done, loss, accuracy):
        note = "epoch %2d of %d   loss %.4f   test accuracy %.3f" % (done, self.total, loss, accuracy)
        if self.on_terminal:
            filled = 28 * done // self.total
            sys.stdout.write("\r  [%s%s]  %s" % ("=" * filled, " " * (28 - filled), note))
            sys.stdout.write("\n" if done == self.total else "")
        elif done == 1 or done % 10 == 0 or done == self.total:
            sys.stdout.write("  " + note + "\n")
        sys.stdout.flush()


def table(rows):
    """Print (what, value) pairs in two columns."""
    width = max(len(name) for name, _ in rows)
    print()
    for name, value in rows:
        print("  %-*s   %s" % (width, name, value))


def compiler_rows(session):
    """What only a compiling session knows; nothing under TensorFlow."""
    session_stats = getattr(tf, "session_stats", None)
    if session_stats is None:
        return [("kernels", "(TensorFlow does not say)")]
    stats = session_stats(session)
    fused = stats["fused_ops"] / float(max(stats["kernels"], 1))
    asked = stats["cache_hits"] + stats["cache_misses"]
    return [
        ("kernels", "%d in %d plans" % (stats["kernels"], stats["plans"])),
        ("fused ops per kernel", "%.1f" % fused),
        ("kernels compiled", "%d in %.2f s" % (stats["kernels_compiled"], stats["compile_seconds"])),
        ("kernels from the store", "%d of %d asked" % (stats["cache_hits"], asked)),
    ]


def main():
    parser = argparse.ArgumentParser(description="Train a small network on real handwritten digits.")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--learning-rate", type=float, default=0.002)
    options = parser.parse_args()

    (images, labels), (test_images, test_labels) = load()
    with tf.name_scope("input"):
        x = tf.placeholder(tf.float32, [None, PIXELS], name="pixels")
        y = tf.placeholder(tf.int32, [None], name="digit")
    hidden = dense(x, 128, "hidden1", seed=1, activation=tf.nn.relu)
    hidden = dense(hidden, 64, "hidden2", seed=2, activation=tf.nn.relu)
    logits = dense(hidden, CLASSES, "output", seed=3)
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    with tf.name_scope("train"):
        step = tf.train.AdamOptimizer(options.learning_rate).minimize(loss)
    with tf.name_scope("accuracy"):
        guesses = tf.cast(tf.argmax(logits, 1), tf.int32)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(guesses, y), tf.float32))

    print("%d digits to learn from, %d to be tested on" % (len(images), len(test_images)))
    shuffle = np.random.RandomState(1)
    progress = Progress(options.epochs)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        runs, first_run, started = 0, None, time.time()
        for epoch in range(1, options.epochs + 1):
            order = shuffle.permutation(len(images))
            for begin in range(0, len(order) - BATCH + 1, BATCH):
                batch = order[begin:begin + BATCH]
                called = time.time()
                _, loss_now = session.run([step, loss], {x: images[batch], y: labels[batch]})
                if first_run is None:
                    first_run = time.time() - called
                runs += 1
            reached = session.run(accuracy, {x: test_images, y: test_labels})
            runs += 1
            progress.show(epoch, loss_now, reached)
        seconds = time.time() - started
        table([
            ("test accuracy", "%.4f" % reached),
            ("runs per second", "%d  (%d runs in %.2f s)" % (runs / seconds, runs, seconds)),
            ("first training step", "%.1f ms" % (1000 * first_run)),
        ] + compiler_rows(session))
    return 0 if reached >= 0.96 else 1


if __name__ == "__main__":
    sys.exit(main())
