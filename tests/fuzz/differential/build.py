"""Says a program to a module: TensorFlow 1.15 on Python 3.7, or jitgraph."""

import numpy as np

from . import values


class Missing(Exception):
    """A statement needs what an earlier statement that failed, or gave None, would have made."""


def getitem(tf, x, *key):
    return x[tuple(key) if len(key) != 1 else key[0]]


def gradients(tf, ys, xs, **keywords):
    return [None if g is None else tf.convert_to_tensor(g) for g in tf.gradients(ys, xs, **keywords)]


def variable(tf, value, resource, name=None):
    return tf.Variable(value, use_resource=resource, name=name, trainable=True)


def written(tf, first, count, step):
    """The values that a loop of `count` steps writes into a TensorArray, stacked; `step` makes each from the one before."""

    def body(k, array, value):
        return k + 1, array.write(k, value), step(value)

    array = tf.TensorArray(first.dtype, size=count, infer_shape=False)
    _, array, last = tf.while_loop(lambda k, array, value: k < count, body, [0, array, first])
    return array.stack(), last


def guarded(tf, gates, value):
    with tf.control_dependencies(gates):
        return tf.identity(value)


def scaled_slices(tf, optimizer, rate, loss, variables):
    return getattr(tf.train, optimizer)(*rate).minimize(loss, var_list=variables)


OWN = {
    "getitem": getitem,
    "gradients": gradients,
    "variable": variable,
    "written": written,
    "guarded": guarded,
    "minimize": scaled_slices,
}


class Build:
    """The graph of a program: `named` holds its tensors, `failures` what each statement raised (None: nothing).

    wide: with float64 where the program says a narrower float.
    """

    def __init__(self, tf, program, wide=False):
        self.tf, self.wide, self.named, self.failures = tf, wide, {}, []
        for statement in program["statements"]:
            try:
                self.state(statement, self.named)
                self.failures.append(None)
            except Missing:
                self.failures.append("Missing")
            except Exception as error:
                self.failures.append(type(error).__name__ + ": " + str(error)[:300])

    def state(self, statement, named):
        """Carries out one statement; its results go into `named`."""
        tf, op = self.tf, statement["op"]
        arguments = [self.value(a, named) for a in statement.get("in", [])]
        keywords = {k: self.value(a, named) for k, a in statement.get("with", {}).items()}
        after = [self.value({"t": name}, named) for name in statement.get("after", [])]
        with tf.control_dependencies([getattr(a, "op", a) for a in after]):
            if op in OWN:
                made = OWN[op](tf, *arguments, **keywords)
            elif op.startswith("."):
                made = getattr(arguments[0], op[1:])(*arguments[1:], **keywords)
            else:
                function = tf
                for part in op.split("."):
                    function = getattr(function, part)
                made = function(*arguments, **keywords)
        self.keep(statement.get("out"), made, named)

    def keep(self, out, made, named):
        if isinstance(out, list):
            made = [made] if not isinstance(made, (list, tuple)) else list(made)
            for name, one in zip(out, made):
                self.keep(name, one, named)
        elif out is not None and made is not None:
            named[out] = self.tf.convert_to_tensor(made) if isinstance(made, self.tf.IndexedSlices) else made

    def value(self, given, named):
        """An argument: a constant as it is, or what {"t": name} and its like stand for."""
        if isinstance(given, list):
            return [self.value(one, named) for one in given]
        if not isinstance(given, dict):
            return given
        ((kind, what),) = given.items()
        if kind == "t":
            if what not in named:
                raise Missing(what)
            return named[what]
        if kind == "dtype":
            return getattr(self.tf, values.WIDER.get(what, what) if self.wide else what)
        if kind == "array":
            array = values.make(what, self.wide)
            return self.tf.cast(array, self.tf.bfloat16) if what["dtype"] == "bfloat16" and not self.wide else array
        if kind == "slice":
            return slice(*[self.value(part, named) for part in what])
        if kind == "tuple":
            return tuple(self.value(one, named) for one in what)
        return {
            "ellipsis": lambda: Ellipsis,
            "newaxis": lambda: None,
            "function": lambda: self.function(what, named),
            "bytes": lambda: what.encode(),
            "numpy": lambda: np.dtype(what),
        }[kind]()

    def function(self, what, named):
        """The Python function of {"params", "body", "results"}, for cond, while_loop and the like."""

        def called(*arguments):
            inner = dict(named)
            inner.update(zip(what["params"], arguments))
            for statement in what["body"]:
                self.state(statement, inner)
            results = [self.value({"t": name}, inner) for name in what["results"]]
            return results[0] if len(results) == 1 else tuple(results)

        # while_loop and map_fn hand over arguments by position, and TensorFlow counts them for some
        return called
