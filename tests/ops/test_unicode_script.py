"""The script of every character is the one that TensorFlow 1.15 gives."""
import hashlib

import numpy as np

# of the scripts of -5 ... 0x110004 as int32
DIGEST = "cf8cf4a627cb78bc98dadb2888f180aa6046de98bfae423758ec0b34439f017a"


def test_scripts_of_all_characters(tf, run):
    found = run(tf.strings.unicode_script(np.arange(-5, 0x110005, dtype=np.int32)))
    assert found.dtype == np.int32 and hashlib.sha256(found.astype("<i4").tobytes()).hexdigest() == DIGEST


def test_some_known_ones(tf, run):
    codes = [[ord("a"), ord("\u03b1")], [ord("\u4e00"), ord("\u0436")]]
    assert run(tf.strings.unicode_script(codes)).tolist() == [[25, 14], [17, 8]]
