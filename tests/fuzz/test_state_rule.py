"""Random programs that read and write variables, against a model of the state rule in NumPy.

The model is an interpreter: what a run needs is done in the order in which it was made.  `v + 1.0` sees what `v` is at the
addition's own place; `v.read_value()` is an access of its own; the value of an assignment is the variable right after it;
a branch or a body does its parts in the order in which they were made, at the place of the tf.cond or tf.while_loop.
"""
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jitgraph as tf

EXAMPLES = int(os.environ.get("JITGRAPH_FUZZ_EXAMPLES", "40"))
SIZE, ITERATIONS, RATE, MOMENTUM = 4, 2, 0.125, 0.5
INDICES = [[0, 1], [2, 0], [3, 3], [1], [3, 2, 1, 0]]
SCATTERS = {"update": lambda old, new: new, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
            "min": np.minimum, "max": np.maximum}
READS = ["implicit", "explicit", "identity", "reverse", "strided", "mean", "rows"]
WRITES = ["assign", "assign_add", "assign_sub", "assign_variable", "scatter_nd_update", "scatter_nd_add", "slice_assign",
          *("scatter_" + kind for kind in SCATTERS)]
OPTIMIZERS = ["descent", "sparse_descent", "momentum", "sparse_momentum"]
INSIDE = READS + WRITES
KINDS = INSIDE + OPTIMIZERS + ["cond", "while", "pair"]

numbers = st.integers(0, 11)
inner = st.lists(st.tuples(st.sampled_from(INSIDE), numbers, numbers, numbers), min_size=1, max_size=4)
steps = st.tuples(st.sampled_from(KINDS), numbers, numbers, numbers, st.booleans(), inner)


class Part:
    """What the model does for one step: `act(world, values)` gives its value; it needs the values of `parts`, and runs after
    `waits`."""

    def __init__(self, act, parts=()):
        self.act, self.parts, self.waits = act, list(parts), []


class Maker:
    """Makes nodes and, beside each, its Part in `made`.  `pool`: (tensor, part); `effects`: (operation, part)."""

    def __init__(self, variables, pool=()):
        self.variables, self.pool, self.effects, self.made = variables, list(pool), [], []

    def add(self, act, *parts):
        self.made.append(Part(act, parts))
        return self.made[-1]

    def tensor(self, tensor, act, *parts):
        self.pool.append((tensor, self.add(act, *parts)))

    def effect(self, node, act, *parts):
        part = self.add(act, *parts)
        if isinstance(node, tf.Tensor) and node.dtype._is_ref_dtype:
            self.pool.append((node, part))
        self.effects.append((node if isinstance(node, tf.Operation) else node.op, part))

    def simple(self, kind, i, j, k):
        name = sorted(self.variables)[i % len(self.variables)]
        if kind in READS:
            self.read(kind, name, j)
        else:
            self.write(kind, name, j, k)

    def read(self, kind, name, j):
        v = self.variables[name]
        make, act = {
            "implicit": (lambda: v + float(j), lambda x: x + j), "explicit": (v.read_value, np.array),
            "identity": (lambda: tf.identity(v), np.array), "reverse": (lambda: tf.reverse(v, [0]), lambda x: x[::-1].copy()),
            "strided": (lambda: tf.reshape(v, [SIZE])[::-1], lambda x: x[::-1].copy()),
            "mean": (lambda: tf.reduce_mean(v) + tf.zeros([SIZE], tf.float64), lambda x: np.full(SIZE, x.mean())),
            "rows": (lambda: tf.gather(v, [1, 0, 3, 3]), lambda x: x[[1, 0, 3, 3]])}[kind]
        self.tensor(make(), lambda world, values: act(world[name]))

    def write(self, kind, name, j, k):
        v, (x, part) = self.variables[name], self.pool[j % len(self.pool)]
        other = sorted(self.variables)[k % len(self.variables)]
        indices = INDICES[k % len(INDICES)]
        if kind in ("assign", "assign_add", "assign_sub"):
            combine = {"assign": lambda old, new: new, "assign_add": np.add, "assign_sub": np.subtract}[kind]
            self.effect(getattr(tf, kind)(v, x), changing(name, lambda old, new: combine(old, new * 1.0), part), part)
        elif kind == "assign_variable":         # the value of the other at the place of the assignment
            self.effect(tf.assign(v, self.variables[other]), lambda world, values: put(world, name, world[other]))
        elif kind == "slice_assign":
            self.effect(v[1:3].assign(x[0:2]), changing(name, lambda old, new: [old[0], *new[:2], old[3]], part), part)
        elif kind.startswith("scatter_nd"):
            found = getattr(tf, kind)(v, [[i] for i in indices[:1]], x[:1])
            self.effect(found, changing(name, rows(kind[11:], indices[:1]), part), part)
        else:
            self.scatter(kind[8:], v, name, x, part, indices)

    def scatter(self, kind, v, name, x, part, indices):
        if kind in ("mul", "div"):              # by what is neither large nor near 0
            x, before = tf.tanh(x) + 1.5, part
            part = self.add(lambda world, values: np.tanh(values[before]) + 1.5, before)
        whole = len(indices) == SIZE            # the tensor as it is, perhaps a variable's own value
        found = getattr(tf, "scatter_" + kind)(v, indices, x if whole else x[:len(indices)])
        self.effect(found, changing(name, rows(kind, indices), part), part)


class Program(Maker):
    """A whole graph."""

    def __init__(self, resources):
        super().__init__({})
        for name, resource in zip("abc", resources):
            start = np.arange(1.0, SIZE + 1) * {"a": 1, "b": -0.5, "c": 0.25}[name]
            self.variables[name] = tf.Variable(start, name=name, use_resource=resource)
        self.start = {name: np.arange(1.0, SIZE + 1) * f for name, f in zip("abc", (1, -0.5, 0.25))}
        self.start.update({slot + name: np.zeros(SIZE) for name in "abc" for slot in ("dense ", "sparse ")})
        self.tensor(tf.constant(np.linspace(-1.0, 2.0, SIZE)), lambda world, values: np.linspace(-1.0, 2.0, SIZE))
        self.optimizers = {"momentum": tf.train.MomentumOptimizer(RATE, MOMENTUM, name="dense"),
                           "sparse_momentum": tf.train.MomentumOptimizer(RATE, MOMENTUM, name="sparse")}
        self.descent = tf.train.GradientDescentOptimizer(RATE)
        self.choice = tf.placeholder(tf.bool, [])

    def step(self, kind, i, j, k, waits, inside):
        before = self.effects[-1:] if waits else []
        first = len(self.made)
        with tf.control_dependencies([op for op, _ in before]):
            if kind in INSIDE:
                self.simple(kind, i, j, k)
            elif kind in OPTIMIZERS:
                self.optimize(kind, i, j, k)
            elif kind == "pair":
                (x, p), (y, q) = self.pool[i % len(self.pool)], self.pool[j % len(self.pool)]
                self.tensor(x * 0.5 + y * 0.5, lambda world, values: values[p] * 0.5 + values[q] * 0.5, p, q)
            else:
                self.call(kind, i, inside)
        for part in self.made[first:]:
            part.waits.extend(p for _, p in before)

    def optimize(self, kind, i, j, k):
        name = sorted(self.variables)[i % len(self.variables)]
        v, (x, part), indices = self.variables[name], self.pool[j % len(self.pool)], INDICES[k % len(INDICES)]
        gradient, sparse = tf.identity(x) * 0.5, kind.startswith("sparse")
        if sparse:
            gradient = tf.IndexedSlices(gradient[:len(indices)], tf.constant(indices), tf.constant([SIZE]))
        optimizer = self.optimizers.get(kind, self.descent)

        def act(world, values):
            g = values[part] * 0.5
            if sparse:
                total = np.zeros(SIZE)
                np.add.at(total, indices, g[:len(indices)])
                g = total
            if kind.endswith("descent"):
                return put(world, name, world[name] - RATE * g)
            slot, rows = ("sparse " if sparse else "dense ") + name, sorted(set(indices)) if sparse else slice(None)
            world[slot] = world[slot].copy()
            world[slot][rows] = world[slot][rows] * MOMENTUM + g[rows]
            new = world[name].copy()
            new[rows] -= RATE * world[slot][rows]
            return put(world, name, new)

        self.effect(optimizer.apply_gradients([(gradient, v)]), act, part)

    def call(self, kind, i, inside):
        """A tf.cond, or a tf.while_loop of ITERATIONS rounds, whose functions do the steps `inside`."""
        (x, start), branches = self.pool[i % len(self.pool)], []

        def body(inputs=(), factor=1.0):
            maker = Maker(self.variables, [*self.pool, *inputs])
            branches.append(maker)
            for one in inside:
                maker.simple(*one)
            with tf.control_dependencies([op for op, _ in maker.effects]):
                return tf.identity(maker.pool[-1][0] * factor)

        if kind == "cond":
            found = tf.cond(self.choice, body, lambda: x * 3.0)

            def act(world, values):
                if not world["choice"]:
                    return values[start] * 3.0
                return branches[0].run(world, dict(values))
        else:
            state = Part(None)
            found = tf.while_loop(lambda n, y: n < ITERATIONS, lambda n, y: (n + 1, body([(y, state)], 0.5)), [0, x])[1]

            def act(world, values):
                value = values[start]
                for _ in range(ITERATIONS):
                    value = branches[0].run(world, {**values, state: value}) * 0.5
                return value

        used = {start, branches[0].pool[-1][1]}.union(*(part.parts for part in branches[0].made))
        part = self.add(act, *(p for p in self.made if p in used))
        self.pool.append((found, part))
        self.effects.append((found.op, part))

    def model(self, world, fetched, effects, fed):
        """{part: value} of one run, which changes the `world`: {name: value} of variables.  What is `fed` has its value, and
        runs only as an effect or for a control edge."""
        needed, stack = set(), [p for p in fetched if p not in fed] + effects
        while stack:
            part = stack.pop()
            if part not in needed:
                needed.add(part)
                stack.extend([*(p for p in part.parts if p not in fed), *part.waits])
        values = dict(fed)
        for part in self.made:
            if part in needed:
                value = np.array(part.act(world, values))
                values.setdefault(part, value)
        return values


def run_in_order(self, world, values):
    for part in self.made:
        values[part] = np.array(part.act(world, values))
    return values[self.pool[-1][1]]


Maker.run = run_in_order


def put(world, name, value):
    world[name] = np.array(value, np.float64)
    return world[name]


def changing(name, combine, part):
    return lambda world, values: put(world, name, combine(world[name], values[part]))


def rows(kind, indices):
    """Rows of the old value combined with those of an update, one after the other."""
    def combined(old, new):
        old = old.copy()
        for index, row in zip(indices, new):
            old[index] = SCATTERS[kind](old[index], row)
        return old

    return combined


def compare(resources, made, picks, mode, feed=None, whole=False, along=True):
    """Runs a program thrice beside the model.  `picks`: what is fetched, and all effects if `whole`, and the variables if
    `along`; `feed`: the tensor that is fed."""
    tf.reset_default_graph()
    program = Program(resources)
    for step in made:
        program.step(*step)
    pool = [program.pool[k % len(program.pool)] for k in picks]
    effects = [program.effects[k % len(program.effects)] for k in picks if program.effects] + program.effects[-1:]
    effects, names = program.effects if whole else effects, sorted(program.variables)
    with tf.Session(jit=mode) as session:
        session.run(tf.global_variables_initializer())
        world = dict(program.start)
        for choice in (True, False, True):
            before, world["choice"] = dict(world), choice
            feeds, fed = {program.choice: choice}, {}
            if feed is not None:
                tensor, part = program.pool[feed % len(program.pool)]
                # what takes a tensor has no control edge from its operation besides, as in TensorFlow: fed, it does not run
                if not any(part in one.parts and part in one.waits for one in program.made):
                    feeds[tensor] = fed[part] = np.arange(SIZE) - 1.5
            values = program.model(world, [part for _, part in pool], [part for _, part in effects], fed)
            fetches = [[t for t, _ in pool], [op for op, _ in effects], [program.variables[n] for n in names if along]]
            found, _, first = session.run(fetches, feeds)
            same(first, [before[n] for n in names], "a fetched variable is read where it was made")
            same(found, [values[part] for _, part in pool], "the values of a run")
            same(session.run([program.variables[n] for n in names]), [world[n] for n in names], "the variables after it")


def same(found, expected, what):
    for have, want in zip(found, expected):
        np.testing.assert_allclose(have, want, rtol=1e-7, atol=1e-7 * max(np.abs(want).max(), 1.0), err_msg=what)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["off", "always"])
@given(resources=st.tuples(*[st.booleans()] * 3), made=st.lists(steps, min_size=2, max_size=9),
       picks=st.lists(numbers, max_size=4), feed=st.none() | numbers, whole=st.booleans(), along=st.booleans())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck),
          derandomize="JITGRAPH_FUZZ_EXAMPLES" not in os.environ)
def test_runs_obey_the_state_rule(mode, resources, made, picks, feed, whole, along):
    compare(resources, made, picks, mode, feed, whole, along)
