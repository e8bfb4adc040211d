"""Unicode ops, compared with what TensorFlow 1.15 gives."""

import pytest


def test_transcoding(tf, run):
    code = tf.strings.unicode_transcode
    assert run(code(["hé", "€"], "UTF-8", "UTF-16-BE")).tolist() == [b"\x00h\x00\xe9", b" \xac"]
    assert run(code(b"\x00h\x00\xe9", "UTF-16-BE", "UTF-8")) == "hé".encode()
    assert run(code(b"\xe9", "ISO-8859-1", "UTF-8")) == "é".encode()
    assert run(code(b"a\xffb", "UTF-8", "UTF-8", replacement_char=63)) == b"a?b"
    assert run(code(b"a\xffb", "UTF-8", "UTF-8", errors="ignore")) == b"ab"
    assert run(code(b"a\x01b", "UTF-8", "UTF-8", replace_control_characters=True)) == "a\ufffdb".encode()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid formatting"):
        run(code(b"a\xffb", "UTF-8", "UTF-8", errors="strict"))
    with pytest.raises(ValueError, match="output_encoding"):
        code("a", "UTF-8", "BOGUS")


def test_code_points(tf, run):
    codes, offsets = run(tf.strings.unicode_decode_with_offsets("hé€", "UTF-8"))
    assert codes.tolist() == [104, 233, 8364] and offsets.tolist() == [0, 1, 3]
    assert run(tf.strings.unicode_decode(b"a\xe2\x82b", "UTF-8")).tolist() == [97, 65533, 98]
    assert run(tf.strings.unicode_decode("", "UTF-8")).tolist() == []
    assert run(tf.strings.unicode_decode(["h\u00e9", ""], "UTF-8")).to_list() == [[104, 233], []]


def test_spelling(tf, run):
    encode = tf.strings.unicode_encode
    assert run(encode([[104, 233], [97, 98]], "UTF-8")).tolist() == ["hé".encode(), b"ab"]
    assert run(encode([104, 0x110000], "UTF-8")) == "h\ufffd".encode()
    assert run(encode([104, 0x110000], "UTF-8", errors="ignore")) == b"h"
    assert run(encode([104, 233], "UTF-16-BE")) == b"\x00h\x00\xe9"


def test_splitting(tf, run):
    characters, offsets = run(tf.strings.unicode_split_with_offsets("hé€", "UTF-8"))
    assert characters.tolist() == [b"h", "é".encode(), "€".encode()] and offsets.tolist() == [0, 1, 3]
    assert run(tf.strings.bytes_split("hé")).tolist() == [b"h", b"\xc3", b"\xa9"]
