"""parse_example and its kin: dense, sparse, padded features; sequences; what is refused and when."""

import pytest


@pytest.fixture(params=["always", "off"], autouse=True)
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)


def features(tf, values):
    found = tf.train.Features()
    for key, value in values.items():
        feature = found.feature[key]
        if value and isinstance(value[0], bytes):
            feature.bytes_list.value.extend(value)
        elif value and isinstance(value[0], float):
            feature.float_list.value.extend(value)
        elif value:
            feature.int64_list.value.extend(value)
    return found


def example(tf, **values):
    return tf.train.Example(features=features(tf, values)).SerializeToString()


def sequence(tf, context, **lists):
    found = tf.train.SequenceExample(context=features(tf, context))
    for key, steps in lists.items():
        found.feature_lists.feature_list[key].SetInParent()
        for step in steps:
            found.feature_lists.feature_list[key].feature.add().CopyFrom(features(tf, {"x": step}).feature["x"])
    return found.SerializeToString()


@pytest.fixture
def batch(tf):
    return [example(tf, i=[1, 2], f=[0.5], s=[b"a", b"b"], v=[7]), example(tf, i=[3, 4], s=[b"c"], v=[8, 9, 10])]


def test_all_kinds_of_features(tf, run, batch):
    parsed = tf.parse_example(batch, {
        "i": tf.FixedLenFeature([2], tf.int64), "f": tf.FixedLenFeature([], tf.float32, -1.0), "s": tf.VarLenFeature(tf.string),
        "v": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)})
    assert parsed["i"].shape.as_list() == [2, 2] and parsed["v"].shape.as_list() == [2, None]
    got = run(parsed)
    assert got["i"].tolist() == [[1, 2], [3, 4]] and got["f"].tolist() == [0.5, -1]
    assert got["v"].tolist() == [[7, -1, -1], [8, 9, 10]]
    assert got["s"].indices.tolist() == [[0, 0], [0, 1], [1, 0]] and got["s"].dense_shape.tolist() == [2, 2]


def test_one_example(tf, run, batch):
    parsed = tf.parse_single_example(batch[0], {
        "i": tf.FixedLenFeature([2], tf.int64), "s": tf.VarLenFeature(tf.string), "d": tf.FixedLenFeature([], tf.int64, 5),
        "v": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)})
    assert parsed["i"].op.type == "ParseSingleExample"
    got = run(parsed)
    assert got["i"].tolist() == [1, 2] and got["d"] == 5 and got["v"].tolist() == [7]
    assert got["s"].values.tolist() == [b"a", b"b"] and got["s"].dense_shape.tolist() == [2]


def test_sparse_features_join_indices_and_values(tf, run):
    batch = [example(tf, ix=[0, 3], val=[0.5, 0.25]), example(tf, ix=[9], val=[1.0])]
    got = run(tf.parse_example(batch, {"sp": tf.SparseFeature("ix", "val", tf.float32, 10)})["sp"])
    assert got.indices.tolist() == [[0, 0], [0, 3], [1, 9]] and got.dense_shape.tolist() == [2, 10]
    assert got.values.tolist() == [0.5, 0.25, 1.0]


def test_strides_defaults_and_empty_batches(tf, run):
    pairs = tf.parse_example([example(tf, v=[1, 2, 3, 4]), example(tf, v=[5, 6])],
                             {"v": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)})
    assert run(pairs["v"]).tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]
    missing = tf.parse_example([example(tf, z=[1]), example(tf, i=[])], {"i": tf.FixedLenFeature([2], tf.int64, [7, 8])})
    assert run(missing["i"]).tolist() == [[7, 8], [7, 8]]
    empty = run(tf.parse_example(tf.constant([], tf.string), {"i": tf.FixedLenFeature([2], tf.int64)})["i"])
    assert empty.shape == (0, 2)


@pytest.mark.parametrize("key, feature, message", [
    ("f", lambda tf: tf.FixedLenFeature([], tf.float32), r"Feature: f \(data type: float\) is required but could not be found"),
    ("i", lambda tf: tf.FixedLenFeature([2], tf.float32), "Data type: int64 but expected type: float"),
    ("i", lambda tf: tf.FixedLenFeature([3], tf.int64), r"Values size: 2 but output shape: \[3\]"),
    ("i", lambda tf: tf.VarLenFeature(tf.float32), "Data types don't match"),
    ("v", lambda tf: tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True), "not a multiple of stride length")])
def test_examples_that_do_not_suit(tf, run, batch, key, feature, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.parse_example(batch, {key: feature(tf)}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="first.*"):
        run(tf.parse_example(batch, {key: feature(tf)}, example_names=["first", "first"]))


def test_descriptions_that_do_not_suit(tf, batch):
    for wanted, message in [({}, "Missing"), ({"i": 5}, "Invalid feature i:5"),
                            ({"i": tf.FixedLenFeature([None], tf.int64)}, "First dimension of shape for feature i unknown"),
                            ({"v": tf.FixedLenSequenceFeature([], tf.int64)}, "allow_missing")]:
        with pytest.raises(ValueError, match=message):
            tf.parse_example(batch, wanted)
    with pytest.raises(ValueError, match="rank 1 but is rank 0"):
        tf.parse_example(batch[0], {"i": tf.FixedLenFeature([2], tf.int64)})


def test_junk_is_refused(tf, run):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.parse_single_example("junk", {"i": tf.FixedLenFeature([2], tf.int64)}))


def test_one_sequence(tf, run):
    data = sequence(tf, {"c": [5], "n": [b"x"]}, fl=[[1, 2], [3, 4]], var=[[b"a"], [], [b"b", b"c"]])
    context, lists = run(tf.parse_single_sequence_example(
        data, {"c": tf.FixedLenFeature([], tf.int64), "n": tf.VarLenFeature(tf.string), "m": tf.FixedLenFeature([], tf.int64, 9)},
        {"fl": tf.FixedLenSequenceFeature([2], tf.int64), "var": tf.VarLenFeature(tf.string),
         "none": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}))
    assert context["c"] == 5 and context["m"] == 9 and context["n"].values.tolist() == [b"x"]
    assert lists["fl"].tolist() == [[1, 2], [3, 4]] and lists["none"].tolist() == []
    assert lists["var"].indices.tolist() == [[0, 0], [2, 0], [2, 1]] and lists["var"].dense_shape.tolist() == [3, 2]


def test_several_sequences(tf, run):
    data = [sequence(tf, {"c": [5]}, fl=[[1, 2], [3, 4]], var=[[b"a"], [], [b"b", b"c"]]),
            sequence(tf, {"c": [6]}, fl=[[7, 8]], var=[])]
    context, lists, lengths = run(tf.io.parse_sequence_example(
        data, {"c": tf.FixedLenFeature([], tf.int64)},
        {"fl": tf.FixedLenSequenceFeature([2], tf.int64), "var": tf.VarLenFeature(tf.string)}))
    assert context["c"].tolist() == [5, 6] and lengths["fl"].tolist() == [2, 1]
    assert lists["fl"].tolist() == [[[1, 2], [3, 4]], [[7, 8], [0, 0]]] and lists["var"].dense_shape.tolist() == [2, 3, 2]


@pytest.mark.parametrize("lists, message", [
    ({"zz": [2]}, "Feature list 'zz' is required"), ({"fl": [3]}, r"values size: 2 but output shape: \[3\]")])
def test_sequences_that_do_not_suit(tf, run, lists, message):
    data = sequence(tf, {}, fl=[[1, 2]])
    wanted = {key: tf.FixedLenSequenceFeature(shape, tf.int64) for key, shape in lists.items()}
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.parse_single_sequence_example(data, sequence_features=wanted))


def test_examples_as_json(tf, run):
    text = '{"features": {"feature": {"a": {"int64List": {"value": ["1", "2"]}}}}}'
    got = run(tf.parse_single_example(tf.decode_json_example(text), {"a": tf.FixedLenFeature([2], tf.int64)}))
    assert got["a"].tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="parsing JSON"):
        run(tf.decode_json_example("{"))
