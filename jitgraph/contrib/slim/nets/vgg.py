"""VGG (Simonyan and Zisserman, 2014): stages of 3 x 3 convolutions, each half the size of the one before."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.layers.combining import repeat
from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.layers.pooling import max_pool2d
from jitgraph.contrib.slim.nets import plain
from jitgraph.variables.variable_scopes import variable_scope

_CHANNELS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005) -> dict:
    """The arguments with which VGG was trained."""
    return plain.scope_of_arguments(weight_decay, plain.ZEROS)


def _vgg(inputs: Any, repetitions: tuple, default_name: str, num_classes: int, is_training: Any, keep_prob: float,
         spatial_squeeze: bool, scope: Any) -> tuple:
    with variable_scope(scope, default_name, [inputs]) as entered:
        # TensorFlow names the collection of VGG 19 alone by the variable scope
        ends = (entered.name if default_name == "vgg_19" else entered.original_name_scope) + "_end_points"
        with plain.collecting(ends):
            net = inputs
            for stage, (times, channels) in enumerate(zip(repetitions, _CHANNELS), start=1):
                net = repeat(net, times, convolution2d, channels, [3, 3], scope=f"conv{stage}")
                net = max_pool2d(net, [2, 2], scope=f"pool{stage}")
            net = plain.classified(net, (4096, 4096), 7, num_classes, is_training, keep_prob)
            return plain.with_end_points(net, ends, entered.name, spatial_squeeze)


def vgg_a(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: float = 0.5,
          spatial_squeeze: bool = True, scope: Any = "vgg_a") -> tuple:
    """(logits [batch, num_classes], outputs by name) for images [batch, 224, 224, 3]: 11 layers."""
    return _vgg(inputs, (1, 1, 2, 2, 2), "vgg_a", num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope)


def vgg_16(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: float = 0.5,
           spatial_squeeze: bool = True, scope: Any = "vgg_16") -> tuple:
    """(logits [batch, num_classes], outputs by name) for images [batch, 224, 224, 3]: 16 layers."""
    return _vgg(inputs, (2, 2, 3, 3, 3), "vgg_16", num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope)


def vgg_19(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: float = 0.5,
           spatial_squeeze: bool = True, scope: Any = "vgg_19") -> tuple:
    """(logits [batch, num_classes], outputs by name) for images [batch, 224, 224, 3]: 19 layers."""
    return _vgg(inputs, (2, 2, 4, 4, 4), "vgg_19", num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope)


for _net in (vgg_a, vgg_16, vgg_19):
    _net.default_image_size = 224       # type: ignore[attr-defined]
vgg_d, vgg_e = vgg_16, vgg_19
