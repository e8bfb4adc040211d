"""``tf.test``: the gradient checker, and the test case with a session."""
from unittest import mock  # noqa: F401  (tf.test.mock)

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("test")
