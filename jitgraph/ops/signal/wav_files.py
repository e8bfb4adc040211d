"""WAV files as TensorFlow reads them: 16-bit samples of a plain format, in a file that states its own sizes rightly."""
from __future__ import annotations

import numpy as np

from jitgraph.declare.invalid import invalid

_LARGEST = (1 << 31) - 1                                # of a chunk


class _Bytes:
    """Takes a file apart from its beginning.  Raises InvalidArgumentError where it is too short."""

    def __init__(self, data: bytes):
        self.data, self.place = data, 0

    def text(self, size: int) -> bytes:
        return self._next(size, "string")

    def number(self, size: int) -> int:
        return int.from_bytes(self._next(size, "value"), "little")

    def expect(self, text: bytes) -> None:
        found = self.text(len(text))
        if found != text:
            raise invalid(f"Header mismatch: Expected {text.decode()} but found {found.decode('latin-1')}")

    def _next(self, size: int, what: str) -> bytes:
        found = self.data[self.place:self.place + size]
        if len(found) < size:
            raise invalid(f"Data too short when trying to read {what}")
        self.place += size
        return found


def wav_samples(data: bytes) -> tuple[int, np.ndarray]:
    """(samples for each second, the samples int16 [samples, channels]) of a WAV file.

    Raises InvalidArgumentError for a file that is cut off, has no or two chunks of data, is not PCM of 16 bits, or has a header
    that contradicts itself.
    """
    file = _Bytes(data)
    file.expect(b"RIFF")
    file.number(4)                                      # the size of the file, which nobody checks
    file.expect(b"WAVE")
    channels, rate = _format(file)
    found = None
    while file.place < len(data):
        kind, size = file.text(4), file.number(4)
        if size > _LARGEST:
            raise invalid(f"WAV data chunk '{kind.decode('latin-1')}' is too large: {size} bytes, but the limit is {_LARGEST}")
        if kind != b"data":
            file.place += size
            continue
        if found is not None:
            raise invalid("More than one data chunk found in WAV")
        count = size // (2 * channels)
        values = data[file.place:file.place + 2 * channels * count]
        if len(values) < 2 * channels * count:
            raise invalid("Data too short when trying to read value")
        file.place += len(values)
        found = np.frombuffer(values, "<i2").reshape(count, channels)
    if found is None:
        raise invalid("No data chunk found in WAV")
    return rate, found


def _format(file: _Bytes) -> tuple[int, int]:
    """(channels, samples for each second) from the chunk that says what the data are."""
    file.expect(b"fmt ")
    size = file.number(4)
    if size not in (16, 18):
        raise invalid(f"Bad file size for WAV: Expected 16 or 18, but got {size}")
    form = file.number(2)
    if form != 1:
        raise invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got {form}")
    channels = file.number(2)
    if channels < 1:
        raise invalid(f"Bad number of channels for WAV: Expected at least 1, but got {channels}")
    rate, each_second, each_sample, bits = file.number(4), file.number(4), file.number(2), file.number(2)
    if bits != 16:
        raise invalid(f"Can only read 16-bit WAV files, but received {bits}")
    if each_sample != 2 * channels:
        raise invalid(f"Bad bytes per sample in WAV header: Expected {2 * channels} but got {each_sample}")
    expected = each_sample * rate & 0xFFFFFFFF
    if each_second != expected:
        raise invalid(f"Bad bytes per second in WAV header: Expected {expected} but got {each_second} (sample_rate={rate}, "
                      f"bytes_per_sample={each_sample})")
    if size == 18:
        file.place += 2                                 # the size of an extension that there is not
    return channels, rate
