"""Which tensor of the checkpoint of a SavedModel is the value of which of its objects."""
from __future__ import annotations

import collections
import os
from typing import Any

from jitgraph.formats.bundle import index_path
from jitgraph.formats.bundle_reader import BundleReader
from jitgraph.protobuf import messages
from jitgraph.train.object_checkpoint import text_bytes
from jitgraph.train.object_graph import OBJECT_GRAPH, VALUE


def checkpoint_keys(prefix: str, objects: Any) -> dict[int, str]:
    """{number of a node of a SavedObjectGraph: name in the checkpoint} of the variables, found by the names of attributes."""
    if not os.path.exists(index_path(prefix)):
        return {}
    reader = BundleReader(prefix)
    saved: Any = messages.TrackableObjectGraph.FromString(text_bytes(reader.read(OBJECT_GRAPH).item()))
    theirs = {0: 0}                 # {node of the SavedObjectGraph: node of the checkpoint}
    waiting = collections.deque([0])
    while waiting:
        place = waiting.popleft()
        children = {child.local_name: child.node_id for child in saved.nodes[theirs[place]].children}
        for child in objects.nodes[place].children:
            if child.local_name in children and child.node_id not in theirs:
                theirs[child.node_id] = children[child.local_name]
                waiting.append(child.node_id)
    for place, node in list(theirs.items()):
        slots = {(slot.original_variable_node_id, slot.slot_name): slot.slot_variable_node_id
                 for slot in saved.nodes[node].slot_variables}
        for slot in objects.nodes[place].slot_variables:
            found = slots.get((theirs.get(slot.original_variable_node_id), slot.slot_name))
            if found is not None:
                theirs[slot.slot_variable_node_id] = found
    return {place: attribute.checkpoint_key for place, node in theirs.items() for attribute in saved.nodes[node].attributes
            if attribute.name == VALUE}
