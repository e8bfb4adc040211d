"""BMP files: the bytes of the pixels as they stand in the file, as TensorFlow reads them."""
import io

import numpy as np
import pytest
from PIL import Image

PIXELS = np.arange(3 * 5 * 4, dtype=np.uint8).reshape(3, 5, 4)


def bmp(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "BMP")
    return bytearray(file.getvalue())


def decoded(tf, run, data, channels=0):
    return run(tf.image.decode_bmp(bytes(data), channels=channels))


@pytest.mark.parametrize("channels", [3, 4])
def test_colours_and_opacity(tf, run, channels):
    data = bmp(PIXELS[..., :channels])
    for asked in (0, channels):
        np.testing.assert_array_equal(decoded(tf, run, data, asked), PIXELS[..., :channels])
    data[22:26] = (-3).to_bytes(4, "little", signed=True)           # rows from the top
    np.testing.assert_array_equal(decoded(tf, run, data), PIXELS[::-1, :, :channels])


def test_a_palette_is_left_aside(tf, run):
    indices = PIXELS[..., 0] % 4
    image = Image.fromarray(indices, "P")
    image.putpalette([9, 8, 7] * 4)
    file = io.BytesIO()
    image.save(file, "BMP")
    np.testing.assert_array_equal(decoded(tf, run, file.getvalue()), indices[..., None])
    np.testing.assert_array_equal(run(tf.image.decode_image(file.getvalue())), indices[..., None])


@pytest.mark.parametrize("change, match", [
    (lambda data: data[:20], "requires at least 32 bytes"),
    (lambda data: data[:60], "requires at least 101 bytes, got 60"),
    (lambda data: data[:18] + (-3).to_bytes(4, "little", signed=True) + data[22:], "Width must be positive"),
    (lambda data: data[:22] + bytes(4) + data[26:], "Height must be nonzero"),
    (lambda data: data[:28] + b"\x10\0" + data[30:], "must be 1, 3 or 4, was 2"),
    (lambda data: data[:28] + b"\x08\0\1\0" + data[32:], "must be 1, 3 or 4, was 8193"),     # compressed by run lengths
])
def test_files_that_are_not_read(tf, run, change, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        decoded(tf, run, change(bmp(PIXELS[..., :3])))


def test_another_number_of_channels(tf, run):
    with pytest.raises(tf.errors.InvalidArgumentError, match="channels attribute 4 does not match bits per pixel from file 3"):
        decoded(tf, run, bmp(PIXELS[..., :3]), 4)
