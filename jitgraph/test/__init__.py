"""``tf.test``: the gradient checker, and the test case with a session."""
from jitgraph import names

__getattr__ = names.namespace_getattr("test")
