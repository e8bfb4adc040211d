import pytest


@pytest.fixture(autouse=True)
def guarded(guarded_memory):
    """In every test here an access out of bounds is seen."""
