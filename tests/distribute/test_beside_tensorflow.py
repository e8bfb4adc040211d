"""Strategies, devices, specs and libraries are in TensorFlow what they are here: names, values, errors."""
from pathlib import Path

import pytest

from ..recorded import check, texts

HERE = Path(__file__).parent


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    check(tf, HERE, program)


def test_resources_are_beside_the_source(tf):
    assert tf.resource_loader.get_path_to_datafile("data/x.json") == str(HERE / "data" / "x.json")
    assert tf.resource_loader.get_data_files_path() == str(HERE)


def test_a_library_says_what_to_do_instead(tf, tmp_path):
    library = tmp_path / "ops.so"
    library.write_bytes(b"\x7fELF")
    for load in (lambda: tf.load_op_library(str(library)), lambda: tf.load_library(str(tmp_path))):
        with pytest.raises(tf.errors.NotFoundError, match="declare the op in Python with jitgraph.declare.op"):
            load()


def test_several_devices_are_refused(tf):
    with pytest.raises(tf.errors.UnimplementedError, match="MirroredStrategy on 2 devices"):
        tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])


def test_a_local_cluster_has_servers(tf):
    workers, servers = tf.test.create_local_cluster(1, 1)
    assert len(workers) == len(servers) == 1 and workers[0].target.startswith("grpc://")
