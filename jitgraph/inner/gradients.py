"""The names of ``tf.compat.v2`` in ``tensorflow.python.ops.gradients_impl``."""
from jitgraph.v2.control import gradients as gradients_v2
from jitgraph.v2.control import hessians as HessiansV2

__all__ = ["HessiansV2", "gradients_v2"]
