"""What devices of a group do together, for a group of one: a session runs its nodes one after the other, on one device.

A group of more than one needs nodes that wait for each other; a run says so by UnimplementedError.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import NUMBERS, TypeSet
from jitgraph.graph.errors import InternalError, UnimplementedError
from jitgraph.graph.texts import as_text

_SUMS = TypeSet(dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
_KEYS = "group_size: int, group_key: int, instance_key: int"
_HINT = 'communication_hint: string = "auto"'
_REDUCTION = 'reduction: string {"min", "max", "prod", "sum"}'
_GROUP = {"group_size": 1, "group_key": 1, "instance_key": 1}


def _alone(size: int, what: str) -> None:
    if size != 1:
        raise UnimplementedError(None, None, f"{what} of a group of {size}: a session of jitgraph has one device, and its nodes do "
                                             "not wait for each other; write the sum or the choice in the graph")


def _samples(**attrs: Any) -> Any:
    return lambda rng, dtype: [([draw(rng, (2, 3), dtype)], attrs)]


@op(f'CollectiveReduce(input: T; {_KEYS}, merge_op: string {{"Min", "Max", "Mul", "Add"}}, final_op: string {{"Id", "Div"}}, '
    f"subdiv_offsets: list(int), wait_for: list(int) = [], {_HINT}) -> data: T", T=_SUMS, shape=shape_rules.same_as_input,
    stateful=True, host=True, samples=_samples(**_GROUP, merge_op="Add", final_op="Div", subdiv_offsets=[0]))
def collective_reduce(input, group_size):
    """The tensors of a group put together: of a group of one, its own."""
    if group_size < 1:
        raise InternalError(None, None, f"CollectiveReduce of a group of {group_size}")
    _alone(group_size, "CollectiveReduce")
    return input


@op(f"CollectiveGather(input: T; {_KEYS}, shape: shape, {_HINT}) -> data: T", T=_SUMS, stateful=True, host=True,
    shape=shape_rules.same_as_input, samples=_samples(**_GROUP, shape=(2, 3)))
def collective_gather(input, group_size):
    """The tensors of a group end to end."""
    _alone(group_size, "CollectiveGather")
    return input


@op(f"CollectiveBcastSend(input: T; {_KEYS}, shape: shape, {_HINT}) -> data: T", T=_SUMS, stateful=True, host=True,
    shape=shape_rules.from_attr("shape"), samples=_samples(**_GROUP, shape=(2, 3)))
def collective_bcast_send(input, group_size, shape):
    """Sends the tensor to all others of a group, and gives it.  A run raises InternalError for another shape than is stated."""
    _alone(group_size, "CollectiveBcastSend")
    if tuple(shape) != input.shape:
        raise InternalError(None, None, f"Declared shape {list(shape)} of CollectiveBcastSend does not match shape "
                                        f"{list(input.shape)} of input")
    return input


@op(f"CollectiveBcastRecv(; T: type, {_KEYS}, shape: shape, {_HINT}) -> data: T", T=_SUMS, stateful=True, host=True,
    shape=shape_rules.from_attr("shape"), tested_in="tests/distribute: another device, which no session has")
def collective_bcast_recv(group_size):
    """What another of the group sends: there is none."""
    _alone(max(group_size, 2), "CollectiveBcastRecv")


# -- of replicas ---------------------------------------------------------------------------------------------------

def _pair_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (2, 3), dtype), ints([0, 0])], [draw(rng, (2, 3), dtype), np.zeros((0, 2), np.int32)]]


@op("CollectivePermute(input: T, source_target_pairs: int32) -> output: T", T=NUMBERS, shape=shape_rules.same_as_input, host=True,
    samples=_pair_samples)
def collective_permute(input, source_target_pairs):
    """What the replica has that sends to this one by the pairs (source, target) [n, 2]; zeros if none does."""
    if source_target_pairs.ndim != 2 or source_target_pairs.shape[1] != 2:
        raise invalid(f"source_target_pairs must have shape [n, 2], not {list(source_target_pairs.shape)}")
    if np.any(source_target_pairs):
        _alone(int(source_target_pairs.max()) + 1, "CollectivePermute")
    return input if len(source_target_pairs) else np.zeros_like(input)


@collective_permute.gradient
def _(op, grad):
    return [collective_permute(grad, op.inputs[1][:, ::-1]), None]


def _one_replica(groups: np.ndarray, what: str) -> None:
    _alone(groups.size or 1, what)


@op("CrossReplicaSum(input: T, group_assignment: int32) -> output: T",
    T=TypeSet(dtypes.bfloat16, dtypes.float32, dtypes.int32, dtypes.uint32), shape=shape_rules.same_as_input, host=True,
    samples=lambda rng, dtype: [[draw(rng, (2, 3), dtype), ints([0])]],
    gradient_differs="it is there for float32 and bfloat16 alone")
def cross_replica_sum(input, group_assignment):
    """The sum of the tensors of the replicas of a group; `group_assignment` int32 [groups, replicas]."""
    _one_replica(group_assignment, "CrossReplicaSum")
    return input


@cross_replica_sum.gradient
def _(op, grad):
    return [cross_replica_sum(grad, op.inputs[1]), None]


def _exchanged(c: Any) -> Any:
    shape, attrs = c.shapes[0], c.attrs
    if shape is None:
        return None
    for name in ("concat_dimension", "split_dimension"):
        if not 0 <= attrs[name] < len(shape):
            raise ValueError(f"{name} {attrs[name]} is out of range of input rank {len(shape)}")
    sizes, ways = list(shape), attrs["split_count"]
    split, joined = attrs["split_dimension"], attrs["concat_dimension"]
    if sizes[joined] is not None:
        sizes[joined] *= ways
    if sizes[split] is not None:
        if sizes[split] % ways:
            raise ValueError(f"input dimension {split} of {sizes[split]} does not divide by split_count {ways}")
        sizes[split] //= ways
    return tuple(sizes)


@op("AllToAll(input: T, group_assignment: int32; concat_dimension: int, split_dimension: int, split_count: int) -> output: T",
    T=NUMBERS + TypeSet(dtypes.bool_), shape=_exchanged, host=True,
    samples=lambda rng, dtype: [([draw(rng, (2, 3), dtype), ints([0])],
                                 {"concat_dimension": 0, "split_dimension": 1, "split_count": 1})])
def all_to_all(input, group_assignment, split_count):
    """Parts of the tensors of a group exchanged: each gets one of each."""
    _one_replica(group_assignment, "AllToAll")
    _alone(split_count, "AllToAll")
    return input


@all_to_all.gradient
def _(op, grad):
    return [all_to_all(grad, op.inputs[1], concat_dimension=op.attrs["split_dimension"],
                       split_dimension=op.attrs["concat_dimension"], split_count=op.attrs["split_count"]), None]


# -- by the names of NCCL ------------------------------------------------------------------------------------------

_COMBINE = {"min": np.minimum, "max": np.maximum, "prod": np.multiply, "sum": np.add}


def _only_sums(op: Any, what: str) -> None:
    if op.attrs["reduction"] not in ("sum", b"sum"):
        raise LookupError(f"No gradient defined for {what} except sum.")


def _reduction(attrs: Any) -> Any:
    return _COMBINE[as_text(attrs)]


def _reduced_samples(rng: Any, dtype: Any) -> list:
    return [([[draw(rng, (2, 3), dtype, 1, 2) for _ in range(3)]], {"reduction": "sum"})]


@op(f"NcclReduce(input: num_devices*T; {_REDUCTION}, num_devices: int >= 1) -> data: T", T=_SUMS, shape=shape_rules.merged_inputs,
    stateful=True, host=True, samples=_reduced_samples)
def nccl_reduce(input, reduction):
    """The tensors of several devices put together, element by element: all of them are tensors of this process."""
    found = input[0]
    for one in input[1:]:
        found = _reduction(reduction)(found, one)
    return found


@nccl_reduce.gradient
def _(op, grad):
    _only_sums(op, "NcclReduce")
    return [nccl_broadcast(grad, shape=grad._shape)] * len(op.inputs)


@op("NcclBroadcast(input: T; shape: shape) -> output: T", T=_SUMS, shape=shape_rules.same_as_input, stateful=True, host=True,
    samples=_samples(shape=(2, 3)))
def nccl_broadcast(input):
    """The tensor, for all devices."""
    return input


@nccl_broadcast.gradient
def _(op, grad):
    inputs = list(grad.op.inputs) if grad.op.type == "AddN" else [grad]
    return nccl_reduce(inputs, reduction="sum")


@op(f"NcclAllReduce(input: T; {_REDUCTION}, num_devices: int, shared_name: string) -> data: T", T=_SUMS,
    shape=shape_rules.same_as_input, stateful=True, host=True,
    samples=_samples(reduction="sum", num_devices=1, shared_name="all"))
def nccl_all_reduce(input, num_devices):
    """What the nodes of one shared name have, put together: for one device, its own."""
    _alone(num_devices, "NcclAllReduce")
    return input


@nccl_all_reduce.gradient
def _(op, grad):
    _only_sums(op, "NcclAllReduce")
    return raw.NcclAllReduce(grad, reduction="sum", num_devices=op.attrs["num_devices"],
                             shared_name=(op.attrs["shared_name"] or "") + "_grad_" + op.name)
