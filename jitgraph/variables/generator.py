"""``tf.random.experimental``: random numbers whose state is a variable of the session."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.elementwise.arithmetic import add
from jitgraph.ops.random.generator_ops import PHILOX, THREEFRY
from jitgraph.variables.variable import Variable

_SIZES = {PHILOX: 3, THREEFRY: 2}
_WORD = (1 << 64) - 1


def _size(alg: Any) -> int:
    if alg not in _SIZES:
        raise ValueError(f"Unsupported algorithm id: {alg}")
    return _SIZES[alg]


def _signed(n: int) -> int:
    return n - (1 << 64) if n > _WORD >> 1 else n


def create_rng_state(seed: Any, algorithm: int) -> np.ndarray:
    """The state of an algorithm (1: Philox, 2: ThreeFry), int64 [3] or [2], from an integer or a list of integers.

    Raises ValueError for another algorithm and for seeds of more than one dimension.
    """
    size = _size(algorithm)
    words = [seed >> 64 * i & _WORD for i in range(size)] if isinstance(seed, int) else seed
    state = np.asarray(list(map(_signed, words)), np.int64)
    if state.ndim != 1:
        raise ValueError(f"seed should only have one dimension; got shape: {state.shape}")
    state = state[:size]
    return np.concatenate([np.zeros(size - len(state), np.int64), state])


def _state_tensor(state: Any) -> Any:
    return convert_to_tensor(list(map(_signed, state)) if isinstance(state, list) else state, dtype=dtypes.int64)


def _from_key_counter(key: Any, counter: Any, alg: int) -> Any:
    counter, key = _state_tensor(counter), _state_tensor(key)
    counter.shape.assert_is_compatible_with([_size(alg) - 1])
    key.shape.assert_is_compatible_with([])
    return concat([counter, raw.Reshape(key, [1])], 0)


def _shape_tensor(shape: Any) -> Any:
    empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int64 if empty else None, name="shape")


class Generator:
    """Random numbers; each op that draws some moves the state on, a variable of the session.

    >>> generator = tf.random.experimental.Generator.from_seed(1234)
    >>> x = generator.normal([2, 3])

    The state must be a resource variable (``tf.enable_resource_variables()``).  The algorithm is Philox; runs with ThreeFry
    raise InvalidArgumentError, as TensorFlow's do on a CPU.
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: int | None = None):
        if copy_from is not None:
            assert (alg or state) is None
            state, self._algorithm = copy_from.state, copy_from.algorithm
        else:
            assert alg is not None and state is not None
            state, self._algorithm = _state_tensor(state), alg
            state.shape.assert_is_compatible_with([_size(alg)])
        self._state: Any = Variable(state, dtype=dtypes.int64, trainable=False)

    @classmethod
    def from_state(cls, state: Any, alg: int) -> Generator:
        """A generator with this state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: Any, alg: int | None = None) -> Generator:
        """A generator with the state that ``create_rng_state`` makes of a seed."""
        alg = PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: int | None = None) -> Generator:
        """A generator whose state is another one each time it is initialized."""
        alg = PHILOX if alg is None else alg
        return cls(state=raw.NonDeterministicInts(shape=[_size(alg)], dtype=dtypes.int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: int) -> Generator:
        """A generator of the stream `key`, from the place `counter` on."""
        return cls(state=_from_key_counter(key, counter, alg), alg=alg)

    def reset(self, state: Any) -> None:
        """Adds an assignment of another state."""
        state = _state_tensor(state)
        state.shape.assert_is_compatible_with([_size(self.algorithm)])
        self._state.assign(state)

    def reset_from_seed(self, seed: Any) -> None:
        """Adds an assignment of the state of a seed."""
        self._state.assign(create_rng_state(seed, self.algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Adds an assignment of the place `counter` of the stream `key`."""
        self._state.assign(_from_key_counter(key, counter, self.algorithm))

    @property
    def state(self) -> Any:
        """The variable that holds the state."""
        return self._state

    @property
    def algorithm(self) -> Any:
        """1 for Philox, 2 for ThreeFry."""
        return self._algorithm

    @property
    def key(self) -> Any:
        """The last number of the state, which tells one stream from another."""
        _size(self.algorithm)
        return self._state[-1]

    def skip(self, delta: Any) -> None:
        """Adds a node that moves the state on as if `delta` numbers had been drawn."""
        raw.RngSkip(self._state.handle, self.algorithm, delta)

    def _scaled(self, kind: str, shape: Any, scale: Any, offset: Any, dtype: Any, name: str) -> Any:
        drawn = getattr(raw, kind)(self._state.handle, self.algorithm, shape, dtype=dtype)
        return add(drawn * scale, offset, name=name)

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
        """Numbers of the normal distribution."""
        with name_scope(name, "stateful_normal", [shape, mean, stddev]) as scope:
            return self._of_normal("StatefulStandardNormalV2", shape, mean, stddev, dtype, scope)

    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                         name: str | None = None) -> Any:
        """Numbers of the normal distribution, those drawn again that are more than two deviations from the mean."""
        with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
            return self._of_normal("StatefulTruncatedNormal", shape, mean, stddev, dtype, scope)

    def _of_normal(self, kind: str, shape: Any, mean: Any, stddev: Any, dtype: Any, scope: str) -> Any:
        sizes = _shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        return self._scaled(kind, sizes, convert_to_tensor(stddev, dtype=dtype, name="stddev"), mean, dtype, scope)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
        """Numbers in [minval, maxval), [0, 1) if nothing else is said.  Raises ValueError for integers without `maxval`."""
        dtype = as_dtype(dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            sizes = _shape_tensor(shape)
            low, high = (convert_to_tensor(x, dtype=dtype, name=word) for x, word in ((minval, "min"), (maxval, "max")))
            if dtype.is_integer:
                return raw.StatefulUniformInt(self._state.handle, self.algorithm, sizes, low, high, name=scope)
            drawn = raw.StatefulUniform(self._state.handle, self.algorithm, sizes, dtype=dtype)
            return add(drawn * (high - low), low, name=scope)

    def uniform_full_int(self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None) -> Any:
        """Whole numbers of int32, int64, uint32 or uint64, all as likely."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            return raw.StatefulUniformFullInt(self._state.handle, self.algorithm, _shape_tensor(shape), dtype=as_dtype(dtype),
                                              name=scope)

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32, name: str | None = None) -> Any:
        """How many of `counts` trials succeed, each with the probability `probs`; both are numbers, or have one for each row."""
        with name_scope(name, "binomial", [shape, counts, probs]) as scope:
            counts, probs = convert_to_tensor(counts, name="counts"), convert_to_tensor(probs, name="probs")
            return raw.StatefulRandomBinomial(self._state.handle, self.algorithm, _shape_tensor(shape), counts, probs,
                                              dtype=as_dtype(dtype), name=scope)

    def make_seeds(self, count: int = 1) -> Any:
        """int64 [2, count]: in each column the seed of a stateless random op."""
        _size(self.algorithm)
        keys = self.uniform_full_int([count], dtypes.int64)
        return stack([keys, zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """Generators of other streams.  In a graph there are no numbers to make them of: raises AttributeError."""
        _size(self.algorithm)
        keys = self.uniform_full_int([count], dtypes.int64)
        return [Generator(state=[0] * (_size(self.algorithm) - 1) + [key], alg=self.algorithm) for key in keys.numpy()]


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """The generator that was set, or else one made at the first call, whose state no seed decides."""
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Sets what ``get_global_generator`` gives."""
    _global[:] = [generator]
