"""Kernels that go through their elements in order: rows of variables, the largest few, random numbers."""
import numpy as np
import pytest

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_of_a_variable_change_in_place_or_not_at_all(tf, jit, use_resource):
    v = tf.Variable(ROWS, use_resource=use_resource)
    ids, updates = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, 3])
    before = v * 1.0
    added = tf.scatter_add(v, ids, updates)
    with tf.control_dependencies([added]):
        after = tf.identity(v) * 2.0
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        found = session.run([before, added, after], {ids: [1, 1, 3], updates: np.ones((3, 3))})
        assert [np.sum(f) for f in found] == [66, 75, 150]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 4 is not in \[0, 4\)"):
            session.run([added, after], {ids: [1, 4, 3], updates: np.ones((3, 3))})
        assert session.run(v).sum() == 75


@pytest.mark.parametrize("kind, expected", [("update", 5), ("add", 8), ("sub", -2), ("mul", 15), ("div", 0.6), ("min", 3),
                                            ("max", 5)])
def test_every_way_to_combine_rows(tf, kind, expected):
    v = tf.Variable(np.full((3, 200), 3, np.float32))
    step = getattr(tf, f"scatter_{kind}")(v, [[0], [2]], tf.fill([2, 1, 200], 5.0))
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        np.testing.assert_allclose(session.run(step)[:, 0], [expected, 3, expected])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.int8])
@pytest.mark.parametrize("shape, k", [((7,), 3), ((5, 300), 7), ((4, 6), 6), ((3, 1000), 256), ((2, 2000), 300), ((3, 5), 0)])
def test_the_largest_few(tf, shape, k, dtype):
    x = (np.random.RandomState(0).standard_normal(shape) * 3).astype(dtype)
    if dtype == np.float32:
        x.ravel()[::7], x.ravel()[::11] = np.nan, -np.inf
    fed = tf.placeholder(dtype, [None] * len(shape))
    fetches = [*tf.nn.top_k(fed, k), tf.sort(fed, direction="DESCENDING")]
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        for a, b in zip(reference.run(fetches, {fed: x}), session.run(fetches, {fed: x})):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name, dtype", [("random_uniform", "float32"), ("random_uniform", "float64"),
                                         ("random_normal", "float32")])
@pytest.mark.parametrize("shape", [[1], [5], [1024], [4097], [3, 700], [0]])
def test_random_numbers_have_the_bits_of_the_reference(tf, name, dtype, shape):
    tf.set_random_seed(7)
    numbers, fed = getattr(tf, name)(shape, dtype=dtype), tf.placeholder(tf.float32, [None, 8])
    dropped = tf.nn.dropout(fed, 0.5)
    found = []
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            runs = [session.run([numbers, dropped], {fed: np.ones((rows, 8))}) for rows in (4, 5)]
            session.run(numbers.op)                 # a run that nobody looks at moves the stream on all the same
            found.append([*runs[0], *runs[1], session.run(numbers)])
    for a, b in zip(*found):
        np.testing.assert_array_equal(a, b)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8, np.int16])
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("times", [1, 3])
def test_rows_combined_by_segment(tf, op, dtype, times):
    """Negative ids are dropped, NaN is no extreme, and segments without rows have what the combination begins with."""
    rows, ids = tf.placeholder(dtype, [None, 3 * times]), tf.placeholder(tf.int32, [None])
    given = np.array([[2, 1, 3], [1, 5, 1], [3, 1, 2], [7, 7, 7], [4, 0, 1]]).astype(dtype)
    if np.dtype(dtype).kind == "f" and op in ("max", "min"):
        given[0, 1] = given[3, 2] = np.nan
    given = np.tile(given, times)
    combined = getattr(tf, f"unsorted_segment_{op}")(rows, ids, 5)
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        for feeds in ({rows: given, ids: [2, 0, 2, -1, 4]}, {rows: given[:0], ids: []}):
            np.testing.assert_array_equal(reference.run(combined, feeds), session.run(combined, feeds))
        kernels = [kernel.name for plan in session.plans for compiled in plan.compiled for kernel, _ in compiled.kernels]
        assert any(name.startswith(f"scatter_{op.replace('sum', 'add').replace('prod', 'mul')}_i32") for name in kernels)
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
            session.run(combined, {rows: given, ids: [2, 0, 2, 5, 4]})
        nothing = getattr(tf, f"unsorted_segment_{op}")(rows, ids, 0)
        assert session.run(nothing, {rows: given[:2], ids: [-1, -7]}).shape == (0, 3 * times)
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
            session.run(nothing, {rows: given[:1], ids: [0]})


def test_rows_of_a_large_table_are_shared_out(tf):
    """Groups of rows, a last one that is not full, columns beyond the first block; each row's terms keep their order."""
    rng = np.random.RandomState(0)
    rows, ids = rng.randint(-9, 9, (5000, 131)).astype(np.float32), rng.randint(-3, 1000, 5000).astype(np.int32)
    x, i = tf.placeholder(tf.float32, rows.shape), tf.placeholder(tf.int32, ids.shape)
    total = tf.unsorted_segment_sum(x, i, 1000)
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        np.testing.assert_array_equal(reference.run(total, {x: rows, i: ids}), session.run(total, {x: rows, i: ids}))


STEPS = {       # what stands beside the variables, the gradient and the indices, and attributes
    "Adagrad": (2, {"lr": 0.1}, {}), "Momentum": (2, {"lr": 0.1, "momentum": 0.9}, {"use_nesterov": True}),
    "KerasMomentum": (2, {"lr": 0.1, "momentum": 0.9}, {}), "Adadelta": (3, {"lr": 0.1, "rho": 0.9, "epsilon": 0.01}, {}),
    "RMSProp": (3, {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 0.01}, {}),
    "CenteredRMSProp": (4, {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 2.0}, {}),
    "AdagradDA": (3, {"lr": 0.1, "l1": 0.1, "l2": 0.2, "global_step": np.int64(3)}, {}),
    "Ftrl": (3, {"lr": 0.1, "l1": 0.1, "l2": 0.2, "lr_power": -0.5}, {}),
    "FtrlV2": (3, {"lr": 0.1, "l1": 0.1, "l2": 0.2, "l2_shrinkage": 0.1, "lr_power": -0.5}, {}),
    "ProximalAdagrad": (2, {"lr": 0.1, "l1": 0.1, "l2": 0.2}, {}),
    "ProximalGradientDescent": (1, {"alpha": 0.1, "l1": 0.1, "l2": 0.2}, {})}


def _sparse_step(tf, name, rows, dtype, use_resource, ids, grad, fed):
    """An update of some rows, and its variables; the first hyperparameter is `fed`."""
    from jitgraph import raw_ops
    from jitgraph.graph.registry import lookup

    count, numbers, attrs = STEPS[name]
    variables = [tf.Variable(np.full(rows, 1 + k, dtype) + np.arange(rows[0]).reshape(-1, *[1] * (len(rows) - 1)).astype(dtype),
                             use_resource=use_resource) for k in range(count)]
    kind = "Resource" * use_resource + "SparseApply" + name
    given = {**{k: v if k == "global_step" else np.asarray(v, dtype) for k, v in numbers.items()}, "grad": grad, "indices": ids}
    given[next(iter(numbers))] = fed
    order = [arg.name for arg in lookup(kind).inputs][count:]
    refs = [v.handle if use_resource else v._ref() for v in variables]
    return getattr(raw_ops, kind)(*refs, *(given[n] for n in order), **attrs), variables


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", list(STEPS))
def test_rows_of_several_variables_are_updated_in_place(tf, name, use_resource):
    rng = np.random.RandomState(5)
    dtype, rows = (np.float64, (6,)) if name == "Ftrl" else (np.float32, (6, 70))
    ids, grad, fed = tf.placeholder(tf.int32, [None]), tf.placeholder(dtype, [None, *rows[1:]]), tf.placeholder(dtype, [])
    step, variables = _sparse_step(tf, name, rows, dtype, use_resource, ids, grad, fed)
    operation = step if use_resource else step.op
    feeds = {ids: [4, 1, 4, 0, 4], grad: rng.randn(5, *rows[1:]), fed: 0.2}
    found = []
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            session.run([v.initializer for v in variables])
            session.run(operation, feeds)
            found.append(session.run(variables))
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[2\] = 6 is not in \[0, 6\)"):
                session.run(operation, {**feeds, ids: [4, 1, 6, 0, 4]})
            for before, after in zip(found[-1], session.run(variables)):
                np.testing.assert_array_equal(before, after)
            names = [k.name for plan in session.plans for c in plan.compiled for k, _ in c.kernels]
    assert any("_in_place_i32" in n for n in names)
    for wanted, value in zip(*found):
        np.testing.assert_allclose(value, wanted, rtol=0, atol=5e-5 if dtype == np.float32 else 1e-12)
        assert (value[[2, 3, 5]] == wanted[[2, 3, 5]]).all()


def test_rows_that_no_kernel_combines_are_left_to_numpy(tf):
    v = tf.Variable(np.array([7, -7, 9], np.int32))
    step = tf.scatter_div(v, [0, 1], [2, 2])
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        assert session.run(step).tolist() == [3, -3, 9]


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
@pytest.mark.parametrize("jit", ["always", "off"])
def test_an_index_into_nothing(tf, dtype, jit):
    """Every index is outside; neither is anything read of the empty table nor written into it."""
    table, rows, ids = tf.placeholder(dtype, [None, 3]), tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    fetches = [tf.gather(table, ids), tf.gather(tf.transpose(table), ids, axis=1),
               tf.unsorted_segment_sum(rows, ids, tf.shape(table)[0]),
               tf.scatter_nd(tf.expand_dims(ids, 1), rows, [tf.shape(table)[0], 3])]
    with tf.Session(jit=jit) as session:
        for fetch in fetches:
            feeds = {table: np.zeros((0, 3), dtype), rows: np.zeros((0, 3)), ids: []}
            assert session.run(fetch, feeds).size == 0
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(fetch, {**feeds, rows: np.ones((2, 3)), ids: [0, 0]})
