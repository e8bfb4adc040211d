"""Checkpoints of both formats: TensorFlow's are read, ours have its bytes, damage is told."""
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from jitgraph.formats import bundle, checkpoint_v1, tensor_slice
from jitgraph.formats.bundle_reader import BundleReader
from jitgraph.formats.bundle_writer import BundleWriter, merge
from jitgraph.formats.checkpoint import CheckpointReader, open_checkpoint
from jitgraph.formats.table import Table
from jitgraph.graph import dtypes, errors
from jitgraph.graph.protos.tensor_proto import as_list
from jitgraph.protobuf import messages

FIXTURES = Path(__file__).parent.parent / "fixtures" / "checkpoints"
PREFIXES = {"dtypes": "model.ckpt", "partitioned": "model.ckpt-7", "adam_mlp_ref": "model.ckpt-30",
            "adam_mlp_resource": "model.ckpt-30", "two_shards": "model.ckpt", "raw_slices": "m",
            "v1_format": "model.ckpt"}


def prefix(name):
    return str(FIXTURES / name / PREFIXES[name])


def as_stored(array):
    """An array as the fixtures have it: strings as S, bfloat16 as bits."""
    if array.dtype == object:
        return array.astype("S")
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array


@pytest.mark.parametrize("name", sorted(PREFIXES))
def test_values_are_those_that_tensorflow_wrote(name):
    reader = open_checkpoint(prefix(name))
    expected = np.load(FIXTURES / name / "expected.npz")
    names = [n for n in expected.files if not n.startswith("t_rows")]
    assert sorted(reader.names()) == sorted(names)
    for n in names:
        found = as_stored(reader.read(n))
        assert found.shape == reader.shape(n) == expected[n].shape
        assert found.dtype == expected[n].dtype or found.dtype.kind == "S"
        np.testing.assert_array_equal(found, expected[n])


def test_a_part_of_a_tensor_in_slices():
    reader = open_checkpoint(prefix("raw_slices"))
    np.testing.assert_array_equal(reader.read_slice("t", ((1, 2), (3, 5))), np.arange(40).reshape(4, 10)[1:3, 3:8])
    assert reader.read_slice("u", ()) == 3


def test_many_keys():
    reader = BundleReader(str(FIXTURES / "many_keys" / "model.ckpt"))
    assert json.loads((FIXTURES / "many_keys" / "expected.json").read_text())
    assert len(reader.names()) == 9000
    for i in (0, 1, 4444, 8999):
        value = reader.read(f"layer_{i // 3:04d}/some/long/scope/w{i % 3}")
        np.testing.assert_array_equal(value, np.arange(i % 5, dtype=np.int32))


def test_what_we_write_has_the_bytes_of_tensorflow(tmp_path):
    reader = BundleReader(prefix("dtypes"))
    written = str(tmp_path / "model.ckpt")
    with BundleWriter(written) as writer:
        for name in sorted(reader.names(), key=lambda n: reader._entry(n).offset):
            writer.add(name, reader.read(name), reader.dtype(name))
    for suffix in (".index", ".data-00000-of-00001"):
        assert Path(written + suffix).read_bytes() == Path(prefix("dtypes") + suffix).read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["model.ckpt.data-00000-of-00001", "model.ckpt.index"]


def test_public_reader():
    reader = CheckpointReader(prefix("dtypes").encode())
    assert reader.has_tensor("m/int8") and not reader.has_tensor("nothing")
    assert reader.get_variable_to_shape_map()["empty"] == [0, 3]
    assert reader.get_variable_to_dtype_map()["s/bfloat16"] is dtypes.bfloat16
    assert type(reader.get_tensor("s/float32")) is np.float32 and reader.get_tensor("str/s") == b"scalar string"
    assert b"m/bool (DT_BOOL) [3,4]\n" in reader.debug_string()
    assert CheckpointReader(prefix("v1_format")).debug_string() == b"a (DT_FLOAT) [4,10]\nb (DT_INT64) []\n"
    with pytest.raises(errors.NotFoundError, match="Key nothing not found in checkpoint"):
        reader.get_tensor("nothing")


def test_no_checkpoint(tmp_path):
    with pytest.raises(errors.NotFoundError, match="Failed to find any matching files"):
        CheckpointReader(tmp_path / "absent")
    (tmp_path / "text").write_text("no checkpoint, but long enough for the footer of a table, whatever it says")
    with pytest.raises(errors.DataLossError, match="not an sstable"):
        CheckpointReader(tmp_path / "text")
    with pytest.raises(TypeError, match="Expected binary or unicode string"):
        CheckpointReader(None)


@pytest.fixture
def copy(tmp_path):
    """copy(name): a fixture's checkpoint where it may be damaged; its prefix."""
    def _copy(name):
        shutil.copytree(FIXTURES / name, tmp_path / name)
        return str(tmp_path / name / PREFIXES[name])

    return _copy


def test_damaged_data(copy):
    path = copy("dtypes")
    data = Path(path + ".data-00000-of-00001")
    content = bytearray(data.read_bytes())
    for position in range(0, len(content), 7):
        content[position] ^= 1
    data.write_bytes(content)
    reader = BundleReader(path)
    for name in reader.names():
        if name not in ("empty",) and reader.shape(name):
            with pytest.raises(errors.DataLossError, match=name):
                reader.read(name)


def test_data_that_are_cut_off_or_gone(copy):
    path = copy("two_shards")
    data = Path(path + ".data-00001-of-00002")
    data.write_bytes(data.read_bytes()[:-1])
    reader = BundleReader(path)
    with pytest.raises(errors.OutOfRangeError, match="Read less bytes than requested: .* is shorter"):
        [reader.read(name) for name in reader.names()]
    data.unlink()
    with pytest.raises(errors.NotFoundError, match="00001-of-00002"):
        [BundleReader(path).read(name) for name in reader.names()]


def test_a_checkpoint_for_newer_readers(tmp_path):
    from jitgraph.formats.table import TableWriter
    from jitgraph.protobuf import messages

    header = messages.BundleHeaderProto(num_shards=1)
    header.version.min_consumer = 2
    table = TableWriter()
    table.add(b"", header.SerializeToString())
    (tmp_path / "m.index").write_bytes(table.finish())
    with pytest.raises(errors.UnimplementedError, match="version 2"):
        BundleReader(str(tmp_path / "m"))
    (tmp_path / "e.index").write_bytes(TableWriter().finish())
    with pytest.raises(errors.DataLossError, match="header is missing"):
        BundleReader(str(tmp_path / "e"))


def test_slices_in_several_checkpoints_are_merged(tmp_path):
    full = np.arange(12, dtype=np.float32).reshape(4, 3)
    for part, extents in enumerate([((0, 1), (0, -1)), ((1, 3), (0, 3))]):
        with BundleWriter(str(tmp_path / "temp" / f"part{part}")) as writer:
            start, length = extents[0]
            writer.add_slice("t", (4, 3), extents, full[start:start + length], dtypes.float32)
            writer.add(f"own{part}", np.array([b"x" * 300, b""], object), dtypes.string)
    merge([str(tmp_path / "temp" / "part0"), str(tmp_path / "temp" / "part1")], str(tmp_path / "all"))
    reader = BundleReader(str(tmp_path / "all"))
    np.testing.assert_array_equal(reader.read("t"), full)
    assert reader.read("own1").tolist() == [b"x" * 300, b""] and reader.names() == ["own0", "own1", "t"]
    assert sorted(os.listdir(tmp_path)) == ["all.data-00000-of-00002", "all.data-00001-of-00002", "all.index"]


def test_two_tensors_of_one_name(tmp_path):
    one = np.zeros(2, np.float32)
    with pytest.raises(errors.InvalidArgumentError, match="Adding duplicate key: a"), \
            BundleWriter(str(tmp_path / "m")) as writer:
        writer.add("a", one, dtypes.float32)
        writer.add("a", one, dtypes.float32)
    assert os.listdir(tmp_path) == []                       # nothing is left behind
    with pytest.raises(errors.InvalidArgumentError, match="whole tensor"), BundleWriter(str(tmp_path / "m")) as writer:
        writer.add("a", one, dtypes.float32)
        writer.add_slice("a", (4,), ((0, 2),), one, dtypes.float32)
    with pytest.raises(errors.InvalidArgumentError, match="do not agree"), BundleWriter(str(tmp_path / "m")) as writer:
        writer.add_slice("a", (4,), ((0, 2),), one, dtypes.float32)
        writer.add_slice("a", (5,), ((2, 2),), one, dtypes.float32)


def test_no_folder(tmp_path):
    with pytest.raises(errors.NotFoundError, match="No such file or directory"):
        BundleWriter(str(tmp_path / "a" / "b" / "m"))


def test_an_old_checkpoint_stays_until_the_new_one_is_whole(tmp_path):
    path = str(tmp_path / "m")
    with BundleWriter(path) as writer:
        writer.add("a", np.arange(3), dtypes.int64)
    with pytest.raises(ZeroDivisionError), BundleWriter(path) as writer:
        writer.add("a", np.arange(5), dtypes.int64)
        raise ZeroDivisionError
    assert BundleReader(path).read("a").tolist() == [0, 1, 2]


def test_an_empty_checkpoint(tmp_path):
    with BundleWriter(str(tmp_path / "m")):
        pass
    assert BundleReader(str(tmp_path / "m")).names() == []


def test_the_old_format_is_written(tmp_path):
    whole = ((0, -1), (0, -1))
    table = np.arange(40, dtype=np.float32).reshape(4, 10)
    checkpoint_v1.write(str(tmp_path / "model.ckpt"), [
        ("a", (4, 10), whole, table, dtypes.float32), ("b", (), (), np.array(9), dtypes.int64)])
    assert (tmp_path / "model.ckpt").read_bytes() == Path(prefix("v1_format")).read_bytes()


@pytest.mark.parametrize("array", [
    np.array([1.5, -0.0], "f"), np.arange(6.0).reshape(2, 3).T, np.array(2.5, ">f4"), np.zeros((0, 2), "f"),
    np.array([1, -2], np.int32), np.array([1 + 2j], np.complex64), np.array([0.5], np.float16), np.array([b"a", b""], object),
    np.array([True, False])], ids=lambda array: str(array.dtype))
def test_an_entry_of_the_old_format_is_the_message(tmp_path, array):
    """The lists of floats are written as they lie, not element by element."""
    dtype = dtypes.as_dtype(array.dtype.newbyteorder("=")) if array.dtype != object else dtypes.string
    whole = ((0, -1),) * array.ndim
    checkpoint_v1.write(str(tmp_path / "m"), [("t", array.shape, whole, array, dtype)])
    wanted = messages.SavedTensorSlices()
    wanted.data.name = "t"
    wanted.data.slice.CopyFrom(tensor_slice.to_proto(whole))
    wanted.data.data.CopyFrom(as_list(array, dtype))
    entries = dict(Table(str(tmp_path / "m")))
    assert entries[tensor_slice.key("t", whole)] == wanted.SerializeToString(deterministic=True)
    np.testing.assert_array_equal(open_checkpoint(str(tmp_path / "m")).read("t"), array)


def test_the_old_format_in_several_files(tmp_path):
    table = np.arange(6.0)
    for shard, (start, length) in enumerate([(0, 2), (2, 4)]):
        checkpoint_v1.write(str(tmp_path / f"m-{shard:05d}-of-00002"), [
            ("t", (6,), ((start, length),), table[start:start + length], dtypes.float64)])
    reader = open_checkpoint(str(tmp_path / "m"))
    assert reader.read("t").tolist() == table.tolist() and reader.read_slice("t", ((1, 3),)).tolist() == [1, 2, 3]


def test_strings_are_checked():
    array = np.array([b"a", b"bcd"], object)
    data, _ = bundle.encode_strings(array)
    assert bundle.decode_strings(data, (2,))[0].tolist() == [b"a", b"bcd"]
    for wrong, shape in ((data[:-1], (2,)), (data + b"x", (2,)), (data[:1], (2,)), (b"\x02" + data[1:], (2,)), (data, (99,))):
        with pytest.raises(ValueError):
            bundle.decode_strings(wrong, shape)
