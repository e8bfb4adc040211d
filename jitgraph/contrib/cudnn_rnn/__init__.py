"""``tf.contrib.cudnn_rnn``: recurrent networks by cuDNN's equations, on any device, with all their parameters in one variable."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.cudnn_rnn")
