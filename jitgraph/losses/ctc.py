"""``tf.nn.ctc_*``: the loss for sparse and for dense labels, decoders, and helpers."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.grids import sequence_mask


def ctc_loss(labels: Any, inputs: Any = None, sequence_length: Any = None, preprocess_collapse_repeated: bool = False,
             ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True,
             logits: Any = None) -> Tensor:
    """Minus the log-likelihood of `labels` (a SparseTensor [batch, longest]) under logits: [batch].

    `inputs` are logits [time, batch, classes] ([batch, time, classes] if not `time_major`), the last class being the
    blank; `sequence_length` [batch].  Raises TypeError for dense labels, InvalidArgumentError when it runs if a sequence
    is too short for its labels.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = renamed("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = raw.Transpose(inputs, [1, 0, 2])
    return raw.CTCLoss(inputs, labels.indices, labels.values, sequence_length,
                       preprocess_collapse_repeated=preprocess_collapse_repeated, ctc_merge_repeated=ctc_merge_repeated,
                       ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs).loss


def _blank_last(logits: Tensor, blank: Any) -> Tensor:
    return raw.ConcatV2([logits[:, :, :blank], logits[:, :, blank + 1:], logits[:, :, blank:blank + 1]], 2)


def _classes(logits: Tensor) -> Any:
    known = None if logits._shape is None else logits._shape[2]
    return raw.Shape(logits)[2] if known is None else known


def ctc_loss_v2(labels: Any, logits: Any, label_length: Any, logit_length: Any, logits_time_major: bool = True,
                unique: Any = None, blank_index: int | None = None, name: str | None = None) -> Tensor:
    """Minus the log-likelihood of `labels`, sparse or dense [batch, longest] with `label_length` [batch]: [batch].

    The blank is class `blank_index`, by default 0 for dense labels; sparse ones need it.  `unique` is not needed.
    """
    sparse = isinstance(labels, SparseTensor)
    if sparse and blank_index is None:
        raise ValueError("blank_index must be given when using SparseTensor labels.")
    with name_scope(name, "ctc_loss_v2" if sparse else "ctc_loss_dense", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        if not logits_time_major:
            logits = raw.Transpose(logits, [1, 0, 2])
        blank = blank_index or 0
        classes = _classes(logits)
        blank = blank + classes if blank < 0 else blank
        if not sparse:
            labels = _as_sparse(convert_to_tensor(labels, name="labels"), label_length)
        values = raw.Cast(labels.values, DstT=dtypes.int32)
        if isinstance(blank, Tensor) or isinstance(classes, Tensor) or blank != classes - 1:
            values = raw.Select(values < blank, values, values - 1)
            logits = _blank_last(logits, blank)
        return raw.CTCLoss(logits, labels.indices, values, raw.Cast(logit_length, DstT=dtypes.int32)).loss


def _as_sparse(labels: Tensor, length: Any) -> SparseTensor:
    """The labels of each row up to its length."""
    mask = sequence_mask(length, maxlen=raw.Shape(labels)[1])
    indices = raw.Where(mask)
    return SparseTensor(indices, raw.GatherNd(labels, indices), raw.Shape(labels, out_type=dtypes.int64))


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> tuple[list, Tensor]:
    """([decoded], neg_sum_logits): the likeliest class at each time, without blanks and (`merge_repeated`) repetitions."""
    indices, values, shape, scores = raw.CTCGreedyDecoder(inputs, sequence_length, merge_repeated=merge_repeated)
    return [SparseTensor(indices, values, shape)], scores


def ctc_beam_search_decoder(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1,
                            merge_repeated: bool = True) -> tuple[list, Tensor]:
    """(decoded, log_probability): the `top_paths` likeliest labellings, each a SparseTensor, and [batch, top_paths]."""
    indices, values, shapes, scores = raw.CTCBeamSearchDecoder(inputs, sequence_length, beam_width=beam_width,
                                                               top_paths=top_paths, merge_repeated=merge_repeated)
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes)], scores


def ctc_beam_search_decoder_v2(inputs: Any, sequence_length: Any, beam_width: int = 100,
                               top_paths: int = 1) -> tuple[list, Tensor]:
    """As ``ctc_beam_search_decoder``, repetitions in the labellings kept."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(labels, lengths): dense labels [batch, longest] without repetitions of the label before, filled with zeros."""
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = raw.OnesLike(raw.Cast(labels[:, :1], DstT=dtypes.bool_))
        kept = raw.ConcatV2([first, raw.NotEqual(labels[:, 1:], labels[:, :-1])], 1)
        kept = raw.LogicalAnd(kept, sequence_mask(seq_length, maxlen=raw.Shape(labels)[1]))
        lengths = raw.Sum(raw.Cast(kept, DstT=dtypes.int32), [1])
        longest = raw.Max(lengths, [0])
        places = raw.Where(sequence_mask(lengths, maxlen=longest))
        rows = raw.Shape(labels)[0]
        sizes = raw.Cast(raw.Pack([rows, longest]), DstT=dtypes.int64)
        found = raw.ScatterNd(places, raw.GatherNd(labels, raw.Where(kept)), sizes)
        return found, raw.Cast(lengths, DstT=seq_length.dtype.base_dtype)


def ctc_unique_labels(labels: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(y, idx): for each row the different labels in the order of their appearance, filled with 0, and their places."""
    from jitgraph.functions.higher_order import map_fn

    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def distinct(row: Tensor) -> list:
            found = raw.Unique(row)
            missing = raw.Size(found.idx) - raw.Size(found.y)
            padded = raw.Pad(found.y, raw.ExpandDims(raw.Pack([np.int32(0), missing]), 0))
            return [raw.Cast(padded, DstT=dtypes.int64), found.idx]

        return map_fn(distinct, labels, dtype=[dtypes.int64, dtypes.int32])
