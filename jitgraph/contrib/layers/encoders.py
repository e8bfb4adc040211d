"""Words as vectors: ``embed_sequence``, ``bow_encoder``, ``embedding_lookup_unique``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.framework.variables import model_variable
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import unique as unique_of
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import not_equal
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.ops.nn.safe_embedding import safe_embedding_lookup_sparse
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_prod
from jitgraph.variables.variable_scopes import variable_scope


def embed_sequence(ids: Any, vocab_size: int | None = None, embed_dim: int | None = None, unique: bool = False,
                   initializer: Any = None, regularizer: Any = None, trainable: bool = True, scope: Any = None,
                   reuse: Any = None) -> Any:
    """Integers [batch, length] as vectors [batch, length, embed_dim], rows of the model variable ``embeddings``.

    `unique`: whether to look up each id once.  Raises ValueError without `vocab_size` and `embed_dim` unless it reuses.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError("Must specify vocab size and embedding dimension when not reusing. Got "
                         f"vocab_size={vocab_size} and embed_dim={embed_dim}")
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim]
        known = not (reuse and vocab_size is None or embed_dim is None)
        embeddings = model_variable("embeddings", shape=shape if known else None, initializer=initializer,
                                    regularizer=regularizer, trainable=trainable)
        return embedding_lookup_unique(embeddings, ids) if unique else embedding_lookup(embeddings, ids)


def bow_encoder(ids: Any, vocab_size: int, embed_dim: int, sparse_lookup: bool = True, initializer: Any = None,
                regularizer: Any = None, trainable: bool = True, scope: Any = None, reuse: Any = None) -> Any:
    """Integers [batch, length], dense or sparse, as the mean of the vectors of each row: [batch, embed_dim].

    With `sparse_lookup` 0 in a dense tensor does not count, nor what a sparse one does not hold.  Raises ValueError
    without sizes, TypeError for a SparseTensor without `sparse_lookup`.
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable("embeddings", shape=[vocab_size, embed_dim], initializer=initializer,
                                    regularizer=regularizer, trainable=trainable)
        if sparse_lookup:
            sparse = ids if isinstance(ids, SparseTensor) else dense_to_sparse_tensor(ids)
            return safe_embedding_lookup_sparse([embeddings], sparse, combiner="mean", default_id=0)
        if isinstance(ids, SparseTensor):
            raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return reduce_mean(embedding_lookup(embeddings, ids), axis=1)


def dense_to_sparse_tensor(dense_tensor: Any, ignore_value: Any = None) -> SparseTensor:
    """A SparseTensor of the elements that are not `ignore_value`: by default 0, of strings ""."""
    with name_scope("DenseToSparseTensor"):
        dense_tensor = convert_to_tensor(dense_tensor)
        dtype = dense_tensor.dtype
        if ignore_value is None:
            ignore_value = "" if dtype is dtypes.string else np.zeros((), dtype.as_numpy_dtype)[()]
        ignored = cast(ignore_value, dtype, name="ignore_value")
        indices = where(not_equal(dense_tensor, ignored), name="indices")
        return SparseTensor(indices, gather_nd(dense_tensor, indices, name="values"),
                            shape_of(dense_tensor, out_type=dtypes.int64, name="dense_shape"))


def embedding_lookup_unique(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None) -> Any:
    """``tf.nn.embedding_lookup``, with each id looked up once: [...] gives [..., dimension]."""
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        shape = shape_of(ids)
        flat = reshape(ids, reduce_prod(shape, keepdims=True))
        found, places = unique_of(flat)
        vectors = embedding_lookup(params, found, partition_strategy)
        flat_vectors = gather(vectors, places)
        vector_shape = shape_of(vectors)[1:]
        result = reshape(flat_vectors, concat([shape, vector_shape], 0))
        result.set_shape(ids.get_shape().concatenate(vectors.get_shape()[1:]))
        return result
