"""Writes data/tf115_signatures.tsv: parameters and bases of TensorFlow 1.15's public functions and classes.

Run it with a Python that has TensorFlow 1.15, and give it the names, one a line:

    python -c "from jitgraph import names; print(*sorted(names.table()), sep='\\n')" > names.txt
    python3.7 tests/facade/signatures.py < names.txt > tests/facade/data/tf115_signatures.tsv

What a class has from its nearest public base in the same words has no line: ``expanded`` adds it.

A line is a dotted name and its parameters in Python's notation, ``nn.relu	(features, name=None)``.  A default that is no
plain value is written as ``...``, a dtype by its name.  A class has a line of its constructor, a line ``Name.method``
for each public method or attribute, and a line ``Name(Base, ...)`` of its public bases, nearest first.
"""
import importlib
import inspect
import sys

SPECIAL = ("__call__", "__enter__", "__exit__", "__getitem__", "__iter__", "__len__", "__bool__", "__nonzero__", "__eq__",
           "__int__", "__index__", "__float__", "__contains__")     # Python calls these itself: only that they are there
OWN_PACKAGES = ("tensorflow", "tensorflow_core", "tensorflow_estimator", "jitgraph")


def default(value):
    """A default as text: plain values as Python writes them, dtypes by their names, all else as dots."""
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(default, value)) + "]"
    return "tf.%s" % value.name if type(value).__name__ == "DType" else "..."  # noqa: UP031


def parameters(function):
    """``(a, b=1, *c, d=None, **e)``, or None if Python does not know them."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    parts, starred = [], False
    for one in signature.parameters.values():
        if one.kind is one.VAR_POSITIONAL:
            starred = True
            parts.append("*" + one.name)
            continue
        if one.kind is one.KEYWORD_ONLY and not starred:
            starred = True
            parts.append("*")
        text = "**" + one.name if one.kind is one.VAR_KEYWORD else one.name
        parts.append(text if one.default is one.empty else text + "=" + default(one.default))
    return "(" + ", ".join(parts) + ")"


def member(cls, name):
    """What a class says of `name`: parameters of a method, ``property``, ``value``; None if another library says it."""
    for base in cls.__mro__:
        if name in vars(base):
            if base.__module__.partition(".")[0] not in OWN_PACKAGES:
                return None     # Python's or another library's
            kept = vars(base)[name]
            if isinstance(kept, property) or not callable(getattr(cls, name)):
                return "attribute"
            return (name not in SPECIAL and parameters(getattr(cls, name))) or "callable"
    stated = any(name in getattr(base, "__annotations__", {}) for base in cls.__mro__)
    return "attribute" if stated else None      # of each object


def lines_of(name, value, public):
    """The (name, text) of a public function or class; `public` are the classes by identity that have a public name."""
    if inspect.isclass(value) and "SerializeToString" in dir(value):
        return []           # a protocol buffer: its fields are facts of the format
    if not inspect.isclass(value):
        found = parameters(value) if callable(value) else None
        return [(name, found)] if found else []
    bases = [public[id(base)] for base in value.__mro__[1:] if id(base) in public]
    builtin = [base.__name__ for base in value.__mro__[1:] if base.__module__ == "builtins" and base is not object]
    lines = [(name + "()", "(" + ", ".join(bases + builtin) + ")")]
    made = parameters(value.__init__) if "__init__" in dir(value) and value.__init__ is not object.__init__ else None
    if made:
        lines.append((name + ".__init__", made))
    stated = {name for base in value.__mro__ for name in getattr(base, "__annotations__", {})}
    for attribute in sorted({*dir(value), *stated}):
        if attribute in SPECIAL or not attribute.startswith("_"):
            text = member(value, attribute)
            if text is not None:
                lines.append((name + "." + attribute, text))
    return lines


def collect(names, resolve):
    """{name: text} of all of `names`, which `resolve` gives; several names of one thing have lines only for the first."""
    values = {}
    for name in names:
        try:
            values[name] = resolve(name)
        except AttributeError:
            continue
    first = {}
    for name in sorted(values, key=lambda n: (n.startswith("contrib."), n.count("."), n)):
        if inspect.isclass(values[name]):
            first.setdefault(id(values[name]), name)
    found = {}
    for name, value in values.items():
        if inspect.isclass(value) and first[id(value)] != name:
            continue
        found.update(lines_of(name, value, first))
    return found


def members_of(lines):
    """{class: {member: text}} of lines, with the line of its bases under ``()``."""
    found = {name[:-2]: {"()": text} for name, text in lines.items() if name.endswith("()")}
    for name, text in lines.items():
        outer, _, last = name.rpartition(".")
        if outer in found and not last.endswith("()"):
            found[outer][last] = text
    return found


def bases_of(members):
    """The public bases of a class, nearest first."""
    return members["()"][1:-1].split(", ")


def shortened(lines):
    """The lines without those that ``expanded`` adds."""
    classes = members_of(lines)
    left = dict(lines)
    for name, members in classes.items():
        nearest = next((classes[base] for base in bases_of(members) if base in classes), {})
        for member, text in members.items():
            if member != "()" and nearest.get(member) == text:
                del left[name + "." + member]
        for member in set(nearest) - set(members):
            left[name + "." + member] = "none"
    return left


def expanded(lines):
    """The lines, with what classes have from their nearest public bases."""
    classes, found = members_of(lines), dict(lines)
    done = {}

    def full(name):
        if name not in done:
            nearest = next((full(base) for base in bases_of(classes[name]) if base in classes), {})
            done[name] = {**nearest, **classes[name]}
        return done[name]

    for name in classes:
        found.update({name + ("" if member == "()" else ".") + member: text for member, text in full(name).items()})
    return {name: text for name, text in found.items() if text != "none"}


def main():
    import tensorflow as tf
    import tensorflow.contrib

    def resolve(name):
        value = tf
        for part in name.split("."):
            if value is tensorflow.contrib and not hasattr(value, part):       # a package that contrib does not import itself
                importlib.import_module("tensorflow.contrib." + part)
            value = getattr(value, part)
        return value

    lines = collect(sys.stdin.read().split(), resolve)
    short = shortened(lines)
    assert expanded(short) == lines
    for name, text in sorted(short.items()):
        print("%s\t%s" % (name, text))  # noqa: UP031


if __name__ == "__main__":
    main()
