"""Checkpoints of objects hold what tables hold."""
import pytest

from jitgraph.resources.mutable_tables import MutableDenseHashTable, MutableHashTable

MAKE = {"mutable": lambda tf: MutableHashTable(tf.string, tf.int64, -1),
        "dense": lambda tf: MutableDenseHashTable(tf.string, tf.int64, -1, empty_key="", deleted_key="$")}


@pytest.mark.parametrize("kind", MAKE)
def test_the_contents_of_a_table_come_back(tf, tmp_path, kind):
    with tf.Session() as session:
        table = MAKE[kind](tf)
        session.run(table.insert(["b", "c", "d"], [0, 1, 2]))
        path = tf.train.Checkpoint(table=table).save(str(tmp_path / "ckpt"), session=session)
        other = MAKE[kind](tf)
        session.run(other.insert(["a", "c"], [12, 24]))
        tf.train.Checkpoint(table=other).restore(path).assert_consumed().run_restore_ops(session)
        assert session.run(other.lookup(["a", "b", "c", "d"])).tolist() == [-1, 0, 1, 2]
    names = [name for name, _ in tf.train.list_variables(path)]
    assert {"table/.ATTRIBUTES/table-keys", "table/.ATTRIBUTES/table-values"} <= set(names)
