"""Files of this machine by their address: what ``file:///tmp/model`` names is written to and read from /tmp/model."""
import os

import pytest

import jitgraph as tf


@pytest.fixture
def address(tmp_path):
    with tf.Graph().as_default():
        yield f"file://{tmp_path}"


@pytest.mark.parametrize("version", [tf.train.SaverDef.V1, tf.train.SaverDef.V2])
@pytest.mark.parametrize("sharded", [False, True])
def test_a_checkpoint_is_saved_found_restored_and_removed(address, tmp_path, version, sharded):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    (tmp_path / "a").mkdir()
    saver = tf.train.Saver(write_version=version, sharded=sharded)
    with tf.Session() as session:
        session.run(v.initializer)
        path = saver.save(session, f"{address}/a/model", global_step=3)
        assert path.startswith(f"{address}/a/model-3")
        assert tf.train.latest_checkpoint(f"{address}/a") == path
        assert 'model_checkpoint_path: "model-3' in (tmp_path / "a" / "checkpoint").read_text()
        session.run(v.assign([0.0, 0.0]))
        saver.restore(session, path)
        assert session.run(v).tolist() == [1.0, 2.0]
    assert tf.train.load_variable(f"{address}/a", "v").tolist() == [1.0, 2.0]
    assert tf.train.checkpoint_exists(path) and len(tf.train.get_checkpoint_mtimes([path])) == 1
    tf.train.remove_checkpoint(path, version)
    assert os.listdir(tmp_path / "a") == ["checkpoint"]


def test_a_saved_model_with_its_assets(address, tmp_path):
    (tmp_path / "words").write_text("a\nb\n")
    x = tf.placeholder(tf.string, [None], name="x")
    table = tf.contrib.lookup.index_table_from_file(f"{address}/words")
    found = tf.identity(table.lookup(x), name="found")
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(found, {x: ["b"]}).tolist() == [1]
        tf.saved_model.simple_save(session, f"{address}/model", {"x": x}, {"found": found}, legacy_init_op=tf.tables_initializer())
    assert tf.saved_model.contains_saved_model(f"{address}/model")
    assert (tmp_path / "model" / "assets" / "words").read_text() == "a\nb\n"
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["serve"], f"{address}/model")
        assert session.run("found:0", {"x:0": ["b", "c"]}).tolist() == [1, -1]


def test_graphs_and_meta_graphs(address, tmp_path):
    tf.constant(1.0, name="one")
    assert tf.train.write_graph(tf.get_default_graph(), f"{address}/graphs", "g.pbtxt") == f"{address}/graphs/g.pbtxt"
    assert (tmp_path / "graphs" / "g.pbtxt").exists()
    tf.train.export_meta_graph(f"{address}/g.meta", clear_devices=True)
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(f"{address}/g.meta")
    assert graph.get_operation_by_name("one")


def test_records_lines_and_a_cache(address, tmp_path):
    with tf.io.TFRecordWriter(f"{address}/records") as writer:
        writer.write(b"x")
    assert list(tf.io.tf_record_iterator(f"{address}/records")) == [b"x"]
    element = tf.data.TFRecordDataset(f"{address}/records").cache(f"{address}/kept").make_one_shot_iterator().get_next()
    queue = tf.train.string_input_producer([f"{address}/records"], num_epochs=1)
    _, whole = tf.WholeFileReader().read(queue)
    with tf.Session() as session:
        assert session.run(element) == b"x"
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
        assert (tmp_path / "kept.cache").exists()
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        assert session.run(whole) == (tmp_path / "records").read_bytes()
        coordinator.request_stop()
        coordinator.join(threads)
        session.run(tf.write_file(f"{address}/new/text", "t"))
        assert session.run(tf.read_file(f"{address}/new/text")) == b"t"


def test_counts_of_words_for_a_sampler(address, tmp_path):
    (tmp_path / "counts").write_text("a,0\nb,7\nc,0\n")
    drawn = tf.nn.fixed_unigram_candidate_sampler([[1]], 1, 2, False, 3, vocab_file=f"{address}/counts")[0]
    with tf.Session() as session:
        assert session.run(drawn).tolist() == [1, 1]
