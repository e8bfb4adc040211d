"""The losses of dual coordinate ascent, as lines of a compiled loop over examples; `ascent_loops` puts them together.

Each says what one example with the label y, the weight `weight` and the score wx asks for (Shalev-Shwartz and Zhang, 2013, with the
scaling by partitions of Ma et al., 2015): `dual`: the lines that find `new_dual` from the present `dual`, where `curvature` is
partitions * weight * |x|^2 / l2; `primal` and `conjugate`: those that find `primal` and `conjugate`, the two losses of the
duality gap; `slope`: those that find the derivative `slope` of the primal loss.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jitgraph.declare.invalid import invalid

LARGEST = "f64(1.7976931348623157e308)"


@dataclass(frozen=True)
class Loss:
    """The lines of a loss, the constant of its smoothness, and which labels it takes."""

    dual: str
    primal: str
    conjugate: str
    slope: str
    smoothness: float
    labels: str = "any"

    def converted(self, labels: np.ndarray) -> np.ndarray:
        """The labels as the lines take them.  Raises InvalidArgumentError for one that the loss does not know."""
        if self.labels == "binary":
            wrong = labels[(labels != 0) & (labels != 1)]
            if len(wrong):
                raise invalid(f"Only labels of 0.0 or 1.0 are supported right now. Found example with label: {_short(wrong[0])}")
            return np.where(labels == 0, np.float32(-1), labels).astype(np.float32)
        if self.labels == "counts":
            wrong = labels[labels < 0]
            if len(wrong):
                raise invalid("Only non-negative labels can be used with the Poisson log loss. Found example with label: "
                              f"{_short(wrong[0])}")
        return labels


def _short(number: np.float32) -> str:
    return f"{float(number):g}"


_NEWTON_STEPS = 10          # it converges quadratically

_INSIDE = """
if y * new_dual < zero:
    new_dual = zero
elif y * new_dual > one:
    new_dual = y
"""

_ONLY_INSIDE = f"""
if (y * dual < zero) | (y * dual > one):
    conjugate = {LARGEST}
"""

LOSSES = {
    "logistic_loss": Loss(
        dual=f"""
x = zero
for step in range({_NEWTON_STEPS}):
    t = tanh(x)
    above = minus_two * y * x - wx - parts * norm * weight * (half * (one + t) / y - dual)
    below = minus_two * y - parts * norm * weight * (one - t * t) * half / y
    x = x - above / below
new_dual = half * (one + tanh(x)) / y
""",
        primal="""
margin = y * prev_wx
if margin > zero:
    primal = log1p(exp(-margin)) * weight
else:
    primal = (log1p(exp(margin)) - margin) * weight
""",
        conjugate="""
share = dual * y
rest = one - share
share_log, rest_log = zero, zero
if share > zero:
    share_log = log(share)
if rest > zero:
    rest_log = log(rest)
conjugate = (share * share_log + rest * rest_log) * weight
""",
        slope="""
if y * wx > zero:
    slope = -(exp(-y * wx) / (one + exp(-y * wx))) * y
else:
    slope = -(one / (one + exp(y * wx))) * y
""",
        smoothness=4, labels="binary"),
    "squared_loss": Loss(
        dual="new_dual = dual + (y - dual - wx) / (one + parts * norm * weight)",
        primal="primal = (prev_wx - y) * (prev_wx - y) * weight * half",
        conjugate="conjugate = dual * (half * dual - y) * weight",
        slope="slope = wx - y", smoothness=1),
    "hinge_loss": Loss(
        dual="new_dual = dual + (y - wx) / (parts * weight * norm)" + _INSIDE,
        primal="primal = maximum(zero, one - y * prev_wx) * weight",
        conjugate="conjugate = -(dual * y) * weight" + _ONLY_INSIDE,
        slope="""
slope = zero
if y * wx < one:
    slope = -y
""",
        smoothness=0, labels="binary"),
    "smooth_hinge_loss": Loss(
        dual="new_dual = dual + (y - wx - dual) / (parts * weight * norm + one)" + _INSIDE,
        primal="""
margin = y * prev_wx
if margin >= one:
    primal = zero
elif margin <= zero:
    primal = (one - margin - half) * weight
else:
    primal = (one - margin) * (one - margin) * weight * half
""",
        conjugate="conjugate = (-(dual * y) + half * dual * dual) * weight" + _ONLY_INSIDE,
        slope="""
slope = wx - y
if y * wx >= one:
    slope = zero
elif y * wx <= zero:
    slope = -y
""",
        smoothness=1, labels="binary"),
    "poisson_loss": Loss(
        dual=f"""
x = zero
if y - dual > zero:
    x = log(y - dual)
for step in range({_NEWTON_STEPS}):
    power = exp(x)
    x = x - (x - wx - parts * norm * weight * (y - dual - power)) / (one + parts * norm * weight * power)
new_dual = y - exp(x)
""",
        primal="primal = (exp(prev_wx) - prev_wx * y) * weight",
        conjugate=f"""
room = y - dual
conjugate = zero
if room < zero:
    conjugate = {LARGEST}
elif room > zero:
    conjugate = room * (log(room) - one) * weight
""",
        slope="slope = exp(wx) - y", smoothness=1, labels="counts"),
}
"""The value of the attribute `loss_type` -> the loss."""
