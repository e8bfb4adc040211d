"""Programs of primitives for the tests of the CUDA target: built, fused and scheduled by the compiler's own passes, run by
the simulator, with a NumPy meaning to compare with."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from jitgraph.compiler import Options, compile, fuse, schedule, sizes, views
from jitgraph.compiler.builder import Builder
from jitgraph.compiler.emit import cpu_features, cuda, simt
from jitgraph.compiler.kernel import Kernel
from jitgraph.compiler.primitives.memory import INPUT, SIZE
from jitgraph.compiler.targets import CPU, CUDA
from jitgraph.declare import prim
from jitgraph.graph import dtypes


@pytest.fixture(autouse=True)
def guarded(guarded_memory):
    """In every test here an access out of bounds is seen."""


class Scheduled:
    """The kernels of `build(builder, *inputs)` for these arrays, and a memory of NumPy arrays to run them in."""

    def __init__(self, build: Callable, arrays):
        builder = Builder(tuning=CUDA.tuning)
        self.inputs = [builder.node(INPUT, [], [(a.shape, dtypes.as_dtype(a.dtype))], name=str(k)).out
                       for k, a in enumerate(arrays)]
        outputs = build(builder, *self.inputs)
        self.outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        program = SimpleNamespace(nodes=builder.nodes, outputs=self.outputs, options=Options(), target=CUDA)
        fuse.fuse(program)
        schedule.schedule(program)
        self.kernels = [cuda.emit(k) if isinstance(k, Kernel) else k.kind.kernel(k, CUDA.name, program.options)
                        for k in program.steps if isinstance(k, Kernel) or k.kind.kernels]
        self.memory = dict(zip(self.inputs, arrays))

    def buffer(self, value, writable: bool):
        """The array behind a value; variables begin as 1, what a kernel is still to fill as NaN or 77."""
        node = value.node
        key = value if node.variable is None else node.variable
        if key not in self.memory and node.kind.is_known:
            array = np.array([sizes.hint_of(d) for d in np.ravel(node.attrs["array"])]) \
                if node.kind is SIZE else node.attrs["array"]
            self.memory[key] = np.array(array, value.dtype.as_numpy_dtype).reshape(value.shape)
        elif key not in self.memory:
            empty = np.empty([sizes.hint_of(d) for d in value.shape], value.dtype.as_numpy_dtype)
            empty.fill(1 if key is not value else np.nan if empty.dtype.kind == "f" else 77)
            self.memory[key] = empty
        array = self.memory[key].view()
        array.flags.writeable = writable
        return array

    def words(self, kernel):
        """What the kernel's `sizes` argument holds."""
        def word(slot):
            if not isinstance(slot, tuple):
                return sizes.hint_of(slot)
            return int.from_bytes(self.buffer(slot[1], False).tobytes().ljust(8, b"\0"), "little", signed=True)
        return np.array([*map(word, kernel.sizes), 0], np.int64)

    def simulate(self, seed=None, grid=None, traffic=None) -> int:
        """Runs all kernels; returns the error bits.  `traffic`: of the last of them."""
        bits = 0
        for kernel in self.kernels:
            work = cuda.launch(kernel)
            blocks, threads = cuda.geometry(sizes.hint_of(work.blocks), sizes.hint_of(work.width), cuda.launch_bounds(kernel)[0])
            if grid:
                blocks, threads = grid[0], kernel.threads or grid[1]
            buffers = [self.buffer(v, p.use != "in") for v, p in zip(kernel.buffers, kernel.params)]
            bits |= simt.simulate(kernel.source, kernel.name, buffers, self.words(kernel), blocks, threads, seed,
                                  traffic if kernel is self.kernels[-1] else None)
        return bits

    def results(self) -> list:
        found = []
        for value in self.outputs:
            base, strides, offset = views.resolve(value)
            flat = np.ascontiguousarray(self.buffer(base, False)).reshape(-1)
            steps = [s * flat.itemsize for s in strides]
            found.append(np.lib.stride_tricks.as_strided(flat[offset:], value.shape, steps).copy())
        return found


@dataclass
class Program:
    """build(builder, *inputs), arrays() to run it on, reference(*arrays) -> list of results, the kinds of its kernels."""

    build: Callable
    arrays: Callable
    reference: Callable
    kinds: tuple

    def schedule(self):
        return Scheduled(self.build, self.arrays())


def _random(*shapes, dtype=np.float32):
    def make():
        rng = np.random.RandomState(7)
        return [np.asarray(rng.randn(*s), dtype) if np.dtype(dtype).kind == "f" else rng.randint(0, 9, s).astype(dtype)
                for s in shapes]
    return make


def _softmax(b, x, bias):
    x = x + bias
    e = prim.exp(x - b.reduce("max", x, [1], True))
    return e / b.reduce("add", e, [1], True)


def _softmax_reference(x, bias):
    z = np.exp((x + bias).astype(np.float64))
    return [z / z.sum(1, keepdims=True)]


def _cross_entropy(b, x, labels):
    d = x - b.reduce("max", x, [1], True)
    e = prim.exp(d)
    total = b.reduce("add", e, [1], True)
    hot = prim.eq(b.iota(x.shape, 1, dtypes.int32), b.reshape(labels, (labels.shape[0], 1)))
    loss = b.reduce("add", prim.select(hot, prim.log(total) - d, b.const(0.0, dtypes.float32)), [1])
    return loss, e / total - b.cast(hot, dtypes.float32)


def _cross_entropy_reference(x, labels):
    p = np.exp(x.astype(np.float64))
    p /= p.sum(1, keepdims=True)
    rows = np.arange(len(x))
    return [-np.log(p[rows, labels]), p - np.eye(x.shape[1])[labels]]


def _normalised(b, x):
    mean = b.reduce("add", x, [1], True) / 100.0
    variance = b.reduce("add", (x - mean) * (x - mean), [1], True) / 100.0
    return (x - mean) * prim.rsqrt(variance + 1e-5)


def _extremes(b, x):
    x = x * 2
    return b.reduce("argmax", x, [1]), b.reduce("argmin", x, [1])


def _any_and_all(b, x):
    x = x + 1.0
    return b.reduce("or", prim.gt(x, 2.0), [1]), b.reduce("and", prim.lt(x, 3.0), [1])


def _columns(b, x):
    x = x * x
    return b.reduce("add", x, [0]), b.reduce("max", x, [0]), x + 1.0


class Variable:
    """Stands for the operation of a variable, which is placed nowhere."""

    _device = ""

    def __init__(self, name):
        self.name = name


def _momentum(b, gradient):
    variables = Variable("v"), Variable("w")
    velocity, weight = (b.read(v, 0, gradient.shape, dtypes.float32) for v in variables)
    faster = b.write(variables[0], 1, velocity * 0.9 + gradient)
    return faster, b.write(variables[1], 1, weight - faster * 0.5)


PROGRAMS = {
    "elementwise": Program(lambda b, x: prim.sigmoid(x * 2.0 + 1.0) * prim.tanh(x) - prim.exp(-(x * x)), _random((100,)),
                           lambda x: [1 / (1 + np.exp(-2.0 * x - 1)) * np.tanh(x) - np.exp(-x * x)], ("map",)),
    "broadcast": Program(lambda b, x, y: x * y + 1.0, _random((3, 1, 5), (4, 1)), lambda x, y: [x * y + 1], ("map",)),
    "transposed": Program(lambda b, x: b.transpose(x, [2, 0, 1]) + 1.0, _random((3, 4, 5)),
                          lambda x: [x.transpose(2, 0, 1) + 1], ("map",)),
    "reversed": Program(lambda b, x: b.reverse(x, [0, 1]) * 2.0, _random((6, 7)), lambda x: [x[::-1, ::-1] * 2], ("map",)),
    "concatenated": Program(lambda b, x: b.concat([x, x * 2.0], 1), _random((6, 5)),
                            lambda x: [np.concatenate([x, x * 2], 1)], ("map", "map")),
    "gathered": Program(lambda b, x, i: b.gather(x, i, 0) * 2.0,
                        lambda: [*_random((9, 4))(), np.array([[8, 0, 3], [3, 1, 5]], np.int32)],
                        lambda x, i: [x[i] * 2], ("map",)),
    "divided": Program(lambda b, x, y: x // y + x % y * prim.trunc_div(x, y),
                       lambda: [np.arange(-50, 50, dtype=np.int32), np.arange(100, dtype=np.int32) % 7 + 1],
                       lambda x, y: [x // y + x % y * np.fix(x / y).astype(np.int32)], ("map",)),
    "softmax": Program(_softmax, _random((5, 70), (70,)), _softmax_reference, ("rows",)),
    "cross_entropy": Program(_cross_entropy, lambda: [*_random((6, 100))(), np.array([0, 99, 5, 5, 64, 31], np.int32)],
                             _cross_entropy_reference, ("rows",)),
    "normalised": Program(_normalised, _random((3, 100)),
                          lambda x: [(x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)], ("rows",)),
    "argmax": Program(_extremes, _random((4, 90), dtype=np.int32), lambda x: [x.argmax(1), x.argmin(1)], ("rows",)),
    "rows_of_two_axes": Program(lambda b, x: b.reduce("max", b.transpose(x, [1, 0, 2]), [0, 2]), _random((3, 4, 50)),
                                lambda x: [x.max((1, 2))], ("rows",)),
    "any": Program(_any_and_all, _random((5, 40)), lambda x: [(x > 1).any(1), (x < 2).all(1)], ("rows",)),
    "any_of_columns": Program(lambda b, x: b.reduce("or", prim.gt(x, 2.0), [0]), _random((40, 35)),
                              lambda x: [(x > 2).any(0)], ("cols",)),
    "columns": Program(_columns, _random((70, 45)),
                       lambda x: [(x.astype(np.float64) ** 2).sum(0), (x * x).max(0), x * x + 1], ("cols",)),
    "middle_axis": Program(lambda b, x: b.reduce("mul", x, [1]), _random((3, 5, 40)), lambda x: [x.prod(1)], ("cols",)),
    "total": Program(lambda b, x: b.reduce("add", x * x, [0, 1]), _random((50, 100)),
                     lambda x: [(x.astype(np.float64) ** 2).sum()], ("partial", "rows")),
    "momentum": Program(_momentum, _random((40,)), lambda g: [0.9 + g, 1 - (0.9 + g) * 0.5], ("map",)),
}


@pytest.fixture(params=list(PROGRAMS))
def program(request):
    """Each of the typical programs in turn."""
    return PROGRAMS[request.param]


@pytest.fixture
def programs():
    return PROGRAMS


@pytest.fixture
def scheduled():
    """scheduled(build, *arrays): the emitted kernels of a program of primitives, ready to be simulated."""
    return lambda build, *arrays: Scheduled(build, arrays)


@pytest.fixture
def tuned(monkeypatch):
    """tuned(parted=100): both targets choose as if these were their numbers."""
    def change(**numbers):
        for target in (CPU, CUDA):
            monkeypatch.setattr(target, "tuning", replace(target.tuning, **numbers), raising=True)

    return change


@pytest.fixture
def agree(tf):
    """agree(fetches, feeds, dtype): the reference and the kernels give the same but for rounding; returns the kernels' names."""
    def compare(fetches, feeds, dtype):
        fetches = fetches if isinstance(fetches, list) else [fetches]
        with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
            wanted, found = reference.run(fetches, feeds), session.run(fetches, feeds)
            names = [kernel.name for plan in session.plans for compiled in plan.compiled for kernel, _ in compiled.kernels]
        for a, b in zip(wanted, found):
            assert a.shape == b.shape and a.dtype == b.dtype
            scale = np.abs(a).max() if a.size else 1
            np.testing.assert_allclose(a, b, rtol=0, atol=(2e-5 if dtype == np.float32 else 1e-12) * scale)
        return names

    return compare


@pytest.fixture
def on_the_grid(tf, monkeypatch):
    """on_the_grid(fetches, feeds, dtype): the reference and the simulated grid give the same but for rounding, with no kernel on
    the host; returns the kernels that were launched, on two blocks, which have one item after the other."""
    def compare(fetches, feeds, dtype=np.float32):
        monkeypatch.setattr(cuda, "MAX_BLOCKS", 2)
        fetches = fetches if isinstance(fetches, list) else [fetches]
        with tf.Session(jit="off") as reference:
            reference.run(tf.global_variables_initializer())
            wanted = reference.run(fetches, feeds)
        monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            found = session.run(fetches, feeds)
            made = session.plans[-1].compiled
            assert {kernel.name for compiled in made for kernel, _ in compiled.kernels} == set()
            launched = [step.kernel for compiled in made for step in compiled.launches]
        for a, b in zip(wanted, found, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
            scale = np.abs(a).max() if a.size and a.dtype.kind == "f" else 1
            exact = a.dtype.kind != "f"
            np.testing.assert_allclose(b, a, rtol=0, atol=0 if exact else (2e-5 if dtype == np.float32 else 1e-12) * scale)
        return launched

    return compare


@pytest.fixture
def host_steps(tf):
    """host_steps(fetches, feeds): what of the program for these fetches, and feeds of these shapes, is no kernel."""
    def steps(fetches, feeds):
        program = compile(tf.get_default_graph(), fetches, feeds={fed: value.shape for fed, value in feeds.items()})
        return [step for step in program.layout.steps if not (isinstance(step, tuple) and isinstance(step[0], Kernel))]

    return steps


@pytest.fixture(params=[16, 32, None], ids=["16 bytes", "32 bytes", "this machine's"])
def narrow(request, monkeypatch):
    """Kernels written for vectors of so many bytes, and 16 registers of them; None: for this machine's."""
    if request.param is not None:
        monkeypatch.setattr(cpu_features, "vector_bytes", lambda: request.param)
        monkeypatch.setattr(cpu_features, "vector_registers", lambda: 16)
