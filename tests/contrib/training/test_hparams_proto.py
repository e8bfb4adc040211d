"""Hyperparameters as protocol buffers."""
import pytest


def test_to_proto_and_back(tf):
    hparams = tf.contrib.training.HParams(a=1, b=[1.0, 2.5], c="x", d=True, e=["p", "q"], f=0.5, g=[3], h=[False])
    proto = hparams.to_proto()
    assert proto.hparam["a"].int64_value == 1 and list(proto.hparam["b"].float_list.value) == [1.0, 2.5]
    assert proto.hparam["c"].bytes_value == b"x" and proto.hparam["d"].WhichOneof("kind") == "bool_value"
    read = type(proto).FromString(proto.SerializeToString())
    assert tf.contrib.training.HParams.from_proto(read).values() == hparams.values()
    assert tf.contrib.training.HParams(hparam_def=read).values() == hparams.values()


def test_what_a_proto_cannot_hold(tf):
    with pytest.raises(ValueError, match="Unsupported parameter type"):
        tf.contrib.training.HParams(a=None).to_proto()
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.contrib.training.HParams(tf.contrib.training.HParams(a=1).to_proto(), b=2)


@pytest.mark.parametrize("other", [1, 1.0, "hello", [1, 2, 3]])
def test_what_is_no_proto(tf, other):
    with pytest.raises(AssertionError, match="HParamDef"):
        tf.contrib.training.HParams(hparam_def=other)


@pytest.mark.parametrize("text, name", [("v=[3,4],v[0]=5", r"'v' in"), ("v[0]=5,v[0]=6", r"'v\[0\]' in"),
                                        ("v[0]=5,v=[3,4]", r"'v' in")])
def test_what_is_assigned_twice_is_named(tf, text, name):
    with pytest.raises(ValueError, match=f"Multiple assignments to variable {name}"):
        tf.contrib.training.HParams(v=[1, 2]).parse(text)
