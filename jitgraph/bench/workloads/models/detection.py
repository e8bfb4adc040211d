"""Networks that find things in an image and say where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import Model, declare
from .vision import normed


class SSD(Model):
    """A single-shot detector (Liu et al. 2016) over a MobileNet: images [batch, side, side, 3].

    The forward pass gives the boxes [n, 4] of the first image that non-maximum suppression keeps; training takes for each of the
    anchors a class and the offsets of its box.
    """

    used, anchors, strides = 1, 6, (16, 32, 64, 128)

    def __init__(self, side: int, width: float = 1.0, classes: int = 21):
        self.width, self.classes = width, classes
        self.side, self.maps = side, [-(-side // stride) for stride in self.strides]

    def places(self) -> np.ndarray:
        """The anchors [n, 4]: row and column of the middle, height and width, as parts of the image."""
        found = []
        for level, size in enumerate(self.maps):
            middle = (np.arange(size, dtype=np.float32) + 0.5) / size
            rows, columns = np.meshgrid(middle, middle, indexing="ij")
            scale = 0.2 + 0.2 * level
            shapes = [(scale * ratio**0.5, scale / ratio**0.5) for ratio in (1, 2, 3, 1 / 2, 1 / 3, 1.2)]
            each = [np.stack([rows, columns, np.full_like(rows, h), np.full_like(rows, w)], -1) for h, w in shapes]
            found.append(np.stack(each, 2).reshape(-1, 4))
        return np.concatenate(found).astype(np.float32)

    def data(self, batch: int) -> list[Any]:
        generator = np.random.default_rng(1)
        count = len(self.places())
        images = generator.random((batch, self.side, self.side, 3), dtype=np.float32)
        offsets = generator.standard_normal((batch, count, 4), dtype=np.float32)
        return [images, generator.integers(0, self.classes, (batch, count), dtype=np.int32), offsets]

    def heads(self, net: Any, x: Any) -> tuple[Any, Any]:
        """The classes' logits [batch, anchors, classes] and the boxes' offsets [batch, anchors, 4]."""
        wide = lambda channels: max(int(channels * self.width), 8)
        x = normed(net, x, wide(32), 3, 2)
        maps = []
        for filters, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)):
            if filters == 1024 and stride == 2:
                maps.append(x)
            x = net.relu(net.batch_norm(net.depthwise(x, 3, stride)))
            x = normed(net, x, wide(filters), 1)
        maps.append(x)
        for filters in (512, 256):
            x = normed(net, normed(net, x, wide(filters // 2), 1), wide(filters), 3, 2)
            maps.append(x)
        parts = []
        for depth in (self.classes, 4):
            found = [net.pixels(net.conv(one, self.anchors * depth, 3, bias=True), self.anchors * depth) for one in maps]
            flat = [net.reshape(one, -1, size * size * self.anchors, depth) for one, size in zip(found, self.maps)]
            parts.append(net.below(flat))
        return parts[0], parts[1]

    def forward(self, net: Any, images: Any) -> Any:
        logits, offsets = self.heads(net, images)
        places, offsets = self.places(), offsets[0]
        middles = places[:, :2] + offsets[:, :2] * places[:, 2:]
        halves = net.exp(offsets[:, 2:]) * (places[:, 2:] / 2)
        scores = net.max(net.softmax(logits[0]), 1)
        return net.suppressed(net.beside([middles - halves, middles + halves]), scores, 100, 0.45)

    def loss(self, net: Any, images: Any, labels: Any, targets: Any) -> Any:
        logits, offsets = self.heads(net, images)
        right = net.cross_entropy(net.reshape(logits, -1, self.classes), net.reshape(labels, -1))
        return right + net.mean(net.square(offsets - targets))


declare("ssd", "SSD, MobileNet, 300", SSD, {"side": 300}, {"side": 64, "width": 0.125, "classes": 5}, forward=(1,), peers=())
