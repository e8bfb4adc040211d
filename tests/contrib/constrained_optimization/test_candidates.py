"""The best of several models by their objectives and constraints."""
import numpy as np
import pytest

OBJECTIVES = np.array([1.0, 2.0, 0.5, 4.0])
CONSTRAINTS = np.array([[0.5, -0.2, 1.0, -1.0], [-0.1, 0.3, 0.2, -0.4]])


def test_the_candidate_whose_constraints_are_broken_least(tf):
    C = tf.contrib.constrained_optimization
    assert C.find_best_candidate_index(OBJECTIVES, CONSTRAINTS) == 3
    assert C.find_best_candidate_index(OBJECTIVES, CONSTRAINTS, rank_objectives=True) == 0
    with pytest.raises(ValueError, match="objective_vector must have shape"):
        C.find_best_candidate_index(OBJECTIVES[:3], CONSTRAINTS)


def test_probabilities_of_candidates(tf):
    pytest.importorskip("scipy")
    C = tf.contrib.constrained_optimization
    found = C.find_best_candidate_distribution(OBJECTIVES, CONSTRAINTS)
    assert CONSTRAINTS @ found == pytest.approx(np.minimum(CONSTRAINTS @ found, 0), abs=1e-9)
    assert found.sum() == pytest.approx(1) and OBJECTIVES @ found == pytest.approx(50 / 27)
    infeasible = C.find_best_candidate_distribution(OBJECTIVES[:3], CONSTRAINTS[:, :3] + 0.5, epsilon=1e-4)
    assert np.max((CONSTRAINTS[:, :3] + 0.5) @ infeasible) == pytest.approx(0.61818, abs=1e-3)
    with pytest.raises(ValueError, match="epsilon must be nonnegative"):
        C.find_best_candidate_distribution(OBJECTIVES, CONSTRAINTS, epsilon=-1.0)
