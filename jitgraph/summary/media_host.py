"""Pictures and sound of summaries: PNG and WAV files of the rows of a tensor."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.graph import shapes
from jitgraph.ops.image.image_codecs import png_of
from jitgraph.ops.signal.audio import encode_wav

_DARKEST = np.float32(1e-6)             # of pictures whose largest value is below it nothing can be seen


def _tags(tag: str, kind: str, most: int, rows: int) -> list[str]:
    """The tags of the first `most` of `rows` things: numbered, unless only one may be written."""
    if most == 1:
        return [f"{tag}/{kind}"][:rows]
    return [f"{tag}/{kind}/{row}" for row in range(min(most, rows))]


def _visible(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """Numbers [height, width, channels] as uint8 pixels; those that are not finite in `bad_color`.

    If all are positive, the largest becomes 255; else zero becomes 128, and what is farthest from it 1 or 255.
    """
    finite = np.isfinite(image).all(-1)
    single = image[finite].astype(np.float32)
    low, high = single.min(initial=np.inf), single.max(initial=-np.inf)
    farthest, room, offset = (max(abs(low), abs(high)), 127, 128) if low < 0 else (high, 255, 0)
    scale = np.float32(0) if farthest < _DARKEST else np.float32(room) / np.float32(farthest)
    pixels = np.empty(image.shape, np.uint8)
    # in the dtype of the picture, as its sums and products are rounded
    pixels[finite] = (image[finite] * image.dtype.type(scale) + image.dtype.type(offset)).astype(np.uint8)
    pixels[~finite] = bad_color[:image.shape[-1]]
    return pixels


def image_summary(tag: str, tensor: np.ndarray, most: int, bad_color: np.ndarray) -> Any:
    """The Summary of the first `most` pictures of `tensor` [batch, height, width, 1, 3 or 4].

    Raises InvalidArgumentError for another shape.
    """
    from jitgraph.protobuf.messages import Summary

    if tensor.ndim != 4 or tensor.shape[-1] not in (1, 3, 4):
        raise invalid(f"Tensor must be 4-D with last dim 1, 3, or 4, not {shapes.brackets(tensor.shape)}")
    batch, height, width, channels = tensor.shape
    if batch and not tensor.size:
        raise invalid(f"input tensor must have non-zero dims. Found: [{', '.join(map(str, tensor.shape))}].")
    if bad_color.dtype != np.uint8 or bad_color.ndim != 1 or len(bad_color) < channels:
        raise invalid(f"expected bad_color of dtype uint8 and at least {channels} elements, one for each channel; got "
                      f"{bad_color.dtype} of shape {shapes.brackets(bad_color.shape)}")
    summary = Summary()
    for name, picture in zip(_tags(tag, "image", most, batch), tensor):
        pixels = picture if picture.dtype == np.uint8 else _visible(picture, bad_color)
        file = png_of(pixels)
        summary.value.add(tag=name, image=dict(height=height, width=width, colorspace=channels, encoded_image_string=file))
    return summary


def audio_summary(tag: str, tensor: np.ndarray, rate: float, most: int) -> Any:
    """The Summary of the first `most` sounds of `tensor` [batch, samples] or [batch, samples, channels], in [-1, 1].

    Raises InvalidArgumentError for another shape, sounds without samples, and rates that are not positive.
    """
    from jitgraph.protobuf.messages import Summary

    if tensor.ndim not in (2, 3):
        raise invalid(f"Tensor must be 3-D or 2-D, got: {shapes.brackets(tensor.shape)}")
    if not rate > 0:
        raise invalid("sample_rate must be > 0")
    if len(tensor) and not tensor.size:
        raise invalid(f"audio is null: the sounds of shape {shapes.brackets(tensor.shape)} have no samples")
    sounds = tensor if tensor.ndim == 3 else tensor[..., None]
    whole = np.array(max(np.rint(rate), 1), np.int32)       # a WAV file tells it in whole numbers
    summary = Summary()
    for name, sound in zip(_tags(tag, "audio", most, len(sounds)), sounds):
        file = encode_wav.opdef.value(sound, whole)[()]
        summary.value.add(tag=name, audio=dict(sample_rate=rate, num_channels=sound.shape[1], length_frames=len(sound),
                                               encoded_audio_string=file, content_type="audio/wav"))
    return summary
