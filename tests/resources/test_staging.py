"""Staging areas and maps beside TensorFlow 1.15's."""
import json
import threading
from pathlib import Path

import pytest

from tests.resources.staging_programs import answers

RECORDED = json.loads((Path(__file__).parent / "data" / "tf115_staging.json").read_text())


@pytest.mark.parametrize("jit", ["off", "always"])
def test_what_goes_in_comes_out_as_in_tensorflow(tf, jit):
    assert json.loads(json.dumps(answers(tf, jit=jit))) == RECORDED


def test_taking_waits_for_what_another_thread_puts(tf):
    put = tf.raw_ops.Stage(values=[3.0], shared_name="a")
    take, = tf.raw_ops.Unstage(dtypes=[tf.float32], shared_name="a")
    found = []
    with tf.Session() as session:
        thread = threading.Thread(target=lambda: found.append(session.run(take)))
        thread.start()
        session.run(put)
        thread.join(30)
    assert found == [3.0]
