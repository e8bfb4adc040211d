"""What SciPy 1.2 had in `scipy.misc` and gave up since: images as arrays by Pillow, and names that moved to `scipy.special`.

    from scipy.misc import imread, imresize, imsave
    imsave("half.png", imresize(imread("photo.jpg", mode="RGB"), 0.5))

`put_back()` adds them to the module whenever a program imports it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

_INTERPOLATIONS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}


def put_back() -> None:
    """Have `scipy.misc` hold the names below too, those that are missing from it."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def bytescale(data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0) -> np.ndarray:
    """Return an array as uint8: what lies between `cmin` and `cmax`, its least and greatest value without them, stretched
    to `low` and `high`. An array of uint8 is returned as it is.

    Raises ValueError where the bounds are out of order or out of the range of uint8.
    """
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    if not 0 <= low <= high <= 255:
        raise ValueError(f"`low` {low} and `high` {high} should be between 0 and 255, and `low` not above `high`")
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    if cmax < cmin:
        raise ValueError("`cmax` should be larger than `cmin`.")
    stretched = (data - cmin) * (float(high - low) / ((cmax - cmin) or 1)) + low
    return (stretched.clip(low, high) + 0.5).astype(np.uint8)


def toimage(arr: Any, high: int = 255, low: int = 0, cmin: Any = None, cmax: Any = None, pal: Any = None,
            mode: str | None = None, channel_axis: int | None = None) -> Any:
    """Return an image of Pillow: grey, `L`, of [height, width], `RGB` or `RGBA` of three dimensions, of which
    `channel_axis` has 3 or 4 elements (the first that has 3, or else 4, without it). Values are stretched by `bytescale`.

    Raises ValueError for complex numbers, other shapes and modes that do not fit.
    """
    image = importlib.import_module("PIL.Image")
    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if data.ndim == 3 and (3 in data.shape or 4 in data.shape):
        return _color_image(image, bytescale(data, cmin, cmax, high, low), mode, channel_axis)
    if data.ndim != 2:
        raise ValueError(f"'arr' does not have a suitable array shape for any mode: {data.shape}")
    if mode == "F":
        return image.fromarray(data.astype(np.float32))
    if mode == "1":
        return image.frombytes("1", data.shape[::-1], (data > high).tobytes())      # SciPy took bytes for bits here, too
    if mode == "I":
        cmin, cmax = (data.min() if cmin is None else cmin), (data.max() if cmax is None else cmax)
        return image.fromarray(((data * 1.0 - cmin) * (high - low) / (cmax - cmin) + low).astype(np.int32))
    if mode not in (None, "L", "P"):
        raise ValueError(f"no image of mode {mode!r} is made of two dimensions; say 'L', 'P', '1', 'F' or 'I'")
    made = image.fromarray(bytescale(data, cmin, cmax, high, low))
    if pal is not None or mode == "P":
        made.putpalette(np.asarray(np.repeat(np.arange(256), 3) if pal is None else pal, np.uint8).tobytes())
    return made


def _color_image(image: ModuleType, data: np.ndarray, mode: str | None, channel_axis: int | None) -> Any:
    axis = data.shape.index(3 if 3 in data.shape else 4) if channel_axis is None else channel_axis
    channels = data.shape[axis]
    if channels not in (3, 4):
        raise ValueError(f"Channel axis dimension is not valid: {channels}")
    mode = mode or ("RGB" if channels == 3 else "RGBA")
    if mode not in (("RGB", "YCbCr") if channels == 3 else ("RGBA", "CMYK")):
        raise ValueError(f"no image of mode {mode!r} is made of {channels} channels")
    data = np.moveaxis(data, axis, 2)
    return image.frombytes(mode, data.shape[1::-1], data.tobytes())


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """Return the array of an image of Pillow, in its own mode or `mode`; `flatten` makes it grey, float32."""
    if mode is not None:
        im = im if mode == im.mode else im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """Return the array of an image file, by its path or opened, as `fromimage` makes it."""
    with importlib.import_module("PIL.Image").open(name) as opened:
        return fromimage(opened, flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Write an array as an image file; its colors, if any, lie along its last axis."""
    toimage(arr, channel_axis=2).save(name, format=format)


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> np.ndarray:
    """Return an array as an image of another size, as uint8: `size` is percents (int), a factor, or (height, width)."""
    image = toimage(arr, mode=mode)
    if isinstance(size, (int, np.signedinteger)):
        width, height = (int(extent * (size / 100.0)) for extent in image.size)
    elif isinstance(size, (float, np.floating)):
        width, height = (int(extent * size) for extent in image.size)
    else:
        height, width = (int(extent) for extent in size[:2])
    return fromimage(image.resize((width, height), resample=_INTERPOLATIONS[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> np.ndarray:
    """Return an array as an image turned by `angle` degrees, counter-clockwise, as uint8."""
    return fromimage(toimage(arr).rotate(angle, resample=_INTERPOLATIONS[interp]))


_HERE = ("bytescale", "toimage", "fromimage", "imread", "imsave", "imresize", "imrotate")
_MOVED = ("logsumexp", "comb", "factorial", "factorial2", "factorialk")


class _Finder(MetaPathFinder):
    """Finds `scipy.misc` as the other finders do, and has its loader add the names; makes it where SciPy has none."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != "scipy.misc":
            return None
        found = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if not isinstance(finder, _Finder))
        spec = next(filter(None, found), None)
        if spec is None:
            return ModuleSpec(fullname, _Loader(None))
        spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, own: Any):
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec) if self._own is not None else None

    def exec_module(self, module: ModuleType) -> None:
        if self._own is not None:
            self._own.exec_module(module)
        special = importlib.import_module("scipy.special")
        names = {name: globals()[name] for name in _HERE} | {name: getattr(special, name) for name in _MOVED}
        for name, value in names.items():
            vars(module).setdefault(name, value)
