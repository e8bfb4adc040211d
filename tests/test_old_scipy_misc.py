"""`scipy.misc` of SciPy 1.2: what stands beside the expressions is what that gave for them, with Pillow 9.5."""
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("PIL")
from jitgraph import old_scipy_misc

GREY = np.array([[-1.0, 0.0, 2.0, 4.0], [3.0, 1.5, 0.5, -0.5], [2.5, 3.5, 1.0, 0.25]])
COLOR = (np.arange(60) * 37 % 256).astype(np.uint8).reshape(4, 5, 3)


@pytest.mark.parametrize(("expression", "dtype", "values"), [
    ("bytescale(GREY)", "u1", [[0, 51, 153, 255], [204, 128, 77, 26], [179, 230, 102, 64]]),
    ("bytescale(GREY, 0, 2)", "u1", [[0, 0, 255, 255], [255, 191, 64, 0], [255, 255, 128, 32]]),
    ("bytescale(GREY, high=100, low=9)", "u1", [[9, 27, 64, 100], [82, 55, 36, 18], [73, 91, 45, 32]]),
    ("imresize(GREY, 50)", "u1", [[132, 108]]),
    ("imresize(GREY, 1.5)", "u1",
     [[0, 26, 68, 136, 204, 255], [128, 114, 100, 105, 109, 112], [195, 181, 153, 100, 64, 40], [179, 205, 209, 123, 83, 64]]),
    ("imresize(GREY, (2, 2), 'nearest')", "u1", [[51, 255], [230, 64]]),
    ("imresize(COLOR, (2, 2), 'bicubic')", "u1", [[[88, 105, 133], [138, 106, 106]], [[143, 134, 119], [112, 137, 126]]]),
    ("imrotate(GREY, 90)", "u1", [[204, 127, 67, 0], [102, 102, 134, 0], [25, 95, 185, 0]]),
    ("fromimage(toimage(GREY, mode='F'))", "f4", [[-1.0, 0.0, 2.0, 4.0], [3.0, 1.5, 0.5, -0.5], [2.5, 3.5, 1.0, 0.25]]),
    ("fromimage(toimage(GREY, mode='I'))", "i4", [[0, 51, 153, 255], [204, 127, 76, 25], [178, 229, 102, 63]]),
    ("fromimage(toimage(GREY, mode='P'))[0]", "u1", [[0, 0, 0], [51, 51, 51], [153, 153, 153], [255, 255, 255]]),
    ("fromimage(toimage(COLOR), flatten=True)[0]", "f4", [30.155, 141.155, 72.699, 107.155, 188.971]),
    ("fromimage(toimage(COLOR, mode='YCbCr'))[0]", "u1",
     [[0, 37, 74], [111, 148, 185], [222, 3, 40], [77, 114, 151], [188, 225, 6]]),
])
def test_images_as_arrays(expression, dtype, values):
    found = eval(expression, {**vars(old_scipy_misc), "GREY": GREY, "COLOR": COLOR})
    np.testing.assert_allclose(found, values, atol=1e-4 if dtype == "f4" else 0)
    assert found.dtype == dtype


def test_channels_may_lie_along_any_axis():
    for axis in range(3):
        found = old_scipy_misc.fromimage(old_scipy_misc.toimage(np.moveaxis(COLOR, 2, axis)))
        np.testing.assert_array_equal(found, COLOR)


def test_files(tmp_path):
    path = str(tmp_path / "image.png")
    old_scipy_misc.imsave(path, COLOR)
    np.testing.assert_array_equal(old_scipy_misc.imread(path), COLOR)
    assert old_scipy_misc.imread(path, mode="L").shape == (4, 5) and old_scipy_misc.imread(path, flatten=True).dtype == "f4"
    with open(path, "rb") as opened:
        np.testing.assert_array_equal(old_scipy_misc.imread(opened), COLOR)


@pytest.mark.parametrize(("expression", "message"), [
    ("toimage(GREY * 1j)", "complex"), ("toimage(GREY[0])", "suitable array shape"), ("toimage(GREY, mode='RGB')", "'RGB'"),
    ("toimage(COLOR, mode='L')", "'L' is made of 3 channels"), ("toimage(COLOR, channel_axis=1)", "not valid: 5"),
    ("bytescale(GREY, 2, 1)", "should be larger"), ("bytescale(GREY, high=300)", "between 0 and 255"),
])
def test_what_is_no_image(expression, message):
    with pytest.raises(ValueError, match=message):
        eval(expression, {**vars(old_scipy_misc), "GREY": GREY, "COLOR": COLOR})


@pytest.mark.parametrize("imported", ["import scipy.misc", "from scipy import misc", "from scipy.misc import imread"])
def test_programs_import_it(imported):
    program = (f"from jitgraph import old_names; old_names.put_back(); old_names.put_back()\nimport sys\n"
               f"assert 'scipy' not in sys.modules\n{imported}\nimport scipy.misc as m\n"
               "assert m is scipy.misc if 'scipy' in globals() else m.imread\n"
               "assert m.imresize([[1, 2]], 2.0).shape == (2, 4) and m.comb(5, 2) == 10 and m.logsumexp([0.0]) == 0")
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program]).returncode == 0
