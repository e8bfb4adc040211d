"""Reductions of one tensor of each device, with the result for every device.

TensorFlow's functions differ in how parts of the tensors travel between the devices: round a ring, by halves, through a few that
gather.  The devices of a session here are one machine's memory, where nothing travels: each function is the reduction itself, in
the order of the devices, and a result for each.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import colocate_with
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import identity

Binary = Callable[[Tensor, Tensor], Tensor]
Joint = Callable[[list[Tensor]], Tensor]
Unary = Callable[[Tensor], Tensor] | None


def _tensors(given: Sequence[Any]) -> list[Tensor]:
    """The inputs, of shapes that agree.  Raises ValueError if they do not."""
    tensors = [convert_to_tensor(one) for one in given]
    for tensor in tensors:
        tensors[0].shape.merge_with(tensor.shape)
    return tensors


def _for_each(tensors: list[Tensor], whole: Tensor, un_op: Unary) -> list[Tensor]:
    """The result for the device of each tensor."""
    found = whole if un_op is None else un_op(whole)
    results = []
    for tensor in tensors:
        with colocate_with(tensor.op):
            results.append(identity(found))
    return results


def _by_pairs(input_tensors: Sequence[Any], red_op: Binary, un_op: Unary) -> list[Tensor]:
    tensors = _tensors(input_tensors)
    return _for_each(tensors, functools.reduce(red_op, tensors), un_op)


def _together(input_tensors: Sequence[Any], red_op: Joint, un_op: Unary) -> list[Tensor]:
    tensors = _tensors(input_tensors)
    return _for_each(tensors, red_op(tensors), un_op)


def build_ring_all_reduce(input_tensors: Sequence[Any], num_workers: int, num_subchunks: int, gpu_perm: Sequence[int],
                          red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """The tensors reduced by ``red_op(a, b)``, then ``un_op(result)``, for each device; all have one shape.

    `num_workers`, `num_subchunks`, `gpu_perm` say in which order devices would pass on parts.  Raises ValueError for less than two
    tensors, or shapes that differ.
    """
    if len(input_tensors) < 2:
        raise ValueError("input_tensors must be length 2 or longer")
    return _by_pairs(input_tensors, red_op, un_op)


def build_recursive_hd_all_reduce(input_tensors: Sequence[Any], red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """As ``build_ring_all_reduce``.  Raises ValueError unless the number of tensors is a power of two."""
    count = len(input_tensors)
    if count & (count - 1):
        raise ValueError("num_devices must be a power of 2")
    return _by_pairs(input_tensors, red_op, un_op)


def build_shuffle_all_reduce(input_tensors: Sequence[Any], gather_devices: Sequence[str], red_op: Joint,
                             un_op: Unary = None) -> list[Tensor]:
    """The tensors reduced by ``red_op(list of all)``, for each device.  Raises ValueError for shapes that differ."""
    return _together(input_tensors, red_op, un_op)


def build_shuffle_then_ring(input_tensors: Sequence[Any], gather_devices: Sequence[str], subdiv: int, red_n_op: Joint,
                            red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """As ``build_shuffle_all_reduce`` by `red_n_op`."""
    return _together(input_tensors, red_n_op, un_op)


def build_shuffle_then_shuffle(input_tensors: Sequence[Any], first_gather_devices: Sequence[str],
                               second_gather_devices: Sequence[str], red_op: Joint, un_op: Unary = None) -> list[Tensor]:
    """As ``build_shuffle_all_reduce``."""
    return _together(input_tensors, red_op, un_op)


def build_nccl_all_reduce(input_tensors: Sequence[Any], red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """As ``build_ring_all_reduce``, also for one tensor."""
    return _by_pairs(input_tensors, red_op, un_op)


def build_nccl_then_ring(input_tensors: Sequence[Any], subdiv: int, red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """As ``build_nccl_all_reduce``."""
    return _by_pairs(input_tensors, red_op, un_op)


def build_nccl_then_recursive_hd(input_tensors: Sequence[Any], red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """As ``build_nccl_all_reduce``."""
    return _by_pairs(input_tensors, red_op, un_op)


def build_nccl_then_shuffle(input_tensors: Sequence[Any], gather_devices: Sequence[str], nccl_red_op: Binary,
                            shuffle_red_op: Joint, un_op: Unary = None) -> list[Tensor]:
    """As ``build_shuffle_all_reduce`` by `shuffle_red_op`."""
    return _together(input_tensors, shuffle_red_op, un_op)
