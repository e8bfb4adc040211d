"""Ops of TensorFlow that are not here say why."""
import pytest


@pytest.mark.parametrize("name", ["TPUReplicatedInput", "InfeedDequeueTuple", "RetrieveTPUEmbeddingADAMParameters",
                                  "WorkerHeartbeat"])
def test_ops_of_tpus_say_that_there_is_no_such_target(tf, name):
    with pytest.raises(AttributeError, match=f"tf.raw_ops.{name} is not part of jitgraph: .*no TPU target"):
        getattr(tf.raw_ops, name)
