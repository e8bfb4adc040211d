"""Variables and tensors of a graph by scope, suffix and name: `tf.contrib.framework.get_variables` and kin, and
`tf.contrib.graph_editor.get_tensors`."""
from __future__ import annotations

import re
from typing import Any

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import get_collection
from jitgraph.graph.tensor import Tensor


def get_variables(scope: Any = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES) -> list:
    """Variables of a collection whose names begin with `scope` (a name or a VariableScope) and end with `suffix`."""
    prefix = getattr(scope, "name", scope)
    if suffix is not None:
        if ":" not in suffix:
            suffix += ":"
        prefix = (prefix or "") + ".*" + suffix
    return list(get_collection(collection, prefix))


def get_variables_by_name(given_name: str, scope: Any = None) -> list:
    """Variables named `given_name`, in any scope or below `scope`."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list:
    """Variables whose names end with `suffix`."""
    return get_variables(scope=scope, suffix=suffix)


def get_unique_variable(var_op_name: str) -> Any:
    """The variable of that name.  Raises ValueError if there is none, or more than one."""
    found = get_variables(scope=var_op_name)
    exact = [v for v in found if v.op.name == var_op_name]
    if not exact:
        raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable: there are "
                         f"{', '.join(v.op.name for v in found)}" if found else f"Couldn't find variable {var_op_name}")
    return exact[0]


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list:
    """Trainable variables, filtered as in `get_variables`."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list:
    """Local variables, filtered as in `get_variables`."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list:
    """Model variables, filtered as in `get_variables`."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_variables_to_restore(include: Any = None, exclude: Any = None) -> list:
    """Global variables below one of the scopes `include` (all if None), and below none of `exclude`.

    Raises TypeError if these are not lists or tuples of names.
    """
    for scopes, what in ((include, "include"), (exclude, "exclude")):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{what} is provided but is not a list or a tuple.")
    wanted = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    refused = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in wanted if id(v) not in refused]


def filter_variables(var_list: Any, include_patterns: Any = None, exclude_patterns: Any = None,
                     reg_search: bool = True) -> list:
    """The variables whose names fit one of `include_patterns` (all if None), and none of `exclude_patterns`.

    The patterns are regular expressions, found anywhere in the name, or at its beginning if not `reg_search`.
    """
    fits = re.search if reg_search else re.match
    wanted = [v for v in var_list if include_patterns is None or any(fits(p, v.name) for p in include_patterns)]
    return [v for v in wanted if not any(fits(p, v.name) for p in exclude_patterns or ())]


def get_tensors(graph: Any) -> list[Tensor]:
    """All tensors of a graph, in the order in which their operations were made."""
    return [tensor for op in graph.get_operations() for tensor in op.outputs]
