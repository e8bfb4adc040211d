"""What networks are written with: layers and functions by short names."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.specs.composition import Callable, Composable, Function
from jitgraph.facade.names import resolve


def _part(name: str, *activation: str | None) -> Function:
    """A Function of the public function `name`, perhaps with an activation, by its name or None."""
    def apply(x: Any, *args: Any, **kw: Any) -> Any:
        return resolve(name)(x, *args, **kw)

    apply.__name__ = name.rpartition(".")[2]
    return Function(apply, **dict(zip(["activation_fn"], [one and resolve(one) for one in activation])))


class Idx(Composable):
    """Its argument as it is."""

    def funcall(self, x: Any) -> Any:
        """`x`."""
        return x


class Conc(Composable):
    """What several functions make of the same argument, joined along a dimension."""

    def __init__(self, dim: int, *args: Composable):
        self.dim, self.funs = dim, args

    def funcall(self, x: Any) -> Any:
        """The results, joined."""
        return resolve("concat")([f.funcall(x) for f in self.funs], self.dim)


class Shared(Composable):
    """A part whose variables are the same wherever it is used.

    `name`: of their scope, Shared_1 ... by default; `scope`: a VariableScope that has them already.  Raises ValueError for other
    kinds of these.
    """

    shared_number = 1

    def __init__(self, subnet: Composable, name: str | None = None, scope: Any = None):
        if scope is not None and not isinstance(scope, resolve("VariableScope")):
            raise ValueError("scope must be None or a VariableScope")
        if name is not None and not isinstance(scope, str):         # TensorFlow looks at `scope` here, too
            raise ValueError("name must be None or a string")
        if name is None:
            name = f"Shared_{Shared.shared_number}"
            Shared.shared_number += 1
        self.subnet, self.name, self.scope = subnet, name, scope

    def funcall(self, x: Any) -> Any:
        """What the part makes of `x`, in its scope."""
        variable_scope = resolve("variable_scope")
        if self.scope is None:
            with variable_scope(self.name, values=[x]) as self.scope:
                return self.subnet.funcall(x)
        with variable_scope(self.scope, values=[x], reuse=True):
            return self.subnet.funcall(x)


def Var(name: str, *args: Any, **kw: Any) -> Callable:
    """A variable, whatever the argument: that of ``tf.get_variable(name, *args, **kw)``."""
    return Callable(lambda _: resolve("get_variable")(name, *args, **kw))


Fun = Function
Print, Id = _part("Print"), _part("identity")
Cx, Cl = _part("contrib.layers.conv2d"), _part("contrib.layers.conv2d", None)
Cs, Ct, Cr, Cm = (_part("contrib.layers.conv2d", name) for name in ("sigmoid", "tanh", "nn.relu", "nn.softmax"))
Fx, Fl = _part("contrib.layers.fully_connected"), _part("contrib.layers.fully_connected", None)
Fs, Ft, Fr, Fm = (_part("contrib.layers.fully_connected", name) for name in ("sigmoid", "tanh", "nn.relu", "nn.softmax"))
Mp, Ap = _part("contrib.layers.max_pool2d"), _part("contrib.layers.avg_pool2d")
Do, Bn, Unit = (_part(f"contrib.layers.{name}") for name in ("dropout", "batch_norm", "unit_norm"))
Lrn = _part("nn.local_response_normalization")
Flat = _part("contrib.layers.flatten")
Reshape, Transpose, Squeeze, Expand = (_part(name) for name in ("reshape", "transpose", "squeeze", "expand_dims"))
Relu, Sig, Tanh, Smax = (_part(name) for name in ("nn.relu", "sigmoid", "tanh", "nn.softmax"))


def Dws(n: int) -> Function:
    """A convolution of single pixels with `n` results, and a sigmoid."""
    return Cs(n, [1, 1])


def Dwm(n: int) -> Function:
    """A convolution of single pixels with `n` results, and a softmax."""
    return Cm(n, [1, 1])
