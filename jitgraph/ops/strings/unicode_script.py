"""Which script a character belongs to, by the numbers that ICU gives scripts: UnicodeScript."""
from __future__ import annotations

import functools
from importlib import resources

import numpy as np

from jitgraph.declare.op import op
from jitgraph.declare.samples import ints
from jitgraph.graph import shape_rules

CODES = 0x110000


@functools.cache
def script_table() -> tuple[np.ndarray, np.ndarray]:
    """(first code points of stretches of one script, in order; their scripts): Unicode 12, as ICU in TensorFlow 1.15 has it."""
    lines = resources.files("jitgraph.ops.strings").joinpath("unicode_scripts.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return np.array([int(first, 16) for first, _ in rows]), np.array([int(script) for _, script in rows], np.int32)


@op("UnicodeScript(input: int32) -> output: int32", shape=shape_rules.same_as_input, host=True,
    samples=lambda rng, dtype: [[ints([65, 0x3B1], [0x4E00, -1])], [ints()]])
def unicode_script(input):
    """The script of each code point, -1 for what is none: 0 is "common" to many, 25 Latin, 14 Greek, 17 Han, 8 Cyrillic."""
    firsts, scripts = script_table()
    found = scripts[np.searchsorted(firsts, np.clip(input, 0, CODES - 1), "right") - 1]
    return np.where((input >= 0) & (input < CODES), found, np.int32(-1)).astype(np.int32)
