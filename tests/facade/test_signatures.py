"""Parameters of public functions and methods, and public base classes, are TensorFlow 1.15's.

data/tf115_signatures.tsv is written by ``signatures.py`` under TensorFlow 1.15; see there.
"""
import dis
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
EXPECTED = signatures.expanded(dict(
    line.split("\t") for line in (_HERE / "data" / "tf115_signatures.tsv").read_text().splitlines()))
TOLD_OTHERWISE = ("contrib.checkpoint.CheckpointableBase", "contrib.checkpoint.Checkpointable")   # by `is_trackable`, not as bases

NEWER_NAME = "takes the newer name of its first parameters alone, too"
ONE_CLASS = "one class here, of which TensorFlow derives a second"
KIN = "derives from the class whose steps it takes"
MORE = "takes a parameter more, last"
NEVER_MADE = "raises RuntimeError where graphs are built, so no object has members"
AS_CLASS = "a class, which TensorFlow hides behind a function that warns"
OTHER = {
    "Session.__init__": "jit=", "InteractiveSession.__init__": "jit=",
    "Operation.__init__": "programs make operations by Graph.create_op", "Tensor.__init__": "the shape, known beforehand",
    "DType.__init__": "the dtypes are fixed", "data.Dataset.__init__": "programs make datasets by its static methods",
    "batch_to_space": NEWER_NAME, "nn.avg_pool": NEWER_NAME, "nn.avg_pool2d": NEWER_NAME, "nn.max_pool": NEWER_NAME,
    "nn.conv3d_transpose": NEWER_NAME, "nn.convolution": NEWER_NAME,
    "contrib.lookup.index_table_from_tensor": NEWER_NAME, "contrib.lookup.index_to_string_table_from_tensor": NEWER_NAME,
    "contrib.lookup.MutableHashTable.__init__": "shared_name=", "lookup.experimental.DenseHashTable.__init__": "shared_name=",
    "lookup.StaticVocabularyTable()": "is the contrib class without its hash functions",
    "test.Benchmark.__init__": "takes no parameters",
    "test.TestCase.assertProtoEqualsVersion": "the producer is looked up", "train.NewCheckpointReader": "a class",
    "init_scope": "a class", "flags.UnrecognizedFlagError.__init__": "as in the absl that is installed",
    "distribute.Strategy.__init__": "`extended` may be left out",
    **dict.fromkeys(("contrib.data.CheckpointInputPipelineHook()", "contrib.data.CsvDataset()", "contrib.data.LMDBDataset()",
                     "contrib.data.RandomDataset()", "contrib.data.Reducer()", "contrib.data.SqlDataset()",
                     "contrib.data.TFRecordWriter()"), ONE_CLASS),
    **{f"contrib.optimizer_v2.{name}Optimizer()": KIN for name in (
        "Adadelta", "Adagrad", "Adam", "GradientDescent", "Momentum", "RMSProp")},
    **dict.fromkeys((
        "contrib.opt.GGTOptimizer()",
        "contrib.opt.AdamGSOptimizer()", "contrib.opt.LazyAdamGSOptimizer()", "contrib.grid_rnn.Grid3LSTMCell()",
        "contrib.distribute.MirroredStrategy()", "distribute.HierarchicalCopyAllReduce()", "distribute.NcclAllReduce()",
        "gfile.FastGFile()", "contrib.cudnn_rnn.CudnnParamsFormatConverterRelu()",
        "contrib.cudnn_rnn.CudnnParamsFormatConverterTanh()", "contrib.cudnn_rnn.CudnnRNNReluSaveable()",
        "contrib.cudnn_rnn.CudnnRNNTanhSaveable()"), KIN),
    **dict.fromkeys((
        "contrib.data.bucket_by_sequence_length", "contrib.data.make_csv_dataset", "contrib.learn.datasets.base.maybe_download",
        "estimator.LogisticRegressionHead.predictions", "estimator.PoissonRegressionHead.predictions",
        "estimator.RegressionHead.predictions", "contrib.learn.DNNRegressor.evaluate",
        "contrib.learn.DNNLinearCombinedRegressor.evaluate"), MORE),
    "contrib.learn.preprocessing.ByteProcessor": AS_CLASS, "contrib.slim.ProblemType": AS_CLASS,
    **dict.fromkeys(("contrib.layers.recompute_grad", "contrib.slim.recompute_grad"), "a decorator with arguments, too"),
    **{f"contrib.eager.{name}": NEVER_MADE for name in (
        "Iterator.__iter__", "Iterator.element_spec", "Iterator.get_next", "Iterator.next", "Iterator.output_classes",
        "Iterator.output_shapes", "Iterator.output_types", "Saver.restore", "Saver.save")},
    "contrib.eager.Variable.__init__": "the parameters of tf.Variable, in its order",
    "contrib.eager.Variable.__int__": "only values are numbers", "contrib.eager.Variable.__nonzero__": "Python 2's",
    "contrib.estimator.SavedModelEstimator.export_savedmodel": "export_saved_model raises, too",
    "contrib.tensor_forest.tensor_forest.RandomForestGraphs.average_impurity": "raises AttributeError in TensorFlow",
}


@pytest.fixture(scope="module")
def ours():
    with pytest.MonkeyPatch.context() as patch:         # who looks at tf.flags.FLAGS has the command line parsed
        patch.setattr("sys.argv", ["prog"])
        found = signatures.collect(sorted(names.table()), names.resolve)
    first = {id(names.resolve(name[:-2])): name[:-2] for name in found if name.endswith("()")}
    for name in [name[:-2] for name in EXPECTED if name.endswith("()") and name not in found]:
        cls = names.resolve(name)
        if id(cls) in first:            # one class here, of which TensorFlow has two
            found.update({name + line.removeprefix(first[id(cls)]): text for line, text in list(found.items())
                          if line.startswith((first[id(cls)] + ".", first[id(cls)] + "()"))})
    for name in [name[:-2] for name in found if name.endswith("()")]:
        for attribute in stored(names.resolve(name)):
            found.setdefault(f"{name}.{attribute}", "attribute")
    return found


def stored(cls):
    """The attributes that the methods of a class give to objects."""
    functions = [f for base in cls.__mro__ for f in vars(base).values() if inspect.isfunction(f)]
    return {one.argval for function in functions for one in dis.get_instructions(function) if one.opname == "STORE_ATTR"}


def answers(name):
    """Whether the class of an attribute finds attributes itself, as options and configurations do: their own tests ask for them."""
    return hasattr(names.resolve(name.rpartition(".")[0]), "__getattr__")


def parts(text):
    """The parameters of a line, a default of dots standing for any."""
    return text[1:-1].split(", ") if text[1:-1] else []


def alike(theirs, ours):
    """Whether a parameter is TensorFlow's: a default of dots stands for any, a name of none for a place."""
    return theirs == ours or theirs.endswith("=...") and ours.startswith(theirs[:-3]) or (
        theirs in ("_", "instance", "inputs_shape", "unused_self"))


def agree(theirs, ours):
    """Whether ours are theirs; what theirs take as **kwargs may be named, and of bases only those count that classes tell."""
    for numbers in ("[1, 1]", "[1, 1, 1]"):             # strides: one for each axis, or one for all
        theirs = theirs.replace(numbers, "1")
    theirs, ours = ([one for one in parts(text) if one not in TOLD_OTHERWISE] for text in (theirs, ours))
    if theirs[-2:-1] and theirs[-1].startswith("**") and theirs[-2].startswith("*"):
        return len(ours) >= len(theirs) - 2 and all(map(alike, theirs[:-2], ours))
    if theirs[-1:] == ["**kwargs"]:                     # a method to override: others may take more by position
        ours = [one for one in ours if one != "*args"]
    return len(theirs) == len(ours) and all(map(alike, theirs, ours))


def test_parameters_and_bases_are_those_of_tensorflow(ours):
    differ = {name: (text, ours.get(name)) for name, text in EXPECTED.items()
              if not (name in ours and (ours[name] == text or agree(text, ours[name])))
              and not (text == "attribute" and name not in ours and answers(name))}
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
