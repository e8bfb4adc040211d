"""What the Inception nets share: tables of their layers, and what makes nets of these."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.arg_scopes import arg_scope
from jitgraph.contrib.layers.batch_normalization import batch_norm
from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.layers.dense import fully_connected
from jitgraph.contrib.layers.pooling import avg_pool2d, max_pool2d
from jitgraph.contrib.layers.rearranging import dropout
from jitgraph.contrib.layers.separable import separable_convolution2d
from jitgraph.graph.collections import GraphKeys
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.elementwise.activation import relu
from jitgraph.variables.regularizers import l2_regularizer
from jitgraph.variables.variable_initializers import contrib_variance_scaling, truncated_normal_initializer
from jitgraph.variables.variable_scopes import variable_scope

_ALL = (convolution2d, max_pool2d, avg_pool2d, separable_convolution2d)


def small_normal(deviation: float) -> Any:
    """The initializer of a truncated normal distribution around 0."""
    return truncated_normal_initializer(0.0, deviation)


class Inception:
    """The layers of a table: a line for each, or ``NAME: BRANCH | BRANCH ...`` for branches whose outputs stand side by side.

    A branch is a list of layers; ``( LAYER + LAYER )`` are two of the same input, side by side.  A layer is its name, which ends
    in the size of the window unless ``=3x3`` says another, and the number of channels; ``/2`` is the stride, ``@0.1`` the
    deviation of the initializer, ``valid`` or ``same`` the padding.  A line may go on in the next, which then begins with ``|``.
    """

    def __init__(self, text: str, min_depth: int = 1, depth_multiplier: float = 1.0):
        if depth_multiplier <= 0:
            raise ValueError("depth_multiplier is not greater than zero.")
        self.lines: list[str] = []
        for line in filter(None, map(str.strip, text.splitlines())):
            if line.startswith("|"):
                self.lines[-1] += f" {line}"
            else:
                self.lines.append(line)
        self.depth = lambda channels: max(int(channels * depth_multiplier), min_depth)

    def layer(self, net: Any, text: str) -> Any:
        """The outputs of one layer."""
        name, *options = text.split()
        size = name.rpartition("_")[2]
        given: dict[str, Any] = {"scope": name}
        channels = None
        separable = False
        for option in options:
            if option[0] == "=":
                size = option[1:]
            elif option[0] == "/":
                given["stride"] = int(option[1:])
            elif option[0] == "@":
                given["weights_initializer"] = small_normal(float(option[1:]))
            elif option in ("valid", "same"):
                given["padding"] = option.upper()
            elif option == "separable":
                separable = True
            else:
                channels = self.depth(int(option))
        window = [int(n) for n in size.split("x")]
        if separable:
            return separable_convolution2d(net, channels, window, depth_multiplier=min(int(self.depth(64) / 3), 8), **given)
        if channels is not None:
            return convolution2d(net, channels, window, **given)
        return (max_pool2d if name.startswith("MaxPool") else avg_pool2d)(net, window, **given)

    def branch(self, net: Any, text: str) -> Any:
        """The outputs of a branch."""
        for part in text.split(", "):
            if part.startswith("("):
                net = concat([self.layer(net, one) for one in part.strip("() ").split(" + ")], 3)
            else:
                net = self.layer(net, part)
        return net

    def mixed(self, net: Any, name: str, branches: str) -> Any:
        """The outputs of several branches, side by side."""
        with variable_scope(name):
            found = []
            for k, branch in enumerate(branches.split(" | ")):
                with variable_scope(f"Branch_{k}"):
                    found.append(self.branch(net, branch))
            return concat(found, 3)

    def grown(self, net: Any, final_endpoint: str, stem: int = 0, **of_stem: Any) -> tuple:
        """(outputs, {name: outputs}) up to `final_endpoint`; the first `stem` layers have other arguments.

        Raises ValueError if there is no such layer.
        """
        end_points = {}
        for k, line in enumerate(self.lines):
            name, mixed, branches = line.partition(": ")
            with arg_scope(_ALL, stride=1, **(of_stem if k < stem else {"padding": "SAME"})):
                net = self.mixed(net, name, branches) if mixed else self.layer(net, line)
            name = name.split()[0]
            end_points[name] = net
            if name == final_endpoint:
                return net, end_points
        raise ValueError(f"Unknown final endpoint {final_endpoint}")


def scope_of_arguments(weight_decay: float, collection: str, norm: bool = True, **more: Any) -> dict:
    """A scope: penalties on weights, ReLU, batch normalisation whose moving statistics join a collection."""
    kept = {"beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection]}
    params = {"decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS, "variables_collections": kept, **more}
    with arg_scope([convolution2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)), arg_scope(
            [convolution2d], weights_initializer=contrib_variance_scaling(), activation_fn=relu,
            normalizer_fn=batch_norm if norm else None, normalizer_params=params if norm else {}) as scope:
        return scope


def training(is_training: Any) -> Any:
    """A block in which normalisation and dropout are those of training, or not."""
    return arg_scope([batch_norm, dropout], is_training=is_training)


def smaller_window(net: Any, window: list) -> list:
    """`window`, not larger than the image if its size is known."""
    height, width = net.shape.as_list()[1:3]
    return window if height is None or width is None else [min(height, window[0]), min(width, window[1])]


def with_predictions(logits: Any, end_points: dict, prediction_fn: Callable) -> tuple:
    """(logits, end points with "Predictions")"""
    end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points
