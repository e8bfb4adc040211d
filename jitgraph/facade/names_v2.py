"""The public names of ``tf.compat.v2``: those of ``tf`` that TensorFlow 2 has too, and those that differ there.

``TABLE`` has those that differ; it is of the form that ``jitgraph.facade.names`` explains.  ``ALIASES`` has those that are
``tf``'s by another name, and all others are ``tf``'s own, less the names of ``jitgraph.facade.only_v1``.
"""
from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from jitgraph.facade import names, not_here, only_v1, version
from jitgraph.facade import namespaces as modules

TABLE: dict[str, str] = {
    "v2.arrays": """
        batch_to_space boolean_mask expand_dims gather gather_nd ones_like pad reverse_sequence shape size space_to_batch
        squeeze transpose zeros_like nn.space_to_batch nn.depth_to_space nn.space_to_depth""",
    "v2.values": "constant convert_to_tensor",
    "v2.reductions": """
        argmax argmin reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum
        math.argmax math.argmin math.reduce_all math.reduce_any math.reduce_logsumexp math.reduce_max math.reduce_mean
        math.reduce_min math.reduce_prod math.reduce_sum math.count_nonzero math.confusion_matrix norm linalg.norm""",
    "ops.arrays.counts": "math.bincount=bincount_v2",
    "v2.elementwise": """
        scalar_mul math.scalar_mul nn.l2_normalize math.l2_normalize linalg.l2_normalize nn.softmax math.softmax
        nn.log_softmax math.log_softmax nn.crelu nn.dropout""",
    "v2.checks": """
        assert_equal assert_greater assert_less assert_rank debugging.assert_all_finite debugging.assert_equal
        debugging.assert_greater debugging.assert_greater_equal debugging.assert_integer debugging.assert_less
        debugging.assert_less_equal debugging.assert_near debugging.assert_negative debugging.assert_non_negative
        debugging.assert_non_positive debugging.assert_none_equal debugging.assert_positive debugging.assert_rank
        debugging.assert_rank_at_least debugging.assert_rank_in debugging.assert_scalar debugging.assert_shapes
        debugging.assert_type""",
    "v2.control": "cond while_loop tuple=tuple_ gradients hessians autograph.to_code autograph.to_graph",
    "v2.scopes": "name_scope device random.set_seed",
    "v2.draws": "random.poisson",
    "v2.variables": "Variable",
    "v2.windows": """
        nn.avg_pool2d nn.max_pool_with_argmax nn.conv1d nn.conv2d nn.conv2d_transpose nn.conv3d nn.conv3d_transpose
        nn.convolution nn.depthwise_conv2d nn.separable_conv2d nn.pool nn.dilation2d nn.erosion2d""",
    "ops.nn.fractional_pooling": """
        nn.fractional_avg_pool=fractional_avg_pool_v2 nn.fractional_max_pool=fractional_max_pool_v2""",
    "v2.networks": """
        nn.batch_norm_with_global_normalization nn.moments nn.weighted_moments nn.sufficient_statistics nn.in_top_k
        math.in_top_k nn.sigmoid_cross_entropy_with_logits nn.softmax_cross_entropy_with_logits
        nn.sparse_softmax_cross_entropy_with_logits nn.weighted_cross_entropy_with_logits nn.embedding_lookup
        nn.embedding_lookup_sparse nn.safe_embedding_lookup_sparse nn.nce_loss nn.sampled_softmax_loss""",
    "v2.images": """
        image.ResizeMethod image.resize image.resize_with_pad image.crop_and_resize image.draw_bounding_boxes
        image.extract_glimpse image.sample_distorted_bounding_box""",
    "v2.sparse": """
        sparse.add sparse.concat sparse.reduce_max sparse.reduce_sum sparse.segment_mean sparse.segment_sqrt_n
        sparse.segment_sum sparse.split io.serialize_sparse io.serialize_many_sparse""",
    "v2.strings": """
        strings.length strings.reduce_join strings.substr strings.to_hash_bucket strings.to_number
        io.decode_csv io.decode_raw io.parse_example io.parse_single_example""",
    "ragged.string_parts": "strings.split=split_v2",
    "v2.initializers": """
        constant_initializer=Constant ones_initializer=Ones zeros_initializer=Zeros random_normal_initializer=RandomNormal
        random_uniform_initializer=RandomUniform initializers.Initializer initializers.Constant initializers.GlorotNormal
        initializers.GlorotUniform initializers.Identity initializers.Ones initializers.Orthogonal initializers.RandomNormal
        initializers.RandomUniform initializers.TruncatedNormal initializers.VarianceScaling initializers.Zeros
        initializers.constant=Constant initializers.glorot_normal=GlorotNormal initializers.glorot_uniform=GlorotUniform
        initializers.identity=Identity initializers.ones=Ones initializers.orthogonal=Orthogonal initializers.zeros=Zeros
        initializers.he_normal initializers.he_uniform initializers.lecun_normal initializers.lecun_uniform""",
    "v2.columns": """
        feature_column.categorical_column_with_vocabulary_file feature_column.make_parse_example_spec
        feature_column.shared_embeddings""",
    "v2.testing": "test.assert_equal_graph_def test.compute_gradient",
    "v2.summaries": "summary.audio summary.histogram summary.image summary.scalar summary.text",
    "v2.summary_writing": """
        summary.create_file_writer summary.create_noop_writer summary.experimental.get_step summary.experimental.set_step
        summary.experimental.summary_scope summary.experimental.write_raw_pb summary.flush summary.record_if
        summary.trace_export summary.trace_off summary.trace_on summary.write""",
    "summary.recording": "summary.SummaryWriter",
}

ALIASES = {
    "where": "where_v2", "nn.avg_pool": "nn.avg_pool_v2", "nn.max_pool": "nn.max_pool_v2", "nn.ctc_loss": "nn.ctc_loss_v2",
    "nn.ctc_beam_search_decoder": "nn.ctc_beam_search_decoder_v2", "saved_model.load": "saved_model.load_v2",
    "nn.RNNCellDropoutWrapper": "nn.rnn_cell.DropoutWrapper", "nn.RNNCellResidualWrapper": "nn.rnn_cell.ResidualWrapper",
    "nn.RNNCellDeviceWrapper": "nn.rnn_cell.DeviceWrapper",
}

_KERAS = ("keras", "losses", "metrics", "optimizers")       # the last three are Keras's


@functools.cache
def table() -> dict[str, str | None]:
    """All names that can be there: dotted name -> "module:attribute", None where it is what ``tf`` has by that name."""
    found: dict[str, str | None] = {name: None for name in names.table() if _is_in_both(name)}
    found.update(dict.fromkeys(ALIASES))
    for module, entries in TABLE.items():
        for entry in entries.split():
            name, _, attribute = entry.partition("=")
            found[name] = f"jitgraph.{module}:{attribute or name.rpartition('.')[2]}"
    return found


@functools.cache
def namespaces() -> dict[str, frozenset[str]]:
    """For each namespace ("" is the top) the names directly in it, namespaces included."""
    found = names.grouped(table())
    return {**found, "": found[""] | {"compat", "raw_ops"}}


def _is_in_both(name: str) -> bool:
    """Whether TensorFlow 1.15 has a name of ``tf`` in ``tf.compat.v2`` too."""
    outer, _, last = name.rpartition(".")
    parts = outer.split(".")
    if any(".".join(parts[:i + 1]) in only_v1.NAMESPACES for i in range(len(parts))):
        return False
    if outer in only_v1.ALL_BUT:
        return last in only_v1.ALL_BUT[outer].split()
    return last not in _left_out(outer) and name in not_here.names_of_tensorflow()


@functools.cache
def _left_out(namespace: str) -> frozenset[str]:
    return frozenset(only_v1.NAMES.get(namespace, "").split())


def resolve(name: str) -> Any:
    """The object behind a name of ``tf.compat.v2`` such as "nn.conv2d", or the namespace "nn".

    Raises AttributeError, in one sentence that says what to write instead, if there is none.
    """
    if name == "compat" or name == "raw_ops":
        return importlib.import_module(f"jitgraph.{name}")
    if name.partition(".")[0] in _KERAS:
        return importlib.import_module("jitgraph.inner.later").later(name if name.startswith("keras") else f"keras.{name}")
    if name in table():
        place = table()[name]
        if place is None:
            return names.resolve(ALIASES.get(name, name))
        module, _, attribute = place.partition(":")
        return getattr(importlib.import_module(module), attribute)
    if name in namespaces():
        return namespace(name)
    raise AttributeError(sentence(name), name="", obj=None)


class Namespace(modules.Namespace):
    """``tf.compat.v2``, or a module in it such as ``tf.compat.v2.nn``."""

    _names = sys.modules[__name__]


@functools.cache
def namespace(prefix: str = "") -> Namespace:
    """The module of a namespace; without argument ``tf.compat.v2`` itself."""
    made = Namespace(modules.joined("compat.v2", prefix).rstrip("."))
    made._prefix = prefix
    if not prefix:
        modules.kept(made)["__version__"] = version.VERSION
    return made


def sentence(name: str) -> str:
    """What to say of a name that is not there: the name of ``tf`` or of ``tf.compat.v2`` to write instead."""
    first = name.partition(".")[0]
    if first in _KERAS:
        return not_here.sentence(name if first == "keras" else f"keras.{name}")
    place = names.table().get(name)
    if place is None and name not in names.namespaces():
        said = not_here.sentence(name)
        return said if " is not there" not in said else f"tf.compat.v2.{name} is not there: see dir(tf.compat.v2) for what is."
    same = [other for other, own in table().items() if place and own is None and names.table().get(other) == place]
    instead = f"tf.compat.v2.{same[0]}, or " if same else ""
    return f"tf.compat.v2.{name} is not there, as in TensorFlow 2: write {instead}tf.compat.v1.{name}."
