"""Names of ``tensorflow.python.util.deprecation`` that ``tf.contrib.framework`` does not have, and of ``module_wrapper``."""
from __future__ import annotations

from typing import Any

# what programs set to hear nothing of old names: there are no such warnings here
_PER_MODULE_WARNING_LIMIT = 1
_PRINT_DEPRECATION_WARNINGS = True


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that was renamed: that given by its old name, if there is one.

    Raises ValueError if it is given by both.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """A docstring that names an argument by its new name."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")


def deprecated_endpoints(*args: str) -> Any:
    """Decorator of what has old public names `args`, which leaves it as it is."""
    return lambda func: func


def hide_attribute_from_api(value: Any) -> Any:
    """An attribute that documentation leaves out, as it is."""
    return value
