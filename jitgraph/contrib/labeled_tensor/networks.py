"""``labeled_tensor.nn``: activations and losses."""
from __future__ import annotations

from jitgraph.contrib.labeled_tensor.tensors import define_binary_op, define_unary_op
from jitgraph.facade.names import resolve

relu = define_unary_op("relu", resolve("nn.relu"))
relu6 = define_unary_op("relu6", resolve("nn.relu6"))
crelu = define_unary_op("crelu", resolve("nn.crelu"))
elu = define_unary_op("elu", resolve("nn.elu"))
softplus = define_unary_op("softplus", resolve("nn.softplus"))
l2_loss = define_unary_op("l2_loss", resolve("nn.l2_loss"))
softmax = define_unary_op("softmax", resolve("nn.softmax"))
log_softmax = define_unary_op("log_softmax", resolve("nn.log_softmax"))
sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits = (
    define_binary_op(name, resolve(f"contrib.nn.deprecated_flipped_{name}"))
    for name in ("sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
                 "sparse_softmax_cross_entropy_with_logits"))
