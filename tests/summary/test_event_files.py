"""FileWriter: what stands in its files, when, and what happens if the file system fails or the process forks."""
import gc
import os
import re
import subprocess
import sys
import threading
import warnings

import pytest

from jitgraph.summary.histogram_host import bucket_limits


def summary(tf, tag="t", value=1.0):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)])


def files(folder):
    return sorted(folder.glob("events.out.tfevents.*"))


def events(tf, folder):
    """All events of a folder but the first of each file, which gives the version."""
    found = []
    for path in files(folder):
        first, *rest = tf.train.summary_iterator(str(path))
        assert first.file_version == "brain.Event:2" and first.wall_time.is_integer()
        found += rest
    return found


def steps(tf, folder):
    return [event.step for event in events(tf, folder)]


def test_limits_of_buckets_grow_by_a_tenth():
    limits = bucket_limits()
    assert len(limits) == 1551 and limits[775] == 0.0 and limits[776] == 1e-12
    assert (limits == -limits[::-1]).all() and limits[-2] < 1e20 <= limits[-2] * 1.1


def test_what_can_be_added(tf, tmp_path):
    writer = tf.summary.FileWriter(tmp_path)
    assert files(tmp_path) == []            # as in TensorFlow, the first event makes the file
    writer.add_summary(summary(tf), 1)
    writer.add_summary(summary(tf).SerializeToString(), 2)
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 3)
    writer.add_run_metadata(tf.RunMetadata(), "run", 4)
    writer.add_event(tf.Event(wall_time=1.5, step=9, file_version="own"))
    writer.add_meta_graph(tf.MetaGraphDef(), 6)
    writer.close()
    found = events(tf, tmp_path)
    assert [e.WhichOneof("what") for e in found] == ["summary", "summary", "session_log", "tagged_run_metadata", "file_version",
                                                     "meta_graph_def"]
    assert [e.step for e in found] == [1, 2, 3, 4, 9, 6] and found[4].wall_time == 1.5
    assert found[2].session_log.status == tf.SessionLog.START and found[3].tagged_run_metadata.tag == "run"
    assert writer.get_logdir() == str(tmp_path)


def test_metadata_is_written_once_for_each_tag(tf, tmp_path):
    given = summary(tf)
    given.value[0].metadata.display_name = "shown"
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step in range(2):
            writer.add_summary(given.SerializeToString(), step)
    assert [e.summary.value[0].HasField("metadata") for e in events(tf, tmp_path)] == [True, False]


def test_a_graph_is_written_with_its_shapes_and_its_meta_graph(tf, tmp_path):
    tf.constant([1.0, 2.0], name="two")
    tf.summary.FileWriter(str(tmp_path / "deep" / "er"), tf.get_default_graph()).close()
    graph, meta = events(tf, tmp_path / "deep" / "er")
    node, = tf.GraphDef.FromString(graph.graph_def).node
    assert node.name == "two" and node.attr["_output_shapes"].list.shape[0].dim[0].size == 2
    meta = tf.MetaGraphDef.FromString(meta.meta_graph_def)
    assert [op.name for op in meta.meta_info_def.stripped_op_list.op] == ["Const"] and len(meta.graph_def.node) == 1


def test_what_cannot_be_added(tf, tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_run_metadata(tf.RunMetadata(), "run")
    with pytest.raises(ValueError, match="already used"):
        writer.add_run_metadata(tf.RunMetadata(), "run")
    for wrong in (5, None):
        with pytest.raises(TypeError, match="must be an instance of `Graph`"):
            writer.add_graph(wrong)
    with pytest.raises(ValueError, match="but not both"):
        writer.add_graph(tf.get_default_graph(), 3, tf.GraphDef())
    with pytest.raises(TypeError, match="must be type MetaGraphDef"):
        writer.add_meta_graph(3)
    with pytest.raises(ValueError, match="invalid literal"):
        writer.add_summary(summary(tf), "x")
    writer.close()


def test_flush_brings_everything_out(tf, tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path), max_queue=2)
    for step in range(100):
        writer.add_summary(summary(tf), step)
    writer.flush()
    assert steps(tf, tmp_path) == list(range(100))
    writer.close()


def test_after_close_nothing_is_written_until_it_is_reopened(tf, tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(summary(tf), 1)
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(summary(tf), 2)
    writer.close()
    writer.reopen()
    writer.reopen()
    writer.add_summary(summary(tf), 3)
    writer.close()
    assert len(files(tmp_path)) == 2 and steps(tf, tmp_path) == [1, 3]      # also within one second


def test_two_writers_of_one_second_have_a_file_each(tf, tmp_path):
    writers = [tf.summary.FileWriter(str(tmp_path)) for _ in range(3)]
    for step, writer in enumerate(writers):
        writer.add_summary(summary(tf), step)
        writer.close()
    assert len(files(tmp_path)) == 3 and steps(tf, tmp_path) == [0, 1, 2]


def test_the_name_of_a_file_has_time_host_and_suffix(tf, tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path), filename_suffix=".mine")
    path, = files(tmp_path)                 # with a suffix, it is there at once
    time, host = path.name.removeprefix("events.out.tfevents.").removesuffix(".mine").split(".", 1)
    assert len(time) == 10 and time.isdigit() and host == os.uname().nodename
    writer.close()


def test_threads_end_with_close_and_with_the_writer(tf, tmp_path):
    gc.collect()        # ends the threads of what other tests have left
    before = threading.active_count()
    closed = tf.summary.FileWriter(str(tmp_path / "a"))
    closed.close()
    forgotten = tf.summary.FileWriter(str(tmp_path / "b"))
    forgotten.add_summary(summary(tf), 5)
    del forgotten
    gc.collect()
    assert threading.active_count() == before and steps(tf, tmp_path / "b") == [5]


def test_a_program_that_ends_without_close_leaves_its_events(tmp_path):
    program = ("import jitgraph as tf; w = tf.summary.FileWriter({0!r})\n"
               "for step in range(50): w.add_summary(tf.Summary(value=[tf.Summary.Value(tag='t')]), step)\n")
    subprocess.run([sys.executable, "-c", program.format(str(tmp_path))], check=True)
    import jitgraph as tf

    assert steps(tf, tmp_path) == list(range(50))


def test_what_does_not_fit_on_the_disk_is_said_in_the_log_and_comes_out_later(tf, files_no_longer_than, tmp_path, caplog):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(summary(tf), 1)
    writer.flush()
    with files_no_longer_than(200):
        writer.add_summary(summary(tf, "long" * 1000), 2)
        for _ in range(3):
            writer.flush()                  # as with TensorFlow, whose training goes on
        assert re.findall("could not be written: .*events.out.tfevents", caplog.text) and len(caplog.records) == 1
        first, good = next(iter_of := tf.train.summary_iterator(str(files(tmp_path)[0]))), next(iter_of)
        assert first.file_version and good.step == 1            # what was flushed is whole
    writer.add_summary(summary(tf), 3)
    writer.close()
    assert steps(tf, tmp_path) == [1, 2, 3]


def test_a_full_disk_when_it_closes(tf, files_no_longer_than, tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(summary(tf), 1)
    writer.flush()
    before = threading.active_count()
    with files_no_longer_than(200):
        writer.add_summary(summary(tf, "long" * 1000), 2)
        writer.close()
    assert threading.active_count() == before - 1
    writer.close()


def test_a_full_device_is_resource_exhausted(tf):
    from jitgraph.summary.event_file import EventFile

    file = EventFile("unused")
    file._file, file._name = open("/dev/full", "wb", buffering=0), "/dev/full"      # noqa: SIM115
    file.write(b"event")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="/dev/full; No space left on device"):
        file.flush()
    file.drop()


def test_events_that_nobody_takes_do_not_fill_the_memory(tf, monkeypatch):
    from jitgraph.summary import event_file

    monkeypatch.setattr(event_file, "_REFUSED", 1 << 17)
    file = event_file.EventFile("unused")
    file._file, file._name = open("/dev/full", "wb", buffering=0), "/dev/full"      # noqa: SIM115
    refused = 0
    for _ in range(10):
        try:
            file.write(b"x" * (1 << 16))
        except tf.errors.ResourceExhaustedError:
            refused += 1
    assert refused == 2 and len(file._held) < 1 << 18
    file.drop()


def test_training_goes_on_while_the_disk_is_full(tf, files_no_longer_than, tmp_path):
    """What could not be written comes out when there is room again."""
    tf.summary.scalar("one", tf.constant(1.0))
    step = tf.train.get_or_create_global_step().assign_add(1)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_summaries_steps=1,
                                           save_checkpoint_secs=None) as session:
        session.run(step)
        with files_no_longer_than(1):
            for _ in range(3):
                session.run(step)
        assert session.run(step) == 5
    found = [event for event in events(tf, tmp_path) if event.HasField("summary")]
    assert [event.step for event in found if any(value.tag == "one" for value in event.summary.value)] == [1, 2, 3, 4, 5]


def test_a_file_that_cannot_be_made_is_said_in_the_log(tf, tmp_path, caplog):
    writer = tf.summary.FileWriter(str(tmp_path / "gone"))
    (tmp_path / "gone").rmdir()
    writer.add_summary(summary(tf), 1)
    writer.flush()
    writer.close()
    assert "file could not be opened" in caplog.text and not (tmp_path / "gone").exists()


def test_a_folder_that_cannot_be_made(tf, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Not a directory"):
        tf.summary.FileWriter(str(tmp_path / "file" / "x"))


def test_a_fork_writes_a_file_of_its_own(tf, tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(summary(tf), 1)
    writer.flush()
    writer.add_summary(summary(tf), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)     # of forks in programs with threads
        child = os.fork()
    if not child:
        try:
            writer.add_summary(summary(tf), 100)
            writer.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    writer.add_summary(summary(tf), 3)
    writer.close()
    assert sorted([e.step for e in tf.train.summary_iterator(str(path))] for path in files(tmp_path)) == [[0, 1, 2, 3], [0, 100]]


def test_the_cache_has_one_writer_for_each_folder(tf, tmp_path):
    cache = tf.summary.FileWriterCache
    first = cache.get(str(tmp_path))
    assert cache.get(str(tmp_path)) is first
    cache.clear()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        first.add_summary(summary(tf))
    assert cache.get(str(tmp_path)) is not first
    cache.clear()


def test_illegal_names_are_said_in_the_log(tf, caplog):
    with caplog.at_level("INFO", "tensorflow"):
        tf.summary.scalar("a b", 1.0)
    assert caplog.messages == ["Summary name a b is illegal; using a_b instead."]


def test_events_that_are_cut_off_are_an_error_after_those_before(tf, tmp_path):
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(summary(tf), 1)
    path, = files(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    found = tf.train.summary_iterator(str(path))
    assert next(found).file_version
    with pytest.raises(tf.errors.DataLossError):
        next(found)


@pytest.mark.parametrize("wrong, message", [
    (lambda tf: tf.summary.scalar("v", [1.0, 2.0]), r"not the same shape: \[\] != \[2\] \(tag 'v'\)"),
    (lambda tf: tf.summary.histogram("h", [1.0, float("nan")]), "Nan in summary histogram for: h"),
    (lambda tf: tf.summary.image("i", [[[1.0]]]), r"Tensor must be 4-D with last dim 1, 3, or 4, not \[1,1,1\]"),
    (lambda tf: tf.summary.audio("a", [1.0], 8000.0), r"Tensor must be 3-D or 2-D, got: \[1\]"),
    (lambda tf: tf.summary.merge([tf.summary.scalar("v", 1.0)] * 2), "Duplicate tag v found in summary inputs"),
])
def test_errors_of_a_run_say_what_tensorflow_says(tf, wrong, message):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(wrong(tf))


def test_an_adder_waits_while_as_many_as_may_wait_do(tf, tmp_path):
    from jitgraph.summary.event_writer import EventFileWriter

    writer = EventFileWriter(str(tmp_path), max_queue=2)
    slow, go, added = writer._line.file, threading.Event(), []
    write = slow.write
    slow.write = lambda event: go.wait(20) and write(event)

    def add():
        for step in range(6):
            writer.add_event(tf.Event(step=step))
            added.append(step)

    adder = threading.Thread(target=add)
    adder.start()
    adder.join(0.2)
    assert len(added) == 3          # one in the hands of the thread, two that wait
    go.set()
    adder.join(20)
    writer.close()
    assert steps(tf, tmp_path) == list(range(6))


def test_the_thread_may_collect_its_own_writer(tf, tmp_path):
    from jitgraph.summary.event_writer import EventFileWriter

    writers = [EventFileWriter(str(tmp_path))]
    thread, file = writers[0]._line.thread, writers[0]._line.file
    write, gone = file.write, threading.Event()

    def forget_and_write(event):
        gone.wait(20)
        writers.clear()             # the last reference: the finalizer runs here
        write(event)

    file.write = forget_and_write
    writers[0].add_event(tf.Event(step=7))
    gone.set()
    thread.join(20)
    assert not thread.is_alive() and steps(tf, tmp_path) == [7]
