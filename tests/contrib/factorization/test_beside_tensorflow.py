"""Clusters, mixtures and factors of contrib.factorization and tf.estimator.experimental.KMeans are those in TensorFlow."""
import importlib
import json
from pathlib import Path

import pytest

from ...estimator.test_beside_tensorflow import same
from ...estimator.trainings import outcome, texts

HERE = Path(__file__).parent
WANTED = json.loads((HERE / "data" / "tf115_programs.json").read_text())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", texts(HERE)[1])
def test_what_is_fitted_is_that_of_tensorflow(tf, program):
    importlib.import_module("jitgraph.compat").install()
    same(outcome(tf, texts(HERE)[0], program), WANTED[program], "")
