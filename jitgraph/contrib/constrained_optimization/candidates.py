"""The best of several trained models, by their objectives and constraints; needs SciPy (Cotter, Jiang and Sridharan, 2018)."""
from __future__ import annotations

from typing import Any

import numpy as np


def _check(objectives: Any, constraints: Any) -> tuple[int, int]:
    rows, count = np.shape(constraints)
    if np.shape(objectives) != (count,):
        raise ValueError("objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the number of "
                         "candidates, and m is the number of constraints")
    return rows, count


def _distribution(objectives: Any, constraints: Any, allowed: float = 0.0) -> np.ndarray | None:
    """The probabilities of candidates whose mean objective is smallest where mean constraints are at most `allowed`, if any."""
    from scipy.optimize import linprog

    rows, count = _check(objectives, constraints)
    found = linprog(objectives, A_ub=constraints, b_ub=np.full((rows, 1), allowed), A_eq=np.ones((1, count)), b_eq=np.ones((1, 1)),
                    bounds=(0, None))
    return found.x if found.success else None


def find_best_candidate_distribution(objective_vector: Any, constraints_matrix: Any, epsilon: float = 0.0) -> np.ndarray:
    """The probabilities [n] of candidates with the smallest mean objective, where mean constraints are broken least.

    `objective_vector` [n] has the candidates' objectives, `constraints_matrix` [m, n] their constraints, which are to be at most
    0.  The search for the smallest breach ends within `epsilon`.  Raises ValueError for other shapes and a negative `epsilon`,
    ImportError without SciPy.
    """
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    found = _distribution(objective_vector, constraints_matrix)
    if found is not None:
        return found
    lower, upper = 0.0, float(np.min(np.amax(constraints_matrix, axis=0)))
    best = _distribution(objective_vector, constraints_matrix, upper)
    assert best is not None
    while True:
        middle = 0.5 * (lower + upper)
        if middle - lower <= epsilon or upper - middle <= epsilon:
            return best
        found = _distribution(objective_vector, constraints_matrix, middle)
        if found is None:
            lower = middle
        else:
            best, upper = found, middle


def _ranks(values: np.ndarray) -> np.ndarray:
    """For each number how many are smaller, plus 1."""
    return np.searchsorted(np.sort(values), values) + 1


def find_best_candidate_index(objective_vector: Any, constraints_matrix: Any, rank_objectives: bool = False) -> int:
    """The candidate whose worst rank by broken constraints is best; of several the one with the smallest objective.

    `objective_vector` [n] has the candidates' objectives, `constraints_matrix` [m, n] their constraints, which are to be at most
    0; with `rank_objectives`, objectives count among the ranks.  Raises ValueError for other shapes.
    """
    _, count = _check(objective_vector, constraints_matrix)
    objectives = np.asarray(objective_vector)
    worst = _ranks(objectives) if rank_objectives else np.zeros(count, np.int64)
    for row in np.asarray(constraints_matrix):
        worst = np.maximum(worst, _ranks(np.maximum(0.0, row)))
    # of equal ones the last
    return min(range(count), key=lambda candidate: (worst[candidate], objectives[candidate], -candidate))
