"""tf.variable_creator_scope: whom it asks, with what arguments."""
import json
from pathlib import Path

from tests.variables.creator_programs import asked

RECORDED = json.loads((Path(__file__).parent / "data" / "tf115_creators.json").read_text())


def test_creators_are_asked_what_tensorflow_asks_them(tf):
    assert json.loads(json.dumps(asked(tf))) == RECORDED
