"""Constants in files, values that nobody reads, and the end of a process."""
import numpy as np
import pytest


def test_a_file_as_a_constant(tf, tmp_path):
    path = tmp_path / "numbers"
    np.array([1.5, 2.5, 3.5, 4.5], np.float32).tofile(path)
    x = tf.raw_ops.ImmutableConst(dtype=tf.float32, shape=[2, 2], memory_region_name=str(path))
    first = tf.raw_ops.ImmutableConst(dtype=tf.float32, shape=[1], memory_region_name=str(path))
    assert x.shape.as_list() == [2, 2]
    with tf.Session() as session:
        assert session.run(x + 1).tolist() == [[2.5, 3.5], [4.5, 5.5]]
        assert session.run(first).tolist() == [1.5]


def test_files_that_are_not_there_or_too_short(tf, tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(b"12345678")
    with tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="nothing; No such file or directory"):
            session.run(tf.raw_ops.ImmutableConst(dtype=tf.float32, shape=[2], memory_region_name=str(tmp_path / "nothing")))
        with pytest.raises(tf.errors.InternalError, match=r"Readonly memory region has wrong length \(8\) when allocating 12"):
            session.run(tf.raw_ops.ImmutableConst(dtype=tf.float32, shape=[3], memory_region_name=str(path)))


def test_a_parameter_that_nobody_reads(tf):
    x = tf.raw_ops.FakeParam(dtype=tf.int32, shape=[2, 3])
    with tf.Session() as session:
        assert session.run(x).shape == (2, 3) and x.dtype == tf.int32


def test_an_end_without_error_is_only_run(tf):
    with tf.Session() as session:
        session.run(tf.raw_ops.Abort(error_msg="over", exit_without_error=True))
        with pytest.raises(tf.errors.UnimplementedError, match="over"):
            session.run(tf.raw_ops.Abort(error_msg="over"))
