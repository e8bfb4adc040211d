"""What the CUDA emitter writes: names that both meanings know, loops that threads share out, barriers that are all needed."""

import ast

import numpy as np
import pytest

import jitgraph as tf
from jitgraph import compiler
from jitgraph.compiler import sizes
from jitgraph.compiler.emit import cpu, cuda, cuda_intrinsics, cuda_rows, lane_names, lanes, simt, simt_names
from jitgraph.compiler.emit.simt import SimulationError
from jitgraph.compiler.kernel import Kernel
from jitgraph.declare import prim


@pytest.mark.parametrize("name", ["elementwise", "transposed", "softmax", "argmax", "columns", "total", "divided"])
def test_kernel_text(programs, golden, name):
    run = programs[name].schedule()
    golden(f"cuda_{name}.py.txt", "\n".join(kernel.source for kernel in run.kernels))


def free_names(source) -> set:
    tree = ast.parse(source)
    bound = {a.arg for a in tree.body[0].args.args}
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    bound |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return {n.id for n in names} - bound


def test_the_simulator_and_numba_know_every_name(program):
    pytest.importorskip("numba")
    threads = set(simt_names.namespace()) | set(simt.Grid("", 1, 32).names()) | simt_names.meetings()
    found = lanes.Lanes("", range(1), 1, 32, {}).names()
    known = threads & (set(lane_names.namespace()) | set(found))
    for kernel in program.schedule().kernels:
        names = free_names(kernel.source) - {"range"}
        assert names <= known
        assert names <= set(cuda_intrinsics.namespace())


def test_the_parameters_are_the_cpus_with_flags_for_the_range(program):
    for kernel in program.schedule().kernels:
        arguments = [a.arg for a in ast.parse(kernel.source).body[0].args.args]
        cpu.emit(kernel)
        assert arguments[:-1] == [a.arg for a in ast.parse(kernel.source).body[0].args.args][:-2]
        assert arguments[-2:] == ["sizes", "error"]


def test_only_kernels_that_can_fail_report(programs):
    for name, program in programs.items():
        sources = [k.source for k in program.schedule().kernels]
        assert any("report(error, err)" in s for s in sources) == (name in ("gathered", "divided"))


def test_neighbouring_threads_touch_neighbouring_elements(scheduled):
    run = scheduled(lambda b, x: b.transpose(x, [1, 0]) * 2.0, np.zeros((12, 50), np.float32))
    source = run.kernels[0].source
    assert "t1 = quotient(r, n1)" in source and "y0[i0 * n1 + i1] = " in source     # i1 runs fastest in the output


@pytest.mark.parametrize("name", ["softmax", "argmax", "any", "columns", "middle_axis", "total", "cross_entropy"])
def test_every_barrier_is_needed(programs, name, monkeypatch):
    monkeypatch.setattr(cuda_rows, "BY_WARP", cuda_rows.ALONE)       # so that short rows, too, have a block each
    run = programs[name].schedule()
    for kernel in run.kernels:
        if kernel.kind == "map":
            continue
        lines = kernel.source.splitlines()
        barriers = [k for k, line in enumerate(lines) if line.strip() == "barrier()"]
        assert barriers
        for k in barriers:
            kernel.source = "\n".join(lines[:k] + lines[k + 1:]) + "\n"
            if sizes.hint_of(cuda.launch(kernel).blocks) > 1:       # one block does them all, one after another
                with pytest.raises(SimulationError, match="race"):
                    run.simulate(grid=(1, 64))
        kernel.source = "\n".join(lines) + "\n"


def test_what_a_kernel_overwrites_is_loaded_only_by_who_has_an_item(scheduled):
    class Variable:
        name, _device = "v", ""

    def build(b, x):
        old = b.read(Variable, 0, (), x.dtype)
        return b.write(Variable, 1, old * b.reshape(x, ()))

    source = scheduled(build, np.ones(1, np.float32)).kernels[0].source
    loop = source.index("while")
    assert source.index("z0[0]") > loop         # in place: inside
    assert source.index("x0[0]") < loop         # read only: once, before


@pytest.mark.parametrize("blocks, width, expected", [
    (0, 0, (1, 32)), (1, 1, (1, 32)), (7, 128, (7, 32)), (7, 129, (7, 64)), (7, 1024, (7, 256)), (7, 10**9, (7, 512)),
    (10**9, 40, (cuda.MAX_BLOCKS, 32))])
def test_geometry(blocks, width, expected):
    assert cuda.geometry(blocks, width) == expected


def test_the_launch_of_each_kind(programs):
    def launched(name):
        work = cuda.launch(programs[name].schedule().kernels[0])
        return sizes.hint_of(work.blocks), sizes.hint_of(work.width)

    assert launched("elementwise") == (1, 1024)
    assert launched("softmax") == (2, 512)              # a block of 128 threads per four rows
    assert launched("columns") == (2, 1024)             # a block of 256 threads per 32 columns
    assert launched("total") == (64, 79)                # a block per 64th of 5000


def test_one_text_serves_every_batch_size():
    """Through the compiler itself: a training step, whose kernels depend on no particular batch size."""
    sources = []
    for batch in (6, 50):
        tf.reset_default_graph()
        x, labels = tf.placeholder(tf.float32, [None, 7]), tf.placeholder(tf.int32, [None])
        weight = tf.get_variable("w", [7], initializer=tf.ones_initializer())
        logits = x * weight
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        program = compiler.compile(tf.get_default_graph(), [loss], [train], {x: (batch, 7), labels: (batch,)},
                                   until="schedule")
        kernels = [k for k in program.steps if isinstance(k, Kernel)]
        assert {k.kind for k in kernels} >= {"map", "rows", "cols"}
        sources.append([cuda.emit(k).source for k in kernels])
    assert sources[0] == sources[1]


def test_an_integer_that_is_wider_than_its_type_is_wrapped(scheduled):
    x = np.array([100, -100], np.int8)
    run = scheduled(lambda b, x: (x + x, x * x, prim.shift_left(x, 1)), x)
    run.simulate()
    assert [r.tolist() for r in run.results()] == [[-56, 56], [16, 16], [-56, 56]]


def test_four_neighbours_come_and_go_together(scheduled):
    """Where their number is a multiple of four at every run, and they lie together in every buffer."""
    x, row = np.arange(36, dtype=np.float32).reshape(3, 12), np.arange(12, dtype=np.float32)
    run = scheduled(lambda b, x, row: x * row + 1.0, x, row)
    (kernel,) = run.kernels
    assert cuda.neighbours(kernel) == 4
    assert cuda.neighbours(kernel) == 4
    assert [kernel.source.count(text) for text in ("_four, 0, x0, ", "_four, 0, x1, ", "copy4(y0, ")] == [1, 1, 1]
    assert sizes.hint_of(cuda.launch(kernel).blocks) == 1
    for order in ({"seed": 1}, {"grid": (1, 32)}):
        assert run.simulate(**order) == 0
        np.testing.assert_array_equal(run.results()[0], x * row + 1)


@pytest.mark.parametrize("build, shape, dtype", [
    (lambda b, x: x * 2, (3, 6), np.float32),                                # 18 are no multiple of four
    (lambda b, x: b.transpose(x, [1, 0]) * 2, (4, 8), np.float32),           # neighbours lie apart
    (lambda b, x: b.slice(x, (0, 1), (4, 8)) * 2, (4, 12), np.float32),      # the first begins in the middle
    (lambda b, x: x * 2, (4, 8), np.uint8)])                                 # four are no 16 bytes
def test_otherwise_each_comes_alone(scheduled, build, shape, dtype):
    kernels = scheduled(build, np.ones(shape, dtype)).kernels
    assert all(cuda.neighbours(kernel) == 1 for kernel in kernels)


def test_like_kernels_that_look_at_what_cannot_fail_are_one_launch(tf, monkeypatch):
    """Means of integers are divided by a count, which the text looks at: it is never 0."""
    from jitgraph.compiler.emit import cuda_compile

    given = {tf.placeholder(tf.int32, [None, 3]): np.arange(15 * k, 15 * k + 15).reshape(5, 3) for k in range(3)}
    means = [tf.reduce_mean(x, 1) for x in given]
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    with tf.Session(jit="always") as session:
        found = session.run(means, given)
        (kernel,) = [step.kernel for step in session.plans[-1].compiled[0].launches]
    assert len(kernel.batch) == 3
    for one, value in zip(found, given.values(), strict=True):
        assert one.tolist() == (value.sum(1) // 3).tolist()
    if cuda_compile.missing() is None:
        assert cuda_compile.compile_kernel(kernel).spilled == 0
