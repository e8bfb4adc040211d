"""Kernels for CUDA, run by the simulator: right at every size, dtype and grid; and the simulator finds what is wrong."""

import functools
import subprocess
import sys

import numpy as np
import pytest

from jitgraph.compiler import elementary, machine
from jitgraph.compiler.emit import cpu, cuda_rows, lanes, native, scalars, simt
from jitgraph.compiler.emit.simt import SimulationError, simulate
from jitgraph.compiler.kernel import CHECK_DIVISION, CHECK_INDEX, CHECK_POWER, CODES
from jitgraph.declare import prim

SIZES = [0, 1, 31, 33, 1023, 1025]
DTYPES = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_]
GRIDS = [(1, 32), (3, 64), (2, 512)]


def data(shape, dtype, seed=0):
    rng = np.random.RandomState(seed)
    if np.dtype(dtype).kind == "f":
        return (rng.randn(*shape) * 3).astype(dtype)
    return rng.randint(0 if np.dtype(dtype).kind in "ub" else -100, 2 if dtype == np.bool_ else 100, shape).astype(dtype)


def check(run, expected, **order):
    assert run.simulate(**order) == 0
    for got, want in zip(run.results(), expected):
        want = np.asarray(want)
        assert got.shape == want.shape
        if got.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=1e-5 if got.dtype == np.float32 else 1e-12, atol=1e-6)
        else:
            np.testing.assert_array_equal(got, want)


def test_program(program):
    run = program.schedule()
    assert tuple(k.kind for k in run.kernels) == program.kinds
    check(run, program.reference(*program.arrays()))


@pytest.mark.parametrize("grid", GRIDS)
def test_any_grid_gives_the_right_values(program, grid, monkeypatch):
    monkeypatch.setattr(cuda_rows, "LONGEST", 0)        # rows whose length only a run tells are all gone through in loops
    check(program.schedule(), program.reference(*program.arrays()), grid=grid)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_threads_changes_no_bit(program, seed):
    runs = [program.schedule() for _ in range(2)]
    assert runs[0].simulate(seed=None) == runs[1].simulate(seed=seed) == 0
    for a, b in zip(runs[0].results(), runs[1].results()):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_elementwise(scheduled, n, dtype):
    x, y = data((n,), dtype), data((n,), dtype, 1)
    if dtype == np.bool_:
        run, want = scheduled(lambda b, x, y: prim.logical_or(x, prim.logical_not(y)), x, y), x | ~y
    else:
        run, want = scheduled(lambda b, x, y: prim.max(x, y) * x - y, x, y), np.maximum(x, y) * x - y
    assert run.simulate() == 0
    assert run.results()[0].dtype == dtype
    np.testing.assert_array_equal(run.results()[0], want)      # bit for bit: no operation is joined with another


NUMPY = {"add": "sum", "max": "max", "min": "min", "argmax": "argmax", "and": "all", "or": "any"}


def exact(name, x) -> dict:
    """Sums of floats are carried in float64, those of integers wrap in their type."""
    return {"dtype": np.float64 if x.dtype.kind == "f" else x.dtype} if name == "add" else {}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_reductions_of_rows_and_columns(scheduled, n, dtype):
    for shape, axis in (((3, n), 1), ((n, 3), 0), ((n, 40), 0)):
        x = data(shape, dtype)

        def reduced(*names):
            check(scheduled(lambda b, x: [b.reduce(name, x, [axis]) for name in names], x),  # noqa: B023
                  [getattr(np, NUMPY[name])(x, axis, **exact(name, x)) for name in names])  # noqa: B023

        if dtype == np.bool_:
            reduced("and", "or")
            continue
        reduced("add")
        if n:
            reduced("max", "min")
            reduced("argmax")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("n", SIZES)
def test_full_sums(scheduled, n, dtype):
    x = data((n,), dtype)
    check(scheduled(lambda b, x: b.reduce("add", x, [0]), x), [x.sum(dtype=np.float64 if dtype != np.int64 else dtype)])


@pytest.mark.parametrize("n", SIZES[1:])
def test_softmax_rows(scheduled, programs, n):
    softmax = programs["softmax"]
    arrays = [data((2, n), np.float32), data((n,), np.float32, 1)]
    check(scheduled(softmax.build, *arrays), softmax.reference(*arrays))


def test_sums_of_float32_are_exact_to_the_last_place(scheduled):
    x = np.full((2, 1025), 0.1, np.float32)
    run = scheduled(lambda b, x: b.reduce("add", x, [1]), x)
    run.simulate()
    assert run.results()[0].tolist() == x.sum(1, dtype=np.float64).astype(np.float32).tolist()


def test_maxima_leave_nan_out_and_of_equal_places_the_first_wins(scheduled):
    x = np.zeros((3, 200), np.float32)
    x[1, :78] = np.nan
    x[2, [40, 150]] = 1
    run = scheduled(lambda b, x: (b.reduce("max", x, [1]), b.reduce("argmax", x, [1])), x)
    run.simulate()
    largest, place = run.results()
    assert largest.tolist() == [0, 0, 1]
    assert place.tolist() == [0, 78, 40]


def test_variables_are_updated_in_place(programs):
    run = programs["momentum"].schedule()
    gradient = run.memory[run.inputs[0]]
    variables = [v.node.attrs["variable"] for v in run.outputs]
    assert [p.use for p in run.kernels[0].params].count("inout") == 2
    run.simulate()
    run.simulate()
    first = np.float32(0.9) + gradient
    second = first * np.float32(0.9) + gradient
    np.testing.assert_array_equal(run.memory[variables[0]], second)
    np.testing.assert_array_equal(run.memory[variables[1]], 1 - first * np.float32(0.5) - second * np.float32(0.5))


class Variable:
    name, _device = "v", ""


def test_a_row_is_written_in_place_only_when_all_have_read_it(scheduled):
    variable = Variable()

    def build(b, x):
        old = b.read(variable, 0, (x.shape[0],), x.dtype)
        column = b.reshape(old, (x.shape[0], 1))
        return b.write(variable, 1, old + b.reduce("add", x * column, [1]))

    x = data((3, 100), np.float32)
    run = scheduled(build, x)
    run.memory[variable] = np.array([1, 2, 3], np.float32)
    assert run.kernels[0].kind == "rows" and run.simulate(seed=1) == 0
    want = np.array([1, 2, 3]) * (1 + x.astype(np.float64).sum(1))
    np.testing.assert_allclose(run.memory[variable], want, rtol=1e-6)


LOGICAL = {"logical_and", "logical_or", "logical_not"}
INTEGER = {"bit_not", "bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"}


def applies(rule, code) -> bool:
    """Whether the language has this primitive for the dtype, and kernels compute it."""
    if rule.arity > 2 or rule.name in ("cast", "complex", "imag") or not scalars.supported(rule.name, code):
        return False
    if code == "b1":
        return rule.name in LOGICAL | {"eq", "ne"}
    return rule.name not in LOGICAL | (INTEGER if code[0] == "f" else {"div"})


@pytest.mark.parametrize("dtype", [*DTYPES, np.int8, np.uint64])
def test_every_primitive_means_what_numpy_says(scheduled, dtype):
    code = CODES[np.dtype(dtype).name]
    x, y = data((40,), dtype), data((40,), dtype, 1)
    y[y == 0] = 1
    rules = [rule for rule in prim.PRIMS.values() if applies(rule, code)]
    assert len(rules) >= (5 if code == "b1" else 20)
    for rule in rules:
        second = np.abs(y) % 7 if code[0] in "iu" and rule.name in ("shift_left", "shift_right", "pow") else y
        arguments = [x, second.astype(dtype)][:rule.arity]
        run = scheduled(lambda b, *args: getattr(prim, rule.name)(*args), *arguments)  # noqa: B023
        assert run.simulate() == 0, rule.name
        with np.errstate(all="ignore"):
            want = rule.numpy(*arguments)
        np.testing.assert_allclose(run.results()[0], want, rtol=3e-6 if dtype == np.float32 else 1e-11, atol=1e-6,
                                   err_msg=rule.name)


@pytest.mark.parametrize("name", ["exp", "tanh", "sin", "log1p"])
def test_elementary_functions_have_the_bits_of_the_reference_machine(scheduled, name):
    x = data((100,), np.float32)
    run = scheduled(lambda b, x: getattr(prim, name)(x), x)
    run.simulate()
    assert run.results()[0].tobytes() == machine.evaluate(elementary.FUNCTIONS[name], x).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_targets_give_the_same_bits(scheduled, dtype):
    x, y = data((1000,), dtype), data((1000,), dtype, 1)

    def build(b, x, y):
        return prim.sigmoid(x * 2.0 + y) * prim.tanh(y) - prim.erf(x) / (prim.exp(-(x * y)) + 1.0)

    run = scheduled(build, x, y)
    run.simulate()
    assert run.results()[0].tobytes() == by_cpu(scheduled(build, x, y)).tobytes()


def by_cpu(run):
    """The result of the one kernel of a program, compiled for this machine's CPU."""
    pytest.importorskip("numba")
    import ctypes

    import llvmlite.binding as llvm

    if not llvm.get_host_cpu_features().get("fma", True):
        pytest.skip("this CPU has no fused multiply-add, so its elementary functions round twice where a GPU rounds once")
    kernel = cpu.emit(run.kernels[0])
    code = native.compile_function(kernel.source, kernel.name, native.memory_codes(kernel), "kernel", forms=kernel.forms)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), native.target_machine(jit=True, codemodel="large"))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    entry = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(engine.get_function_address("kernel"))
    buffers = np.array([run.buffer(v, True).ctypes.data for v in kernel.buffers], np.int64)
    words = run.words(kernel)
    assert entry(buffers.ctypes.data, words.ctypes.data, 0, int(kernel.items)) == 0
    return run.results()[0]


def test_failed_checks_are_reported_and_nothing_is_read_outside(scheduled):
    x, y = np.arange(6, dtype=np.int32), np.array([1, 2, 0, 4, 5, 6], np.int32)
    assert scheduled(lambda b, x, y: x // y, x, y).simulate() == CHECK_DIVISION
    assert scheduled(lambda b, x, y: x ** (y - 2), x, y).simulate() == CHECK_POWER
    for index in (-1, 6):
        run = scheduled(lambda b, x, i: b.gather(x, i, 0), x, np.array([0, index, 2], np.int32))
        assert run.simulate() == CHECK_INDEX


# what the simulator finds -------------------------------------------------------------------------------------------
HEAD = "def k(x0, y0, sizes, error):\n    thread = thread_index()\n"


@pytest.fixture(params=[simulate, lanes.simulate], ids=["threads", "lanes"])
def simulated(request):
    """simulated(body): what a kernel of these lines does, by either simulator."""
    return functools.partial(_simulated, request.param)


def _simulated(simulate, body, buffers=None, blocks=1, threads=64):
    x, y = buffers or (np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
    x = x.copy()
    x.flags.writeable = False
    source = HEAD + "".join(f"    {line}\n" for line in body.split("\n"))
    return simulate(source, "k", [x, y], np.zeros(1, np.int64), blocks, threads), y


REVERSED = "part = shared_f32(64)\npart[thread] = x0[thread]\n{}\ny0[thread] = part[63 - thread]"


def test_shared_memory_is_shared(simulated):
    assert simulated(REVERSED.format("barrier()"))[1].tolist() == list(range(63, -1, -1))


WRONG = {
    "reads element 64 of buffer 0, which has 64": "y0[thread] = x0[thread + 1]",
    "reads element -1 of": "y0[thread] = x0[thread - 1]",
    "writes element 64 of buffer 1": "y0[thread + 1] = x0[thread]",
    "which is read-only": "x0[thread] = f32(0)",
    "race: thread [01] of block 0 writes element 0 of buffer 1, which thread (0|63) of block 0 wrote": "y0[0] = x0[thread]",
    "race: thread (32 of block 0 writes element 32|0 of block 0 reads element 63) of shared array 0, which thread (31|63) of block":
        REVERSED.format("lane = thread"),
    "divergent barrier": "if thread < 32:\n    barrier()",
    "divergent barrier in block 0: thread 0 waits in line: barrier()\nbut thread 32":
        "if thread < 32:\n    barrier()\nelse:\n    barrier()",
    "place 1 is no multiple of 16 bytes": "take4(local_f32(4), 0, x0, 1, thread == 5)",
    "waits for its warp in line: y0\\[thread\\] = fold_add":
        "if thread != 5:\n    y0[thread] = fold_add(x0[thread])",
    "but thread 0 (waits in line: barrier|does not come there)":
        "if thread > 0:\n    y0[thread] = fold_add(x0[thread])\nelse:\n    barrier()",
    "quotient32": "y0[thread] = f32(quotient32(thread - 1, 2))",
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_kernel_is_refused(simulated, message):
    with pytest.raises(SimulationError, match=message.replace("()", r"\(\)")):
        simulated(WRONG[message])


def test_all_nan_are_one(simulated):
    """Whatever their bits: a GPU makes but one."""
    _, y = simulated("y0[0] = select(thread == 0, -x0[0], x0[0])", (np.full(64, np.nan, np.float32), np.zeros(64, np.float32)))
    assert np.isnan(y[0])


def test_blocks_do_not_wait_for_each_other(simulated):
    with pytest.raises(SimulationError, match="race: thread 0 of block 1 reads element 0"):
        simulated("if block_index() == 0:\n    y0[thread] = x0[thread]\nbarrier()\nif block_index() == 1:\n"
                  "    y0[thread] = y0[thread] + f32(1)", blocks=2)


def test_shared_memory_begins_as_nan(simulated):
    assert np.isnan(simulated("part = shared_f32(64)\ny0[thread] = part[thread]")[1]).all()


def test_folds_combine_all_lanes_of_a_warp(simulated):
    _, y = simulated("y0[thread] = fold_add(x0[thread])")
    assert y.tolist() == [496.0] * 32 + [1520.0] * 32
    _, y = simulated("v, at = fold_argmin(x0[63 - thread], thread)\ny0[thread] = f32(at)")
    assert y.tolist() == [31.0] * 32 + [63.0] * 32


ODD = """
total, k = 0, thread
while k > 0:
    k = k - (thread & 3) - 1
    if k & 1:
        total = total + k
    else:
        for j in range(smaller(k, thread & 7), 3):
            total = total + j * 100
own = local_i64(4)
own[thread & 3] = total
if thread < 40:
    own[1] += 7
v, w = own[1], own[thread & 3]
if (thread > 3) & (thread < 5):
    report(error, 4)
y0[thread] = f32(v * 10000 + w - total) + f32(k)"""


def test_threads_go_ways_of_their_own(simulated):
    """Loops of as many rounds as each thread has, and what those keep that are through."""
    def thread(t):
        total, k = 0, t
        while k > 0:
            k -= (t & 3) + 1
            if k & 1:
                total += k
            else:
                total += sum(j * 100 for j in range(min(k, t & 7), 3))
        own = [0] * 4
        own[t & 3] = total
        own[1] += 7 * (t < 40)
        return own[1] * 10000 + own[t & 3] - total + k

    bits, y = simulated(ODD)
    assert bits == 4 and y.tolist() == [np.float32(thread(t)) for t in range(64)]


@pytest.mark.parametrize("grid", [None, (2, 64), (40, 32)])
def test_both_simulators_give_the_same_bits(program, monkeypatch, grid):
    runs = [program.schedule() for _ in range(2)]
    assert runs[0].simulate(grid=grid) == 0
    monkeypatch.setattr(simt, "simulate", lambda *given: lanes.simulate(*given[:6]))
    assert runs[1].simulate(grid=grid) == 0
    for a, b in zip(runs[0].results(), runs[1].results()):
        assert a.tobytes() == b.tobytes()


def test_what_no_kernel_has_is_refused():
    with pytest.raises(SimulationError, match="kernels have no BoolOp: thread and 1"):
        _simulated(lanes.simulate, "y0[thread] = thread and 1")


def test_the_simulator_needs_neither_numba_nor_cuda():
    code = ("import sys, numpy as np\nfrom jitgraph.compiler.emit import cuda, cuda_compile, lanes, simt\n"
            "for one in (simt, lanes):\n"
            "    one.simulate('def k(y0, sizes, error):\\n    y0[thread_index()] = exp(f32(1))\\n', 'k',"
            " [np.zeros(32, 'f4')], np.zeros(1, 'i8'), 1, 32)\n"
            "assert not {'numba', 'cuda', 'llvmlite'} & set(sys.modules), 'imported'\n")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
