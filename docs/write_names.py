"""Writes docs/names.md: which public names of TensorFlow 1.15 are here.  ``python docs/write_names.py``

And jitgraph/facade/tensorflow_names.tsv, these names by namespace, which tells a name that is not here yet from a typing error.

The names of TensorFlow are those of docs/names_tf115.tsv (see docs/collect_names.py); what is here is asked of jitgraph.
"""
from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

DOCS = Path(__file__).parent
HERE, INSTEAD, NOT_YET = "here", "instead", "not yet"


def names_of_tensorflow() -> dict[str, str]:
    """{public name: kind} of TensorFlow 1.15, without modules."""
    lines = (DOCS / "names_tf115.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    return {name: kind for name, kind, _ in rows if kind != "module"}


def namespace_of(name: str) -> str:
    """The namespace that a name is counted in; small ones and all of keras count with the one around them."""
    outer = name.rpartition(".")[0]
    return "keras" if outer.startswith("keras") else outer


def status_of(name: str) -> tuple[str, str]:
    """One of HERE, INSTEAD, NOT_YET, and the sentence that says what to write instead."""
    from jitgraph.facade import names
    from jitgraph.facade.not_here import instead_of

    if name.startswith("raw_ops."):
        from jitgraph.graph.registry import load_all

        if name.partition(".")[2] in load_all():
            return HERE, ""
    if name in names.table():
        return HERE, ""
    if name.startswith("compat."):                  # a module that answers for itself
        import jitgraph.compat

        return (HERE if hasattr(jitgraph.compat, name.partition(".")[2]) else NOT_YET), ""
    sentence = instead_of(name)
    return (INSTEAD, sentence) if sentence else (NOT_YET, "")


def statuses() -> dict[str, tuple[str, str]]:
    """The status of every name of TensorFlow 1.15."""
    return {name: status_of(name) for name in names_of_tensorflow()}


def counts(found: dict[str, tuple[str, str]]) -> dict[str, Counter]:
    """For each namespace how many of its names have which status."""
    result: dict[str, Counter] = defaultdict(Counter)
    for name, (status, _) in found.items():
        result[namespace_of(name)][status] += 1
    return result


def op_counts() -> str:
    """A sentence on the declared ops."""
    from jitgraph.declare.op import NOT_DIFFERENTIABLE
    from jitgraph.graph.registry import load_all

    ops = load_all().values()
    kernels = sum(bool(op.scalar or op.lower or op.updates) and not op.host for op in ops)
    from jitgraph.autodiff import functional_gradients  # noqa: F401  (gives If, Case and While theirs)

    gradients = sum(op.grad not in (None, NOT_DIFFERENTIABLE) for op in ops)
    return (f"{len(ops)} op types are declared, {kernels} of them with a kernel (the others run on the host), "
            f"{gradients} with a gradient.")


def in_scope(found: dict[str, tuple[str, str]]) -> str:
    """A sentence on the names that are neither Keras's nor those of phones or TPUs."""
    scope = {name: status for name, (status, sentence) in found.items() if not name.startswith(("keras.", "lite."))
             and "no TPU target" not in sentence and not name.rpartition(".")[2].startswith("TPU")}
    gone = [f"`tf.{name}`" for name, status in scope.items() if status != HERE]
    return (f"Without `tf.keras`, `tf.lite` and what is for TPUs alone they are {len(scope) - len(gone)} of {len(scope)}.  Eager "
            f"execution is the one part that is left out, since jitgraph runs graphs.  Not here: {', '.join(gone)}.")


def text() -> str:
    """The page."""
    found = statuses()
    by_namespace = counts(found)
    every = sum(by_namespace.values(), Counter())
    lines = ["# The public names of TensorFlow 1.15", "",
             "Written by `docs/write_names.py`; `tf.contrib` and `tf.compat` are not counted.  A name that is not here is "
             "answered by an `AttributeError` with the sentence below, or with the nearest name.", "",
             f"{every[HERE]} of {sum(every.values())} names are here.  {op_counts()}", "", in_scope(found), "",
             "| namespace | names | here | use something else | not yet |", "|---|---|---|---|---|"]
    for prefix, count in sorted(by_namespace.items()):
        lines.append(f"| {'tf.' + prefix if prefix else 'tf'} | {sum(count.values())} | {count[HERE]} | "
                     f"{count[INSTEAD]} | {count[NOT_YET]} |")
    for prefix in sorted(by_namespace):
        rows = {name: s for name, s in found.items() if namespace_of(name) == prefix}
        lines += ["", f"## {'tf.' + prefix if prefix else 'tf'}", ""]
        if prefix in ("keras", "raw_ops"):
            lines += [_in_words(rows)]
            continue
        lines += ["| name | status |", "|---|---|"]
        lines += [f"| `tf.{name}` | {sentence or status} |" for name, (status, sentence) in sorted(rows.items())]
    return "\n".join(lines) + "\n"


def packaged() -> str:
    """The text of jitgraph/facade/tensorflow_names.tsv."""
    found = defaultdict(list)
    for name in names_of_tensorflow():
        outer, _, last = name.rpartition(".")
        if outer.partition(".")[0] not in ("keras", "raw_ops", "compat"):
            found[outer].append(last)
    return "".join(f"{outer}\t{' '.join(found[outer])}\n" for outer in sorted(found))


def _in_words(rows: dict[str, tuple[str, str]]) -> str:
    sentences = sorted({sentence for _, sentence in rows.values() if sentence})
    missing = sorted(name.rpartition(".")[2] for name, (status, _) in rows.items() if status == NOT_YET)
    parts = [f"{sum(s == HERE for s, _ in rows.values())} of {len(rows)} are here."]
    parts += [f"Of the others {sum(said == sentence for _, said in rows.values())}: {sentence}." for sentence in sentences]
    parts += ["Not yet: " + " ".join(missing)] if missing else []
    return "\n\n".join(parts)


if __name__ == "__main__":
    (DOCS / "names.md").write_text(text())
    (DOCS.parent / "jitgraph" / "facade" / "tensorflow_names.tsv").write_text(packaged())
    sys.exit(0)
