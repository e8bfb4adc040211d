"""Sound: WAV files of 16-bit samples, and spectrograms."""
from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import shape_rules
from jitgraph.ops.signal.wav_files import wav_samples


def _decoded_shapes(c: Any) -> list:
    shape_rules.with_rank(c.shapes[0], 0, "contents")
    samples, channels = c.attrs["desired_samples"], c.attrs["desired_channels"]
    return [(None if samples == -1 else samples, None if channels == -1 else channels), ()]


def _wav_samples(rng, dtype):
    contents = np.asarray(encode_wav.opdef.value(draw(rng, (5, 2), np.float32, -1, 1), np.int32(8000)), object)
    return [[contents], ([contents], {"desired_channels": 1, "desired_samples": 3}), ([contents], {"desired_samples": 7})]


@op("DecodeWav(contents: string; desired_channels: int = -1, desired_samples: int = -1) -> audio: float32, sample_rate: int32",
    shape=_decoded_shapes, host=True, samples=_wav_samples, dynamic=True)
def _decode_wav(contents, desired_channels, desired_samples):
    """The samples of a WAV file, in [-1, 1)."""
    rate, samples = wav_samples(bytes(contents[()]))
    channels = samples.shape[1]
    if desired_channels > channels:         # the last channel fills up what is missing
        samples = samples[:, np.minimum(np.arange(desired_channels), channels - 1)]
    elif desired_channels != -1:
        samples = samples[:, :desired_channels]
    if desired_samples != -1:
        samples = np.concatenate([samples[:desired_samples],
                                  np.zeros((max(0, desired_samples - len(samples)), samples.shape[1]), "<i2")])
    return (samples / np.float32(32768)).astype(np.float32), np.array(rate, np.uint32).astype(np.int32)


def _encoded_shape(c: Any) -> tuple:
    shape_rules.with_rank(c.shapes[0], 2, "audio")
    shape_rules.with_rank(c.shapes[1], 0, "sample_rate")
    return ()


@op("EncodeWav(audio: float32, sample_rate: int32) -> contents: string", shape=_encoded_shape, host=True,
    samples=lambda rng, dtype: [[draw(rng, (5, 2), np.float32, -1, 1), np.array(8000, np.int32)]])
def encode_wav(audio, sample_rate):
    """`audio` [samples, channels] in [-1, 1] as the bytes of a WAV file with 16 bits to a sample."""
    if audio.ndim != 2 or sample_rate.ndim:
        raise invalid(f"audio must be 2-dimensional and sample_rate a scalar, got shapes {list(audio.shape)} and "
                      f"{list(sample_rate.shape)}")
    if not audio.size:
        raise invalid("audio and channel count must be greater than 0")
    if sample_rate <= 0:
        raise invalid(f"sample_rate must be in (0, 2^32), got: {sample_rate}")
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(audio.shape[1])
        file.setsampwidth(2)
        file.setframerate(int(sample_rate))
        samples = np.clip(audio * np.float32(32768), -32768, 32767).astype(np.float64)
        samples = np.trunc(samples + np.copysign(0.5, samples))         # a half is rounded away from zero
        file.writeframes(samples.astype("<i2").tobytes())
    return np.array(buffer.getvalue(), object)


def decode_wav(contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None) -> Any:
    """(samples float32 [samples, channels] in [-1, 1), sample rate int32) of a WAV file with 16 bits to a sample.

    `desired_channels` and `desired_samples` (-1: as they are) cut or fill up: channels by the last, samples by zeros.  A run
    raises InvalidArgumentError for other data.
    """
    return _decode_wav(contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name)


def _spectrum_size(window: int) -> int:
    return 1 + (1 << max(0, (window - 1).bit_length())) // 2


def _spectrogram_shape(c: Any) -> Any:
    value = shape_rules.with_rank(c.shapes[0], 2, "input")
    window, stride = c.attrs["window_size"], c.attrs["stride"]
    if value is None:
        return (None, None, _spectrum_size(window))
    rows = None if value[0] is None else max(0, 1 + (value[0] - window) // stride)
    return (value[1], rows, _spectrum_size(window))


@op("AudioSpectrogram(input: float32; window_size: int, stride: int, magnitude_squared: bool = false) -> spectrogram: float32",
    shape=_spectrogram_shape, host=True,
    samples=lambda rng, dtype: [([draw(rng, (20, 2), np.float32)], {"window_size": 8, "stride": 4, "magnitude_squared": squared})
                                for squared in (False, True)])
def audio_spectrogram(input, window_size, stride, magnitude_squared):
    """The magnitudes (or their squares) of the spectra of windows of `input` [samples, channels]: [channels, windows, bins]."""
    count = max(0, 1 + (len(input) - window_size) // stride)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    size = 2 * (_spectrum_size(window_size) - 1)
    parts = np.zeros((input.shape[1], count, window_size))
    for k in range(count):
        parts[:, k] = input[k * stride:k * stride + window_size].T
    spectra = np.abs(np.fft.rfft(parts * window, size, axis=-1)) ** 2
    return (spectra if magnitude_squared else np.sqrt(spectra)).astype(np.float32)
