"""Loops of the host that are compiled give what their plain forms give."""

import random

import numpy as np
import pytest

import jitgraph as tf
from jitgraph.declare import host_code, host_texts
from jitgraph.formats import record_loops, records
from jitgraph.graph import dtypes
from jitgraph.graph.registry import REGISTRY
from jitgraph.ops.arrays import counts  # noqa: F401  (which declares ops)
from jitgraph.ops.arrays.gather import gather_nd as gather_nd_op
from jitgraph.ops.arrays.searching import _unique as unique
from jitgraph.ops.files import example_loops
from jitgraph.ops.files.example import parse_batch
from jitgraph.ops.nn import patches  # noqa: F401  (which declares ops)
from jitgraph.ops.random import philox, random_rejection  # noqa: F401  (which declares ops)
from jitgraph.ops.random.draws import _found_classes
from jitgraph.ops.reduce import sparse_segment  # noqa: F401  (which declares ops)
from jitgraph.ops.sparse.edit_distance import _edit_distance as edit_distance
from jitgraph.ops.sparse.sparse_cross import crossed
from jitgraph.ops.sparse.structure_ops import _sparse_fill_empty_rows as fill_empty_rows
from jitgraph.ops.sparse.structure_ops import _sparse_reshape as sparse_reshape
from jitgraph.ops.sparse.structure_ops import _sparse_to_dense as sparse_to_dense
from jitgraph.ops.strings import string_hash
from jitgraph.ops.strings.decode import _decode_csv
from jitgraph.ops.strings.string_split import _string_split, _string_split_v2
from jitgraph.ops.strings.strings import _string_to_number, parsed_number
from jitgraph.runtime import host_loops  # noqa: F401  (which compiles)

split, split_v2, number, csv = (o.opdef.value for o in (_string_split, _string_split_v2, _string_to_number, _decode_csv))


def objects(texts):
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


def alike(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b))
    if a.dtype == object:
        return a.shape == b.shape and a.tolist() == b.tolist()
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.fixture
def both(monkeypatch):
    """Calls a function as it is without compiled loops and with them: both results, or both errors."""

    def call(function, *args):
        def tried():
            try:
                with np.errstate(all="ignore"):
                    return function(*args)
            except tf.errors.OpError as error:
                return objects([type(error).__name__, str(error)])

        with monkeypatch.context() as without:
            without.setattr(host_code.HostCode, "__call__", lambda *args, **kwargs: None)
            plain = tried()
        tried()                 # the second call is compiled
        compiled = tried()
        assert alike(plain, compiled), (args, plain, compiled)
        return compiled

    return call


def written(draw):
    """A text that may be a number."""
    text = str(draw.randrange(10 ** draw.randrange(1, 20)))
    text += draw.choice(["", "", f".{draw.randrange(10 ** 6)}", "."]) + draw.choice(["", "", f"e{draw.randrange(-30, 30)}", "e"])
    return (draw.choice(["", "", "-", "+", " "]) + text + draw.choice(["", "", "\n", "x"])).encode()


EDGES = [b"", b" ", b".", b"-", b".5", b"5.", b"inf", b"-nan", b"0x10", b"0x", b"1e", b"-0", b"-0.0", b"1_0", b"--1", b"\xff",
         b"2147483648", b"-2147483649", b"9223372036854775808", b"1e0000022", b"1.00000005960464477539062501", b"5\0"]


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64], ids=lambda dtype: dtype.name)
def test_numbers_in_texts(dtype, both):
    draw = random.Random(0)
    texts = EDGES + [written(draw) for _ in range(2000)]
    for text in texts[:60]:
        both(lambda text=text: number(objects([text]), dtype))
    good = objects([text for text in texts if parsed_number(text, dtype) is not None])
    assert both(number, good, dtype).dtype == dtype.as_numpy_dtype
    both(number, good[:6].reshape(2, 3).T, dtype)
    both(number, np.array(b"12", object), dtype)
    both(number, objects([]), dtype)


def test_what_float32_rounds_is_rounded_once():
    """Halfway between two numbers, float64 has lost what decides.  As TensorFlow 1.15."""
    texts = objects([b"1.00000005960464477539062501", b"1.00000017881393432617187499", b"16777217.000000001"])
    for _ in range(3):
        assert number(texts, dtypes.float32).view(np.int32).tolist() == [0x3F800001, 0x3F800001, 0x4B800001]


def test_hexadecimal_numbers_and_blanks():
    """As TensorFlow 1.15: whole hexadecimal numbers, and 0 for nothing but spaces."""
    assert [parsed_number(text, dtypes.float32) for text in (b"0x10", b"-0xA ", b" ", b"\t\n", b"", b"0x", b"0x1p3", b"0x1.8")] == [
        16, -10, 0, 0, None, None, None, None]


def test_hashes(both):
    draw = random.Random(0)
    texts = objects([bytes(draw.randrange(256) for _ in range(n)) for n in range(300)])
    both(string_hash.fingerprints, texts)
    both(string_hash.fingerprints, texts.reshape(20, 15).T)
    both(string_hash.fingerprints, objects([]))
    both(string_hash._string_to_hash_bucket.opdef.value, texts, 1000)
    assert string_hash.fingerprints(texts).tolist() == [string_hash.fingerprint64(text) for text in texts]


def test_splitting(both):
    texts = objects([b"a b  c", b"", b" ", b"d", b"\xff\0 e\n", b"  f", b"g  "])
    for delimiter in (b" ", b" \n", b"", b"\0"):
        for skips in (True, False):
            both(split, texts, np.array(delimiter, object), skips)
            both(split, objects([]), np.array(delimiter, object), skips)
    for separator in (b"", b" ", b"  "):
        for limit in (-1, 1):
            both(split_v2, texts, np.array(separator, object), limit)


@pytest.mark.parametrize("records", [
    [b"1,2.5,x", b"-3,,y", b"4,1e3,"], [b"1,2,x", b"1,2"], [b"1,2,x,y"], [b""], [], [b"1,2,\"a,b\"", b"3,4,c"], [b"1,2,a\n"],
    [b",2,a"], [b"1,2,x", b"z,2,x"], [b"1,0x10,x"], [b"1, 2 ,\xff"]])
def test_records(records, both):
    defaults = [np.zeros(0, np.int32), np.array([0.5], np.float32), np.array(b"none", object)]
    types = [dtypes.int32, dtypes.float32, dtypes.string]
    both(csv, objects(records), defaults, ",", True, "", [], types)
    both(csv, objects(records), defaults, ",", False, "", [], types)
    both(csv, objects(records), defaults[1:], ",", True, "", [1, 2], types[1:])
    both(csv, objects(records), defaults, ",", True, "x", [], types)


def test_texts_of_another_class_are_left_to_python():
    """The layout is that of bytes, not of what is derived from it."""
    words = objects([np.bytes_(b"one"), b"two"])
    for _ in range(3):
        assert host_texts.places(words) is None
    assert string_hash.fingerprints(words).tolist() == [string_hash.fingerprint64(word) for word in (b"one", b"two")]


# -- Examples on the wire ------------------------------------------------------------------------------------------


def example(**lists):
    """A serialized Example; floats, ints and bytes make lists of their kind, () an empty feature."""
    kinds = {float: ("float_list", tf.train.FloatList), int: ("int64_list", tf.train.Int64List),
             bytes: ("bytes_list", tf.train.BytesList)}

    def feature(values):
        if not values:
            return tf.train.Feature()
        field, made = kinds[type(values[0])]
        return tf.train.Feature(**{field: made(value=values)})

    return tf.train.Example(features=tf.train.Features(feature={key: feature(of) for key, of in lists.items()})).SerializeToString()


def parse(serialized, sparse=(), dense=()):
    """`sparse`: (key, dtype); `dense`: (key, dtype, shape, default)."""
    parts = parse_batch(objects(serialized), np.zeros(0, object), [key for key, _ in sparse], [of[0] for of in dense],
                        [np.asarray(of[3], of[1].as_numpy_dtype) for of in dense],
                        {"sparse_types": [dtype for _, dtype in sparse], "Tdense": [of[1] for of in dense],
                         "dense_shapes": [of[2] for of in dense]})
    return [one for part in parts for one in part]


F, I, S = dtypes.float32, dtypes.int64, dtypes.string
ALL = [("f", F), ("i", I), ("s", S)]
WHOLE = example(f=[1.5, -2.0], i=[3, -4, 2 ** 62], s=[b"x", b""])


@pytest.mark.parametrize("batch", [
    [WHOLE], [WHOLE, b"", example(i=[1])], [example(f=(), i=[1])], [], [example(other=[1.0], f=[1.0]), example(f=[2.0, 3.0])],
    [example(f=[1])], [example(f=[b"x"])], [b"\xff"], [WHOLE[:-1]], [example(é=[1.0], f=[2.0])],
    [b"\x0a\x00"], [example(f=[1.0]) + example(f=[2.0], i=[7])],
    [b"\x0a\x12\x0a\x10\x0a\x01f\x12\x0b\x12\x09\x0d\x00\x00\x80\x3f\x0a\x00\x0a\x00"],     # a float by itself, then none
    [b"\x0a\x0e\x0a\x0c\x0a\x01i\x12\x07\x1a\x05\x08\x05\x0a\x01\x06"],                      # a number by itself, then packed
    [b"\x0a\x0c\x0a\x0a\x12\x05\x1a\x03\x0a\x01\x05\x0a\x01i"],                              # the value before its key
    [b"\x12\x00" + WHOLE]])
def test_examples(batch, both):
    both(parse, batch, ALL)
    for dtype, key, default in ((F, "f", 0.5), (I, "i", 7), (S, "s", b"none")):
        both(parse, batch, (), [(key, dtype, (), default)])
        both(parse, batch, (), [(key, dtype, (2,), [default, default])])
        both(parse, batch, (), [(key, dtype, (), np.zeros(0))])
        both(parse, batch, (), [(key, dtype, (None,), default)])
        both(parse, batch, (), [(key, dtype, (None, 2), default)])


def test_damaged_examples(both):
    """Whatever the bytes are, loops and protocol buffers agree."""
    draw = random.Random(0)
    for _ in range(400):
        damaged = bytearray(WHOLE)
        for _ in range(draw.randrange(1, 4)):
            place = draw.randrange(len(damaged))
            damaged[place:place + draw.randrange(2)] = bytes(draw.randrange(256) for _ in range(draw.randrange(2)))
        both(parse, [bytes(damaged)], ALL)


def test_plain_examples_are_read_on_the_wire():
    serialized = objects([WHOLE, example(i=[1])])
    assert [example_loops.lists_of(serialized, ["i"], [I]) is not None for _ in range(4)][-1]
    assert example_loops.lists_of(serialized, ["\u00e9"], [I]) is None


def test_features_that_nobody_asked_for_are_not_looked_at():
    """TensorFlow 1.15 gives 300 and 5 for the feature i, though the list of the other one is cut off."""
    damaged = b"\n\x0e\n\x0c\n\x01i\x12\x07\x1a\x05\n\x03\xac\x02\x05\n\x0c\n\n\n\x01\x0b\x12\x05\n\x03&\x01q"
    assert parse([damaged], [("i", I)])[1].tolist() == [300, 5]


# -- records of files ----------------------------------------------------------------------------------------------


def test_records_of_blocks(tmp_path, both):
    """Blocks end anywhere; what is damaged or cut off is met at its place, after the records before it."""
    texts = [bytes([k % 251]) * size for k, size in enumerate([0, 1, 7, 8, 9, 5000, 200_000, 3, *[100] * 3000, 40])]
    whole = b"".join(records.frame(text) for text in texts)
    place = whole.index(b"\x06" * 100)

    def read(content):
        (tmp_path / "file").write_bytes(content)
        found = []
        try:
            found.extend(records.tf_record_iterator(str(tmp_path / "file")))
        except tf.errors.DataLossError as error:
            found.append(error.message)
        return objects(found)

    assert both(read, whole).tolist() == texts
    both(read, b"")
    assert both(read, whole + b"x").tolist() == texts                   # a file may end within a header
    assert both(read, whole[:-50]).tolist() == texts[:-1]
    for damaged in (whole[:-1], whole[:-40], whole[:place] + b"\x07" + whole[place + 1:], b"\xff" * 100,
                    whole[:12] + b"\xff" + whole[13:]):
        assert isinstance(both(read, damaged)[-1], str)


def test_whole_records_of_a_block():
    block = b"".join(records.frame(bytes([k]) * k) for k in range(50))
    assert [record_loops.whole_records(block + b"more") for _ in range(3)][-1] == [bytes([k]) * k for k in range(50)]


# -- indices -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_distinct_integers(dtype, both):
    draw = np.random.RandomState(0)
    for values in ([], [5], [3, 3, -3, 0, 3], draw.randint(-9, 9, 200), draw.randint(-2 ** 31, 2 ** 31 - 1, 5000),
                   np.arange(6000)[::2] * 2 ** 16, draw.randint(0, 3, (400, 2))[:, 1]):
        both(unique.opdef.value, np.array(values, np.int64).astype(dtype), dtypes.int32)
    both(unique.opdef.value, np.array(draw.randint(0, 50, 300)[::3], dtype)[::2], dtypes.int64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distinct_floats(dtype, both):
    """As in TensorFlow, zeros are alike and no NaN is another."""
    draw = np.random.RandomState(0)
    for values in ([], [5], [1, np.nan, -0.0, 2, np.nan, 0.0, 1], draw.randint(-9, 9, 200) / 4, draw.randn(5000)):
        both(unique.opdef.value, np.array(values, dtype), dtypes.int32)
    given = np.array([1, np.nan, -0.0, np.nan, 0.0, 1], dtype)
    assert both(unique.opdef.value, given, dtypes.int32)[1].tolist() == [0, 1, 2, 3, 2, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_histograms(dtype, both):
    draw, histogram = np.random.RandomState(0), REGISTRY["HistogramFixedWidth"].value
    for values in ([], [-1, 0, 2, 5, 9], draw.randn(500) * 9, draw.randint(-5, 30, 300)):
        both(histogram, np.array(values).astype(dtype), np.array([0, 20], dtype), 7, dtypes.int64)


def test_indices_in_another_shape(both):
    reshape = sparse_reshape.opdef.value
    indices = np.array([[0, 0], [1, 2], [3, 1]], np.int64)
    for shape in ([4, 3], [-1, 2], [12], [2, 2, 3], [1, 1, 12]):
        both(reshape, indices, np.array([4, 3]), np.array(shape))
        both(reshape, indices[:0], np.array([4, 3]), np.array(shape))
        both(reshape, np.asfortranarray(indices), np.array([4, 3]), np.array(shape))
    both(reshape, indices[:0], np.array([0, 3]), np.array([3, 0]))
    both(reshape, indices, np.array([4, 3]), np.array([-2, -6]))


def test_nobody_looks_whether_reshaped_indices_are_inside(both):
    """As TensorFlow 1.15 has it: what is outside comes to lie outside."""
    reshape, outside = sparse_reshape.opdef.value, np.array([[5, 7], [0, -1]])
    assert np.array_equal(both(reshape, outside, np.array([2, 2]), np.array([2, -1]))[0], outside)
    assert np.array_equal(both(reshape, outside, np.array([2, 2]), np.array([4, 1]))[0], [[17, 0], [-1, 0]])


def test_rows_filled(both):
    fill = fill_empty_rows.opdef.value
    indices = np.array([[4, 1], [1, 0], [4, 0], [1, 3]], np.int64)
    for values, default in ((np.arange(4.0), np.array(-1.0)), (objects([b"a", b"b", b"c", b"d"]), np.array(b"none", object))):
        for rows in (5, 6, 4, 0):
            both(lambda rows=rows, v=values, d=default: [*fill(indices, v, np.array([rows, 5]), d)])
        both(lambda v=values, d=default: [*fill(indices[:0], v[:0], np.array([3, 5]), d)])
        both(lambda v=values, d=default: [*fill(indices[:0], v[:0], np.array([0, 5]), d)])


def test_distances_of_sorted_sequences(both):
    distance = edit_distance.opdef.value
    draw = np.random.RandomState(0)

    def sequences(rows):
        lengths = draw.randint(0, 6, rows)
        places = [(row // 3, row % 3, k) for row, length in enumerate(lengths) for k in range(length)]
        return np.array(places, np.int64).reshape(-1, 3), draw.randint(0, 4, len(places)), np.array([rows // 3, 3, 6], np.int64)

    for rows in (3, 12, 30):
        guess, truth = sequences(rows), sequences(rows)
        for normalize in (True, False):
            both(distance, *guess, *truth, normalize)
            both(distance, *guess, truth[0], truth[1].astype(np.float32), truth[2], normalize)
            both(distance, guess[0][::-1], guess[1][::-1], guess[2], *truth, normalize)
            both(distance, guess[0][:0], guess[1][:0], guess[2], *truth, normalize)
        more = np.array([rows // 3 + 2, 3, 6])
        both(distance, *guess, *truth[:2], more, True)


def test_classes_that_numbers_fall_into(both):
    draw = np.random.RandomState(0)
    running = np.cumsum(draw.rand(20, 7) * (draw.rand(20, 7) > 0.5), 1)
    running[3] = 0
    both(_found_classes, running, draw.rand(20, 5))
    both(_found_classes, running[:0], draw.rand(0, 5))
    both(_found_classes, running, np.concatenate([np.zeros((20, 1)), draw.rand(20, 1)], 1))


def test_drawn_classes_are_the_same_however_they_are_drawn():
    """Infinite and missing logits have no probability; kernels and the plain form draw alike."""
    logits = np.random.RandomState(0).randn(50, 9).astype(np.float32) * 3
    logits[0, 3], logits[1, 4], logits[2, 2], logits[3] = -np.inf, np.inf, np.nan, -np.inf
    found = []
    for jit in ("off", "always"):
        with tf.Graph().as_default(), tf.Session(jit=jit) as session:
            x = tf.placeholder(tf.float32, [None, 9])
            drawn = tf.multinomial(x, 6, seed=3)
            found.append([session.run(drawn, {x: logits}) for _ in range(2)])
    assert np.array_equal(found[0], found[1])
    assert not (found[1][0][0] == 3).any()


@pytest.mark.parametrize("places", [([0, 2], [1]), ([0, 2], [3]), ([[2], [0]], [1, 1]), ([], [0]), ([0, 0], [0])])
def test_rows_stitched(places):
    """Known places that cover all rows are picked by a kernel; of others the missing rows are zeros."""
    data = [np.arange(4.0 * np.size(of)).reshape((*np.shape(of), 4)) + 100 * k for k, of in enumerate(places)]
    wanted = np.zeros((max(np.max(of, initial=-1) for of in places) + 1, 4))
    for of, part in zip(places, data):
        for row, values in zip(np.ravel(np.array(of, int)), part.reshape(-1, 4)):
            wanted[row] = values
    for jit in ("off", "always"):
        with tf.Graph().as_default(), tf.Session(jit=jit) as session:
            fed = [tf.placeholder(tf.float64, part.shape) for part in data]
            stitched = tf.dynamic_stitch([np.array(of, np.int32) for of in places], fed)
            assert np.array_equal(session.run(stitched, dict(zip(fed, data))), wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["Sum", "Mean", "SqrtN"])
def test_sums_of_gathered_rows(both, kind, dtype):
    """In the order of the items, however many a group has."""
    draw = np.random.RandomState(0)
    sums = REGISTRY[f"SparseSegment{kind}"].value
    for cols, groups in (((), [1, 9, 17]), ((3,), [0, 8, 10, 16, 25, 129, 1]), ((2, 2), [130, 2]), ((1,), [300])):
        data = np.exp(draw.randn(50, *cols) * 4).astype(dtype)
        ids = np.repeat(np.arange(len(groups)), groups)
        places = draw.randint(0, 50, len(ids)).astype(np.int32)
        both(sums, data, places, ids.astype(np.int32))
        both(sums, data, places.astype(np.int64), ids)
        both(sums, data, places, ids[::-1])
        both(sums, data, places, ids - 1)
        both(sums, data, places + 30, ids)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint16, np.int64])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_dilations(both, dtype, padding):
    draw = np.random.RandomState(0)
    ops = [REGISTRY["Dilation2D" + name].value for name in ("", "BackpropInput", "BackpropFilter")]
    for size, taps, strides, rates in (((9, 8), (3, 3), 1, 1), ((13, 7), (2, 3), 2, 2), ((3, 3), (5, 1), 3, 1)):
        x, w = (draw.randint(-90, 90, (2, *size, 5)) / 7).astype(dtype), (draw.randint(-9, 9, (*taps, 5)) / 3).astype(dtype)
        if x.dtype.kind == "f":
            x[draw.rand(*x.shape) < .5], x[0, :4, :4, :2] = np.nan, -np.inf
        more = [1, strides, strides, 1], [1, rates, rates, 1], padding
        if padding == "VALID" and taps[0] > size[0]:
            continue
        found = both(ops[0], x, w, *more)
        grad = (draw.randn(*found.shape) * 9).astype(dtype)
        both(ops[1], x, w, grad, *more)
        both(ops[2], x, w, grad, *more)
        both(ops[0], x[:0], w, *more)


@pytest.mark.parametrize("count", [0, 1, 2, 4097])
def test_normal_numbers_of_float64(both, count):
    bits = philox.Bits(0x123456789ABCDEF, 7 << 40 | 5, 11)
    for drawn in (philox.normal, philox.truncated_normal):
        assert both(drawn, bits, count, np.float64).shape == (count,)


def test_gamma_distributed_numbers(both):
    gamma, shapes = REGISTRY["RandomGamma"].value, np.array([1e-3, .2, .9999, 1, 1.5, 1 / 3, 30, 1e4, 0, -.5, -3, np.nan, np.inf])
    for dtype in (np.float32, np.float64):
        both(lambda *given: gamma(*given, 3, 5, stream=philox.Stream()), np.array([500]), shapes.astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int8, np.uint16, np.int64])
@pytest.mark.parametrize("name", ["Sum", "Mean", "Prod", "Max", "Min"])
def test_sorted_groups(both, name, dtype):
    draw = np.random.RandomState(0)
    combined = REGISTRY[f"Segment{name}"].value
    if name in ("Max", "Min") and dtype == np.complex64:
        return
    for cols, groups in (((), [1, 9, 17]), ((3,), [0, 8, 10, 0, 0, 129, 1]), ((2, 20), [3, 2])):
        ids = np.repeat(np.arange(len(groups)), groups)
        data = (draw.randn(len(ids), *cols) * 40).astype(dtype)
        if data.dtype.kind in "fc":
            data[draw.rand(*data.shape) < .3] = np.nan
            data[draw.rand(*data.shape) < .1] = -0.0
        found = both(combined, data, ids.astype(np.int32))
        assert found.shape == (len(groups), *cols)
        both(combined, data, ids + 2)
        both(combined, data, ids[::-1])
        both(combined, data, ids - 1)
        both(combined, data[:0], ids[:0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["Mean", "SqrtN"])
def test_gradients_of_gathered_rows(both, kind, dtype):
    draw = np.random.RandomState(0)
    spread = REGISTRY[f"SparseSegment{kind}Grad"].value
    for cols, rows in (((), 3), ((3,), 1), ((2, 2), 12), ((1,), 200)):
        grad = np.exp(draw.randn(7, *cols) * 4).astype(dtype)
        for count in (0, 5, 100):
            ids, places = np.sort(draw.randint(0, 7, count)), draw.randint(0, rows, count).astype(np.int32)
            both(spread, grad, places, ids, np.int32(rows))
            both(spread, grad, places + 1, ids, np.int32(rows))


def test_elements_at_several_indices(both):
    values, gather_nd = np.arange(12.0).reshape(3, 4), gather_nd_op.opdef.value
    dense = sparse_to_dense.opdef.value
    rows = np.array([[0, 1], [1, 0], [2, 3]])
    for indices in (rows, rows.astype(np.int32), rows[::-1], rows[[0, 0, 1]], rows + 1, rows - 1, rows[:0], rows[:, :1]):
        both(gather_nd, values, indices)
        both(gather_nd, values.astype(object), indices)
        for validate in (True, False):
            for default in (np.array(0.0), np.array(7.0)):
                both(dense, indices, np.array([3, 4]), np.arange(float(len(indices))), default, validate)
            both(dense, indices, np.array([3, 4]), np.array(5.0), np.array(-0.0), validate)


def test_crossed_features(both):
    """One in each row, as dense columns have them, and as many as there happen to be."""
    words, numbers = objects([b"a", b"bc", b"", b"a"]), np.array([[5], [-1], [2], [2 ** 62]])
    for rows in ([0, 1, 2, 3], [2, 0, 3, 1], [0, 0, 2, 3], [3, 3, 3, 3]):
        places = np.array([[row, k] for k, row in enumerate(rows)])
        for hashed, dtype in ((True, dtypes.int64), (False, dtypes.string)):
            for buckets in (0, 1000):
                both(crossed, [places], [words], [np.array([4, 4])], [numbers], hashed, buckets, 956888297470, dtype)
        both(crossed, [places, places], [words, words], [np.array([4, 4])] * 2, [], True, 9, None, dtypes.int64)
    found, hashes, shape = both(crossed, [], [], [], [numbers, words.reshape(4, 1)], True, 1000, 956888297470, dtypes.int64)
    assert found.tolist() == [[0, 0], [1, 0], [2, 0], [3, 0]] and shape.tolist() == [4, 1]
    assert hashes.tolist() == [62, 707, 909, 784]        # as TensorFlow 1.15 gives them
