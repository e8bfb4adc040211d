"""Networks that tell what is in an image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .model import Model, declare


class Classifier(Model):
    """Of images [batch, side, side, 3]; `width` multiplies the number of all channels."""

    def __init__(self, network: Callable[..., Any], side: int, width: float = 1.0, classes: int = 1000):
        self.network, self.side, self.width, self.classes = network, side, width, classes

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        images = generator.random((batch, self.side, self.side, 3), dtype=np.float32)
        return [images, generator.integers(0, self.classes, batch, dtype=np.int32)]

    def forward(self, net: Any, images: Any) -> Any:
        return net.dense(self.network(net, images, lambda channels: max(int(channels * self.width), 8)), self.classes)


def normed(net: Any, x: Any, *conv: Any, **options: Any) -> Any:
    """A convolution, batch normalisation and ReLU."""
    return net.relu(net.batch_norm(net.conv(x, *conv, **options)))


def mobilenet(net: Any, x: Any, wide: Callable[[int], int]) -> Any:
    """Howard et al. 2017."""
    x = net.relu6(net.batch_norm(net.conv(x, wide(32), 3, 2)))
    for filters, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)):
        x = net.relu6(net.batch_norm(net.depthwise(x, 3, stride)))
        x = net.relu6(net.batch_norm(net.conv(x, wide(filters), 1)))
    return net.global_pool(x)


def mobilenet_v2(net: Any, x: Any, wide: Callable[[int], int]) -> Any:
    """Sandler et al. 2018."""
    x = net.relu6(net.batch_norm(net.conv(x, wide(32), 3, 2)))
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, filters, blocks, stride in stages:
        for block in range(blocks):
            y = x
            if expansion > 1:
                y = net.relu6(net.batch_norm(net.conv(y, net.channels(x) * expansion, 1)))
            y = net.relu6(net.batch_norm(net.depthwise(y, 3, stride if block == 0 else 1)))
            y = net.batch_norm(net.conv(y, wide(filters), 1))
            x = x + y if block else y
    return net.global_pool(net.relu6(net.batch_norm(net.conv(x, wide(1280), 1))))


def resnet50(net: Any, x: Any, wide: Callable[[int], int]) -> Any:
    """He et al. 2015, with the stride in the 3 x 3 convolution."""
    x = net.max_pool(normed(net, x, wide(64), 7, 2), 3, 2)
    for filters, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            shortcut = x if block else net.batch_norm(net.conv(x, wide(filters) * 4, 1, step))
            y = normed(net, x, wide(filters), 1)
            y = normed(net, y, wide(filters), 3, step)
            x = net.relu(shortcut + net.batch_norm(net.conv(y, wide(filters) * 4, 1)))
    return net.global_pool(x)


def vgg16(net: Any, x: Any, wide: Callable[[int], int]) -> Any:
    """Simonyan and Zisserman 2014."""
    for filters, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(layers):
            x = net.relu(net.conv(x, wide(filters), 3, bias=True))
        x = net.max_pool(x, 2, 2)
    x = net.flatten(x)
    for _ in range(2):
        x = net.relu(net.dense(x, wide(4096)))
    return x


def densenet121(net: Any, x: Any, wide: Callable[[int], int]) -> Any:
    """Huang et al. 2016."""
    x = net.max_pool(normed(net, x, wide(64), 7, 2), 3, 2)
    for stage, layers in enumerate((6, 12, 24, 16)):
        if stage:
            x = net.avg_pool(net.conv(net.relu(net.batch_norm(x)), net.channels(x) // 2, 1), 2, 2, "VALID")
        for _ in range(layers):
            y = net.conv(net.relu(net.batch_norm(x)), wide(128), 1)
            x = net.join([x, net.conv(net.relu(net.batch_norm(y)), wide(32), 3)])
    return net.global_pool(net.relu(net.batch_norm(x)))


def inception_v3(net: Any, x: Any, wide: Callable[[int], int]) -> Any:
    """Szegedy et al. 2015."""

    def chain(x: Any, *steps: Sequence[Any]) -> Any:
        for filters, *rest in steps:
            x = normed(net, x, wide(filters), *rest)
        return x

    x = chain(x, (32, 3, 2, "VALID"), (32, 3, 1, "VALID"), (64, 3))
    x = chain(net.max_pool(x, 3, 2, "VALID"), (80, 1), (192, 3, 1, "VALID"))
    x = net.max_pool(x, 3, 2, "VALID")
    for pooled in (32, 64, 64):
        x = net.join([chain(x, (64, 1)), chain(x, (48, 1), (64, 5)), chain(x, (64, 1), (96, 3), (96, 3)),
                      chain(net.avg_pool(x, 3, 1), (pooled, 1))])
    x = net.join([chain(x, (384, 3, 2, "VALID")), chain(x, (64, 1), (96, 3), (96, 3, 2, "VALID")),
                  net.max_pool(x, 3, 2, "VALID")])
    for inner in (128, 160, 160, 192):
        x = net.join([chain(x, (192, 1)), chain(x, (inner, 1), (inner, (1, 7)), (192, (7, 1))),
                      chain(x, (inner, 1), (inner, (7, 1)), (inner, (1, 7)), (inner, (7, 1)), (192, (1, 7))),
                      chain(net.avg_pool(x, 3, 1), (192, 1))])
    x = net.join([chain(x, (192, 1), (320, 3, 2, "VALID")),
                  chain(x, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, "VALID")), net.max_pool(x, 3, 2, "VALID")])
    for _ in range(2):
        left, right = chain(x, (384, 1)), chain(x, (448, 1), (384, 3))
        x = net.join([chain(x, (320, 1)), *(chain(part, (384, one)) for part in (left, right) for one in ((1, 3), (3, 1))),
                      chain(net.avg_pool(x, 3, 1), (192, 1))])
    return net.global_pool(x)


def efficientnet_b0(net: Any, x: Any, wide: Callable[[int], int]) -> Any:
    """Tan and Le 2019: depthwise layers of 3 x 3 and 5 x 5 whose channels are weighted by what all pixels say."""

    def swish(x: Any) -> Any:
        return x * net.sigmoid(x)

    x = swish(net.batch_norm(net.conv(x, wide(32), 3, 2)))
    stages = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
              (6, 320, 1, 1, 3))
    for expansion, filters, blocks, stride, taps in stages:
        for block in range(blocks):
            y, channels = x, net.channels(x)
            if expansion > 1:
                y = swish(net.batch_norm(net.conv(y, channels * expansion, 1)))
            y = swish(net.batch_norm(net.depthwise(y, taps, stride if block == 0 else 1)))
            gates = swish(net.dense(net.global_pool(y), max(channels // 4, 1)))
            y = net.gated(y, net.sigmoid(net.dense(gates, channels * expansion)))
            y = net.batch_norm(net.conv(y, wide(filters), 1))
            x = x + y if block else y
    return net.global_pool(swish(net.batch_norm(net.conv(x, wide(1280), 1))))


def convnext_t(net: Any, x: Any, wide: Callable[[int], int]) -> Any:
    """Liu et al. 2022: depthwise layers of 7 x 7, then layers on each pixel's channels alone."""

    def on_pixels(x: Any, side: int, layer: Callable[[Any], Any]) -> Any:
        channels = net.channels(x)
        rows = layer(net.reshape(net.pixels(x, channels), -1, channels))
        return net.images(net.reshape(rows, -1, side * side * channels), side, side)

    side = int(x.shape[2]) // 4         # of images whose channels are first or last
    x = on_pixels(net.conv(x, wide(96), 4, 4, bias=True), side, net.layer_norm)
    for stage, (filters, blocks) in enumerate(((96, 3), (192, 3), (384, 9), (768, 3))):
        if stage:
            x = net.conv(on_pixels(x, side, net.layer_norm), wide(filters), 2, 2, bias=True)
            side //= 2
        for _ in range(blocks):
            channels = net.channels(x)
            mixed = lambda rows, depth=channels: net.dense(net.gelu(net.dense(net.layer_norm(rows), 4 * depth)), depth)
            x = x + on_pixels(net.depthwise(x, 7), side, mixed)
    return net.layer_norm(net.global_pool(x))


NETWORKS = (
    ("mobilenet", "MobileNet v1", mobilenet, 224, 64),
    ("mobilenet-v2", "MobileNet v2", mobilenet_v2, 224, 64),
    ("resnet50", "ResNet-50", resnet50, 224, 64),
    ("inception-v3", "Inception v3", inception_v3, 299, 107),
    ("vgg16", "VGG-16", vgg16, 224, 32),
    ("densenet121", "DenseNet-121", densenet121, 224, 64),
    ("efficientnet", "EfficientNet-B0", efficientnet_b0, 224, 64),
    ("convnext", "ConvNeXt-T", convnext_t, 224, 64),
)
for name, title, network, side, tiny in NETWORKS:
    declare(
        name,
        f"{title} {side} x {side}",
        lambda network=network, **size: Classifier(network, **size),
        {"side": side},
        {"side": tiny, "width": 0.125, "classes": 10},
    )
