"""Mel-frequency cepstral coefficients of spectrograms: Mfcc, as the programs of speech commands make them."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import shape_rules

_FLOOR = 1e-12          # of what a logarithm is taken


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(np.asarray(hertz, np.float64) / 700.0)


def _hertz(bins: int, rate: Any) -> float:
    """From one bin to the next; of one bin alone there is no next."""
    return 0.5 * float(rate) / max(bins - 1, 1)


def _filters(bins: int, rate: float, channels: int, low: float, high: float) -> np.ndarray:
    """The weights [bins, channels] of triangles that stand at equal distances on the mel scale; the first bin counts for none."""
    if channels < 1 or rate <= 0 or bins < 2 or low < 0 or high <= low:
        raise invalid(f"Mfcc initialization failed for channel count {bins}, sample rate {rate:g}, lower_frequency_limit "
        f"{low:g}, "
                      f"upper_frequency_limit {high:g}, filterbank_channel_count {channels}")
    ends = np.linspace(_mel(low), _mel(high), channels + 2)
    hertz = _hertz(bins, rate)
    place = _mel(np.arange(bins) * hertz)
    above = np.searchsorted(ends[1:], place, "left")            # the triangle whose top is the next one
    known = (np.arange(bins) >= int(1.5 + low / hertz)) & (np.arange(bins) <= int(high / hertz)) & (above <= channels)
    rows, above = np.flatnonzero(known), above[known]
    weights = np.zeros((bins, channels + 2))
    falling = (ends[above + 1] - place[rows]) / (ends[above + 1] - ends[above])
    weights[rows, above] = falling
    weights[rows, above + 1] = 1 - falling
    return weights[:, 1:-1]


def _cosines(inputs: int, outputs: int) -> np.ndarray:
    """The discrete cosine transform (type II) [inputs, outputs], as HTK scales it."""
    places = np.arange(inputs)[:, None] + 0.5
    return np.sqrt(2.0 / inputs) * np.cos(np.arange(outputs) * (np.pi / inputs) * places)


def _shape(c: Any) -> tuple:
    shape_rules.with_rank(c.shapes[1], 0, "sample_rate")
    return (*shape_rules.with_rank(c.shapes[0], 3, "spectrogram")[:2], c.attrs["dct_coefficient_count"])


@op("Mfcc(spectrogram: float32, sample_rate: int32; upper_frequency_limit: float = 4000.0, lower_frequency_limit: float = 20.0, "
    "filterbank_channel_count: int = 40, dct_coefficient_count: int = 13) -> output: float32", shape=_shape, host=True,
    samples=lambda rng, dtype: [([draw(rng, (2, 3, 65), np.float32, 0, 5), np.array(8000, np.int32)], attrs)
                                for attrs in ({}, {"filterbank_channel_count": 20, "dct_coefficient_count": 5})])
def mfcc(spectrogram, sample_rate, upper_frequency_limit, lower_frequency_limit, filterbank_channel_count, dct_coefficient_count):
    """The cepstral coefficients [channels, windows, coefficients] of squared magnitudes [channels, windows, bins]."""
    if spectrogram.ndim != 3:
        raise invalid(f"spectrogram must be 3-dimensional{list(spectrogram.shape)}")
    if not 1 <= dct_coefficient_count <= filterbank_channel_count:
        raise invalid(f"Mfcc initialization failed: {dct_coefficient_count} coefficients of {filterbank_channel_count} channels")
    if spectrogram.shape[2] <= int(upper_frequency_limit / _hertz(spectrogram.shape[2], sample_rate)):
        return np.zeros((*spectrogram.shape[:2], dct_coefficient_count), np.float32)       # beyond half of the sample rate
    filters = _filters(spectrogram.shape[2], float(sample_rate), filterbank_channel_count, lower_frequency_limit,
                       upper_frequency_limit)
    energies = np.sqrt(spectrogram.astype(np.float64)) @ filters
    found = np.log(np.maximum(energies, _FLOOR)) @ _cosines(filterbank_channel_count, dct_coefficient_count)
    return found.astype(np.float32)
