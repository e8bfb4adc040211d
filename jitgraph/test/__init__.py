"""``tf.test``: the gradient checker, and the test case with a session."""
from unittest import mock  # noqa: F401  (tf.test.mock)

from jitgraph import names

__getattr__ = names.namespace_getattr("test")
