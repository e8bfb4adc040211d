"""Networks that make images, or find things in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import Model, declare


class UNet(Model):
    """Segmentation, after Ronneberger et al. 2015, padded: images [batch, side, side, 3] to a class for each pixel."""

    def __init__(self, side: int, filters: int, classes: int = 4):
        self.side, self.filters, self.classes = side, filters, classes

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        shape = (batch, self.side, self.side)
        return [generator.random((*shape, 3), dtype=np.float32), generator.integers(0, self.classes, shape, dtype=np.int32)]

    def forward(self, net: Any, x: Any) -> Any:
        twice = lambda x, filters: net.relu(net.conv(net.relu(net.conv(x, filters, 3, bias=True)), filters, 3, bias=True))
        kept = []
        for level in range(4):
            kept.append(twice(x, self.filters << level))
            x = net.max_pool(kept[-1], 2, 2)
        x = twice(x, self.filters << 4)
        for level in reversed(range(4)):
            x = net.conv_transposed(x, self.filters << level, 2, 2)
            x = twice(net.join([kept[level], x]), self.filters << level)
        return net.conv(x, self.classes, 1, bias=True)

    def loss(self, net: Any, x: Any, labels: Any) -> Any:
        logits = net.pixels(self.forward(net, x), self.classes)
        return net.cross_entropy(net.reshape(logits, -1, self.classes), net.reshape(labels, -1))


class DCGAN(Model):
    """A step of generator and discriminator together (Radford et al. 2015): noise [batch, 100] and images of 64 x 64."""

    optimizer, rate = "adam", 2e-4

    def __init__(self, filters: int):
        self.filters = filters

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [generator.standard_normal((batch, 100), dtype=np.float32),
                generator.uniform(-1, 1, (batch, 64, 64, 3)).astype(np.float32)]

    def forward(self, net: Any, noise: Any) -> Any:
        x = net.images(net.dense(noise, 4 * 4 * self.filters * 8), 4, 4)
        for scale in (4, 2, 1):
            x = net.conv_transposed(net.relu(net.batch_norm(x)), self.filters * scale, 5, 2)
        return net.tanh(net.conv_transposed(net.relu(net.batch_norm(x)), 3, 5, 2))

    def discriminator(self, net: Any, x: Any) -> Any:
        x = net.leaky_relu(net.conv(x, self.filters, 5, 2, bias=True))
        for scale in (2, 4, 8):
            x = net.leaky_relu(net.batch_norm(net.conv(x, self.filters * scale, 5, 2)))
        return net.dense(net.flatten(x), 1)

    def loss(self, net: Any, noise: Any, images: Any) -> Any:
        real, made = self.discriminator(net, images), self.discriminator(net, self.forward(net, noise))
        return net.mean(net.sigmoid_cross_entropy(real, real * 0 + 1)) + net.mean(net.sigmoid_cross_entropy(made, made * 0))


class Volumes(Model):
    """A 3-D CNN over clips [batch, 16, side, side, 3], like C3D (Tran et al. 2014) at a quarter of its width."""

    def __init__(self, side: int, filters: int):
        self.side, self.filters = side, filters

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [generator.random((batch, 16, self.side, self.side, 3), dtype=np.float32),
                generator.integers(0, 10, batch, dtype=np.int32)]

    def forward(self, net: Any, x: Any) -> Any:
        for scale in (1, 2, 4, 4):
            x = net.max_pool3d(net.relu(net.conv3d(x, self.filters * scale, 3)), 2)
        return net.dense(net.flatten(x), 10)


class ESPCN(Model):
    """Super-resolution by sub-pixels (Shi et al. 2016): images [batch, side, side, 1] three times as large."""

    optimizer = "adam"

    def __init__(self, side: int):
        self.side = side

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        return [generator.random((batch, self.side * scale, self.side * scale, 1), dtype=np.float32) for scale in (1, 3)]

    def forward(self, net: Any, x: Any) -> Any:
        x = net.tanh(net.conv(x, 64, 5, bias=True))
        x = net.tanh(net.conv(x, 32, 3, bias=True))
        return net.depth_to_space(net.conv(x, 9, 3, bias=True), 3)

    def loss(self, net: Any, x: Any, wanted: Any) -> Any:
        return net.mean(net.square(self.forward(net, x) - wanted))


declare("unet", "U-Net 128 x 128", UNet, {"side": 128, "filters": 32}, {"side": 16, "filters": 4})
declare("dcgan", "DCGAN 64 x 64", DCGAN, {"filters": 64}, {"filters": 4})
declare("cnn-3d", "3-D CNN, 16 x 56 x 56", Volumes, {"side": 56, "filters": 16}, {"side": 16, "filters": 2})
declare("espcn", "ESPCN 96 x 96 by 3", ESPCN, {"side": 96}, {"side": 8})
