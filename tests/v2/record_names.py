"""Writes data/tf115_v2_names.tsv: the names of ``tf.compat.v2`` and what they are, and how they stand to those of ``tf``.

Run it under TensorFlow 1.15: ``python3.7 tests/v2/record_names.py > tests/v2/data/tf115_v2_names.tsv``.

A line is a name and ``same`` (it is the object that ``tf`` has by that name), the parameters of a function in the notation
of tests/facade/signatures.py, or ``class`` or ``value``.  Keras, raw_ops, lite, tpu and estimator are left out.
"""
import importlib.util
import inspect
import os
import types

LEFT_OUT = ("keras", "losses", "metrics", "optimizers", "raw_ops", "lite", "tpu", "estimator", "compat")
BESIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "facade", "signatures.py")


def walk(module, prefix, seen):
    """(dotted name, object) of what is public in a module and those below."""
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if name.startswith("_") or not prefix and name in LEFT_OUT:
            continue
        if not isinstance(value, types.ModuleType):
            yield prefix + name, value
        elif id(value) not in seen and name in getattr(module, "__all__", [name]):
            yield from walk(value, prefix + name + ".", seen | {id(value)})


def main():
    import tensorflow as tf

    spec = importlib.util.spec_from_file_location("signatures", BESIDE)
    signatures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(signatures)

    def of_v1(name):
        value = tf
        for part in name.split("."):
            value = getattr(value, part, None)
        return value

    for name, value in walk(tf.compat.v2, "", set()):
        if name in ("initializers.deserialize", "initializers.get", "initializers.serialize"):
            continue            # of Keras
        if of_v1(name) is value:
            text = "same"
        elif inspect.isclass(value):
            text = "class"
        else:
            text = signatures.parameters(value) if callable(value) else "value"
        print("%s\t%s" % (name, text))  # noqa: UP031


if __name__ == "__main__":
    main()
