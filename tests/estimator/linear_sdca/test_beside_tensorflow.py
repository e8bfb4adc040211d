"""Linear models trained by dual coordinate ascent leave behind what they do in TensorFlow: losses, weights, predictions, errors."""
import json
from pathlib import Path

import pytest

from ..test_beside_tensorflow import same
from ..trainings import outcome, texts

HERE = Path(__file__).parent
WANTED = json.loads((HERE / "data" / "tf115_programs.json").read_text())


def _with_sums_of_tables(found):
    """TensorFlow saves a table with its empty places, whose keys and values are 0 here: of tables the sums are compared."""
    values = found.get("variables", {})
    return {**found, **({"variables": {name: one[-1:] if "HashTable" in name else one for name, one in values.items()}} if values
                        else {})}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_training_does_what_it_does_in_tensorflow(tf, program):
    same(_with_sums_of_tables(outcome(tf, texts(HERE)[0], program)), _with_sums_of_tables(WANTED[program]), "")
