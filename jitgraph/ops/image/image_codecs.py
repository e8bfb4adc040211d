"""Images read from and written to PNG, JPEG, GIF and BMP.  Pillow does the work, but for whole JPEG files by the fast cosine
transform (`jpeg_files`), which Pillow does not offer: without simplejpeg their pixels differ by up to 4 from TensorFlow's.
"""
from __future__ import annotations

import io
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as
from jitgraph.graph.dtypes import TypeSet, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.texts import as_text
from jitgraph.installing import advice
from jitgraph.ops.image.bmp_files import bmp_pixels
from jitgraph.ops.image.image_dtype import convert_image_dtype
from jitgraph.ops.image.jpeg_files import jpeg_pixels

_PIXELS = TypeSet(dtypes.uint8, dtypes.uint16, default=dtypes.uint8)
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_RED, _GREEN = 29900 * 32768 // 100000, 58700 * 32768 // 100000
_SIGNATURES = {b"\xff\xd8\xff": "JPEG", b"\x89PN": "PNG", b"GIF": "GIF", b"BM": "BMP"}


def _pillow() -> Any:
    try:
        import PIL.Image
    except ImportError:
        raise ImportError(f"images are decoded and encoded by Pillow, which is not installed: {advice('image')}") from None
    return PIL.Image


# -- decoding ----------------------------------------------------------------------------------------------------------

def _opened(contents: Any, formats: tuple[str, ...], what: str) -> Any:
    if np.ndim(contents):
        raise invalid(f"contents must be scalar, got shape {list(np.shape(contents))}")
    data = np.asarray(contents, object).item()
    pillow = _pillow()
    try:
        image = pillow.open(io.BytesIO(data), formats=formats)
        image.load()
    except ImportError:
        raise
    except pillow.UnidentifiedImageError:
        kind = next((kind for start, kind in _SIGNATURES.items() if data.startswith(start) and kind in formats), None)
        if kind is not None:
            raise invalid(f"Invalid {kind} header, data size {len(data)}") from None
        shown = "empty file" if not data else "unknown format starting with '" + data[:16].decode("latin1") + "'"
        raise invalid(f"Expected image ({', '.join(formats)}), got {shown}") from None
    except Exception as error:
        raise invalid(f"Invalid {what} data or crop window, data size {len(data)} ({error})" if what == "JPEG" else
                      f"Invalid {what} data, size {len(data)} ({error})") from None
    return image


def _channels_of(image: Any) -> int:
    """How many channels TensorFlow's decoder gives an image for `channels=0`."""
    if image.mode == "P":
        return 4 if "transparency" in image.info else 3
    if image.mode in ("1", "L", "I", "F") or image.mode.startswith("I;16"):
        return 2 if "transparency" in image.info else 1
    return {"LA": 2, "RGBA": 4}.get(image.mode, 4 if "transparency" in image.info else 3)


def _pixels(image: Any, channels: int) -> np.ndarray:
    """The pixels [height, width, channels] of an opened image; channels 0 for those it has."""
    channels = channels or _channels_of(image)
    if image.mode.startswith("I"):              # 16 bits of gray
        wide = np.asarray(image).astype(np.uint16)
        gray = wide[..., None] if channels <= 2 else np.repeat(wide[..., None], 3, -1)
        if channels in (2, 4):
            gray = np.concatenate([gray, np.full((*gray.shape[:2], 1), 65535, np.uint16)], -1)
        return gray
    if channels == 1 and image.mode not in ("1", "L", "LA"):
        return _gray(np.asarray(image.convert("RGB")))
    found = np.asarray(image if image.mode == _MODES[channels] else image.convert(_MODES[channels]))
    return found.reshape(*found.shape[:2], channels)


def _gray(rgb: np.ndarray) -> np.ndarray:
    """Luma as libpng computes it: fixed-point weights, the result cut off."""
    red, green, blue = (rgb[..., i:i + 1].astype(np.uint32) for i in range(3))
    weighted = (red * _RED + green * _GREEN + blue * (32768 - _RED - _GREEN)) >> 15
    return np.where((red == green) & (red == blue), red, weighted).astype(np.uint8)


def _as_kind(pixels: np.ndarray, dtype: Any) -> np.ndarray:
    """Pixels of 8 or 16 bits as the wanted ones."""
    if dtype == dtypes.uint16:
        return pixels if pixels.dtype == np.uint16 else pixels.astype(np.uint16) * np.uint16(257)
    return pixels if pixels.dtype == np.uint8 else (pixels >> 8).astype(np.uint8)


def _check_channels(channels: int, allowed: tuple) -> None:
    if channels not in allowed:
        raise invalid(f"channels must be {', '.join(map(str, allowed[:-1]))} or {allowed[-1]}, got {channels}")


def _image_shape(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[0], 0, "contents")
    channels = c.attrs.get("channels", 0)
    if channels < 0:
        raise ValueError(f"channels must be non-negative, got {channels}")
    return (None, None, channels or None)


def _cropped_shape(c: Any) -> tuple:
    *_, channels = _image_shape(c)
    window = c.constant(1)
    return (None, None, channels) if window is None else (*window[2:], channels)


def _image(channels: int = 3) -> np.ndarray:
    return np.arange(60 * channels, dtype=np.uint8).reshape(10, 6, channels)


def _encoded(kind: str) -> np.ndarray:
    """A picture in a format that Pillow knows."""
    out = io.BytesIO()
    _pillow().fromarray(_image()).save(out, kind)
    return np.asarray(out.getvalue(), object)


def _png_samples(rng, dtype):
    return [([_encoded("PNG")], {"channels": channels, "dtype": one}) for channels in (0, 1, 4)
            for one in (dtypes.uint8, dtypes.uint16)]


@op("DecodePng(contents: string; channels: int = 0, dtype: type = uint8) -> image: dtype", dtype=_PIXELS,
    shape=_image_shape, host=True, dynamic=True, samples=_png_samples)
def _decode_png(contents, channels, dtype):
    """The pixels of a PNG (or JPEG, or GIF of one frame) file."""
    _check_channels(channels, (0, 1, 3, 4))
    found = None if channels == 4 or np.ndim(contents) else jpeg_pixels(np.asarray(contents, object).item(), channels)
    if found is not None:
        return _as_kind(found, dtype)
    image = _opened(contents, ("JPEG", "PNG", "GIF"), "PNG")
    return _as_kind(_pixels(image, channels), dtype)


_JPEG = ("channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False, "
         'acceptable_fraction: float = 1.0, dct_method: string = ""')


def _jpeg_pixels(contents: Any, channels: int, ratio: int = 1, fancy_upscaling: bool = True, dct_method: str = "") -> np.ndarray:
    _check_channels(channels, (0, 1, 3))
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    data = b"" if np.ndim(contents) else np.asarray(contents, object).item()
    found = jpeg_pixels(data, channels, ratio, fancy_upscaling, as_text(dct_method) != "INTEGER_ACCURATE")
    if found is not None:
        return found
    image = _opened(contents, ("JPEG", "PNG", "GIF"), "JPEG")
    if ratio > 1:
        size = [-(-n // ratio) for n in image.size]
        image = _pillow().open(io.BytesIO(np.asarray(contents, object).item()))
        image.draft(None, size)
        if list(image.size) != size:
            image = image.resize(size, _pillow().Resampling.BOX)
    elif channels == 1 and image.format == "JPEG":
        image = _pillow().open(io.BytesIO(np.asarray(contents, object).item()))
        image.draft("L", None)              # the luma as it is in the file
    if image.mode == "L" and not channels:
        channels = 1
    return _as_kind(_pixels(image, channels or 3), dtypes.uint8)


@op(f"DecodeJpeg(contents: string; {_JPEG}) -> image: uint8", shape=_image_shape, host=True, dynamic=True,
    samples=lambda rng, dtype: [([_encoded("JPEG")], {"channels": channels, "ratio": ratio})
                                for channels, ratio in ((0, 1), (1, 2))])
def _decode_jpeg(contents, channels, ratio, fancy_upscaling, dct_method):
    """The pixels of a JPEG (or PNG, or GIF of one frame) file, `ratio` times smaller."""
    return _jpeg_pixels(contents, channels, ratio, fancy_upscaling, dct_method)


@op(f"DecodeAndCropJpeg(contents: string, crop_window: int32; {_JPEG}) -> image: uint8", host=True, dynamic=True,
    shape=_cropped_shape, samples=lambda rng, dtype: [[_encoded("JPEG"), ints(2, 1, 5, 4)]])
def _decode_and_crop_jpeg(contents, crop_window, channels, ratio, fancy_upscaling, dct_method):
    """A window (y, x, height, width) of the pixels of a JPEG file."""
    y, x, height, width = (int(n) for n in crop_window)
    pixels = _jpeg_pixels(contents, channels, ratio, fancy_upscaling, dct_method)
    if y < 0 or x < 0 or height <= 0 or width <= 0 or y + height > pixels.shape[0] or x + width > pixels.shape[1]:
        raise invalid(f"Invalid JPEG data or crop window, crop window {list(map(int, crop_window))} for an image of "
                      f"{pixels.shape[0]} x {pixels.shape[1]}")
    return pixels[y:y + height, x:x + width]


@op("DecodeBmp(contents: string; channels: int = 0) -> image: uint8", shape=_image_shape, host=True, dynamic=True,
    samples=lambda rng, dtype: [[_encoded("BMP")], ([_encoded("BMP")], {"channels": 3})])
def _decode_bmp(contents, channels):
    """The pixels of a BMP file."""
    _check_channels(channels, (0, 1, 3, 4))
    if np.ndim(contents):
        raise invalid(f"contents must be scalar, got shape {list(np.shape(contents))}")
    return bmp_pixels(np.asarray(contents, object).item(), channels)


@op("DecodeGif(contents: string) -> image: uint8", shape=lambda c: (None, None, None, 3), host=True, dynamic=True,
    samples=lambda rng, dtype: [[_encoded("GIF")]])
def _decode_gif(contents):
    """The frames of a GIF file: [frames, height, width, 3]."""
    image = _opened(contents, ("GIF",), "GIF")
    frames = []
    for i in range(getattr(image, "n_frames", 1)):
        image.seek(i)
        frames.append(np.asarray(image.convert("RGB")))
    return np.stack(frames)


@op("ExtractJpegShape(contents: string; output_type: type = int32) -> image_shape: output_type",
    output_type=TypeSet(dtypes.int32, dtypes.int64, default=dtypes.int32), shape=lambda c: (3,), host=True,
    samples=lambda rng, dtype: [([_encoded("JPEG")], {"output_type": one}) for one in (dtypes.int32, dtypes.int64)])
def _extract_jpeg_shape(contents, output_type):
    """Height, width and channels of a JPEG file."""
    image = _opened(contents, ("JPEG",), "JPEG")
    return np.array([image.height, image.width, len(image.getbands())], output_type.as_numpy_dtype)


# -- encoding ----------------------------------------------------------------------------------------------------------

def _string(data: bytes) -> np.ndarray:
    found = np.empty((), object)
    found[()] = data
    return found


def _saved(pixels: np.ndarray, kind: str, **options: Any) -> np.ndarray:
    flat = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
    file = io.BytesIO()
    _pillow().fromarray(np.ascontiguousarray(flat)).save(file, kind, **options)
    return _string(file.getvalue())


@op("EncodePng(image: T; compression: int = -1) -> contents: string", T=_PIXELS, shape=lambda c: (), host=True,
    samples=lambda rng, dtype: [[rng.integers(0, 256, (5, 4, 1)).astype(dtype)]])
def _encode_png(image, compression):
    """A PNG file of pixels [height, width, 1 to 4]."""
    if image.ndim != 3 or image.shape[-1] not in (1, 2, 3, 4):
        raise invalid(f"image must be 3-dimensional with 1, 2, 3, or 4 channels, got shape {list(image.shape)}")
    if not image.size:
        raise invalid(f"image must not be empty, got shape {list(image.shape)}")
    if image.dtype == np.uint16 and image.shape[-1] > 1:
        from jitgraph.graph.errors import UnimplementedError

        raise UnimplementedError(None, None, "PNG with 16 bits per pixel is written for one channel only: encode the "
                                             "channels one by one, or cast the image to uint8")
    return _saved(image, "PNG", **({} if compression < 0 else {"compress_level": int(compression)}))


def png_of(pixels: np.ndarray) -> bytes:
    """A PNG file of uint8 pixels [height, width, 1, 3 or 4]."""
    return _saved(pixels, "PNG").item()


def _checked_jpeg(image: np.ndarray, wanted: str) -> None:
    if image.ndim != 3 or image.shape[-1] not in (1, 3):
        raise invalid(f"image must be 3-dimensional with 1 or 3 channels, got shape {list(image.shape)}")
    if wanted and image.shape[-1] != {"grayscale": 1, "rgb": 3}[wanted]:
        raise invalid(f"format '{wanted}' does not fit an image of {image.shape[-1]} channels")


@op('EncodeJpeg(image: uint8; format: string {"", "grayscale", "rgb"} = "", quality: int = 95, progressive: bool = False, '
    'optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: string {"in", "cm"} = "in", x_density: '
    'int = 300, y_density: int = 300, xmp_metadata: string = "") -> contents: string', shape=lambda c: (), host=True,
    samples=lambda rng, dtype: [[rng.integers(0, 256, (5, 4, channels)).astype(np.uint8)] for channels in (1, 3)])
def _encode_jpeg(image, format, quality, progressive, optimize_size, chroma_downsampling, density_unit, x_density,
                 y_density):
    """A JPEG file of pixels [height, width, 1 or 3]."""
    _checked_jpeg(image, as_text(format))
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    per_inch = 2.54 if density_unit in ("cm", b"cm") else 1
    return _saved(image, "JPEG", quality=int(quality), progressive=bool(progressive), optimize=bool(optimize_size),
                  subsampling=2 if chroma_downsampling else 0, dpi=(round(x_density * per_inch),
                                                                    round(y_density * per_inch)))


@op("EncodeJpegVariableQuality(images: uint8, quality: int32) -> contents: string", shape=lambda c: (), host=True,
    samples=lambda rng, dtype: [[rng.integers(0, 256, (5, 4, 3)).astype(np.uint8), np.array(80, np.int32)]])
def _encode_jpeg_variable_quality(images, quality):
    """A JPEG file of a quality that is an input."""
    _checked_jpeg(images, "")
    if not 0 <= int(quality) <= 100:
        raise invalid(f"quality must be in [0,100], got {int(quality)}")
    return _saved(images, "JPEG", quality=int(quality), subsampling=2)


# -- public functions --------------------------------------------------------------------------------------------------

def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """The pixels [height, width, channels] of a PNG file, uint8 or uint16; `channels` 0 for as many as there are."""
    return _decode_png(contents, channels=channels or 0, dtype=as_dtype(dtype), name=name)


def decode_jpeg(contents: Any, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
                try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = "",
                name: str | None = None) -> Tensor:
    """The pixels [height, width, channels] of a JPEG file, uint8, 1, 2, 4 or 8 times (`ratio`) smaller."""
    return _decode_jpeg(contents, channels=channels or 0, ratio=ratio, fancy_upscaling=fancy_upscaling,
                        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
                        dct_method=dct_method, name=name)


def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: int = 0, ratio: int = 1,
                         fancy_upscaling: bool = True, try_recover_truncated: bool = False,
                         acceptable_fraction: float = 1, dct_method: str = "", name: str | None = None) -> Tensor:
    """A window (y, x, height, width) of the pixels of a JPEG file."""
    return _decode_and_crop_jpeg(contents, crop_window, channels=channels or 0, ratio=ratio,
                                 fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
                                 acceptable_fraction=acceptable_fraction, dct_method=dct_method, name=name)


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The pixels [height, width, channels] of a BMP file, uint8."""
    return _decode_bmp(contents, channels=channels or 0, name=name)


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """The frames [frames, height, width, 3] of a GIF file, uint8."""
    return _decode_gif(contents, name=name)


def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Height, width and channels of a JPEG file, without decoding its pixels."""
    return _extract_jpeg_shape(contents, output_type=as_dtype(output_type), name=name)


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """A PNG file, a scalar string, of pixels [height, width, 1 to 4], uint8 (or uint16 with one channel)."""
    return _encode_png(image, compression=compression, name=name)


def encode_jpeg(image: Any, format: str = "", quality: int = 95, progressive: bool = False, optimize_size: bool = False,
                chroma_downsampling: bool = True, density_unit: str = "in", x_density: int = 300, y_density: int = 300,
                xmp_metadata: str = "", name: str | None = None) -> Tensor:
    """A JPEG file, a scalar string, of pixels [height, width, 1 or 3], uint8."""
    return _encode_jpeg(image, format=format, quality=quality, progressive=progressive, optimize_size=optimize_size,
                        chroma_downsampling=chroma_downsampling, density_unit=density_unit, x_density=x_density,
                        y_density=y_density, xmp_metadata=xmp_metadata, name=name)


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether a file begins as JPEG files do."""
    with name_scope(name, "is_jpeg") as scope:
        return raw.Equal(raw.Substr(contents, 0, 3), b"\xff\xd8\xff", name=scope)


@op("DecodeImage(contents: string; channels: int = 0, dtype: type = uint8, expand_animations: bool = True) -> image: "
    "dtype", dtype=TypeSet(dtypes.uint8, dtypes.uint16, dtypes.float32, default=dtypes.uint8), host=True, dynamic=True,
    shape=lambda c: None if c.attrs["expand_animations"] else (None, None, c.attrs["channels"] or None),
    samples=lambda rng, dtype: [([_encoded(kind)], {"dtype": one}) for kind in ("PNG", "BMP", "GIF")
                                for one in (dtypes.uint8, dtypes.float32)], origin="TensorFlow 2")
def _decode_image_op(contents, channels, dtype, expand_animations):
    """The pixels of a JPEG, PNG, GIF or BMP file; [frames, height, width, channels] for a GIF if animations expand."""
    data = np.asarray(contents, object).item()
    kind = next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), None)
    if kind is None:
        raise invalid("Unable to decode bytes as JPEG, PNG, GIF, or BMP")
    if kind in ("GIF", "BMP") and channels in (1, 4) or kind == "JPEG" and channels == 4:
        allowed = "(None, 0, 1, 3)" if kind == "JPEG" else "(None, 0, 3)"
        raise invalid(f"Channels must be in {allowed} when decoding {kind} images")
    if kind == "GIF":
        pixels = _decode_gif.opdef.value(contents)
        pixels = pixels if expand_animations else pixels[0]
    elif kind == "BMP":
        pixels = _decode_bmp.opdef.value(contents, channels)
    elif kind == "JPEG":
        pixels = _jpeg_pixels(contents, channels)
    else:
        pixels = _pixels(_opened(contents, (kind,), kind), channels)
    if dtype == dtypes.float32:
        return pixels.astype(np.float32) * np.float32(1 / np.iinfo(pixels.dtype).max)
    return _as_kind(pixels, dtype)


def decode_image(contents: Any, channels: int | None = None, dtype: Any = dtypes.uint8, name: str | None = None,
                 expand_animations: bool = True) -> Tensor:
    """The pixels of a JPEG, PNG, GIF or BMP file as `dtype` (floats from 0 to 1).

    The shape is [height, width, channels], for a GIF [frames, height, width, 3] unless `expand_animations` is false.
    Raises ValueError for numbers of channels other than None, 0, 1, 3 and 4.
    """
    if channels not in (None, 0, 1, 3, 4):
        raise ValueError("channels must be in (None, 0, 1, 3, 4)")
    with name_scope(name, "decode_image"):
        dtype = as_dtype(dtype)
        direct = dtype if dtype in (dtypes.uint8, dtypes.uint16, dtypes.float32) else dtypes.float32
        encoded = convert_to_tensor(contents, dtypes.string)
        # TensorFlow asks for the format by a conditional in another, and converts what each branch reads
        with counted_as({dtypes.uint8: 76, dtypes.uint16: 82}.get(dtype, 84)):
            found = _decode_image_op(encoded, channels=channels or 0, dtype=direct, expand_animations=expand_animations)
            return found if direct is dtype else convert_image_dtype(found, dtype)


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, name: str | None = None) -> Tensor:
    """The image as JPEG of a quality from 0 to 100 leaves it."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        kind = image.dtype.base_dtype
        pixels = convert_image_dtype(image, dtypes.uint8)
        encoded = _encode_jpeg_variable_quality(pixels, convert_to_tensor(jpeg_quality, dtypes.int32))
        return convert_image_dtype(decode_jpeg(encoded), kind)


def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None) -> Tensor:
    """``adjust_jpeg_quality`` with a random quality in [min_jpeg_quality, max_jpeg_quality)."""
    from jitgraph.ops.random.draws import random_uniform

    if not (0 <= min_jpeg_quality <= 100 and 0 <= max_jpeg_quality <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, dtype=dtypes.int32, seed=seed)
    return adjust_jpeg_quality(image, quality)
