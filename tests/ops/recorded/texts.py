"""Texts and numbers: as_string, string_to_number, substr, split, decode_csv, decode_raw, decode_compressed and Unicode."""
import itertools
import struct
import zlib

NUMBERS = ["", " ", "1", " 1", "1 ", "\t1\n", "1e5", "1E+5", "1e-5", "0x10", "-0x1F", "0x", "0x1.8", "inf", "-INF", "Infinity",
    "infin",
           "nan", "1_0", "+3", "--3", "- 3", "1.", ".5", ".", "1.5.2", "1e", "1e400", "1,000", "1 2", "2147483648", "-2147483649",
           "9223372036854775808", "007", "-0", "1f", "\u0661", "0.1", "16777217", "1" * 31, "1" * 32, "0." + "0" * 40 + "1",
           " " * 31 + "1", "0" * 40 + "1", "1e5 "]
RECORDS = ["1,2,3", '"a","b","c"', '"a,b",c,d', '"a""b",c,d', 'a"b,c,d', '"a"b,c,d', '"a,b,c', "a,b", "a,b,c,d", ",,", "", '"",,""',
           "a,b,c\n", "a,b,c\r\n", "a\nb,c,d", '"a\nb",c,d', ' "a",b,c', '"a" ,b,c', 'NA,b,"NA"', "a;b;c", '""""," "" ",x',
           'a,b,"', '"',
           '""', "a,,", "a,b,\r", "\r", "\n", "\n\na,b,c", '"\r\n",a,b', 'a,b,c"', 'a,b"c,d']
PARTS = [b"hello world", b"", b" a b  c ", b",a,,b,", b"a<>b<>c", b"a\tb\nc\r\x0bd\x0ce", "a\u00a0b".encode(), b"<><>", b"abc"]
TEXTS = [b"hello", b"", b"a", "h\u00e9llo".encode(), "\U0001f600x".encode()]
BROKEN = [b"\xc3\xa9\x80\x80", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\x80\x80a", b"\xe2\x82a\xc3\xc3"]
ODD = ["h\u00e9\U0001f600".encode(), b"\xff", b"a\xffb", b"\xe4\xb8a", b"\xed\xa0\x80", b"\xc0\x80", b"a\x01b",
    b"\x1f\x7f\xc2\x80z", b"a\x00b"]
CODES = [[104, 233, 128512], [], [0xD800, 97], [0x110000], [-1], [0xDFFF, 97], [0xD83D, 0xDE00], [97, 0x10FFFF]]


def cases(tf):
    found = {}

    def add(what, *names, **lists):
        """A case for each choice from the lists, by the function `what` of the choice."""
        for choice in itertools.product(*lists.values()):
            found[" ".join([*names, *map(repr, choice)])] = lambda choice=choice: what(*choice)

    odd = [0.0, -0.0, 1.5, 123456.789, 1e-10, float("inf"), float("-inf"), float("nan")]
    add(lambda dtype, form: tf.as_string(tf.constant(odd, dtype), **form), "as_string", dtype=["float32", "float64",
        "complex64"], form=[
        {}, {"width": 12, "fill": "0"}, {"width": 12, "fill": "0", "precision": 2}, {"width": 14, "fill": "0", "scientific": True},
        {"width": 12, "fill": "-"}, {"fill": "+"}, {"shortest": True}, {"width": 0, "fill": "0"}])
    add(lambda text, dtype: tf.string_to_number([text], dtype), "number", text=NUMBERS,
        dtype=[tf.float32, tf.float64, tf.int32, tf.int64])
    add(lambda text, start, unit: [tf.strings.substr(text, start, n, unit=unit) for n in (0, 1, 100)],
        "substr", text=TEXTS, start=[0, 1, -1, 2, 6], unit=["BYTE", "UTF8_CHAR"])
    add(lambda text, start: tf.strings.substr(text, start, 1, unit="UTF8_CHAR"), "character", text=TEXTS[:3] + BROKEN,
        start=[0, -1, 1])
    add(lambda text, start, unit: tf.strings.substr(text, start, -1, unit=unit), "substr of -1", text=TEXTS, start=[0, 1, -1],
        unit=["BYTE", "UTF8_CHAR"])
    add(lambda text: tf.strings.length(text, unit="UTF8_CHAR"), "length", text=BROKEN)
    add(lambda sep, most: tf.strings.split(tf.constant(PARTS), sep=sep, maxsplit=most), "split", sep=["", " ", "<>"],
        most=[-2, -1, 0, 1, 2, 100])
    add(lambda record, quotes, missing: tf.decode_csv([record], [["x"], ["y"], ["z"]], use_quote_delim=quotes,
        na_value=missing), "csv",
        record=RECORDS, quotes=[True, False], missing=["", "NA"])
    add(lambda record, quotes: tf.decode_csv([record], [["x"]], select_cols=[1], use_quote_delim=quotes), "csv, column 1",
        record=RECORDS, quotes=[True, False])
    add(lambda text, default: tf.decode_csv([text], [default]), "csv", text=["", " ", "1", " 1 ", "1.5", "1_0", "0x1f", "nan",
        "0" * 40],
        default=[[0.5], [7], ["z"]])
    add(lambda delimiter: tf.decode_csv(["1,,2\n3"], [[1], [1]], field_delim=delimiter), "csv between", delimiter=["\n", ",,", ""])
    found["csv, two defaults"] = lambda: tf.decode_csv(["1"], [[1, 2]])
    add(lambda dtype, little: tf.decode_raw([bytes(range(48, 64))], dtype, little_endian=little), "raw",
        dtype=[tf.complex64, tf.complex128, tf.int16, tf.float64, tf.uint8], little=[True, False])
    plain = b"hello " * 50
    stream = zlib.compress(plain)
    packed = {"ZLIB": stream, "GZIP": b"".join([b"\x1f\x8b\x08\0\0\0\0\0\2\xff", stream[2:-4], struct.pack(
        "<II", zlib.crc32(plain), len(plain))])}
    add(lambda kind, change: tf.io.decode_compressed([change[1](packed[kind])], kind), "unpack", kind=["ZLIB", "GZIP"], change=[
        _Named("whole", bytes), _Named("cut", lambda b: b[:-6]), _Named("twice", lambda b: b + b), _Named("behind",
            lambda b: b + b"x"),
        _Named("nothing", lambda b: b""), _Named("text", lambda b: b"hello"), _Named("a wrong sum",
            lambda b: b[:-5] + b"\1\2\3\4\5")])
    add(lambda text, errors, controls: tf.strings.unicode_decode_with_offsets(
        text, "UTF-8", errors=errors, replace_control_characters=controls), "decode", text=ODD, errors=["strict", "replace",
            "ignore"],
        controls=[True, False])
    add(lambda text, errors, to: tf.strings.unicode_transcode(text, "UTF-8", to, errors=errors, replace_control_characters=True),
        "transcode", text=ODD, errors=["strict", "replace", "ignore"], to=["UTF-8", "UTF-16-BE"])
    add(lambda codes, errors, to: tf.strings.unicode_encode(tf.constant(codes, tf.int32), to, errors=errors), "encode", codes=CODES,
        errors=["strict", "replace", "ignore"], to=["UTF-8", "UTF-16-BE"])
    add(lambda encoding, text: tf.strings.unicode_decode_with_offsets(text, encoding), "decode", encoding=[
        "UTF-16", "UTF-32", "utf-16-le", "UTF-16-BE"], text=[b"\xff\xfea\0b\0", b"\xfe\xff\0a", b"\0a\0b",
        b"\xff\xfe\0\0a\0\0\0", b"\0\0\0a"])
    found["decode a codec of Python"] = lambda: tf.strings.unicode_decode("a", "unicode_escape")
    return found


class _Named(tuple):
    """(name, function), which shows as its name."""

    def __new__(cls, *parts):
        return super().__new__(cls, parts)

    def __repr__(self):
        return self[0]
