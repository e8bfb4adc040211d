"""tf.variable_creator_scope: whom it asks, with what arguments."""
import json
from pathlib import Path

from tests.variables.creator_programs import asked

RECORDED = json.loads((Path(__file__).parent / "data" / "tf115_creators.json").read_text())


def test_creators_are_asked_what_tensorflow_asks_them(tf):
    assert json.loads(json.dumps(asked(tf))) == RECORDED


def test_a_custom_getter_is_told_whether_the_variable_is_trainable(tf):
    told = {}

    def getter(getter, name, *args, **kwargs):
        told[name] = kwargs["trainable"]
        return getter(name, *args, **kwargs)

    with tf.variable_scope("m", custom_getter=getter):
        tf.get_variable("plain", [2])
        tf.get_variable("still", [2], trainable=False)
        tf.get_variable("added_up", [2], synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    assert told == {"m/plain": True, "m/still": False, "m/added_up": False}         # as TensorFlow 1.15 says
