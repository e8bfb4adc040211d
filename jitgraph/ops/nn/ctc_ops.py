"""Connectionist temporal classification (Graves et al., 2006): the loss, its gradient, and two decoders.

Inputs are logits [time, batch, classes]; the last class is the blank.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.errors import FailedPreconditionError, InvalidArgumentError
from jitgraph.ops.nn import ctc_loops

_T = TypeSet(dtypes.float32, dtypes.float64, default=dtypes.float32)
_ZERO = -np.inf


def _lengths(sequence_length: np.ndarray, inputs: np.ndarray,
             error: type[InvalidArgumentError | FailedPreconditionError]) -> list[int]:
    """The lengths of the sequences.  Raises `error` for another number of them, or lengths above that of `inputs`."""
    steps, batch = inputs.shape[:2]
    if not batch:
        raise invalid("batch_size must not be 0")
    if sequence_length.shape != (batch,):
        raise error(None, None, f"len(sequence_length) != batch_size.  len(sequence_length):  {sequence_length.size} batch_size: "
                                f"{batch}")
    for b, length in enumerate(sequence_length):
        if length > steps:
            raise error(None, None, f"sequence_length({b}) <= {steps}")
        if length < 0:
            raise invalid(f"sequence_length({b}) must not be negative")
    return [int(n) for n in sequence_length]


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


# -- loss --------------------------------------------------------------------------------------------------------------

def _labels_of(indices: np.ndarray, values: np.ndarray, batch: int, classes: int, collapse: bool) -> list[list[int]]:
    """The labels of each sequence; a class that is not there ends it."""
    found: list[list[int]] = [[] for _ in range(batch)]
    ended = [False] * batch
    for (b, _), label in zip(indices.tolist(), values.tolist()):
        if not 0 <= b < batch:
            raise invalid(f"label batch index {b} is out of range [0, {batch})")
        if not 0 <= label < classes - 1:
            ended[b] = True
        elif ended[b]:
            raise invalid(f"Saw a non-null label (index >= num_classes - 1) following a null label, batch: {b} "
                          f"num_classes: {classes} labels: {','.join(map(str, values.tolist()))}")
        elif not (collapse and found[b] and found[b][-1] == label):
            found[b].append(label)
    return found


class _Paths(NamedTuple):
    """The labels of all sequences with blanks around each, [batch, states]; which states there are, where a path may stay,
    and where it may skip the blank before."""

    extended: np.ndarray
    there: np.ndarray
    stays: np.ndarray
    skips: np.ndarray


def _paths(labels: list[list[int]], blank: int, merge: bool) -> _Paths:
    states = np.array([2 * len(of) + 1 for of in labels])
    extended = np.full((len(labels), states.max(initial=1)), blank)
    for row, of in zip(extended, labels):
        row[1:2 * len(of):2] = of
    stays = np.full(extended.shape, True) if merge else extended == blank
    skips = extended != blank
    skips[:, :2] = False
    if merge:
        skips[:, 2:] &= extended[:, 2:] != extended[:, :-2]
    return _Paths(extended, np.arange(extended.shape[1]) < states[:, None], stays, skips)


def _forward(scores: np.ndarray, paths: _Paths, lengths: np.ndarray) -> np.ndarray:
    """The logarithms of the probabilities of all beginnings of paths, [time, batch, states]; after its end, a sequence keeps
    those of its last step."""
    alpha = np.full(scores.shape, _ZERO, scores.dtype)
    alpha[0, :, :2] = scores[0, :, :2]
    for t in range(1, len(scores)):
        before = alpha[t - 1]
        total = np.where(paths.stays, before, _ZERO)
        total[:, 1:] = np.logaddexp(total[:, 1:], before[:, :-1])
        np.logaddexp(total[:, 2:], before[:, :-2], out=total[:, 2:], where=paths.skips[:, 2:])
        alpha[t] = np.where(t < lengths[:, None], total + scores[t], before)
    return alpha


def _backward(scores: np.ndarray, paths: _Paths, lengths: np.ndarray) -> np.ndarray:
    """The logarithms of the probabilities of all ends of paths, after each state: [time, batch, states]."""
    beta = np.full(scores.shape, _ZERO, scores.dtype)
    number = paths.there.sum(1, keepdims=True)
    ends = np.where((np.arange(scores.shape[2]) >= number - 2) & paths.there, scores.dtype.type(0), _ZERO)
    beta[-1] = ends
    for t in range(len(scores) - 2, -1, -1):
        after = beta[t + 1] + scores[t + 1]
        total = np.where(paths.stays, after, _ZERO)
        total[:, :-1] = np.logaddexp(total[:, :-1], after[:, 1:])
        np.logaddexp(total[:, :-2], after[:, 2:], out=total[:, :-2], where=paths.skips[:, 2:])
        beta[t] = np.where(t < lengths[:, None] - 1, total, ends)
    return beta


def _losses_and_gradient(logits: np.ndarray, labels: list[list[int]], lengths: np.ndarray, merge: bool) -> tuple:
    """Of sequences that all have a step or more: losses [batch], and the gradient, 0 after a sequence's end."""
    steps, batch, classes = logits.shape
    paths = _paths(labels, classes - 1, merge)
    number = paths.there.sum(1)
    found = ctc_loops.losses(logits, paths.extended, number, paths.stays, paths.skips, lengths)
    if found is not None:
        return found
    log_y, each = _log_softmax(logits), np.arange(batch)
    scores = np.where(paths.there, log_y[:, each[:, None], paths.extended], _ZERO).astype(logits.dtype, copy=False)
    alpha, beta = _forward(scores, paths, lengths), _backward(scores, paths, lengths)
    likelihood = np.where(number > 1, np.logaddexp(alpha[-1, each, number - 1], alpha[-1, each, number - 2]), alpha[-1, :, 0])
    possible = np.isfinite(likelihood)
    occupied = np.where(possible[:, None], np.exp(alpha + beta - likelihood[:, None]), 0)
    gradient = np.exp(log_y)
    for state, label in enumerate(paths.extended.T):
        gradient[:, each, label] -= np.where(paths.there[:, state], occupied[:, :, state], 0)
    gradient[np.arange(steps)[:, None] >= lengths] = 0
    return -likelihood, gradient


def _loss_shapes(c: Any) -> list:
    steps, batch, classes = shape_rules.with_rank(c.shapes[0], 3, "inputs")
    batch = shape_rules.merge_sizes(batch, shape_rules.with_rank(c.shapes[3], 1, "sequence_length")[0])
    shape_rules.merge_sizes(shape_rules.with_rank(c.shapes[1], 2)[0], shape_rules.with_rank(c.shapes[2], 1)[0])
    return [(batch,), (steps, batch, classes)]


def _ctc_samples(rng: Any, dtype: Any) -> list:
    indices, values = np.array([[0, 0], [0, 1], [1, 0]], np.int64), ints(0, 1, 1)
    return [[draw(rng, (4, 2, 3), np.float32), indices, values, ints(4, 3)]]


@op("CTCLoss(inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32; "
    "preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool "
    "= False) -> loss: T, gradient: T", T=_T, shape=_loss_shapes, host=True, samples=_ctc_samples, gradient_of=(0,),
    host_because="a loop of its own, for which cells of its recursions there are depends on the labels: 50 x 16 "
                 "x 28 take 0.36 of TensorFlow's time")
def _ctc_loss(inputs, labels_indices, labels_values, sequence_length, preprocess_collapse_repeated, ctc_merge_repeated,
              ignore_longer_outputs_than_inputs):
    """Minus the log-likelihood of the labels under the logits, and its gradient; 0 for sequences without an element.

    Raises InvalidArgumentError for a sequence that has more labels than elements, unless such are ignored.
    """
    _, batch, classes = inputs.shape
    lengths = _lengths(sequence_length, inputs, InvalidArgumentError)
    labels = _labels_of(labels_indices, labels_values, batch, classes, preprocess_collapse_repeated)
    loss, gradient = np.zeros(batch, inputs.dtype), np.zeros(inputs.shape, inputs.dtype)
    taken = []
    for b, (length, wanted) in enumerate(zip(lengths, labels)):
        if len(wanted) > length and not ignore_longer_outputs_than_inputs:
            raise invalid(f"Not enough time for target transition sequence (required: {len(wanted)}, "
                          f"available: {length}){b}You can turn this error into a warning by using the flag "
                          "ignore_longer_outputs_than_inputs")
        if 0 < length >= len(wanted):
            taken.append(b)
    if taken:
        with np.errstate(all="ignore"):
            loss[taken], gradient[:, taken] = _losses_and_gradient(
                inputs[:, taken], [labels[b] for b in taken], np.array(lengths)[taken], ctc_merge_repeated)
    return loss, gradient


@_ctc_loss.gradient
def _(op, grad, _):
    message = ("Currently there is no way to take the second  derivative of ctc_loss due to the fused implementation's "
               "interaction  with tf.gradients()")
    once = raw.PreventGradient(op.outputs[1], message=message)
    return [raw.Mul(raw.ExpandDims(grad, -1), once), None, None, None]


# -- greedy decoder ----------------------------------------------------------------------------------------------------

def _as_sparse(sequences: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    indices = [(b, i) for b, sequence in enumerate(sequences) for i in range(len(sequence))]
    values = [label for sequence in sequences for label in sequence]
    longest = max((len(sequence) for sequence in sequences), default=0)
    return (np.array(indices, np.int64).reshape(-1, 2), np.array(values, np.int64),
            np.array([len(sequences), longest], np.int64))


def _batch_of(c: Any) -> Any:
    batch = shape_rules.with_rank(c.shapes[0], 3, "inputs")[1]
    return shape_rules.merge_sizes(batch, shape_rules.with_rank(c.shapes[1], 1, "sequence_length")[0])


@op("CTCGreedyDecoder(inputs: T, sequence_length: int32; merge_repeated: bool = False) -> decoded_indices: int64, "
    "decoded_values: int64, decoded_shape: int64, log_probability: T", T=_T, host=True, dynamic=True,
    shape=lambda c: [(None, 2), (None,), (2,), (_batch_of(c), 1)], grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([draw(rng, (4, 2, 3), dtype), ints(4, 3)], {"merge_repeated": merge}) for merge in (True, False)],
    host_because="the sizes come with the run: 50 x 16 x 28 take 0.74 of TensorFlow's time")
def _ctc_greedy_decoder(inputs, sequence_length, merge_repeated):
    """The most likely class at each time, without blanks (and repetitions); minus the sum of their logits."""
    blank = inputs.shape[2] - 1
    scores = np.zeros((inputs.shape[1], 1), inputs.dtype)
    best = np.ascontiguousarray(inputs.argmax(2).T)
    highest = np.take_along_axis(inputs, best.T[:, :, None], 2)[:, :, 0].T.copy()
    kept = best != blank
    if merge_repeated:
        kept[:, 1:] &= best[:, 1:] != best[:, :-1]
    lengths = _lengths(sequence_length, inputs, FailedPreconditionError)
    kept &= np.arange(inputs.shape[0]) < np.array(lengths, np.int64)[:, None]
    for b, length in enumerate(lengths):        # NumPy adds pairs up: how far it goes matters for the last bit
        scores[b, 0] = -np.add.reduce(highest[b, :length]) if length else 0
    counts = kept.sum(1)
    indices = np.empty((int(counts.sum()), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    indices[:, 1] = np.arange(len(indices)) - np.repeat(counts.cumsum() - counts, counts)
    return indices, best[kept].astype(np.int64), np.array([len(counts), counts.max(initial=0)], np.int64), scores


# -- beam search -------------------------------------------------------------------------------------------------------

def _beam_shapes(c: Any) -> list:
    n = c.attrs["top_paths"]
    return [*[(None, 2)] * n, *[(None,)] * n, *[(2,)] * n, (_batch_of(c), n)]


@op("CTCBeamSearchDecoder(inputs: T, sequence_length: int32; beam_width: int >= 1, top_paths: int >= 1, merge_repeated: "
    "bool = True) -> decoded_indices: top_paths*int64, decoded_values: top_paths*int64, decoded_shape: top_paths*int64, "
    "log_probability: T", T=_T, host=True, dynamic=True, shape=_beam_shapes, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([draw(rng, (4, 2, 3), dtype), ints(4, 3)], {"beam_width": 4, "top_paths": 2})],
    host_because="a loop of its own, for it builds a tree: 50 x 16 x 28 with 10 prefixes take 0.07 of TensorFlow's time")
def _ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated):
    """The most likely labellings that a beam search finds, and the logarithms of their probabilities."""
    if top_paths > beam_width:
        raise invalid("requested more paths than the beam width.")
    batch = inputs.shape[1]
    scores = np.zeros((batch, top_paths), inputs.dtype)
    sequences: list[list[list[int]]] = [[] for _ in range(top_paths)]
    with np.errstate(all="ignore"):
        for b, length in enumerate(_lengths(sequence_length, inputs, FailedPreconditionError)):
            best = ctc_loops.search(_log_softmax(inputs[:length, b].astype(np.float64)), beam_width)
            if len(best.kept) < top_paths:
                raise invalid("Less leaves in the beam search than requested.")
            for i in range(top_paths):
                sequences[i].append(best.labelling(i, merge_repeated))
            scores[b] = best.scores[:top_paths]
    parts = [_as_sparse(one) for one in sequences]
    return [list(part) for part in zip(*parts)] + [scores]
