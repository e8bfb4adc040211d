"""What distributions check of a distribution of scalars of which they are made."""
from __future__ import annotations

from typing import Any

from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.checks.check_values import assert_equal


def maybe_check_scalar_distribution(distribution: Distribution, expected_base_dtype: Any, validate_args: bool) -> list:
    """Assertions that a distribution is scalar, as far as that is not known and to be checked.

    Raises TypeError for another dtype, ValueError for one that is not scalar, or without gradients if `validate_args`.
    """
    if distribution.dtype != expected_base_dtype:
        raise TypeError(f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not "{expected_base_dtype.name}"')
    kind = distribution.reparameterization_type
    if validate_args and kind != FULLY_REPARAMETERIZED:
        raise ValueError("Base distribution should be reparameterized or be a function of non-trainable variables; "
                         f'distribution.reparameterization_type = "{kind}" != "FULLY_REPARAMETERIZED".')
    checks = []
    with name_scope(name="check_distribution"):
        for name in ("is_scalar_event", "is_scalar_batch"):
            is_scalar = getattr(distribution, name)()
            known = static_value(convert_to_tensor(is_scalar))
            message = f"distribution must be scalar; distribution.{name}=False is not True"
            if known is None:
                checks += [assert_equal(is_scalar, True, message=message)] if validate_args else []
            elif not known:
                raise ValueError(message)
    return checks
