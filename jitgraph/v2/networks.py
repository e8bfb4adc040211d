"""Parts of networks: normalization, losses, embeddings."""
from __future__ import annotations

from jitgraph.v2.calls import from_v1


@from_v1("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization,
                                         name=None):
    """`input` [batch, height, width, depth] minus `mean`, over the root of `variance` + `variance_epsilon`, plus `beta`.

    Times `gamma` if `scale_after_normalization`; the four are of shape [depth].
    """


@from_v1("nn.moments")
def moments(x, axes, shift=None, keepdims=False, name=None):
    """(mean, variance) of `x` over `axes`.  `shift` is not used."""


@from_v1("nn.weighted_moments")
def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """(mean, variance) of `x` over `axes`, each element counted `frequency_weights` times (broadcast to `x`)."""


@from_v1("nn.sufficient_statistics")
def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """(count, sum, sum of squares, shift) of `x` minus `shift` over `axes`, for ``nn.normalize_moments``."""


@from_v1("nn.in_top_k")
def in_top_k(targets, predictions, k, name=None):
    """Whether each of `targets` [batch] is among the `k` largest of its row of `predictions` [batch, classes]."""


@from_v1("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The cross entropy of each of `labels`, probabilities, and sigmoid(`logits`)."""


@from_v1("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The cross entropy of `labels`, probabilities along `axis`, and softmax(`logits`); gradients flow to both."""


@from_v1("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """The cross entropy of `labels`, numbers of classes, and softmax(`logits`) along the last axis."""


@from_v1("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """``sigmoid_cross_entropy_with_logits`` whose positive part counts `pos_weight` times."""


@from_v1("nn.embedding_lookup", partition_strategy="div")
def embedding_lookup(params, ids, max_norm=None, name=None):
    """Rows `ids` of `params`, a matrix or several that hold its rows one after the other ("div").

    `max_norm`: rows of a larger Euclidean norm are scaled to it.
    """


@from_v1("nn.embedding_lookup_sparse", partition_strategy="div")
def embedding_lookup_sparse(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None):
    """For each row of the SparseTensor `sp_ids` its embeddings combined: "mean" (if None), "sqrtn" or "sum"."""


@from_v1("nn.safe_embedding_lookup_sparse", partition_strategy="div")
def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                 max_norm=None, name=None):
    """``embedding_lookup_sparse`` without negative ids and weights that are not positive; empty rows have `default_id`'s."""


@from_v1("nn.nce_loss", partition_strategy="div")
def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, name="nce_loss"):
    """The loss of noise-contrastive estimation for each row of `inputs` [batch, dim], [batch].

    `weights` [classes, dim] may be several matrices that hold its rows one after the other ("div").
    """


@from_v1("nn.sampled_softmax_loss", partition_strategy="div")
def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, seed=None, name="sampled_softmax_loss"):
    """The softmax cross entropy over a sample of the classes for each row of `inputs` [batch, dim], [batch].

    `weights` [classes, dim] may be several matrices that hold its rows one after the other ("div").
    """
