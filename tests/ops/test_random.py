"""Random ops bit for bit: the numbers in data/random.npz were made by TensorFlow (CPU), as were those of initializers."""
import re
import time
from pathlib import Path

import numpy as np
import pytest

from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.registry import lookup
from jitgraph.ops.elementwise import single_precision
from jitgraph.ops.random import philox, poisson_loop, random_rejection

REFERENCE = np.load(Path(__file__).parent / "data" / "random.npz")
BY_SHAPE = {"uniform": "RandomUniform", "normal": "RandomStandardNormal", "truncated_normal": "TruncatedNormal"}


def value(op_type, inputs, stream, **attrs):
    opdef = lookup(op_type)
    return opdef.value(*inputs, **opdef.arguments(opdef.value, attrs), stream=stream)


def execute(kind, parts, seeds, stream):
    """One execution of the op that a key of the reference names."""
    if kind in BY_SHAPE:
        return value(BY_SHAPE[kind], [np.array([int(parts[1])])], stream, dtype=as_dtype(parts[0]), **seeds)
    if kind.startswith("uniform_int"):
        dtype = as_dtype(parts[0]).as_numpy_dtype
        return value("RandomUniformInt", [np.array([int(parts[1])]), dtype(-7), dtype(1000003)], stream, **seeds)
    if kind == "shuffle(range n)":
        return value("RandomShuffle", [np.arange(int(parts[0]))], stream, **seeds)
    if kind == "multinomial":
        return value("Multinomial", [REFERENCE["multinomial_logits"], np.int32(parts[0])], stream,
                     output_dtype=as_dtype("int64"), **seeds)
    parameter = np.array(eval(parts[1].partition("=")[2]), np.float32)   # "alpha=[...]" or "lam=[...]"
    count = [np.array([int(parts[2])])]
    if kind == "gamma":
        return value("RandomGamma", [*count, parameter.astype(as_dtype(parts[0]).as_numpy_dtype)], stream, **seeds)
    return value("RandomPoissonV2", [*count, parameter], stream, dtype=as_dtype("int64"), **seeds)


RAW = [key for key in REFERENCE.files if key != "multinomial_logits" and not key.startswith("initializer/")]


@pytest.mark.parametrize("key", RAW)
def test_numbers_are_those_of_tensorflow(key):
    kind, *parts, seed, seed2, run = key.split("/")
    seeds = {"seed": int(seed.partition("=")[2]), "seed2": int(seed2.partition("=")[2])}
    stream = philox.Stream((1, 2))
    for _ in range(int(run[-1]) + 1):
        got = execute(kind, parts, seeds, stream)
    got = got.view(np.uint16) if got.dtype.name == "bfloat16" else got
    np.testing.assert_array_equal(got, REFERENCE[key])


@pytest.mark.parametrize("key", [key for key in REFERENCE.files if key.startswith("initializer/")])
def test_initial_values_are_those_of_tensorflow(tf, run, key):
    _, name, shape, dtype, graph_seed, op_seed, _ = key.split("/")
    seed = int(op_seed.partition("=")[2])
    make = {
        "truncated_normal": lambda: tf.truncated_normal_initializer(0.0, 0.05, seed=seed),
        "random_normal": lambda: tf.random_normal_initializer(1.0, 0.5, seed=seed),
        "random_uniform": lambda: tf.random_uniform_initializer(-0.1, 0.1, seed=seed),
        "orthogonal": lambda: tf.orthogonal_initializer(1.5, seed=seed),
        "variance_scaling_fan_avg_untruncated":
            lambda: tf.variance_scaling_initializer(2.0, "fan_avg", "untruncated_normal", seed=seed),
        "uniform_unit_scaling": lambda: tf.uniform_unit_scaling_initializer(1.2, seed=seed),
    }.get(name) or (lambda: getattr(tf.initializers, name)(seed=seed))
    tf.set_random_seed(int(graph_seed.partition("=")[2]))
    sizes = [int(size) for size in re.findall(r"\d+", shape)]
    got = run(make()(sizes, dtype=dtype))
    if name == "orthogonal":        # depends on LAPACK
        np.testing.assert_allclose(got, REFERENCE[key], atol=1e-6)
    else:
        np.testing.assert_array_equal(got, REFERENCE[key])


def test_philox_gives_the_published_numbers():
    """The known answer of Philox-4x32-10 for key and counter 0 (Salmon et al., 2011, the reference implementation)."""
    words = philox.Bits(0, 0, 0).words(4)
    assert [hex(word) for word in words] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


def test_sequences_continue_and_skip():
    bits = philox.Bits(5, 6, 0)
    whole = bits.blocks(np.arange(100))
    np.testing.assert_array_equal(philox.Bits(5, 6, 40).blocks(np.arange(10)), whole[40:50])
    far = philox.Bits(5, 6, 2 ** 33).blocks([0])            # the counter has more than 32 bits
    assert not np.array_equal(far, whole[:1])


@pytest.mark.parametrize("function, exact", [("log", np.log), ("sin_cos", np.sin)])
def test_single_precision_functions_are_within_one_ulp(function, exact, rng):
    x = rng.uniform(1e-6, 6.28, 50000).astype(np.float32)
    got = getattr(single_precision, function)(x)
    got = got[0] if isinstance(got, tuple) else got
    wanted = exact(x.astype(np.float64))
    assert np.abs(got - wanted).max() <= 0.6 * np.spacing(np.abs(wanted).max().astype(np.float32))


def test_unseeded_ops_differ_between_streams():
    first, second = (value("RandomUniform", [np.array([4])], philox.Stream(), seed=0, seed2=0, dtype=as_dtype("float32"))
                     for _ in range(2))
    assert not np.array_equal(first, second)


def test_a_stream_is_reserved_whatever_is_used():
    stream = philox.Stream((1, 2))
    value("TruncatedNormal", [np.array([3])], stream, seed=1, seed2=1, dtype=as_dtype("float32"))
    assert stream.blocks == 3 * 256
    value("RandomShuffle", [np.arange(9)], stream, seed=1, seed2=1)
    assert stream.blocks == 3 * 256 + 2
    value("RandomShuffle", [np.arange(1)], stream, seed=1, seed2=1)
    assert stream.blocks == 3 * 256 + 2


def test_a_million_normal_numbers_take_well_under_a_second():
    philox.normal(philox.Bits(1, 2, 0), 1000, np.float32)
    started = time.process_time()
    philox.normal(philox.Bits(1, 2, 0), 1_000_000, np.float32)
    assert time.process_time() - started < 3        # 60 ms on an idle core; drawn one by one they take a minute


def test_bad_arguments(tf):
    with pytest.raises(ValueError, match="Must specify maxval"):
        tf.random_uniform([2], dtype=tf.int32)
    with pytest.raises(ValueError, match="Invalid dtype"):
        tf.random_uniform([2], 0, 1, dtype=tf.bool)
    with tf.Session() as session:
        for tensor in (tf.random_uniform([2], 5, 5, tf.int32), tf.random_normal(tf.constant([-1]) + 0)):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(tensor)


def test_candidates_are_distinct_and_in_range(tf, run):
    sampled, true_count, count = run(tf.nn.log_uniform_candidate_sampler([[3], [1]], 1, 8, True, 20, seed=4))
    assert len(set(sampled.tolist())) == 8 and sampled.min() >= 0 and sampled.max() < 20
    assert true_count.shape == (2, 1) and count.shape == (8,) and (count > 0).all() and (count <= 1).all()


@pytest.mark.parametrize("sampler, count, unique, classes, wanted", [
    ("log_uniform", 6, True, 6, [[2, 5, 0, 3, 1, 4], [4, 0, 1, 3, 2, 5]]),
    ("log_uniform", 5, False, 1000, [[89, 885, 4, 180, 47], [1, 1, 426, 475, 36]]),
    ("uniform", 6, True, 6, [[3, 0, 5, 1, 4, 2], [0, 4, 2, 1, 3, 5]])])
def test_candidates_are_those_of_tensorflow(tf, sampler, count, unique, classes, wanted):
    fetched = getattr(tf.nn, f"{sampler}_candidate_sampler")([[0]], 1, count, unique, classes, seed=4)
    with tf.Session() as session:
        assert [session.run(fetched)[0].tolist() for _ in range(2)] == wanted


def test_a_shuffle_of_nothing_draws_nothing(tf):
    """TensorFlow's stream goes on where it was when there was no element to move."""
    x = tf.placeholder(tf.float32, [None, None])
    shuffled = tf.random_shuffle(x, seed=873)
    rows = np.arange(8.0).reshape(8, 1)
    with tf.Session() as session:
        first = session.run(shuffled, {x: rows})
    with tf.Session() as session:
        assert session.run(shuffled, {x: np.zeros((5, 0))}).shape == (5, 0)
        np.testing.assert_array_equal(session.run(shuffled, {x: rows}), first)


def test_many_gamma_numbers_are_those_of_few(tf, run):
    """Each sample draws from a stretch of its own, however many are drawn side by side."""
    alpha = [0.3, 1.0, 2.5]
    many = run(tf.random_gamma([30_000], alpha, seed=5, dtype=tf.float64))
    assert many.shape == (30_000, 3)
    np.testing.assert_array_equal(run(tf.raw_ops.RandomGamma(shape=[30_000], alpha=[0.3], seed=5, seed2=9))[:4],
                                  run(tf.raw_ops.RandomGamma(shape=[4], alpha=[0.3], seed=5, seed2=9)))
    np.testing.assert_allclose(many.mean(axis=0), alpha, rtol=0.02)
    np.testing.assert_allclose(many.var(axis=0), alpha, rtol=0.05)


def test_gamma_numbers_where_there_are_none(tf, run):
    found = run(tf.raw_ops.RandomGamma(shape=[2], alpha=[0.0, float("nan"), 2.0], seed=5, seed2=9))
    assert found[:, 0].tolist() == [0, 0] and np.isnan(found[:, 1]).all() and (found[:, 2] > 0).all()


@pytest.mark.parametrize("jit", ["off", "always"])
def test_poisson_and_gamma_numbers_of_no_rates(tf, jit):
    rates = tf.placeholder(tf.float32, [None])
    with tf.Session(jit=jit) as session:
        for numbers, shape in ((tf.random_poisson(rates, []), (0,)), (tf.random_poisson(rates, [3]), (3, 0)),
                               (tf.random_gamma([2], rates), (2, 0)), (tf.random_poisson([1.0, 2.0], [0]), (0, 2))):
            assert session.run(numbers, {rates: np.zeros(0)}).shape == shape


@pytest.mark.parametrize("jit", ["off", "always"])
def test_no_numbers_of_no_distributions(tf, jit):
    draws = {(5, 2, 0, 3): tf.random.gamma([5], np.ones([2, 0, 3], np.float32), beta=np.ones(3, np.float32)),
             (0,): tf.random.poisson([], []), (0, 3, 1): tf.random.poisson([2.0], [0, 3])}
    with tf.Session(jit=jit) as session:
        for shape, drawn in draws.items():
            assert session.run(drawn).shape == shape


@pytest.mark.parametrize("dtype", ["float64", "int32", "float16"])
def test_the_compiled_loop_draws_the_poisson_numbers_that_python_draws(monkeypatch, dtype):
    rates = np.array([0.5, 9.99, 10.0, 25.3, 1e3, 0.0, -1.0, np.nan] + [np.inf] * (dtype == "float64"))
    found = []
    for drawn in (random_rejection.poissons, lambda *given: None):
        monkeypatch.setattr(random_rejection, "poissons", drawn)
        stream = philox.Stream()
        found.append([value("RandomPoissonV2", [np.array([600]), rates], stream, seed=3, seed2=4, dtype=as_dtype(dtype))
                      for _ in range(2)])
    assert poisson_loop._LOOP._function is not None, "the loop was not compiled"
    np.testing.assert_array_equal(*found)


def test_many_poisson_numbers_do_not_take_long(tf):
    """One by one in Python they would take a minute."""
    numbers = tf.random_poisson(np.full(1000, 12.0), [1000], seed=5)
    with tf.Session() as session:
        start = time.process_time()
        found = session.run(numbers)
        assert time.process_time() - start < 20
    assert abs(found.mean() - 12) < 0.02 and abs(found.var() - 12) < 0.1
