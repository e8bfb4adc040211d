"""The loops of connectionist temporal classification, compiled: the recursions of the loss, and the beam search.

Where nothing is to be compiled, the loss is NumPy's (`jitgraph.ops.nn.ctc_ops`), and Python runs the text of the beam search.  Its
elementary functions are then those of C's library, which may differ in the last bit.
"""
from __future__ import annotations

import re
from textwrap import indent
from typing import NamedTuple

import numpy as np

from jitgraph.declare.host_code import HostCode

# Of the sequences from `begin` to `end`.  x0 logits [time, batch, classes].  x1 the class of each state [batch, states].  x2, x3
# what staying in a state [batch, states] and skipping the one before [batch, states + 2] add to the logarithm of a path: 0 or
# -inf.  x4 how many states there are, x5 how many steps.  x6 what alpha is [time, 2 + states], the first two of them -inf.  x7
# the logarithms of the states' probabilities [time, states].  x8, x9 two rows of beta, whose ends are -inf.  x10 how much of the
# paths is in each state.  x11 losses, x12 the gradient.  Sizes: batch, classes, states.  Each innermost loop is one that vectors
# can run.
_LOSS = """def ctc_loss(x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, sizes, begin, end):
    batch, classes, width = sizes[0], sizes[1], sizes[2]
    zero, one = FLOAT(0), FLOAT(1)
    none = log(zero)
    for b in range(begin, end):
        states, steps, first, ahead = x4[b], x5[b], b * width, b * (width + 2)
        for t in range(steps):
            at = (t * batch + b) * classes
            top = x0[at]
            for c in range(1, classes):
                top = max_step(top, x0[at + c])
            for c in range(classes):
                x12[at + c] = exp(x0[at + c] - top)
            total = zero
            for c in range(classes):
                total = total + x12[at + c]
            share = one / total
            for c in range(classes):
                x12[at + c] = x12[at + c] * share
            top = top + log(total)
            for s in range(states):
                x7[t * width + s] = x0[at + x1[first + s]] - top
        for s in range(states + 2):
            x6[s] = none
        x6[2] = x7[0]
        if states > 1:
            x6[3] = x7[1]
        for t in range(1, steps):
            row = t * (width + 2)
            before = row - width - 2
            x6[row], x6[row + 1] = none, none
            for s in range(states):
                stay, come, skip = x6[before + s + 2] + x2[first + s], x6[before + s + 1], x6[before + s] + x3[ahead + s]
                most = maximum(stay, maximum(come, skip))
                base = select(most > none, most, zero)
                x6[row + s + 2] = base + log(exp(stay - base) + exp(come - base) + exp(skip - base)) + x7[t * width + s]
        last = (steps - 1) * (width + 2) + states + 1
        most = maximum(x6[last], x6[last - 1])
        likelihood = none
        if most != none:
            likelihood = most + log(exp(x6[last] - most) + exp(x6[last - 1] - most))
        x11[b] = -likelihood
        for s in range(states + 2):
            x8[s], x9[s] = none, none
        x8[states - 1] = zero
        if states > 1:
            x8[states - 2] = zero
        for k in range(steps):
            t = steps - 1 - k
            at, row = (t * batch + b) * classes, t * (width + 2)
            if likelihood != none:
                for s in range(states):
                    x10[s] = exp(x6[row + s + 2] + x8[s] - likelihood)
                for s in range(states):
                    x12[at + x1[first + s]] = x12[at + x1[first + s]] - x10[s]
            for s in range(states):
                x9[s] = x8[s] + x7[t * width + s]
            for s in range(states):
                stay, go, skip = x9[s] + x2[first + s], x9[s + 1], x9[s + 2] + x3[ahead + s + 2]
                most = maximum(stay, maximum(go, skip))
                base = select(most > none, most, zero)
                x8[s] = base + log(exp(stay - base) + exp(go - base) + exp(skip - base))
    return 0
"""
_BUFFERS = ("T", "i64", "T", "T", "i64", "i64", "T", "T", "T", "T", "T", "T", "T")
_LOSSES = {np.dtype(f"f{bits // 8}"): HostCode("ctc_loss", [f"f{bits}" if code == "T" else code for code in _BUFFERS],
                                               _LOSS.replace("FLOAT", f"f{bits}"), at_once=True) for bits in (32, 64)}


def losses(logits: np.ndarray, classes: np.ndarray, states: np.ndarray, stays: np.ndarray, skips: np.ndarray,
           lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The losses [batch] of sequences of a step or more and the gradient [time, batch, classes]; None if it is not compiled.

    `classes`: of each state of each sequence, [batch, width], of which the first `states` are there.  `stays`, `skips`: whether
    a path may stay in a state, and whether it may skip the one before.
    """
    dtype, (steps, batch, number), width = logits.dtype, logits.shape, classes.shape[1]
    staying, skipping = np.full(classes.shape, -np.inf, dtype), np.full((batch, width + 2), -np.inf, dtype)
    staying[stays] = skipping[:, :width][skips] = 0
    loss, gradient = np.empty(batch, dtype), np.zeros(logits.shape, dtype)
    alpha, shares, beta = np.empty((steps, width + 2), dtype), np.empty((steps, width), dtype), np.empty((2, width + 2), dtype)
    done = _LOSSES[dtype](
        np.ascontiguousarray(logits), classes.astype(np.int64), staying, skipping, states.astype(np.int64),
        lengths.astype(np.int64), alpha, shares, *beta, np.empty(width, dtype), loss, gradient, sizes=(batch, number, width),
        end=batch)
    return None if done is None else (loss, gradient)


# Puts a prefix of this score among those that are kept.
_KEEP = """place = held
while place > 0:
    if x2[x3[place - 1] * 5] >= SCORE:
        break
    x3[place] = x3[place - 1]
    place = place - 1
x3[place] = PREFIX
held = held + 1
"""


def _spelled(text: str) -> str:
    """The text with the lines of each KEEP(prefix, score)."""
    return re.sub(r"^( *)KEEP\((\w+), (\w+)\)\n",
                  lambda found: indent(_KEEP.replace("PREFIX", found[2]).replace("SCORE", found[3]), found[1]), text, flags=re.M)


# Of the steps from `begin` to `end`; gives the step at which the room for prefixes runs out, `end` if none.  x0 the logarithms of
# probabilities [time, classes].  x1 of each prefix: the one before it, its last label, its first child, the next child of the one
# before; -1 where there is none.  x2 the logarithms of the probabilities of the paths that give it, of those that end in a blank
# and in its label; the first two of the step before.  x3 the prefixes that are kept, the best first; x4 those of the step before.
# x5 the child for each label.  x6 how many prefixes there are and are kept.  Sizes: classes, most that are kept, room for prefixes.
_BEAM = """def ctc_beam(x0, x1, x2, x3, x4, x5, x6, sizes, begin, end):
    classes, width, room = sizes[0], sizes[1], sizes[2]
    blank = classes - 1
    none = log(f64(0))
    known, held = x6[0], x6[1]
    for t in range(begin, end):
        if known + width * blank > room:
            x6[0], x6[1] = known, held
            return t
        count = held
        for i in range(count):
            k = x3[i]
            x4[i] = k
            x2[k * 5 + 3], x2[k * 5 + 4] = x2[k * 5], x2[k * 5 + 1]
        held = 0
        for i in range(count):
            k = x4[i]
            parent, label = x1[k * 4], x2[k * 5 + 2]
            if parent >= 0:
                if x2[parent * 5] != none:
                    before = x2[parent * 5 + 3]
                    if x1[k * 4 + 1] == x1[parent * 4 + 1]:
                        before = x2[parent * 5 + 4]
                    most = maximum(label, before)
                    if most != none:
                        label = most + log1p(exp(minimum(label, before) - most))
                label = label + x0[t * classes + x1[k * 4 + 1]]
            ended = x2[k * 5 + 3] + x0[t * classes + blank]
            total = maximum(ended, label)
            if total != none:
                total = total + log1p(exp(minimum(ended, label) - total))
            x2[k * 5], x2[k * 5 + 1], x2[k * 5 + 2] = total, ended, label
            KEEP(k, total)
        for i in range(count):
            k = x4[i]
            least = none
            if held == width:
                least = x2[x3[width - 1] * 5]
            if x2[k * 5 + 3] > least:
                child = x1[k * 4 + 2]
                while child >= 0:
                    x5[x1[child * 4 + 1]] = child
                    child = x1[child * 4 + 3]
                for symbol in range(blank):
                    child = x5[symbol]
                    there = none
                    if child >= 0:
                        there = x2[child * 5]
                    score = x0[t * classes + symbol] + x2[k * 5 + 3]
                    if symbol == x1[k * 4 + 1]:
                        score = x0[t * classes + symbol] + x2[k * 5 + 4]
                    if there == none:
                        if score > least:
                            if child < 0:
                                child = known
                                known = known + 1
                                x1[child * 4], x1[child * 4 + 1], x1[child * 4 + 2] = k, symbol, -1
                                x1[child * 4 + 3] = x1[k * 4 + 2]
                                x1[k * 4 + 2] = child
                                x5[symbol] = child
                            if held == width:
                                held = held - 1
                                for j in range(3):
                                    x2[x3[held] * 5 + j] = none
                            x2[child * 5], x2[child * 5 + 1], x2[child * 5 + 2] = score, none, score
                            KEEP(child, score)
                            if held == width:
                                least = x2[x3[width - 1] * 5]
                        elif child >= 0:
                            for j in range(5):
                                x2[child * 5 + j] = none
                child = x1[k * 4 + 2]
                while child >= 0:
                    x5[x1[child * 4 + 1]] = -1
                    child = x1[child * 4 + 3]
    x6[0], x6[1] = known, held
    return end
"""
_ROOM = 4096        # for prefixes at first, beside those of two steps
_SEARCH = HostCode("ctc_beam", ("f64", "i64", "f64", "i64", "i64", "i64", "i64"), _spelled(_BEAM), at_once=True)


class Prefixes(NamedTuple):
    """Beginnings of labellings: `kept` numbers them, the best first; their last labels and the ones before, by number; their
    scores, the logarithms of their probabilities."""

    kept: np.ndarray
    labels: np.ndarray
    parents: np.ndarray
    scores: np.ndarray

    def labelling(self, rank: int, merge: bool) -> list[int]:
        """The labels of one that was kept; `merge` takes one of those that are repeated."""
        found: list[int] = []
        number, after = int(self.kept[rank]), -1
        while number:
            label = int(self.labels[number])
            if not (merge and label == after):
                found.append(label)
            number, after = int(self.parents[number]), label
        return found[::-1]


def search(log_probabilities: np.ndarray, width: int) -> Prefixes:
    """The `width` best prefixes that a beam search through [time, classes] keeps; the last class is the blank."""
    steps, classes = log_probabilities.shape
    room = 2 * width * (classes - 1) + _ROOM
    tree, numbers = np.empty((room, 4), np.int64), np.empty((room, 5))
    tree[0], numbers[0] = -1, (0, 0, -np.inf, -np.inf, -np.inf)
    kept, children, counts = np.zeros((2, width), np.int64), np.full(classes, -1), np.ones(2, np.int64)
    done = 0
    while done < steps:
        done = _SEARCH.run(log_probabilities, tree, numbers, *kept, children, counts, sizes=(classes, width, len(tree)), begin=done,
                           end=steps)
        if done < steps:
            tree, numbers = (np.concatenate([array, np.empty_like(array)]) for array in (tree, numbers))
    best = kept[0, :counts[1]]
    return Prefixes(best, tree[:, 1], tree[:, 0], numbers[best, 0])
