"""Writes docs/names_tf115.tsv, the public names of TensorFlow 1.15: run it with a Python that has TensorFlow 1.15.

    python docs/collect_names.py > docs/names_tf115.tsv

A row is a name, its kind (module, class, function, value), and the first of the names that stand for the same thing.
``tf.contrib``, ``tf.compat.v1`` and ``tf.compat.v2`` (the same names once more) are left out.
"""
import inspect
import sys
import types

LEFT_OUT = {"contrib", "compat.v1", "compat.v2", "flags.tf_decorator", "app.flags.tf_decorator", "flags.flags",
            "app.flags.flags"}


def kind_of(value):
    if isinstance(value, types.ModuleType):
        return "module"
    if inspect.isclass(value):
        return "class"
    return "function" if callable(value) else "value"


def is_public(module):
    return "_api.v1" in module.__name__ or "api._v1" in module.__name__ or module.__name__.endswith("platform.flags")


def walk(module, prefix, seen, found):
    for name in sorted(dir(module)):
        full = prefix + name
        if name.startswith("_") or full in LEFT_OUT:
            continue
        value = getattr(module, name, None)
        kind = kind_of(value)
        if kind != "module":
            found[full] = (kind, value)
        elif is_public(value) and id(value) not in seen:
            found[full] = (kind, value)
            walk(value, full + ".", seen | {id(value)}, found)


def main():
    import tensorflow as tf

    found = {}
    walk(tf, "", {id(tf)}, found)
    first = {}
    for name in sorted(found, key=lambda n: (n.count("."), n)):
        if found[name][0] in ("class", "function"):
            first.setdefault(id(found[name][1]), name)
    print("# public names of TensorFlow %s: name, kind, the first name for the same thing" % tf.__version__)  # noqa: UP031
    print("name\tkind\tsame_as")
    for name in sorted(found):
        kind, value = found[name]
        print("%s\t%s\t%s" % (name, kind, first.get(id(value), name)))  # noqa: UP031


if __name__ == "__main__":
    sys.exit(main())
