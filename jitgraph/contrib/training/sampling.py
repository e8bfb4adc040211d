"""Examples kept or repeated at random, so that a batch has other proportions than the input."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import one_hot, zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity, stop_gradient
from jitgraph.ops.arrays.rearrange import repeat
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.checks.check_shapes import assert_integer
from jitgraph.ops.checks.check_values import assert_equal, assert_less, assert_less_equal, assert_non_negative, assert_positive
from jitgraph.ops.checks.printing import Print
from jitgraph.ops.elementwise.arithmetic import truediv
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, less, logical_or, not_equal
from jitgraph.ops.elementwise.elementary import is_nan
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.random.random_rejection import random_poisson
from jitgraph.ops.reduce.reductions import reduce_all, reduce_max, reduce_mean, reduce_sum
from jitgraph.train.batching import batch, maybe_batch
from jitgraph.train.moving_averages import assign_moving_average
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_scopes import get_local_variable, variable_scope


def rejection_sample(tensors: Any, accept_prob_fn: Callable, batch_size: int, queue_threads: int = 1, enqueue_many: bool = False,
                     prebatch_capacity: int = 16, prebatch_threads: int = 1, runtime_checks: bool = False,
                     name: str | None = None) -> list:
    """A batch of examples, each kept with the probability ``accept_prob_fn(tensors)``, a scalar.

    `runtime_checks`: whether a run refuses probabilities outside of [0, 1].  The rest is as of ``tf.train.batch``.
    """
    with variable_scope(name, "rejection_sample", tensors):
        examples = [convert_to_tensor(one) for one in tensors]
        if enqueue_many:
            for one in examples:
                one.shape.with_rank_at_least(1)[0].assert_is_compatible_with(examples[0].shape[0])
            taken = batch(examples, batch_size=1, num_threads=prebatch_threads, capacity=prebatch_capacity, enqueue_many=True)
            examples = [squeeze(one, [0]) for one in (taken if isinstance(taken, list) else [taken])]
        probability = accept_prob_fn(examples)
        if runtime_checks:
            checks = [assert_less_equal(0.0, probability), assert_less_equal(probability, 1.0)]
            probability = identity(with_dependencies(checks, probability), name="prob_with_checks")
        found = maybe_batch(examples, keep_input=random_uniform([]) < probability, batch_size=batch_size,
                            num_threads=queue_threads)
        return [found] if isinstance(found, Tensor) else found


def stratified_sample(tensors: Any, labels: Any, target_probs: Any, batch_size: int, init_probs: Any = None,
                      enqueue_many: bool = False, queue_capacity: int = 16, threads_per_queue: int = 1,
                      name: str | None = None) -> tuple:
    """(a batch of examples, their labels) in which the classes have the probabilities `target_probs` [classes].

    `labels`: the int class of an example; `init_probs`: the probabilities in the input, counted if not given.  Raises
    ValueError for shapes that do not fit; a run refuses probabilities that do not add up to 1, and classes that are none.
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        examples = [convert_to_tensor(one) for one in tensors]
        labels = convert_to_tensor(labels)
        target_probs = convert_to_tensor(target_probs, dtype=dtypes.float32)
        if not enqueue_many:
            examples, labels = [expand_dims(one, 0) for one in examples], expand_dims(labels, 0)
        if init_probs is None:
            target_probs.shape.assert_is_fully_defined()
            init_probs = _counted(labels, target_probs.shape.num_elements())
        else:
            init_probs = convert_to_tensor(init_probs, dtype=dtypes.float32)
        examples, labels, (init_probs, target_probs) = _checked(examples, labels, [init_probs, target_probs])
        possible = Assert(reduce_all(logical_or(not_equal(init_probs, 0), equal(target_probs, 0))),
                          ["All classes with zero initial probability must also have zero target probability: ", init_probs,
                           target_probs])
        init_probs = with_dependencies([possible], init_probs)
        accepted = _acceptance(init_probs, target_probs)
        rejected = reduce_sum((1 - accepted) * init_probs)
        accepted = cond(less(rejected, 0.5), lambda: accepted, lambda: Print(
            accepted, [accepted], message="Proportion of examples rejected by sampler is high.", first_n=10))
        taken = batch([*examples, labels], batch_size=1, num_threads=threads_per_queue, capacity=queue_capacity,
                      enqueue_many=True)
        *values, label = [squeeze(one, [0]) for one in taken]
        found = maybe_batch([*values, label], keep_input=random_uniform([]) < gather(accepted, label), batch_size=batch_size,
                            num_threads=threads_per_queue)
        return found[:-1], found[-1]


def _counted(labels: Any, num_classes: int, begin: int = 10) -> Any:
    """The part of each class so far, as if each had been seen `begin` times before."""
    seen = Variable([begin] * num_classes, trainable=False, name="class_count", dtype=dtypes.int64)
    counts = seen.assign_add(reduce_sum(one_hot(labels, num_classes, dtype=dtypes.int64), 0))
    counts += 0                                     # a value of its own, which later steps do not change
    return cast(truediv(counts, reduce_sum(counts)), dtypes.float32)


def _checked(examples: list, labels: Any, probabilities: list) -> tuple:
    checked = []
    for one in probabilities:
        one.shape.assert_is_fully_defined()
        one.shape.assert_has_rank(1)
        total = reduce_sum(one)
        checked.append(with_dependencies([assert_non_negative(one), assert_less(total, 1.0 + 1e-6),
                                          assert_less(1.0 - 1e-6, total)], one))
    classes = checked[0].shape.num_elements()
    if any(one.shape.num_elements() != classes for one in checked):
        raise ValueError("Probability parameters must have the same length.")
    labels.shape.assert_has_rank(1)
    for one in examples:
        one.shape.with_rank_at_least(1)[0].assert_is_compatible_with(labels.shape[0])
    count = shape_of(labels)[0]
    some = assert_positive(count)
    labels = with_dependencies([some], labels)
    examples = [with_dependencies([some, assert_equal(shape_of(one)[0], count)], one) for one in examples]
    labels = with_dependencies([assert_integer(labels), assert_non_negative(labels),
                                assert_less(labels, cast(classes, labels.dtype))], labels)
    return examples, labels, checked


def _acceptance(init_probs: Any, target_probs: Any) -> Any:
    """The probabilities to keep an example of each class, the largest of which is 1."""
    ratio = target_probs / init_probs
    ratio = where_v2(is_nan(ratio), zeros_like(ratio), ratio)
    return ratio / reduce_max(ratio)


def _repeated_numbers(counts: Any) -> Any:
    """0, 1, 2 ..., each as often as `counts` [n] says."""
    with name_scope(None, "repeat_range", [counts]):
        counts = convert_to_tensor(counts, name="counts")
        count_nodes(19)             # TensorFlow has a loop
        return repeat(range_of(shape_of(counts)[0]), counts)


def resample_at_rate(inputs: list, rates: Any, scope: str | None = None, seed: int | None = None,
                     back_prop: bool = False) -> list:
    """`inputs`, tensors [n, ...], with each example repeated as often as a Poisson variable of the mean `rates` [n] says."""
    with name_scope(scope, default_name="resample_at_rate", values=[*inputs, rates]):
        rates = convert_to_tensor(rates, name="rates")
        counts = cast(random_poisson(rates, (), rates.dtype, seed=seed), dtypes.int32)
        indices = _repeated_numbers(counts)
        if not back_prop:
            indices = stop_gradient(indices)
        return [gather(one, indices) for one in inputs]


def weighted_resample(inputs: list, weights: Any, overall_rate: Any, scope: str | None = None, mean_decay: float = 0.999,
                      seed: int | None = None) -> tuple:
    """(`inputs` resampled at rates in proportion to `weights` [n], the rates): on average `overall_rate` of each.

    The mean weight is followed over batches with `mean_decay`.
    """
    with name_scope(scope, "weighted_resample", inputs) as inner:
        with variable_scope(scope, "estimate_mean", inputs):
            estimated = get_local_variable("estimated_mean", initializer=cast(0, weights.dtype), dtype=weights.dtype)
            mean = assign_moving_average(estimated, reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        rates, *found = resample_at_rate([rates, *inputs], rates, scope=inner, seed=seed, back_prop=False)
        return found, rates
