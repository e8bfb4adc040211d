"""State files, and the files behind a prefix."""
import os
import threading
import time

import pytest

from jitgraph.train import checkpoint_state


@pytest.fixture
def touch(tmp_path):
    """touch(names): empty files of these names."""
    def _touch(*names):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
        return str(tmp_path)

    return _touch


def test_states(tf):
    make = tf.train.generate_checkpoint_state_proto
    state = make("/d", "/d/m-2", ["/d/m-1"])
    assert list(state.all_model_checkpoint_paths) == ["/d/m-1", "/d/m-2"]
    state = make("d", "d/m-2", ["d/m-1", "/abs/m", "d/m-2"])
    assert state.model_checkpoint_path == "m-2" and list(state.all_model_checkpoint_paths) == ["m-1", "/abs/m", "m-2"]
    assert make("/d", "/d/m", ["/d/m"], [5.0], 4.0).last_preserved_timestamp == 4.0
    with pytest.raises(ValueError, match="must match checkpoint paths"):
        make("/d", "/d/m", ["/d/m"], [1.0, 2.0])


def test_state_files(tf, touch):
    folder = touch("m-1.index", "m-2.index")
    tf.train.update_checkpoint_state(folder, os.path.join(folder, "m-2"), [os.path.join(folder, "m-1")])
    assert tf.train.latest_checkpoint(folder) == os.path.join(folder, "m-2")
    state = tf.train.get_checkpoint_state(folder)
    assert list(state.all_model_checkpoint_paths) == [os.path.join(folder, "m-1"), os.path.join(folder, "m-2")]
    os.unlink(os.path.join(folder, "m-2.index"))
    assert tf.train.latest_checkpoint(folder) is None           # named, but gone
    with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
        tf.train.update_checkpoint_state(folder, os.path.join(folder, "checkpoint"))
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.update_checkpoint_state(folder + "/absent", "m")


@pytest.mark.parametrize("content", [b"nonsense", b"\xff\xfe", b'model_checkpoint_path: "unfinished'])
def test_state_files_that_are_none(tf, tmp_path, content, caplog):
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None and not caplog.text
    (tmp_path / "checkpoint").write_bytes(content)
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None and "Checkpoint ignored" in caplog.text
    (tmp_path / "checkpoint").write_bytes(b"")
    with pytest.raises(ValueError, match="Invalid checkpoint state"):
        tf.train.get_checkpoint_state(str(tmp_path))


def test_which_checkpoints_exist(tf, touch):
    folder = touch("a.index", "b", "c-00000-of-00002", "[x].index")
    exists = tf.train.checkpoint_exists
    assert [exists(os.path.join(folder, name)) for name in ("a", "b", "c", "[x]", "d")] == [True] * 4 + [False]
    times = tf.train.get_checkpoint_mtimes([os.path.join(folder, "a"), os.path.join(folder, "d")])
    assert len(times) == 1 and abs(times[0] - time.time()) < 60


def test_removing(tf, touch):
    folder = touch("m.index", "m.data-00000-of-00002", "m.data-00001-of-00002", "m.meta", "m-1.index", "m.dataset",
                   "old", "old.meta", "p-00000-of-00001")
    tf.train.remove_checkpoint(os.path.join(folder, "m"))
    tf.train.remove_checkpoint(os.path.join(folder, "old"), tf.train.SaverDef.V1)
    tf.train.remove_checkpoint(os.path.join(folder, "p"), tf.train.SaverDef.V1)
    tf.train.remove_checkpoint(os.path.join(folder, "absent"))
    assert sorted(os.listdir(folder)) == ["m-1.index", "m.dataset"]


def test_meta_graphs_of_shards():
    assert checkpoint_state.meta_graph_filename("a/m-?????-of-00003") == "a/m.meta"
    assert checkpoint_state.meta_graph_filename("m-5", "graph") == "m-5.graph"


def test_waiting_for_checkpoints(tf, touch, tmp_path):
    folder = touch("m-1.index", "m-2.index")

    def write(step):
        tf.train.update_checkpoint_state(folder, os.path.join(folder, f"m-{step}"))

    write(1)
    iterator = tf.train.checkpoints_iterator(folder, timeout=3)
    assert next(iterator) == os.path.join(folder, "m-1")
    timer = threading.Timer(0.2, write, [2])
    timer.start()
    assert next(iterator) == os.path.join(folder, "m-2")
    timer.join()
    stops = iter([False, True])
    assert list(tf.train.checkpoints_iterator(str(tmp_path / "absent"), timeout=0, timeout_fn=lambda: next(stops))) == []
