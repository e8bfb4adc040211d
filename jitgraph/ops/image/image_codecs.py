"""Images read from and written to PNG (`png_files`), JPEG (`jpeg_files`), GIF, by Pillow, and BMP (`bmp_files`).

Pillow encodes, and decodes what the faster libraries do not read.  Without simplejpeg the pixels of a JPEG file differ by up to 4
from TensorFlow's.
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
from jitgraph.ops.image.gif_files import gif_frames
from jitgraph.ops.image.image_dtype import convert_image_dtype, pixels_as
from jitgraph.ops.image.jpeg_files import jpeg_pixels
from jitgraph.ops.image.png_files import deep_png, png_pixels

_PIXELS = TypeSet(dtypes.uint8, dtypes.uint16, default=dtypes.uint8)
_SIGNATURES = {b"\xff\xd8\xff": "JPEG", b"\x89PN": "PNG", b"GIF": "GIF", b"BM": "BMP"}


def _pillow() -> Any:
    try:
        import PIL.Image
    except ImportError:
        raise ImportError(f"images are decoded and encoded by Pillow, which is not installed: {advice('image')}") from None
    return PIL.Image


# -- decoding ----------------------------------------------------------------------------------------------------------

def _file(contents: np.ndarray) -> bytes:
    if contents.ndim:
        raise invalid(f"contents must be scalar, got shape {list(contents.shape)}")
    data: bytes = contents.item()
    return data


def _kind_of(data: bytes) -> str | None:
    for start, kind in _SIGNATURES.items():
        if data.startswith(start):
            return kind
    return None


def _opened(data: bytes, kind: str, whole: bool = True) -> Any:
    """A file of a known kind, opened and read by Pillow."""
    pillow = _pillow()
    try:
        image = pillow.open(io.BytesIO(data), formats=(kind,))
        if whole:
            image.load()
    except ImportError:
        raise
    except pillow.UnidentifiedImageError:
        raise invalid(f"Invalid {kind} header, data size {len(data)}") from None
    except Exception as error:
        raise invalid(f"Invalid JPEG data or crop window, data size {len(data)} ({error})" if kind == "JPEG" else
                      f"Invalid {kind} data, size {len(data)} ({error})") from None
    return image


def _pixels(contents: Any, channels: int, deep: bool = False, ratio: int = 1, fancy_upscaling: bool = True,
            recover: bool = False, dct_method: Any = "") -> np.ndarray:
    """The pixels uint8, or uint16 if `deep`, of a PNG, a JPEG or a GIF of one frame; channels 0 for those that it has.

    The last four are for JPEG files alone, as TensorFlow has it.
    """
    data = _file(contents)
    kind = _kind_of(data)
    if kind == "PNG":
        return png_pixels(data, channels, deep)
    if kind not in ("JPEG", "GIF"):
        shown = f"unknown format starting with '{_escaped(data[:16])}'" if data else "empty file"
        raise invalid(f"Expected image (JPEG, PNG, or GIF), got {shown}")
    if deep:
        raise invalid(f"{kind} does not support uint16 output")
    if kind == "JPEG":
        _check_channels(channels, (0, 1, 3), " for JPEG")
        method = as_text(dct_method)
        if method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
            raise invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
        return _jpeg_pixels(data, channels, ratio, fancy_upscaling, method != "INTEGER_ACCURATE", recover)
    if channels not in (0, 3):
        raise invalid(f"channels must be 0 or 3 for GIF, got {channels}")
    frames = _gif_frames(data)
    if len(frames) > 1:
        raise invalid(f"Got {len(frames)} frames, but animated gifs can only be decoded by tf.image.decode_gif or "
                      "tf.image.decode_image")
    return frames[0]


def _escaped(data: bytes) -> str:
    """Bytes as C writes them: those that are not ASCII's letters and signs as octal numbers."""
    named = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
    return "".join(named.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in data)


def _jpeg_pixels(data: bytes, channels: int, ratio: int, fancy_upscaling: bool, fast: bool, recover: bool) -> np.ndarray:
    found = jpeg_pixels(data, channels, ratio, fancy_upscaling, fast, recover)
    if found is not None:
        return found
    image = _opened(data, "JPEG")
    gray = channels == 1 or not channels and image.mode == "L"
    if ratio > 1 or gray:
        size = [-(-n // ratio) for n in image.size]
        image = _pillow().open(io.BytesIO(data))
        image.draft("L" if gray else None, size)            # the luma as it is in the file
        if list(image.size) != size:
            image = image.resize(size, _pillow().Resampling.BOX)
    mode = "L" if gray else "RGB"
    found = np.asarray(image if image.mode == mode else image.convert(mode))
    return found.reshape(*found.shape[:2], 1 if gray else 3)


def _gif_frames(data: bytes) -> np.ndarray:
    return gif_frames(data, _pillow())


def _check_channels(channels: int, allowed: tuple, kind: str = "") -> None:
    if channels not in allowed:
        raise invalid(f"channels must be {', '.join(map(str, allowed[:-1]))}, or {allowed[-1]}{kind}, got {channels}")


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
    return _pixels(contents, channels, dtype == dtypes.uint16)


_JPEG = ("channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False, "
         'acceptable_fraction: float = 1.0, dct_method: string = ""')


def _from_jpeg_op(contents, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method):
    _check_channels(channels, (0, 1, 3, 4))
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    return _pixels(contents, channels, False, ratio, fancy_upscaling, try_recover_truncated, dct_method)


@op(f"DecodeJpeg(contents: string; {_JPEG}) -> image: uint8", shape=_image_shape, host=True, dynamic=True,
    samples=lambda rng, dtype: [([_encoded("JPEG")], {"channels": channels, "ratio": ratio})
                                for channels, ratio in ((0, 1), (1, 2))])
def _decode_jpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method):
    """The pixels of a JPEG (or PNG, or GIF of one frame) file, `ratio` times smaller."""
    return _from_jpeg_op(contents, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method)


@op(f"DecodeAndCropJpeg(contents: string, crop_window: int32; {_JPEG}) -> image: uint8", host=True, dynamic=True,
    shape=_cropped_shape, samples=lambda rng, dtype: [[_encoded("JPEG"), ints(2, 1, 5, 4)]])
def _decode_and_crop_jpeg(contents, crop_window, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method):
    """A window (y, x, height, width) of the pixels of a JPEG file."""
    y, x, height, width = (int(n) for n in crop_window)
    pixels = _from_jpeg_op(contents, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method)
    if y < 0 or x < 0 or height <= 0 or width <= 0 or y + height > pixels.shape[0] or x + width > pixels.shape[1]:
        raise invalid(f"Invalid JPEG data or crop window, crop window {list(map(int, crop_window))} for an image of "
                      f"{pixels.shape[0]} x {pixels.shape[1]}")
    return pixels[y:y + height, x:x + width]


@op("DecodeBmp(contents: string; channels: int = 0) -> image: uint8", shape=_image_shape, host=True, dynamic=True,
    samples=lambda rng, dtype: [[_encoded("BMP")], ([_encoded("BMP")], {"channels": 3})])
def _decode_bmp(contents, channels):
    """The pixels of a BMP file."""
    _check_channels(channels, (0, 1, 3, 4))
    return bmp_pixels(_file(contents), channels)


@op("DecodeGif(contents: string) -> image: uint8", shape=lambda c: (None, None, None, 3), host=True, dynamic=True,
    samples=lambda rng, dtype: [[_encoded("GIF")]])
def _decode_gif(contents):
    """The frames of a GIF file (or the only one of a PNG or JPEG): [frames, height, width, 3]."""
    data = _file(contents)
    return _gif_frames(data) if _kind_of(data) == "GIF" else _pixels(contents, 3)[None]


@op("ExtractJpegShape(contents: string; output_type: type = int32) -> image_shape: output_type",
    output_type=TypeSet(dtypes.int32, dtypes.int64, default=dtypes.int32), shape=lambda c: (3,), host=True,
    samples=lambda rng, dtype: [([_encoded("JPEG")], {"output_type": one}) for one in (dtypes.int32, dtypes.int64)])
def _extract_jpeg_shape(contents, output_type):
    """Height, width and channels of a JPEG file."""
    data = _file(contents)
    if _kind_of(data) != "JPEG":
        raise invalid(f"Invalid JPEG data, size {len(data)}")
    image = _opened(data, "JPEG", whole=False)
    return np.array([image.height, image.width, len(image.getbands())], output_type.as_numpy_dtype)


# -- encoding ----------------------------------------------------------------------------------------------------------

def _encoded_shape(c: Any) -> tuple:
    shape_rules.with_rank(c.shapes[0], 3, "image")
    return ()


def _string(data: bytes) -> np.ndarray:
    found = np.empty((), object)
    found[()] = data
    return found


def _saved(pixels: np.ndarray, kind: str, **options: Any) -> np.ndarray:
    flat = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
    file = io.BytesIO()
    _pillow().fromarray(np.ascontiguousarray(flat)).save(file, kind, **options)
    return _string(file.getvalue())


@op("EncodePng(image: T; compression: int = -1) -> contents: string", T=_PIXELS, shape=_encoded_shape, host=True,
    samples=lambda rng, dtype: [[rng.integers(0, 256, (5, 4, channels)).astype(dtype)] for channels in (1, 3)])
def _encode_png(image, compression):
    """A PNG file of pixels [height, width, 1 to 4]."""
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    if image.ndim != 3:
        raise invalid(f"image must be 3-dimensional, got shape {list(image.shape)}")
    if image.shape[-1] not in (1, 2, 3, 4):
        raise invalid(f"image must have 1, 2, 3, or 4 channels, got {image.shape[-1]}")
    if not image.size:
        raise invalid(f"image must not be empty, got shape {list(image.shape)}")
    if image.dtype == np.uint16 and image.shape[-1] > 1:        # Pillow writes no more than 8 bits of these
        return _string(deep_png(image, int(compression)))
    return _saved(image, "PNG", **({} if compression < 0 else {"compress_level": int(compression)}))


def png_of(pixels: np.ndarray) -> bytes:
    """A PNG file of uint8 pixels [height, width, 1, 3 or 4]."""
    return _saved(pixels, "PNG").item()


def _checked_jpeg(image: np.ndarray, wanted: str) -> None:
    if image.ndim != 3:
        raise invalid(f"image must be 3-dimensional, got shape {list(image.shape)}")
    shape = str(list(image.shape)).replace(" ", "")
    if not image.size:
        raise invalid(f"cannot write an empty image, got {shape}")
    if wanted and image.shape[-1] != {"grayscale": 1, "rgb": 3}[wanted]:
        raise invalid(f"format {wanted} expects {1 if wanted == 'grayscale' else 3} channels, got {shape}")
    if image.shape[-1] not in (1, 3):
        raise invalid(f"image must have 1 or 3 channels, got {shape}")


@op('EncodeJpeg(image: uint8; format: string {"", "grayscale", "rgb"} = "", quality: int = 95, progressive: bool = False, '
    'optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: string {"in", "cm"} = "in", x_density: '
    'int = 300, y_density: int = 300, xmp_metadata: string = "") -> contents: string', shape=_encoded_shape, host=True,
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


@op("EncodeJpegVariableQuality(images: uint8, quality: int32) -> contents: string", shape=_encoded_shape, host=True,
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
    """The pixels [height, width, channels] of a JPEG file, uint8, 1, 2, 4 or 8 times (`ratio`) smaller.

    `try_recover_truncated`: what a file that is cut off lacks is gray (with simplejpeg; Pillow refuses such a file).
    """
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
    """A PNG file, a scalar string, of pixels [height, width, 1 to 4], uint8 or uint16."""
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
    "dtype", dtype=dtypes.REALS.with_default(dtypes.uint8), host=True, dynamic=True,
    shape=lambda c: None if c.attrs["expand_animations"] else (None, None, c.attrs["channels"] or None),
    samples=lambda rng, dtype: [([_encoded(kind)], {"dtype": one}) for kind in ("PNG", "BMP", "GIF")
                                for one in (dtypes.uint8, dtypes.float32, dtypes.int32)], origin="TensorFlow 2")
def _decode_image_op(contents, channels, dtype, expand_animations):
    """The pixels of a JPEG, PNG, GIF or BMP file; [frames, height, width, channels] for a GIF if animations expand.

    As TensorFlow has it, those of a PNG are read with 16 bits for all dtypes but uint8, and then converted.
    """
    data = _file(contents)
    kind = _kind_of(data)
    if kind is None:
        raise invalid("assertion failed: [Unable to decode bytes as JPEG, PNG, GIF, or BMP]")
    refused = {"JPEG": (4,), "PNG": (), "GIF": (1, 4), "BMP": (1,)}[kind]
    if channels in refused:
        allowed = "(None, 0, 1, 3)" if kind == "JPEG" else "(None, 0, 3)"
        raise invalid(f"assertion failed: [Channels must be in {allowed} when decoding {kind} images]")
    if kind == "GIF":
        pixels = _gif_frames(data)
        pixels = pixels if expand_animations else pixels[0]
    elif kind == "BMP":
        pixels = bmp_pixels(data, 0)
    else:
        pixels = _pixels(contents, channels, kind == "PNG" and dtype != dtypes.uint8)
    return pixels_as(pixels, dtype)


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
        encoded = convert_to_tensor(contents, dtypes.string)
        # TensorFlow asks for the format by a conditional in another, and converts what each branch reads
        with counted_as({dtypes.uint8: 76, dtypes.uint16: 82}.get(dtype, 84)):
            return _decode_image_op(encoded, channels=channels or 0, dtype=dtype, expand_animations=expand_animations)


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
