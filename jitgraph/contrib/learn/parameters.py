"""What an estimator has of scikit-learn's: its parameters by name, to read and to set."""
from __future__ import annotations

from typing import Any


class Parameters:
    """Parameters are the attributes whose names begin with no underscore; those of an attribute are "ATTRIBUTE__NAME" too."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """{name: value}, with `deep` also of values that have parameters."""
        found: dict[str, Any] = {}
        for name, value in vars(self).items():
            if name.startswith("_"):
                continue
            if deep and hasattr(value, "get_params"):
                found.update({f"{name}__{inner}": one for inner, one in value.get_params().items()})
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Any:
        """Sets some; gives itself.  Raises ValueError for one that is not there."""
        there = self.get_params(deep=True)
        for name, value in params.items():
            own, _, inner = name.partition("__")
            if own not in there:
                raise ValueError(f"Invalid parameter {own} for estimator {type(self).__name__}. Check the list of available "
                                 "parameters with `estimator.get_params().keys()`.")
            if inner:
                there[own].set_params(**{inner: value})
            else:
                setattr(self, own, value)
        return self
