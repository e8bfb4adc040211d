"""The table of steps: what can be added to a program, by family."""

FAMILIES: dict = {}


def step(family, weight=1):
    """Puts a function of a Writer into the table; it raises Unsuitable where it finds nothing to be done to."""

    def registered(function):
        FAMILIES.setdefault(family, []).append((weight, function))
        return function

    return registered
