"""Random programs, beside what TensorFlow 1.15 answered to them (recorded/*.npz; `make fuzz-tensorflow` asks it anew)."""
import numpy as np
import pytest

from .differential import answers, compare, record, source

MODES = ("off", "always", "auto")
EVERY = 20              # one of so many recorded programs is tried by default; the slow test tries all
KINDS = sorted(path.stem for path in record.FOLDER.glob("*.npz"))

# Programs that do not yet answer as TensorFlow: kind -> their numbers.
KNOWN = {
    "state": {23, 34, 72, 135, 191},        # a scatter, then an assign; a scatter of the variable's own value
    "sizes": {9, 77, 154, 177},             # indices that are a variable, beside a size of the run; one output of unstack is fed
    "mixed": {90, 177},                     # a loop whose body has more than is needed; as sizes 9
    "control": {106, 110, 170},             # sorting along the first axis of unknown rank; top_k's output fed; loops' gradients
    "indexing": {113},                      # an output of dynamic_partition is fed
    "random": {67},                         # a default seed after the gradient of a loop that writes a TensorArray
    "linear": {122},                        # an output of qr is fed
}


def different(tf, kind, mode, program, wanted):
    """What differs from the recorded answer, as text with the program; None: nothing."""
    with np.errstate(all="ignore"):
        found = compare.differences(wanted, answers.answer(tf, program, lambda: tf.Session(jit=mode)))
    if not found:
        return None
    said = "\n".join(f"{where}: {what}" for where, what in found)
    return f"{kind} {program['number']}, jit={mode}\n{said}\n{source.source(program)}"


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
