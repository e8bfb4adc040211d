"""``tensorflow.python.tools.inspect_checkpoint``: what a checkpoint holds, on the screen."""
from __future__ import annotations

from typing import Any

from jitgraph.formats.checkpoint import CheckpointReader


def print_tensors_in_checkpoint_file(file_name: Any, tensor_name: str | None, all_tensors: bool,
                                     all_tensor_names: bool = False, count_exclude_pattern: str = "") -> None:
    """Prints the names, and on demand the values, of the tensors in a checkpoint.

    `tensor_name`: one tensor to print; `all_tensors`: print all with their values; `all_tensor_names`: print all names.
    Without any of them, prints name, dtype and shape of each.  `count_exclude_pattern`: a regular expression; tensors that
    match it do not count as parameters.  Raises NotFoundError if there is no such checkpoint or tensor.
    """
    import re

    reader = CheckpointReader(file_name)
    shapes = reader.get_variable_to_shape_map()
    if all_tensors or all_tensor_names:
        for name in sorted(shapes):
            print("tensor_name: ", name)
            if all_tensors:
                print(reader.get_tensor(name))
    elif tensor_name:
        print("tensor_name: ", tensor_name)
        print(reader.get_tensor(tensor_name))
    else:
        print(reader.debug_string().decode("utf-8", "replace"))
    counted = 0
    for name, shape in shapes.items():
        if not count_exclude_pattern or not re.match(count_exclude_pattern, name):
            size = 1
            for dimension in shape:
                size *= dimension
            counted += size
    print(f"# Total number of params: {counted}")
