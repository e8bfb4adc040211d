"""Random programs, beside what TensorFlow 1.15 answered to them (recorded/*.npz; `make fuzz-tensorflow` asks it anew)."""
import contextlib

import numpy as np
import pytest

from .differential import answers, compare, record, roundings, source

MODES = ("off", "always", "auto")
EVERY = 20              # one of so many recorded programs is tried by default; the slow test tries all
KINDS = sorted(path.stem for path in record.FOLDER.glob("*.npz"))

# Programs that do not answer as TensorFlow: kind -> their numbers.
KNOWN: dict = {}


def rounded_otherwise(tf, program, seed):
    with roundings.moved(seed) if seed is not None else contextlib.nullcontext():
        return answers.answer(tf, program, lambda: tf.Session(jit="off"))


def different(tf, kind, mode, program, wanted):
    """What differs from the recorded answer, as text with the program; None: nothing."""
    answer = answers.answer(tf, program, lambda: tf.Session(jit=mode))
    found = compare.differences(wanted, answer) and compare.second_look(
        wanted, answer, lambda seed: rounded_otherwise(tf, program, seed))
    if not found:
        return None
    said = "\n".join(f"{where}: {what}" for where, what in found)
    return f"{kind} {program['number']}, jit={mode}\n{said}\n{source.source(program)}"


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_some_programs_answer_as_in_tensorflow(tf, kind):
    """Each in one of the modes."""
    tried = [pair for pair in record.load(kind)[::EVERY] if pair[0]["number"] not in KNOWN.get(kind, ())]
    assert tried
    found = [different(tf, kind, MODES[k % len(MODES)], *pair) for k, pair in enumerate(tried)]
    assert not any(found), "\n\n".join(filter(None, found))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_all_programs_answer_as_in_tensorflow(tf, kind, mode):
    found = [different(tf, kind, mode, *pair) for pair in record.load(kind) if pair[0]["number"] not in KNOWN.get(kind, ())]
    assert not any(found), "\n\n".join(filter(None, found))
