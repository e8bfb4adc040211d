"""tf.contrib.summary: what its nodes write when they are run, and FileWriter(session=), which uses them."""
import pytest


def files(folder):
    return sorted(folder.glob("events.out.tfevents.*"))


def events(tf, folder):
    return [event for path in files(folder) for event in tf.train.summary_iterator(str(path)) if not event.file_version]


def test_each_kind_is_written(tf, tmp_path):
    S = tf.contrib.summary
    step = tf.train.get_or_create_global_step()
    with S.create_file_writer(str(tmp_path)).as_default(), S.always_record_summaries():
        S.scalar("loss", 2.5)
        S.histogram("h", [1.0, 2.0], family="fam")
        S.image("pic", tf.zeros([2, 3, 4, 1]), max_images=1)
        S.audio("snd", tf.zeros([1, 5, 2]), 8000, max_outputs=1)
        S.generic("any", [[1, 2]], tf.SummaryMetadata(display_name="shown"), step=7)
        with tf.Session() as session:
            session.run(step.initializer)
            S.initialize(graph=tf.get_default_graph())
            session.run(tf.assign(step, 3))
            assert session.run(S.all_summary_ops()) == [True] * 5
            session.run(S.flush())
    graph, *found = events(tf, tmp_path)
    assert "loss" in [node.name for node in tf.GraphDef.FromString(graph.graph_def).node]
    values = {event.summary.value[0].tag: (event.step, event.summary.value[0]) for event in found}
    assert sorted(values) == ["any", "fam/fam/h", "loss", "pic/image", "snd/audio"]
    assert [values[tag][0] for tag in sorted(values)] == [7, 3, 3, 3, 3]
    assert values["loss"][1].simple_value == 2.5 and values["fam/fam/h"][1].histo.sum == 3.0
    assert values["any"][1].metadata.display_name == "shown" and values["any"][1].tensor.tensor_shape.dim[1].size == 2
    assert files(tmp_path)[0].name.endswith(".v2")


def test_every_few_steps(tf, tmp_path):
    S = tf.contrib.summary
    with S.create_file_writer(str(tmp_path), filename_suffix=".own").as_default():
        with S.record_summaries_every_n_global_steps(3), tf.name_scope("net"):
            first, second = S.scalar("x", 1.0), S.scalar("x", 2.0)
        step = tf.train.get_global_step()
        further = tf.assign_add(step, 1)
        with tf.Session() as session:
            session.run(step.initializer)
            session.run(S.summary_writer_initializer_op())
            recorded = []
            for _ in range(5):
                recorded.append(session.run(first))
                session.run(further)
            session.run(second)
            session.run(S.flush())
    assert recorded == [True, False, False, True, False]
    found = [(e.step, e.summary.value[0].tag) for e in events(tf, tmp_path)]
    assert found == [(0, "net/x"), (3, "net/x")] and second.op.graph is first.op.graph
    assert files(tmp_path)[0].name.endswith(".own")


@pytest.mark.parametrize("use_resource", [False, True])
def test_the_step_is_a_variable(tf, tmp_path, use_resource):
    S = tf.contrib.summary
    step = tf.get_variable("step", initializer=tf.constant(7, tf.int64), trainable=False, use_resource=use_resource)
    with S.create_file_writer(str(tmp_path)).as_default(), S.always_record_summaries():
        made = [S.scalar("x", 1.0, step=step), S.histogram("h", [1.0], step=step)]
        with tf.Session() as session:
            session.run(step.initializer)
            session.run(S.summary_writer_initializer_op())
            session.run(made)
            session.run(S.flush())
    assert sorted((e.step, e.summary.value[0].tag) for e in events(tf, tmp_path)) == [(7, "h"), (7, "x")]


def test_names_under_a_condition_are_unique(tf, tmp_path):
    S = tf.contrib.summary
    with S.create_file_writer(str(tmp_path)).as_default(), S.record_summaries_every_n_global_steps(1):
        both = [S.scalar("x", 1.0), S.scalar("x", 2.0)]
        with tf.Session() as session:
            session.run([tf.train.get_global_step().initializer, *S.summary_writer_initializer_op()])
            session.run(both)
            session.run(S.flush())
    assert sorted(event.summary.value[0].tag for event in events(tf, tmp_path)) == ["x", "x_1"]


def test_a_writer_must_be_opened(tf, tmp_path):
    S = tf.contrib.summary
    writer = S.create_file_writer(str(tmp_path))
    with writer.as_default(), S.always_record_summaries(), tf.Session() as session:
        summary = S.scalar("x", 1.0, step=0)
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            session.run(summary)
        session.run(writer.init())
        session.run(summary)
        session.run(writer.close())
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            session.run(summary)
        session.run(writer.init())
        session.run(summary)
        session.run(writer.flush())
    assert len(files(tmp_path)) == 2 and len(events(tf, tmp_path)) == 2


def test_no_folder_no_summaries(tf):
    S = tf.contrib.summary
    with S.create_file_writer(None).as_default(), S.always_record_summaries():
        assert S.scalar("x", 1.0).type == "NoOp" and S.all_summary_ops() == []


def test_a_file_writer_with_a_session(tf, tmp_path):
    with tf.Session() as session:
        writer = tf.summary.FileWriter(str(tmp_path), session=session)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=2)]), 4)
        writer.flush()
        assert [event.step for event in events(tf, tmp_path)] == [4]
        writer.close()
        writer.reopen()
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP), 8)
        writer.close()
    assert [event.step for event in events(tf, tmp_path)] == [4, 8] and len(files(tmp_path)) == 2
    assert [op.name for op in tf.get_default_graph().get_operations() if op.type == "ImportEvent"] == ["filewriter/ImportEvent"]


def test_settings_of_the_projector(tf, tmp_path):
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add(tensor_name="words", metadata_path="words.tsv")
    embedding.sprite.image_path = "sprite.png"
    embedding.sprite.single_image_dim.extend([28, 28])
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        projector.visualize_embeddings(writer, config)
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "words"\n  metadata_path: "words.tsv"\n  sprite {\n    image_path: "sprite.png"\n'
        "    single_image_dim: 28\n    single_image_dim: 28\n  }\n}\n")


def test_training_and_queues_make_their_summaries(tf):
    """They did without them as long as there were none."""
    from jitgraph.datasets import mnist_network

    mnist_network.training(tf.Variable([1.0])[0], 0.1)
    tf.train.string_input_producer(["a", "b"])
    tf.train.batch([1.0], 2, name="small")
    tf.train.shuffle_batch([1.0], 2, 10, 5, name="mixed")
    assert [summary.op.name for summary in tf.get_collection("summaries")] == [
        "loss", "input_producer/fraction_of_32_full", "small/fraction_of_32_full", "mixed/fraction_over_5_of_5_full"]
