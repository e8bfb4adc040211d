"""Tables whose rows change, running sums, the largest elements, random numbers for CUDA: the same bits as on the CPU."""

import numpy as np
import pytest

from jitgraph.compiler.emit import cuda, cuda_sorting

RNG = np.random.RandomState(0)


@pytest.fixture
def equal(tf, monkeypatch):
    """equal(fetches, feeds, kernel): the CPU and the simulated grid give the same bits, this by a kernel of that name."""
    monkeypatch.setattr(cuda, "MAX_BLOCKS", 2)      # which have one item after the other

    def compare(fetches, feeds, kernel, runs=1, rtol=0):
        found = []
        for target in ("cpu", "cuda-simulator"):
            monkeypatch.setenv("JITGRAPH_TARGET", target)
            with tf.Session(jit="always") as session:
                session.run(tf.global_variables_initializer())
                found.append([session.run(fetches, feeds) for _ in range(runs)][-1])
                launched = {step.kernel.name for plan in session.plans for c in plan.compiled for step in c.launches}
            assert (kernel in launched) == (target != "cpu"), launched
        np.testing.assert_allclose(found[1], found[0], rtol=rtol, atol=0)
        return found[1]

    return compare


@pytest.mark.parametrize("axis, exclusive, reverse", [(0, False, False), (1, True, False), (1, False, True), (-1, True, True)])
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
def test_running_sums(tf, equal, op, axis, exclusive, reverse):
    x = tf.placeholder(tf.float32, [None, 5, None])
    name = f"scan_{'add' if op == 'cumsum' else 'mul'}{'_reverse' * reverse}{'_exclusive' * exclusive}_f32"
    for size in ((3, 5, 33), (0, 5, 1)):
        equal(getattr(tf, op)(x, axis, exclusive, reverse), {x: RNG.standard_normal(size)}, name)


@pytest.mark.parametrize("axis, exclusive, reverse", [(1, False, False), (0, True, True)])
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
def test_long_lines_have_a_block_each(tf, equal, op, axis, exclusive, reverse):
    """Integers have the same bits in any order; floats are added in another order than on the CPU."""
    shape = (3, 700) if axis else (700, 3)
    name = f"scan_long_{'add' if op == 'cumsum' else 'mul'}{'_reverse' * reverse}{'_exclusive' * exclusive}"
    x = tf.placeholder(tf.int32, shape)
    equal(getattr(tf, op)(x, axis, exclusive, reverse), {x: RNG.randint(-9, 10, shape) * 2 + 1}, name + "_i32")
    y = tf.placeholder(tf.float32, shape)
    found = getattr(tf, op)(y, axis, exclusive, reverse)
    equal(found, {y: 1 + 0.01 * RNG.standard_normal(shape)}, name + "_f32", rtol=1e-5)


@pytest.mark.parametrize("n, k", [(2, 1), (7, 7), (33, 5), (64, 1), (150, 3)])
def test_the_largest_elements(tf, equal, monkeypatch, n, k):
    """NaN is less than all numbers; of equal ones the first comes first.  Long rows are looked through by stretches."""
    monkeypatch.setattr(cuda_sorting, "STRETCH", 64)
    x = tf.placeholder(tf.float32, [None, n])
    value = np.round(RNG.standard_normal((3, n)) * 3).astype(np.float32)
    value[0, ::3] = np.nan
    value[1] = np.nan
    values, places = tf.nn.top_k(x, k)
    name = f"top_k_{min(max(1 << (n - 1).bit_length(), 2), 64)}"
    equal(values, {x: value}, name + "_f32")
    equal(places, {x: value}, name + "_f32")
    whole = tf.placeholder(tf.int32, [None, n])
    equal(tf.nn.top_k(whole, k)[1], {whole: RNG.randint(0, 9, (2, n))}, name + "_i32")


def test_rows_of_any_length_are_looked_through_by_stretches(tf, equal, monkeypatch):
    monkeypatch.setattr(cuda_sorting, "STRETCH", 64)
    x = tf.placeholder(tf.float32, [None, None])
    for n in (3, 65):
        equal(tf.nn.top_k(x, 3)[1], {x: np.round(RNG.standard_normal((1, n)), 1)}, "top_k_64_f32")


def test_long_rows_are_sorted_where_the_result_lies(tf, equal, monkeypatch):
    monkeypatch.setattr(cuda_sorting, "STRETCH", 64)
    monkeypatch.setattr(cuda_sorting, "MOST", 32)
    x = tf.placeholder(tf.float32, [2, 300])
    equal(tf.sort(x, 1), {x: np.round(RNG.standard_normal((2, 300)), 1)}, "sort_f32")
    equal(tf.nn.top_k(x, 300)[1], {x: np.round(RNG.standard_normal((2, 300)), 1)}, "sort_f32")


@pytest.mark.parametrize("n", [1, 2, 33, 1100])
def test_a_shuffled_range_is_the_cpus(tf, equal, n):
    x = tf.placeholder(tf.float32, [None, 2])
    tf.set_random_seed(1)
    equal(tf.random.shuffle(x, seed=5), {x: RNG.standard_normal((n, 2))}, "shuffle_i64", runs=2)


@pytest.mark.parametrize("width", [3, pytest.param(1, marks=pytest.mark.slow), pytest.param(130, marks=pytest.mark.slow)])
def test_gradients_of_an_embedding(tf, equal, width):
    """Rows that occur several times are added up in the order in which they do."""
    table, rows = tf.placeholder(tf.float32, [9, width]), tf.placeholder(tf.int32, [None])
    gradient = tf.convert_to_tensor(tf.gradients(tf.sin(tf.gather(table, rows)), table)[0])
    feeds = {table: RNG.standard_normal((9, width)), rows: RNG.randint(0, 9, 35)}
    equal(gradient, feeds, "scatter_add_i32_kept_f32")


@pytest.mark.parametrize("name, kernel", [("sum", "add"), ("prod", "mul"), ("max", "max"), ("min", "min")])
def test_segments(tf, equal, name, kernel):
    x, rows = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    found = getattr(tf, f"unsorted_segment_{name}")(x, rows, 6)
    equal(found, {x: RNG.standard_normal((9, 3)), rows: [0, 5, 5, -1, 2, 0, 0, 3, 5]}, f"scatter_{kernel}_i32_kept_f32")


def test_rows_that_are_picked_and_multiplied(tf, equal):
    places, v = tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.float32, [None])
    dense = tf.placeholder(tf.float32, [5, 3])
    found = tf.sparse_tensor_dense_matmul(tf.SparseTensor(places, v, [5, 5]), dense)
    feeds = {places: RNG.randint(0, 5, (20, 2)), v: RNG.standard_normal(20), dense: RNG.standard_normal((5, 3))}
    equal(found, feeds, "scatter_add_i64_picked_scaled_f32")


def test_an_index_out_of_range(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x, rows = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    with tf.Session(jit="always") as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(tf.unsorted_segment_sum(x, rows, 6), {x: np.ones((2, 3)), rows: [1, 6]})


def test_rows_of_variables(tf, equal):
    """As sparse optimisers change them, one index after the other."""
    v = tf.get_variable("v", [9, 5], initializer=tf.ones_initializer())
    rows, x = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, 5])
    with tf.control_dependencies([tf.scatter_mul(v, rows, x), tf.scatter_sub(v, rows, x * 2.0)]):
        found = tf.identity(v)
    equal(found, {rows: [8, 0, 3, 3, 8], x: RNG.standard_normal((5, 5))}, "scatter_sub_in_place_i32_f32", runs=2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        equal(found, {rows: [9], x: np.ones((1, 5))}, "bounds_i32")


@pytest.mark.parametrize("make, kernel", [
    (lambda tf, n: tf.random.uniform([n], seed=5), "uniform_f32"),
    (lambda tf, n: tf.random.uniform([n], dtype=tf.float64, seed=5), "uniform_f64"),
    (lambda tf, n: tf.random.truncated_normal([n], seed=5), "truncated_normal_f32"),
    (lambda tf, n: tf.random.uniform([n], 0, 1000, tf.int32, seed=5), "words_u32"),
    (lambda tf, n: tf.random.uniform([n], 0, 1000, tf.int64, seed=5), "words_u64"),
    (lambda tf, n: tf.random.normal([n], seed=5), "normal_f32")])
@pytest.mark.parametrize("n", [1, 33, 1025])
def test_random_numbers_are_the_cpus(tf, equal, make, kernel, n):
    tf.set_random_seed(1)
    equal(make(tf, n), {}, kernel, runs=2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_uniform_numbers_of_16_bits_are_the_cpus(tf, monkeypatch, dtype):
    """They have as many bits as TensorFlow draws, which are not those of float32, rounded."""
    numbers = tf.random.uniform([1001], dtype=dtype, seed=5)
    found = {}
    for target in ("cpu", "cuda-simulator"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with tf.Session(jit="always") as session:
            found[target] = [session.run(numbers) for _ in range(2)]
            kernels = [step.kernel.name for compiled in session.plans[-1].compiled for step in compiled.launches]
    assert len(kernels) == 2 and any(name.startswith("words") for name in kernels)
    np.testing.assert_array_equal(found["cpu"], found["cuda-simulator"])
