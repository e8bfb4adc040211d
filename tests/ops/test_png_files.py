"""PNG files without the library that reads them fastest, written with 16 bits a color, and what is said of damaged ones.

What each kind of file gives, is beside TensorFlow's pixels in recorded/image_files.py.
"""
import numpy as np
import pytest

from .test_recorded import FOLDER, RECORD

FILES = RECORD.load("image_files")


@pytest.fixture
def no_pyspng(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyspng", None)


@pytest.mark.parametrize("channels", [0, 1, 3, 4])
def test_pillow_reads_the_same_where_it_can(tf, run, no_pyspng, channels):
    """It cuts colors of 16 bits to 8, so that their gray differs by 1 or 2, and 16 bits of them are refused."""
    recorded = np.load(FOLDER / "image_files.npz")
    for name, data in FILES.kinds().items():
        wanted = recorded[f"{name}, {channels} channels|0"]
        coarse = name.startswith(("color 2, depth 16", "color 6, depth 16"))
        got = run(tf.image.decode_png(data, channels)).astype(int)
        np.testing.assert_allclose(got, wanted[0].astype(int), rtol=0, atol=2 if coarse and channels == 1 else 0, err_msg=name)
        if coarse:
            with pytest.raises(ImportError, match=r"16 bits a color are decoded by pyspng.*jitgraph\[image\]"):
                run(tf.image.decode_png(data, channels, tf.uint16))
        else:
            np.testing.assert_array_equal(run(tf.image.decode_png(data, channels, tf.uint16)), wanted[1], name)


def test_neither_library(tf, run, no_pyspng, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    with pytest.raises(ImportError, match=r"decoded by pyspng or Pillow, neither of which is installed.*jitgraph\[image\]"):
        run(tf.image.decode_png(FILES.kinds()["color 2, depth 8"]))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("compression", [-1, 0, 9])
def test_pixels_of_16_bits_come_back_as_they_went(tf, run, channels, compression):
    pixels = np.random.RandomState(channels).randint(0, 65536, (4, 3, channels)).astype(np.uint16)
    encoded = tf.image.encode_png(tf.constant(pixels), compression)
    np.testing.assert_array_equal(run(tf.image.decode_png(encoded, dtype=tf.uint16)), pixels)
    np.testing.assert_array_equal(run(tf.image.decode_png(encoded)), pixels >> 8)


@pytest.mark.parametrize("name, message", [
    ("wrong checksum of pixels", r"Invalid PNG data, size \d+ \(the checksum of chunk IDAT is wrong\)"),
    ("no palette", r"Invalid PNG header, data size \d+ \(the palette has 0 bytes\)"),
    ("depth 3", r"Invalid PNG header, data size \d+ \(there are no images of 7 x 5 pixels, depth 3 and color type 2\)"),
    ("the first 60 bytes", r"Invalid PNG data, size 60 \(the file is cut off\)"),
    ("an unknown filter", r"Invalid PNG data, size \d+ \(.*filter"),
])
def test_what_is_wrong_with_a_file(tf, run, name, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.image.decode_png(FILES.unusual()[name]))


def test_an_image_too_large_for_tensorflow(tf, run):
    with pytest.raises(tf.errors.InvalidArgumentError, match="PNG size too large for int: 30000 by 30000"):
        run(tf.image.decode_png(FILES.png(FILES.header(8, 2, width=30000, height=30000), (b"IDAT", b""), FILES.END)))


@pytest.mark.parametrize("compression", [-2, 10])
def test_no_such_compression(tf, run, compression):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"compression should be in \[-1,9\], got {compression}"):
        run(tf.image.encode_png(np.zeros((2, 2, 1), np.uint8), compression))
