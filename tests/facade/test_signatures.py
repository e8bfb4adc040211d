"""Parameters of public functions and methods, and public base classes, are TensorFlow 1.15's.

data/tf115_signatures.tsv is written by ``signatures.py`` under TensorFlow 1.15; see there.
"""
import importlib.util
import inspect
from pathlib import Path

import pytest

from jitgraph import raw_ops
from jitgraph.facade import names
from jitgraph.graph import registry

_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("signatures", _HERE / "signatures.py")
signatures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(signatures)
EXPECTED = dict(line.split("\t") for line in (_HERE / "data" / "tf115_signatures.tsv").read_text().splitlines())

NEWER_NAME = "takes the newer name of its first parameters alone, too"
OTHER = {
    "Session.__init__": "jit=", "InteractiveSession.__init__": "jit=",
    "Operation.__init__": "programs make operations by Graph.create_op", "Tensor.__init__": "the shape, known beforehand",
    "DType.__init__": "the dtypes are fixed",
    "batch_to_space": NEWER_NAME, "nn.avg_pool": NEWER_NAME, "nn.avg_pool2d": NEWER_NAME, "nn.max_pool": NEWER_NAME,
    "nn.conv3d_transpose": NEWER_NAME, "nn.convolution": NEWER_NAME,
    "contrib.lookup.index_table_from_tensor": NEWER_NAME, "contrib.lookup.index_to_string_table_from_tensor": NEWER_NAME,
    "contrib.lookup.MutableHashTable.__init__": "shared_name=", "lookup.experimental.DenseHashTable.__init__": "shared_name=",
    "lookup.StaticVocabularyTable()": "is the contrib class without its hash functions",
    "test.Benchmark.__init__": "takes no parameters",
    "test.TestCase.assertProtoEqualsVersion": "the producer is looked up", "train.NewCheckpointReader": "a class",
    "init_scope": "a class", "flags.UnrecognizedFlagError.__init__": "as in the absl that is installed",
    "distribute.Strategy.__init__": "`extended` may be left out",
}


@pytest.fixture(scope="module")
def ours():
    with pytest.MonkeyPatch.context() as patch:         # who looks at tf.flags.FLAGS has the command line parsed
        patch.setattr("sys.argv", ["prog"])
        return signatures.collect(sorted(names.table()), names.resolve)


def parts(text):
    """The parameters of a line, a default of dots standing for any."""
    return text[1:-1].split(", ") if text[1:-1] else []


def agree(theirs, ours):
    """Whether ours are theirs; what theirs take as **kwargs may be named."""
    theirs, ours = parts(theirs), parts(ours)
    if theirs and theirs[-1].startswith("**") and len(theirs) > 1 and theirs[-2].startswith("*"):
        return ours[:len(theirs) - 1] == theirs[:-1]
    return len(theirs) == len(ours) and all(a == b or (a.endswith("=...") and b.startswith(a[:-3]))
                                            for a, b in zip(theirs, ours))


def test_parameters_and_bases_are_those_of_tensorflow(ours):
    differ = {name: (text, ours.get(name)) for name, text in EXPECTED.items()
              if not (name in ours and (ours[name] == text or agree(text, ours[name])))}
    assert {name: both for name, both in differ.items() if name not in OTHER} == {}
    assert set(OTHER) - set(differ) == set(), "these are TensorFlow's by now: take them off the list"


def test_the_name_can_stand_last(tf):
    """Builders of ops take attributes and the name by position, as TensorFlow's do."""
    assert tf.subtract(1.0, 2.0, "difference").op.name == "difference"
    assert tf.decode_compressed("", "GZIP", "plain").op.get_attr("compression_type") == b"GZIP"
    assert tf.strings.unicode_transcode("a", "UTF-8", "UTF-16-BE", name="wide").op.name == "wide"


@pytest.mark.parametrize("renamed", [d for d in registry.load_all().values() if d.renamed], ids=lambda d: d.type)
def test_renamed_parameters_are_shown_and_taken(tf, renamed):
    shown = inspect.signature(renamed.builder).parameters
    for public, declared in renamed.renamed.items():
        assert public in shown and declared not in shown


def test_renamed_parameters_name_the_same_input(tf):
    new, old = raw_ops.Sum(input=[[1.0]], axis=0), raw_ops.Sum(input=[[1.0]], reduction_indices=0)
    assert new.shape == old.shape == (1,) and raw_ops.ExpandDims(input=1.0, axis=0).shape == (1,)


def test_an_attribute_given_as_none_has_its_default(tf):
    assert tf.linalg.inv(tf.eye(2), adjoint=None).op.get_attr("adjoint") is False
    assert raw_ops.Sum(input=[1.0], axis=0, keep_dims=None).op.get_attr("keep_dims") is False
    with pytest.raises(TypeError, match="out_type"):
        tf.io.parse_tensor("", None)
