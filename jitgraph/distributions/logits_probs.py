"""What distributions share that are given by probabilities or their logits."""
from __future__ import annotations

from jitgraph.graph.tensor import Tensor


class ByLogitsOrProbs:
    """The two properties of a distribution that is made of one and keeps both."""

    _logits: Tensor
    _probs: Tensor

    @property
    def logits(self) -> Tensor:
        """The logarithms of the odds; those of the probabilities of classes, perhaps with a constant added."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities: of 1, of a success, of each class."""
        return self._probs
