"""String ops: texts and errors as TensorFlow 1.15 gives them."""

import gzip
import zlib

import numpy as np
import pytest

from jitgraph.ops.strings import string_hash


def values(run, node):
    return run(node).tolist()


@pytest.mark.parametrize("value, options, text", [
    ([1, -2], {}, [b"1", b"-2"]), ([True, False], {}, [b"true", b"false"]), ([3], {"width": 5}, [b"    3"]),
    ([3], {"width": 5, "fill": "0"}, [b"00003"]), ([1.5, 1e10, np.nan], {}, [b"1.500000", b"10000000000.000000", b"nan"]),
    ([1.5], {"precision": 2}, [b"1.50"]), ([1e10], {"scientific": True}, [b"1.000000e+10"]),
    ([1.5, 1e10], {"shortest": True}, [b"1.5", b"1e+10"]), ([1 + 2j], {"precision": 1}, [b"(1.0,2.0)"]),
    ([1.5], {"width": 8, "precision": 3, "fill": " "}, [b"   1.500"])])
def test_as_string(tf, run, value, options, text):
    assert values(run, tf.as_string(value, **options)) == text


@pytest.mark.parametrize("value, options, message", [
    ([1.5], {"scientific": True, "shortest": True}, "both scientific and shortest"),
    ([3], {"precision": 2}, "precision not supported for datatype int32"), ([3], {"fill": "ab"}, "one or fewer"),
    ([3], {"fill": "x"}, "not supported")])
def test_as_string_refuses(tf, run, value, options, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.as_string(value, **options))


def test_string_to_number(tf, run):
    assert values(run, tf.string_to_number(["3.5", " -1 ", "1e3", "inf", ".5", "0x10"])) == [3.5, -1, 1000, np.inf, 0.5, 16]
    assert run(tf.string_to_number("99999999999", tf.int64)) == 99999999999
    for text, dtype in [("abc", tf.float32), ("", tf.float32), ("1.5", tf.int32), ("99999999999", tf.int32),
                        ("0x1F", tf.int32), ("1_0", tf.int32), ("1 2", tf.int32)]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
            run(tf.string_to_number(text, dtype))


TEXTS = ["", "a", "abc", "abcdefgh", "0123456789abcdefg", "y" * 33, "q" * 65, "é"]


def test_hash_buckets_are_those_of_tensorflow(tf, run):
    n = 2 ** 62 + 1
    assert values(run, tf.string_to_hash_bucket_fast(TEXTS, n)) == [
        1936946117179621453, 3694432073954588129, 2640714258260161385, 4533385575889643782, 2800675501336285768,
        3999049019338133245, 3080958293828885288, 693143013273849025]
    assert values(run, tf.string_to_hash_bucket(TEXTS, n)) == [
        105434511174508089, 2996632905371535868, 1046625677629754805, 3429851175771700306, 1785752214242554971,
        3468653955998158665, 1610706693071186606, 3701471315553960760]
    assert values(run, tf.string_to_hash_bucket_strong(TEXTS, n, key=[1, 2])) == [
        443797209252341625, 546566331822570741, 1250540936487842202, 2649018002260510106, 2289318929677843346,
        202190614605344851, 629938290294580985, 4006969190011310591]
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 elements"):
        run(tf.string_to_hash_bucket_strong(["a"], 5, key=[1]))


def test_many_strings_hash_as_single_ones(rng):
    texts = np.empty(600, object)
    texts[:] = [rng.bytes(int(length)) for length in rng.choice([0, 1, 3, 5, 8, 12, 20, 40, 64, 70, 130, 200], 600)]
    assert string_hash.fingerprints(texts).tolist() == [string_hash.fingerprint64(text) for text in texts]


def test_substr(tf, run):
    assert values(run, tf.substr(["hello", "world"], 1, 3)) == [b"ell", b"orl"]
    assert values(run, tf.substr(["ten", "eleven"], [1, 2], [1, 2])) == [b"e", b"ev"]
    assert run(tf.substr("hello", -3, 2)) == b"ll" and run(tf.substr("hello", 5, 1)) == b""
    assert run(tf.substr("héllo", 1, 2, unit="UTF8_CHAR")) == "él".encode() and run(tf.substr("hello", 1, -1)) == b"ello"
    assert values(run, tf.substr("hello", [0, 1], [1, 2])) == [b"h", b"el"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="pos 6 out of range for string b'hello' at index 0"):
        run(tf.substr("hello", 6, 1))
    with pytest.raises(ValueError, match="rank"):
        tf.substr("hello", [0, 1], 1)


def test_case_length_and_space(tf, run):
    assert values(run, tf.strings.length(["a", "hé", ""])) == [1, 3, 0]
    assert run(tf.strings.length("hé", unit="UTF8_CHAR")) == 2
    assert run(tf.strings.lower("AÉ")) == "aÉ".encode() and run(tf.strings.upper("aé", encoding="utf-8")) == "AÉ".encode()
    assert run(tf.string_strip(" a b\n\t")) == b"a b"
    with pytest.raises(tf.errors.InvalidArgumentError, match="only utf-8"):
        run(tf.strings.lower("a", encoding="x"))


@pytest.mark.parametrize("texts, options, parts, shape", [
    (["the quick fox", "hi"], {}, [b"the", b"quick", b"fox", b"hi"], [2, 3]), (["a,,b"], {"sep": ","}, [b"a", b"b"], [1, 2]),
    (["a,,b"], {"sep": ",", "skip_empty": False}, [b"a", b"", b"b"], [1, 3]),
    (["a,b;c"], {"delimiter": ",;"}, [b"a", b"b", b"c"], [1, 3]), (["abc", "d"], {"sep": ""}, [b"a", b"b", b"c", b"d"], [2, 3]),
    ([""], {}, [], [1, 0]), ([" x", "", "y "], {"skip_empty": False}, [b"", b"x", b"y", b""], [3, 2])])
def test_string_split(tf, run, texts, options, parts, shape):
    got = run(tf.string_split(texts, **options))
    assert got.values.tolist() == parts and got.dense_shape.tolist() == shape


@pytest.mark.parametrize("text, options, parts", [
    (" a  b\t", {}, [b"a", b"b"]), ("a<>b<><>c", {"sep": "<>"}, [b"a", b"b", b"", b"c"]), ("", {"sep": ","}, [b""]),
    ("a b c d", {"maxsplit": 2}, [b"a", b"b", b"c d"])])
def test_newer_split(tf, run, text, options, parts):
    assert run(tf.strings.split([text], **options)).values.tolist() == parts
    with pytest.raises(ValueError, match="rank 1"):
        tf.strings.split(text, **options)
    assert run(tf.strings.split(text, result_type="RaggedTensor", **options)).tolist() == parts
    assert run(tf.strings.split([[text]], **options)).values.tolist() == parts


def test_joins(tf, run):
    assert values(run, tf.string_join(["a", ["x", "y"], "c"], "-")) == [b"a-x-c", b"a-y-c"]
    with pytest.raises(ValueError, match="Dimension 0"):
        tf.string_join([["a"], ["x", "y"]])
    square = [["a", "b"], ["c", "d"]]
    for axis, joined in [(None, b"abcd"), (0, [b"ac", b"bd"]), (-1, [b"ab", b"cd"]), ([0, 1], b"acbd"), ([1, 0], b"abcd"),
                         ([], [[b"a", b"b"], [b"c", b"d"]])]:
        assert values(run, tf.reduce_join(square, axis)) == joined if joined != b"abcd" and joined != b"acbd" else \
            run(tf.reduce_join(square, axis)) == joined
    assert values(run, tf.reduce_join(square, 1, keepdims=True, separator="+")) == [[b"a+b"], [b"c+d"]]
    assert values(run, tf.reduce_join(tf.zeros([0, 2], tf.string), 0, separator="-")) == [b"", b""]
    assert run(tf.reduce_join(tf.placeholder_with_default(square, None))) == b"abcd"
    with pytest.raises(ValueError, match="Invalid reduction dimension 2"):
        tf.reduce_join(square, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate"):
        run(tf.reduce_join(square, [0, 0]))
    assert values(run, tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, ":")) == [b"b", b"a:c"]


@pytest.mark.parametrize("strings, ids, count, match", [
    (["a"], [5], 2, "not allowed to exceed num_segments or to have negative"), (["a"], [-1], 2, "to have negative values"),
    (["a", "b"], [0], 1, "segment_ids"), ("a", 0, 1, "cannot have rank 0"), (["a"], [0], -1, "must not be negative"),
    ([["a"], ["b"]], [[0, 1]], 2, "segment_ids")])
def test_segments_to_join_that_are_none_are_refused(tf, run, strings, ids, count, match):
    given = [tf.placeholder_with_default(value, None) for value in (tf.constant(strings), ids, count)]
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        values(run, tf.strings.unsorted_segment_join(*given))


def test_segments_without_strings_are_empty(tf, run):
    nothing = tf.strings.unsorted_segment_join(tf.constant([], tf.string), tf.constant([], tf.int32), 2)
    assert values(run, nothing) == [b"", b""]
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 1"):
        tf.strings.unsorted_segment_join(["a", "b"], [0], 1)


def test_regular_expressions(tf, run):
    assert values(run, tf.regex_replace(["a1b22", "zz"], "[0-9]+", "#")) == [b"a#b#", b"zz"]
    assert run(tf.regex_replace("abc", "(b)(c)", r"\2-\1\0")) == b"ac-bbc"
    assert run(tf.regex_replace("aaa", "a", "b", replace_global=False)) == b"baa"
    assert run(tf.regex_replace("aaa", tf.constant("a"), "b")) == b"bbb"
    assert run(tf.regex_replace("a.b", r"\.", r"\\")) == b"a\\b"
    assert run(tf.regex_replace("héllo", r"\w", "x")) == "xéxxx".encode()
    assert values(run, tf.strings.regex_full_match(["abc", "abcd"], "a.c")) == [True, False]
    assert run(tf.strings.regex_full_match("hé", "h."))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        run(tf.regex_replace("aaa", "(", "b"))


def test_base64(tf, run):
    assert values(run, tf.encode_base64([b"\xff\xfe", b"a"], pad=True)) == [b"__4=", b"YQ=="]
    assert run(tf.encode_base64("any \x00 thing")) == b"YW55IAAgdGhpbmc"
    assert values(run, tf.decode_base64(["YQ", "YQ==", "YWI="])) == [b"a", b"a", b"ab"]
    for text, message in [("!!", "Invalid character"), ("a", "1 modulo 4")]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(tf.decode_base64(text))


def test_decode_raw(tf, run):
    assert values(run, tf.decode_raw(b"\x01\x00\x02\x00", tf.int16)) == [1, 2]
    assert values(run, tf.decode_raw(b"\x01\x00", tf.int16, little_endian=False)) == [256]
    assert values(run, tf.decode_raw([b"\x01", b"\x02"], tf.uint8)) == [[1], [2]]
    assert run(tf.decode_raw(tf.constant([], tf.string), tf.uint8)).shape == (0, 0)
    for data, message in [(b"\x01\x00\x02", "has length 3 that is not a multiple of 2, the size of int16"),
                          ([b"\x01", b"\x02\x03"], "element 1 has size 1 != 2")]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(tf.decode_raw(data, tf.int16))


def test_compressed_strings(tf, run):
    assert run(tf.decode_compressed(zlib.compress(b"text"), "ZLIB")) == b"text"
    assert run(tf.decode_compressed(gzip.compress(b"text"), "GZIP")) == b"text" and run(tf.decode_compressed("x")) == b"x"
    with pytest.raises(tf.errors.DataLossError):
        run(tf.decode_compressed("text", "ZLIB"))


def test_tensors_as_strings(tf, run):
    for value in ([[1.5, 2.0]], ["a", "b"], 7):
        constant = tf.constant(value)
        again = run(tf.parse_tensor(tf.serialize_tensor(constant), constant.dtype))
        assert np.array_equal(again, run(constant))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Type mismatch"):
        run(tf.parse_tensor(tf.serialize_tensor(1.0), tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse"):
        run(tf.parse_tensor("junk", tf.int32))
    held = tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=tf.float32)
    with pytest.raises(tf.errors.UnimplementedError, match="variant .* has no serialized form"):
        run(tf.serialize_tensor(held))


def test_decode_csv(tf, run):
    a, b, c = run(tf.decode_csv(['1,"x, ""y""",2.5', "3,z,"], [[0], [""], [7.5]]))
    assert a.tolist() == [1, 3] and b.tolist() == [b'x, "y"', b"z"] and c.tolist() == [2.5, 7.5]
    assert run(tf.decode_csv("1|2|3", [[0], [0]], field_delim="|", select_cols=[0, 2])) == [1, 3]
    assert run(tf.decode_csv("NA,2", [[9], [0]], na_value="NA")) == [9, 2]
    assert run(tf.decode_csv('"a",b', [[""], [""]], use_quote_delim=False)) == [b'"a"', b"b"]
    for record, defaults, message in [("1", [[0], [0]], "Expect 2 fields but have 1 in record 0"),
                                      ("x", [[0]], "Field 0 in record 0 is not a valid int32: x"),
                                      (",1", [tf.constant([], tf.int32), [0]], "Field 0 is required but missing in record 0"),
                                      ('a"b', [[""]], "Unquoted fields"), ('"a"b', [[""]], "escaped by another quote")]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(tf.decode_csv(record, defaults))
    with pytest.raises(ValueError, match="strictly increasing"):
        tf.decode_csv("1,2", [[0], [0]], select_cols=[1, 0])


def test_a_delimiter_is_one_string(tf):
    for delimiter in (["|", ""], ["a"]):
        with pytest.raises(ValueError, match="must be rank 0 but is rank 1"):
            tf.string_split(["a|b"], delimiter=delimiter)


def test_integers_have_no_exponent(tf):
    for arguments in ({"scientific": True}, {"shortest": True}):
        for value in (1, True):
            with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="format not supported for datatype"):
                session.run(tf.as_string(value, **arguments))
