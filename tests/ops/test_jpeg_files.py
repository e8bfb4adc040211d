"""Small JPEG files are decoded to the pixels of TensorFlow 1.15.5, by whichever of its functions and settings."""
import base64
import json
from pathlib import Path

import numpy as np
import pytest

RECORDED = json.loads((Path(__file__).parent / "data" / "tf115_jpeg.json").read_text())
CASES = [pytest.param(case, id=f"{case['file']} {case['op']} {case['arguments']}") for case in RECORDED["cases"]]


def contents(case):
    return base64.b64decode(RECORDED["files"][case["file"]])


@pytest.mark.parametrize("case", CASES)
def test_the_pixels_are_those_of_tensorflow(tf, run, case):
    pixels = run(getattr(tf.image, case["op"])(contents(case), **case["arguments"]))
    np.testing.assert_array_equal(pixels, np.array(case["pixels"], np.uint8))


def test_pillow_decodes_where_the_faster_library_is_not(tf, run, monkeypatch):
    """By the accurate transform."""
    accurate = next(case for case in RECORDED["cases"] if case["arguments"] == {"dct_method": "INTEGER_ACCURATE"})
    monkeypatch.setitem(__import__("sys").modules, "simplejpeg", None)
    np.testing.assert_array_equal(run(tf.image.decode_jpeg(contents(accurate))), np.array(accurate["pixels"], np.uint8))


@pytest.mark.parametrize("data, message", [
    (b"", "got empty file"), (b"notjpeg", "got unknown format starting with 'notjpeg'"),
    (b"\xff\xd8\xff\xe0abc", "Invalid JPEG data"),
    (contents(RECORDED["cases"][0])[:-200], "Invalid JPEG data or crop window, data size"),
])
def test_damaged_files_are_refused(tf, run, data, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.image.decode_jpeg(data))


def test_the_shape_of_a_file_that_is_cut_off_stands_in_its_header(tf, run):
    data = contents(RECORDED["cases"][0])
    np.testing.assert_array_equal(run(tf.image.extract_jpeg_shape(data[:-20])), run(tf.image.extract_jpeg_shape(data)))


def test_other_transforms_are_refused(tf, run):
    with pytest.raises(tf.errors.InvalidArgumentError, match="dct_method must be one of"):
        run(tf.image.decode_jpeg(contents(RECORDED["cases"][0]), dct_method="FLOAT"))


def test_what_a_file_lacks_is_gray_if_it_is_to_be_recovered(tf, run):
    """All rows but those that are missing come as from the whole file."""
    pixels = np.arange(64 * 48, dtype=np.int64).reshape(64, 48, 1) % 200
    whole = run(tf.image.encode_jpeg(np.repeat(pixels, 3, -1).astype(np.uint8), chroma_downsampling=False))
    cut = whole[:len(whole) * 2 // 3]
    found, wanted = run([tf.image.decode_jpeg(cut, try_recover_truncated=True), tf.image.decode_jpeg(whole)])
    np.testing.assert_array_equal(found[:24], wanted[:24])
    assert (found[-8:] == 128).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        run(tf.image.decode_jpeg(cut))
