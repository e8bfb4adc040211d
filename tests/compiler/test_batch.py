"""Launches of one kernel that need nothing of each other are one launch, which finds buffers and sizes in a table."""

import re

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, Options, compile
from jitgraph.compiler import batch as batching
from jitgraph.compiler.emit import cuda_compile
from jitgraph.compiler.place import DeviceStep
from jitgraph.compiler.verify import VerifyError, verify
from jitgraph.runtime.cuda import machine
from jitgraph.runtime.cuda.fake import FakeDriver
from jitgraph.runtime.cuda.machine import Machine

SHAPES = [(4, 8), (20,), (3, 1, 4), (2, 2, 2, 2)]      # one loop of a multiple of four each
OPTIMIZERS = {"sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1), "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
              "adam": lambda tf: tf.train.AdamOptimizer(0.1), "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1),
              "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1), "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1)}


def launched(tf, fetches, targets=(), feeds=None, **options):
    """(for each launch how many kernels it does the work of, their names) of a plan for CUDA."""
    program = compile(tf.get_default_graph(), fetches, targets, feeds or {}, target=TARGETS["cuda"], options=Options(**options))
    kernels = [step.kernel for step in program.layout.steps if isinstance(step, DeviceStep)]
    return [max(len(kernel.batch), 1) for kernel in kernels], kernels


def updates(tf, name, shapes=SHAPES):
    """(training step, {placeholder: gradient}, variables)."""
    variables = [tf.get_variable(f"v{k}", shape, initializer=tf.ones_initializer()) for k, shape in enumerate(shapes)]
    gradients = [tf.placeholder(tf.float32, shape) for shape in shapes]
    feeds = {g: np.random.RandomState(k).standard_normal(shape) for k, (g, shape) in enumerate(zip(gradients, shapes))}
    return OPTIMIZERS[name](tf).apply_gradients(list(zip(gradients, variables))), feeds, variables


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_updates_all_variables_in_one_launch(tf, name):
    step, feeds, _ = updates(tf, name)
    counts, _ = launched(tf, [], [step], {fed: value.shape for fed, value in feeds.items()})
    assert counts.count(len(SHAPES)) == 1


@pytest.mark.parametrize("name", ["momentum", "adam"])
def test_updates_in_one_launch_are_those_of_the_cpu(tf, monkeypatch, name):
    step, feeds, variables = updates(tf, name)
    found = []
    for target in ("cpu", "cuda-simulator"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        if target != "cpu":
            monkeypatch.setitem(machine._MACHINES, 1, Machine(FakeDriver(seed=3)))
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):          # by launches, as a graph is made, by the graph
                session.run(step, feeds)
            found.append(session.run(tf.global_variables()))
    for here, there in zip(*found, strict=True):
        np.testing.assert_array_equal(here, there)
    assert all((value != 1).any() for value in found[0][:len(variables)])


def test_thirty_variables_of_any_length_take_two_launches(tf):
    """One of texts that move four elements at once, one of those that cannot."""
    step, feeds, _ = updates(tf, "momentum", [(k + 2,) for k in range(30)])
    counts, _ = launched(tf, [], [step], {fed: value.shape for fed, value in feeds.items()})
    assert sorted(counts) == [7, 23]


def test_sums_of_several_tensors_are_one_launch(tf):
    parts = [tf.placeholder(tf.float32, [2000 * (k + 1)]) for k in range(5)]
    counts, kernels = launched(tf, [tf.nn.l2_loss(x) for x in parts], feeds={x: (2000 * (k + 1),) for k, x in enumerate(parts)})
    assert counts[0] == 5 and kernels[0].kind == "partial"


def test_what_one_launch_needs_of_another_stays_behind_it(tf, monkeypatch):
    x, w = tf.placeholder(tf.float32, [8, 8]), tf.placeholder(tf.float32, [8, 8])
    h, others = x, []
    for k in range(3):
        h = tf.matmul(tf.nn.relu(h), w)         # the same text three times, one after the other
        others.append(tf.nn.relu(x[k:] * 1.0 + h[k:]))
    feeds = {x: np.random.RandomState(0).standard_normal((8, 8)), w: np.random.RandomState(1).standard_normal((8, 8))}
    counts, kernels = launched(tf, [h, *others], feeds={x: (8, 8), w: (8, 8)})
    names = [kernel.name for kernel in kernels]
    assert sum(name.startswith("map_max") for name in names) == 3 and max(counts) == 2
    found = []
    for target in ("cpu", "cuda-simulator"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with tf.Session(jit="always") as session:
            found.append(session.run([h, *others], feeds))
    for here, there in zip(*found, strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-4, atol=1e-4)


def test_a_variable_is_read_before_it_changes(tf, monkeypatch):
    """Both values are copies of one text; the second is one of what the update left."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    v, w = tf.Variable(tf.ones([8])), tf.Variable(tf.ones([8]) * 5.0)
    before = v.read_value() * 2.0
    with tf.control_dependencies([before]):
        changed = tf.assign_add(v, tf.ones([8]))
    with tf.control_dependencies([changed]):
        after, other = v.read_value() * 2.0, w.read_value() * 2.0
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        for k in range(3):
            assert [a[0] for a in session.run([before, after, other])] == [2 + 2 * k, 4 + 2 * k, 10]


def test_what_may_fail_and_what_fills_a_device_stay_alone(tf):
    x, i = tf.placeholder(tf.float32, [8]), [tf.placeholder(tf.int32, [k + 2]) for k in range(2)]
    counts, _ = launched(tf, [tf.gather(x, k) for k in i], feeds={x: (8,), i[0]: (2,), i[1]: (3,)})
    assert counts == [1, 1]
    large = [tf.placeholder(tf.float32, [2048, 2044 + 4 * k]) for k in range(2)]
    assert launched(tf, [tf.sqrt(a) for a in large], feeds={a: tuple(a.shape.as_list()) for a in large})[0] == [2]
    larger = [tf.placeholder(tf.float32, [4096, 2048 + 4 * k]) for k in range(2)]
    assert launched(tf, [tf.sqrt(a) for a in larger], feeds={a: tuple(a.shape.as_list()) for a in larger})[0] == [1, 1]


def test_it_can_be_done_without(tf):
    step, feeds, _ = updates(tf, "momentum")
    shapes = {fed: value.shape for fed, value in feeds.items()}
    assert launched(tf, [], [step], shapes, off=frozenset(["batched_launches"]))[0] == [1] * len(SHAPES)


def test_verify_finds_kernels_that_touch_each_others_buffers(tf):
    x, y = tf.placeholder(tf.float32, [8]), tf.placeholder(tf.float32, [12])
    program = compile(tf.get_default_graph(), [tf.sqrt(x), tf.sqrt(y)], feeds={x: (8,), y: (12,)}, target=TARGETS["cuda"])
    (step,) = [step for step in program.layout.steps if isinstance(step, DeviceStep)]
    verify(program, "batch")
    step.slots[2] = step.slots[1]
    with pytest.raises(VerifyError, match="one writes what another touches"):
        verify(program, "batch")


def test_buffers_found_in_a_table_are_checked():
    """The simulator knows them as it knows those that a kernel gets."""
    from jitgraph.compiler.emit.simt import SimulationError, simulate

    source = "def f(table, error):\n    x0 = pointer_f32(table, 1)\n    x0[thread_index()] = 1.0\n"
    room = np.zeros(32, np.float32)
    assert simulate(source, "f", [], np.array([0, 512]), 1, 32, reached={512: room}) == 0 and room.all()
    with pytest.raises(SimulationError, match="element 16 of buffer 0, which has 16"):
        simulate(source, "f", [], np.array([0, 512]), 1, 32, reached={512: room[:16]})
    with pytest.raises(SimulationError, match="the address of no buffer of float32"):
        simulate(source, "f", [], np.array([0, 513]), 1, 32, reached={512: room})


@pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
@pytest.mark.parametrize("capability", [(8, 0), (9, 0)], ids=["sm_80", "sm_90"])
def test_object_code(tf, capability):
    """Addresses from a table are known to be those of global memory; four elements move at once."""
    step, feeds, _ = updates(tf, "momentum")
    _, kernels = launched(tf, [], [step], {fed: value.shape for fed, value in feeds.items()})
    made = cuda_compile.compile_kernel(next(kernel for kernel in kernels if kernel.batch), capability)
    assert made.spilled == made.stack == 0 and made.registers <= 64
    assert {"ld.global.v4.f32", "st.global.v4.f32"} <= set(re.findall(r"(?:ld|st)\.[\w.]+", made.ptx))
    assert not re.search(r"\b(ld|st)\.(v4|f32)|\.local", made.ptx)


def norms(tf, sizes=((8, 16), (16,), (16, 4), (40,), (7,), (3, 3, 2, 5))):
    parts = [tf.placeholder(tf.float32, shape) for shape in sizes]
    return tf.global_norm(parts), {x: np.random.RandomState(k).standard_normal(x.shape) for k, x in enumerate(parts)}


def test_parts_of_one_buffer_are_stored_by_one_launch(tf):
    """The squares of each gradient are added up to a place of its own in a vector: that of the first has no offset."""
    norm, feeds = norms(tf)
    counts, _ = launched(tf, [norm], feeds={x: value.shape for x, value in feeds.items()})
    assert len(counts) <= 5 and len(feeds) - 1 in counts


@pytest.mark.parametrize("seed", [None, 5])
def test_parts_stored_by_one_launch_are_those_of_the_cpu(tf, monkeypatch, seed):
    norm, feeds = norms(tf)
    x, y = tf.placeholder(tf.float32, [8]), tf.placeholder(tf.float32, [3, 4])
    joined = tf.concat([tf.sqrt(x), tf.sqrt(x * 2.0 + 1.0), tf.sqrt(x)], 0)          # three parts, two of them of one text
    columns = tf.concat([tf.sqrt(y), tf.sqrt(y + 1.0), tf.sqrt(y)], 1)               # whose rows lie between each other's
    feeds |= {x: np.arange(8.0), y: np.arange(12.0).reshape(3, 4)}
    found = []
    for target in ("cpu", "cuda-simulator"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        if target != "cpu":
            monkeypatch.setitem(machine._MACHINES, 1, Machine(FakeDriver(seed=seed)))
        with tf.Session(jit="always") as session:
            found += [session.run([norm, joined, columns], feeds) for _ in range(2)]
    for other in found[1:]:
        for here, there in zip(found[0], other, strict=True):
            np.testing.assert_allclose(here, there, rtol=1e-6)


def test_a_part_that_is_stored_again_waits(monkeypatch):
    monkeypatch.setattr(batching, "_key", lambda step: "one text")

    def joined(*uses):
        """What becomes of steps of one text, each of which (reads, writes) these."""
        steps = [object() for _ in uses]
        return batching._joined(steps, lambda step: uses[steps.index(step)])

    parts = [([], [(0, range(4 * k, 4 * k + 4))]) for k in range(3)]
    assert joined(*parts) == [[0, 1, 2]]
    assert joined(*parts, ([0], [(1, None)])) == [[0, 1, 2], [3]]                   # who reads it waits for all
    assert joined(*parts, ([], [(0, range(3, 5))])) == [[0, 1, 2], [3]]
    assert joined(parts[0], ([], [(0, None)]), parts[1]) == [[0], [1], [2]]         # one that may be anywhere
    assert joined(parts[0], ([0], [(1, None)]), parts[1]) == [[0], [1], [2]]        # behind who has read what was there
