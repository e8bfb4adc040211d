"""The linear map of several inputs that cells of older programs are written with: ``rnn_cell_impl._linear``."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.variables.variable_initializers import constant_initializer
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope, variable_scope


class _Linear:
    """A linear map whose variables are made once, for arguments like `args`: a tensor [batch, n] or a list of them.

    Called with such arguments it gives [args side by side] . ``kernel`` (+ ``bias``), [batch, output_size].  Raises ValueError for
    other ranks and unknown sizes.
    """

    def __init__(self, args: Any, output_size: int, build_bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None):
        if args is None or nest.is_nested(args) and not args:
            raise ValueError("`args` must be specified")
        args = args if nest.is_nested(args) else [args]
        depth = 0
        for one in args:
            if one.shape.ndims != 2:
                raise ValueError(f"linear is expecting 2D arguments: {[a.shape for a in args]}")
            if one.shape[1].value is None:
                raise ValueError(f"linear expects shape[1] to be provided for shape {one.shape}, but saw {one.shape[1]}")
            depth += one.shape[1].value
        dtype = args[0].dtype
        self._biases: Any = None
        with variable_scope(get_variable_scope()) as outer:
            self._weights = get_variable("kernel", [depth, output_size], dtype=dtype, initializer=kernel_initializer)
            if build_bias:
                with variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    start = constant_initializer(0.0, dtype=dtype) if bias_initializer is None else bias_initializer
                    self._biases = get_variable("bias", [output_size], dtype=dtype, initializer=start)

    def __call__(self, args: Any) -> Any:
        args = args if nest.is_nested(args) else [args]
        joined = args[0] if len(args) == 1 else concat(args, constant(1, dtype=dtypes.int32))
        return self._applied(joined)

    def _applied(self, joined: Any) -> Any:
        product = matmul(joined, self._weights)
        return product if self._biases is None else bias_add(product, self._biases)


def _linear(args: Any, output_size: int, bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None) -> Any:
    """[args side by side] . ``kernel`` (+ ``bias``), with variables of the current scope; see ``_Linear``."""
    linear = _Linear(args, output_size, bias, bias_initializer, kernel_initializer)
    args = args if nest.is_nested(args) else [args]
    return linear._applied(args[0] if len(args) == 1 else concat(args, 1))
