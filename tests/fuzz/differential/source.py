"""A program as the Python that a person would run."""

from . import values


def source(program):
    """Lines of Python that build the program and run it."""
    lines = ["import numpy as np", "import jitgraph as tf"]
    if program.get("seed") is not None:
        lines.append(f"tf.set_random_seed({program['seed']})")
    lines += statements(program["statements"], "")
    lines += ["session = tf.Session()", "session.run(tf.global_variables_initializer())"]
    for run in program["runs"]:
        feeds = ", ".join(f"{name}: {array(spec)}" for name, spec in run["feed"].items())
        lines.append(f"print(session.run([{', '.join(run['fetch'])}], {{{feeds}}}))")
    return "\n".join(lines)


def statements(given, indent):
    lines = []
    for statement in given:
        before = list(functions(statement, indent, lines))
        call = said(statement, before)
        out = statement.get("out")
        out = ", ".join(o or "_" for o in out) + ("," if len(out) == 1 else "") if isinstance(out, list) else out
        call = f"{out} = {call}" if out else call
        if statement.get("after"):
            call = f"with tf.control_dependencies([{', '.join(statement['after'])}]): {call}"
        lines.append(indent + call)
    return lines


def functions(statement, indent, lines):
    """Writes the functions among a statement's arguments and answers their names."""
    for k, argument in enumerate(statement.get("in", [])):
        if isinstance(argument, dict) and "function" in argument:
            what = argument["function"]
            first = statement["out"] if isinstance(statement["out"], str) else statement["out"][0]
            name = f"{first}_f{k}"
            lines.append(f"{indent}def {name}({', '.join(what['params'])}):")
            lines += statements(what["body"], indent + "    ")
            lines.append(f"{indent}    return {', '.join(what['results'])}")
            yield name


def said(statement, names):
    op, names = statement["op"], iter(names)
    given = [next(names) if isinstance(a, dict) and "function" in a else value(a) for a in statement.get("in", [])]
    given += [f"{k}={value(v)}" for k, v in statement.get("with", {}).items()]
    if op == "getitem":
        return f"{given[0]}[{', '.join(given[1:])}]"
    if op == "gradients":
        return f"tf.gradients({', '.join(given)})"
    if op == "variable":
        return f"tf.Variable({given[0]}, use_resource={given[1]})"
    if op == "minimize":
        rates = given[1].strip("[]")
        return f"tf.train.{given[0].strip(chr(39))}({rates}).minimize({given[2]}, var_list={given[3]})"
    if op in ("written", "guarded"):
        return f"{op}({', '.join(given)})    # see build.py"
    if op.startswith("."):
        return f"{given[0]}{op}({', '.join(given[1:])})"
    return f"tf.{op}({', '.join(given)})"


def value(given):
    if isinstance(given, list):
        return f"[{', '.join(map(value, given))}]"
    if not isinstance(given, dict):
        return repr(given)
    ((kind, what),) = given.items()
    return {
        "t": lambda: what,
        "dtype": lambda: f"tf.{what}",
        "array": lambda: array(what),
        "ellipsis": lambda: "...",
        "newaxis": lambda: "None",
        "slice": lambda: ":".join("" if p is None else value(p) for p in what),
        "tuple": lambda: f"({', '.join(map(value, what))},)",
        "function": lambda: "...",
        "bytes": lambda: repr(what.encode()),
    }[kind]()


def array(spec):
    made = values.make(spec)
    name = "object" if made.dtype == object else f"'{made.dtype}'"
    if made.size > 60:
        return f"np.random.RandomState(1).randint({spec.get('low', 0)}, {spec.get('high', 2)}, {list(made.shape)}).astype({name})"
    return f"np.array({made.ravel().tolist()}, {name})" + (f".reshape({list(made.shape)})" if made.ndim != 1 else "")
