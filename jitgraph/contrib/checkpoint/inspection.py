"""What the checkpoints of ``tf.train.Checkpoint`` say of the objects that they hold."""
from __future__ import annotations

import os
from typing import Any

from jitgraph.formats.bundle_reader import BundleReader
from jitgraph.protobuf import messages
from jitgraph.train.object_graph import OBJECT_GRAPH, VALUE, ObjectGraph


def list_objects(root_trackable: Any) -> list[Any]:
    """The objects below one, itself first, and the variables that optimizers among them keep beside others."""
    held = ObjectGraph(root_trackable)
    return [*held.nodes, *held.slots.values()]


def object_metadata(save_path: Any) -> Any:
    """The CheckpointableObjectGraph of a checkpoint.  Raises ValueError if it has none: ``tf.train.Saver`` wrote it."""
    reader = BundleReader(os.fspath(save_path))
    if OBJECT_GRAPH not in reader:
        raise ValueError(f"The specified checkpoint \"{save_path}\" does not appear to be object-based (it is missing the key "
                         f"\"{OBJECT_GRAPH}\"). Likely it was created with a name-based saver and does not contain an object "
                         "dependency graph.")
    found = reader.read(OBJECT_GRAPH).item()
    return messages.TrackableObjectGraph.FromString(found.encode() if isinstance(found, str) else found)


def _quoted(text: str) -> str:
    return text.replace('"', '\\"')


def dot_graph_from_checkpoint(save_path: Any) -> str:
    """The objects of a checkpoint as a graph in the language of Graphviz: variables are blue, slots orange, optimizers red."""
    reader, nodes = BundleReader(os.fspath(save_path)), object_metadata(save_path).nodes
    slots = {slot.slot_variable_node_id for node in nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(nodes):
        if len(node.attributes) == 1 and node.attributes[0].name == VALUE:
            kept, key = node.attributes[0], node.attributes[0].checkpoint_key
            color, kind = ("orange", "Slot variable") if number in slots else ("blue", "Variable")
            tip = f"{kind} {_quoted(kept.full_name)} shape={list(reader.shape(key))} {reader.dtype(key).name}"
            lines.append(f'N_{number} [shape=point label="" color={color} width=.25 tooltip="{tip}"]')
        elif node.slot_variables:
            lines.append(f'N_{number} [shape=point label="" width=.25 color=red,tooltip="Optimizer"]')
        else:
            lines.append(f'N_{number} [shape=point label="" width=.25]')
        lines += [f'N_{number} -> N_{child.node_id} [label="{_quoted(child.local_name)}"]' for child in node.children]
        for slot in node.slot_variables:
            lines.append(f'N_{number} -> N_{slot.slot_variable_node_id} [label="{_quoted(slot.slot_name)}" style=dotted]')
            lines.append(f"N_{slot.original_variable_node_id} -> N_{slot.slot_variable_node_id} [style=dotted]")
    return "\n".join([*lines, "}", ""])
