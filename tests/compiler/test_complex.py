"""Complex numbers: their functions beside NumPy's, and kernels of the CPU beside the reference."""

import numpy as np
import pytest

from jitgraph.compiler import elementary_complex
from jitgraph.compiler.emit import turn
from jitgraph.compiler.machine import NumPyMachine

COMPLEX = ["complex64", "complex128"]
RNG = np.random.RandomState(3)
MEANING = {"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "rsqrt": lambda z: 1 / np.sqrt(z), "sin": np.sin, "cos": np.cos,
           "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "abs": np.abs}
FUNCTIONS = {**elementary_complex.FUNCTIONS, **elementary_complex.TO_REAL}
ULP = {"abs": 1, "sqrt": 1.5, "exp": 2, "log": 2, "sin": 2.5, "cos": 2.5, "sinh": 2.5, "cosh": 2.5, "rsqrt": 2.5, "tan": 3.5,
       "tanh": 3.5}


def draw(dtype, *shape):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)


def parts_of(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.fixture
def both(tf, host_steps):
    """both(fetches, feeds): results of the reference and of kernels, with nothing on the host but what is counted."""
    def run(fetches, feeds, on_host=0):
        assert len(host_steps(fetches, feeds)) == on_host
        results = []
        for jit in ("off", "always"):
            with tf.Session(jit=jit) as session:
                results.append(session.run(fetches, feeds))
        return zip(*results, strict=True)

    return run


def close(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    error = 2e-6 if got.dtype in (np.complex64, np.float32) else 4e-15
    np.testing.assert_allclose(got, wanted, rtol=error, atol=error * max(1, np.abs(wanted).max(initial=0)))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", MEANING)
def test_errors_of_functions_are_few_units_of_the_size(name, dtype):
    parts = (RNG.standard_normal((2, 20000)) * np.exp(RNG.standard_normal((2, 20000)))).astype(np.dtype(dtype).type(0).real.dtype)
    with np.errstate(all="ignore"):
        wanted = MEANING[name]((parts[0] + 1j * parts[1]).astype(np.complex128 if dtype == "complex64" else np.clongdouble))
        found = parts_of(FUNCTIONS[name](NumPyMachine(), tuple(parts)))
        got = sum(part.astype(np.longdouble) * unit for part, unit in zip(found, (1, 1j)))
    large = (np.abs(wanted) > 1e-30) & (np.abs(wanted) < np.finfo(dtype).max)
    assert (np.abs(got - wanted)[large] / np.abs(wanted)[large]).max() < ULP[name] * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", sorted(MEANING.keys() - {"rsqrt"}))        # 1 / z of NumPy's has no rule for infinite parts
def test_infinities_and_nan_are_those_of_numpy(name, dtype):
    one = np.array([0.0, -0.0, 1, -1, 2.5, -np.inf, np.inf, np.nan, 1e30, 1e-30, 95, -95, 720], np.dtype(dtype).type(0).real.dtype)
    x, y = (a.ravel() for a in np.meshgrid(one, one))
    z = np.empty(x.shape, dtype)
    z.real, z.imag = x, y
    with np.errstate(all="ignore"):
        wanted = MEANING[name](z)
        found = parts_of(FUNCTIONS[name](NumPyMachine(), (x, y)))
    for got, one in zip(found, (wanted.real, wanted.imag)):
        np.testing.assert_allclose(got, one, rtol=1e-5)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_quotients_are_those_of_numpy_to_the_bit(dtype):
    a, b = draw(dtype, 5000), draw(dtype, 5000)
    special = np.array([0, 1, 1j, -2.5, 1e30j, np.inf, complex(np.nan, 1), complex(0, -np.inf)], dtype)
    a, b = (np.concatenate([v, s.ravel()]) for v, s in zip((a, b), np.meshgrid(special, special)))
    with np.errstate(all="ignore"):
        wanted = a / b
        x, y = elementary_complex.div(NumPyMachine(), (a.real.copy(), a.imag.copy()), (b.real.copy(), b.imag.copy()))
    np.testing.assert_array_equal(x, wanted.real)
    np.testing.assert_array_equal(y, wanted.imag)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("columns", [1, 7, 33])
def test_arithmetic_and_places(tf, both, dtype, columns):
    x, y = (tf.placeholder(dtype, [9, columns]) for _ in range(2))
    fetches = [x * y + (3 - 2j), -x / y - 1, tf.exp(x) - tf.log(y), tf.sqrt(x) * tf.rsqrt(y), tf.tanh(x) + tf.sigmoid(y),
               tf.sin(x) + tf.cos(y), tf.conj(x) * tf.square(y), tf.abs(x), tf.real(x), tf.imag(x),
               tf.complex(tf.real(x), tf.imag(y)),
               tf.where(tf.real(x) > 0, x, y), tf.equal(x, tf.reverse(x, [0])), tf.not_equal(x, y), tf.cast(x, tf.float32),
               tf.cast(tf.imag(x), tf.complex64), tf.concat([x, y], 0), tf.gather(x, [2, 0]), tf.transpose(x) + 1,
               tf.pad(x, [[1, 0], [0, 2]]), tf.reverse(x, [1]), tf.cumsum(x, 1), tf.cumprod(x, 0, reverse=True),
               tf.cast(tf.argmax(tf.abs(x), 0), tf.complex128)]
    for wanted, got in both(fetches, {x: draw(dtype, 9, columns), y: draw(dtype, 9, columns)}):
        close(got, wanted)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_sums_and_products_of_many(tf, both, dtype):
    x = tf.placeholder(dtype, [70, 96])
    unit = tf.placeholder(dtype, [70, 96])
    ids = np.arange(70) % 4
    fetches = [tf.reduce_sum(x), tf.reduce_sum(x, 0), tf.reduce_mean(x, 1), tf.reduce_prod(unit, 0), tf.reduce_prod(unit, 1),
               tf.reduce_prod(unit), tf.unsorted_segment_sum(x, ids, 4), tf.unsorted_segment_prod(unit, ids, 4),
               tf.scatter_nd([[k % 3] for k in range(70)], x, [4, 96])]
    turned = np.exp(1j * RNG.standard_normal((70, 96))).astype(dtype)
    for wanted, got in both(fetches, {x: draw(dtype, 70, 96), unit: turned}):
        close(got, wanted)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("adjoint", [False, True])
def test_products_with_sparse_matrices(tf, both, dtype, adjoint):
    values, dense = tf.placeholder(dtype, [4]), tf.placeholder(dtype, [5, 5])
    sparse = tf.SparseTensor([[0, 1], [1, 4], [3, 1], [4, 0]], values, [5, 5])
    product = tf.sparse_tensor_dense_matmul(sparse, dense, adjoint_a=adjoint, adjoint_b=adjoint)
    for wanted, got in both([product], {values: draw(dtype, 4), dense: draw(dtype, 5, 5)}):
        close(got, wanted)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_transposed_operands_that_are_turned(tf, both, dtype):
    side = 3 * turn.BLOCK + 5
    x, y = (tf.placeholder(dtype, [side, side]) for _ in range(2))
    for wanted, got in both([tf.transpose(x) + y], {x: draw(dtype, side, side), y: draw(dtype, side, side)}):
        close(got, wanted)


def test_what_has_no_kernel_is_left_to_the_host(tf, both):
    x = tf.placeholder("complex64", [6, 6])
    for wanted, got in both([tf.pow(x, x), tf.matmul(x, x), tf.argmax(x, 0)], {x: draw("complex64", 6, 6)}, on_host=3):
        close(got, wanted)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_variables_change_in_place(tf, dtype):
    start, step = draw(dtype, 40), draw(dtype, 40)
    found = []
    for jit in ("off", "always"):
        tf.reset_default_graph()
        variable = tf.Variable(start)
        add, rows = tf.assign_add(variable, step), tf.scatter_add(variable, [1, 1, 3], step[:3])
        with tf.Session(jit=jit) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(add)
            session.run(rows)
            found.append(session.run(variable))
    close(found[1], found[0])
