"""Tables, checksums, varints and Snappy blocks: the bytes are TensorFlow's, and damage is noticed."""
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitgraph.formats import checksum, snappy, table
from jitgraph.graph.errors import DataLossError
from jitgraph.protobuf import varint

CHECKPOINTS = Path(__file__).parent.parent / "fixtures" / "checkpoints"
TABLES = [*sorted(CHECKPOINTS.glob("*/*.index")), CHECKPOINTS / "v1_format" / "model.ckpt"]


def name_of(path):
    return f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("path", TABLES, ids=name_of)
def test_written_tables_have_the_bytes_of_tensorflow(path):
    writer = table.TableWriter()
    for key, value in table.Table(str(path)):
        writer.add(key, value)
    assert writer.finish() == path.read_bytes()


def test_a_large_table_has_several_blocks():
    path = CHECKPOINTS / "many_keys" / "model.ckpt.index"
    found = table.Table(str(path))
    keys = [key for key, _ in found]
    assert len(keys) == 9001 and keys == sorted(keys)
    assert found.get(b"layer_2999/some/long/scope/w2") and found.get(b"") and found.get(b"nothing") is None
    assert found.get(b"zzz") is None


@given(st.dictionaries(st.binary(max_size=12), st.binary(max_size=40)), st.integers(1, 200))
def test_any_entries_come_back_from_blocks_of_any_size(tmp_path_factory, entries, block_size):
    path = tmp_path_factory.mktemp("table") / "t"
    writer = table.TableWriter(block_size)
    for key in sorted(entries):
        writer.add(key, entries[key])
    path.write_bytes(writer.finish())
    found = table.Table(str(path))
    assert dict(found) == entries
    assert all(found.get(key) == value for key, value in entries.items())


def test_keys_must_ascend():
    writer = table.TableWriter()
    writer.add(b"b", b"")
    for key in (b"b", b"a"):
        with pytest.raises(ValueError, match="ascend"):
            writer.add(key, b"")


@given(st.binary(max_size=6), st.binary(max_size=6))
def test_keys_of_the_index_lie_between_blocks(a, b):
    low, high = sorted((a, b))
    if low < high:
        assert low <= table.separator(low, high) < high
    assert a <= table.successor(a)


def test_every_damaged_byte_is_noticed(tmp_path):
    data = (CHECKPOINTS / "raw_slices" / "m.index").read_bytes()
    path = tmp_path / "m.index"
    expected = list(table.Table(str(CHECKPOINTS / "raw_slices" / "m.index")))
    for position in range(len(data)):
        path.write_bytes(data[:position] + bytes([data[position] ^ 0x55]) + data[position + 1:])
        try:
            found = list(table.Table(str(path)))
        except DataLossError as error:
            assert str(path) in error.message
        else:
            assert found == expected        # the unused bytes of the footer
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(DataLossError):
            table.Table(str(path))


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(DataLossError, match="named by the prefix"):
        table.Table(str(tmp_path))


@given(st.integers(0, 2**64 - 1))
def test_varints(number):
    data = varint.encode(number)
    assert varint.decode(b"x" + data, 1) == (number, 1 + len(data))


@pytest.mark.parametrize("data, error", [(b"", IndexError), (b"\x80", IndexError), (b"\xff" * 11, ValueError)])
def test_varints_that_do_not_end(data, error):
    with pytest.raises(error):
        varint.decode(data, 0)


def test_checksums():
    assert checksum.crc32c(b"123456789") == 0xE3069283
    assert checksum.crc32c(b"6789", checksum.crc32c(bytearray(b"12345"))) == 0xE3069283


@given(st.integers(0, 2**32 - 1))
def test_masked_checksums_are_unmasked(crc):
    assert checksum.unmask(checksum.mask(crc)) == crc




def test_snappy_literals_and_copies():
    literal = bytes([60 << 2 | 0, 69]) + bytes(range(70))                        # a length in one byte
    assert snappy.decompress(bytes([70]) + literal) == bytes(range(70))
    two_byte_offset = bytes([(5 - 1) << 2 | 2, 3, 0])
    assert snappy.decompress(bytes([8, 2 << 2]) + b"abc" + two_byte_offset) == b"abcabcab"
    one_byte_offset = bytes([0 << 5 | (4 - 4) << 2 | 1, 1])
    assert snappy.decompress(bytes([5, 0]) + b"x" + one_byte_offset) == b"xxxxx"
    four_byte_offset = bytes([(3 - 1) << 2 | 3, 2, 0, 0, 0])
    assert snappy.decompress(bytes([5, 1 << 2]) + b"yz" + four_byte_offset) == b"yzyzy"


@given(st.binary(max_size=40))
def test_damaged_snappy_blocks_end_in_an_error(data):
    try:
        snappy.decompress(data)
    except ValueError:
        pass


def test_a_table_of_compressed_blocks_is_read(tmp_path, monkeypatch):
    """A literal is a valid compression of any block shorter than 60 bytes."""
    class Compressed(table.TableWriter):
        def _write(self, block):
            assert len(block) <= 60
            packed = bytes([len(block), (len(block) - 1) << 2]) + block
            offset = len(self._file)
            self._file += packed + b"\x01" + checksum.masked_crc32c(packed + b"\x01").to_bytes(4, "little")
            return offset, len(packed)

    writer = Compressed(30)
    entries = {b"key%d" % i: b"value" * i for i in range(5)}
    for key, value in entries.items():
        writer.add(key, value)
    (tmp_path / "t").write_bytes(writer.finish())
    assert dict(table.Table(str(tmp_path / "t"))) == entries
