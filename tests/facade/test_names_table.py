"""The table of TensorFlow's public names in docs/names.md promises nothing that is not there."""
import functools
import importlib.util
import re
from pathlib import Path

import pytest

from jitgraph.facade import names, not_here

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.fixture(scope="module")
def write_names():
    spec = importlib.util.spec_from_file_location("write_names", DOCS / "write_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_docs_promise_what_is_there(write_names, request):
    """`pytest --update` writes the page anew."""
    page = DOCS / "names.md"
    if request.config.getoption("--update"):
        page.write_text(write_names.text())
    promised = re.findall(r"^\| `tf\.([\w.]+)` \| here \|$", page.read_text(), re.MULTILINE)
    gone = [name for name in promised if name not in names.table() and not name.startswith("compat.")]
    assert len(promised) > 1000 and not gone, f"docs/names.md says that these are here: {gone}"


def test_most_names_of_the_core_namespaces_are_there(write_names):
    """What programs of the core language use; other namespaces (data, estimator, layers ...) count by themselves."""
    found = write_names.counts(write_names.statuses())
    for namespace, share in (("", 0.85), ("math", 0.99), ("nn", 0.75), ("linalg", 0.68), ("image", 0.95), ("sparse", 0.9),
                             ("random", 0.9), ("bitwise", 1), ("spectral", 1), ("signal", 1), ("debugging", 0.9)):
        count = found[namespace]
        here, every = count[write_names.HERE], sum(count.values())
        assert here >= share * every, f"tf.{namespace}: {here} of {every} names"


def test_every_absent_name_is_answered_in_one_sentence(write_names, tf):
    for name, (status, sentence) in write_names.statuses().items():
        if status == write_names.INSTEAD:
            message = not_here.sentence(name)
            assert sentence in message and "\n" not in message and not sentence.endswith("."), name
        elif status == write_names.NOT_YET and not name.startswith(("raw_ops.", "compat.")):
            assert "is not in jitgraph yet" in not_here.sentence(name) and "did you mean" not in not_here.sentence(name)


@pytest.mark.parametrize("sentence", sorted({*not_here.INSTEAD.values(), *not_here.NOT_YET.values()}))
def test_advice_names_what_is_there(tf, sentence):
    assert len(sentence) < 132
    for name in re.findall(r"\btf\.([A-Za-z_][\w.]*\w)", sentence):
        functools.reduce(getattr, name.split("."), tf)


@pytest.mark.parametrize("name, text", [
    ("contrib.absent", "tf.contrib.absent is not in jitgraph yet."), ("database", "see dir(tf)"),
    ("nn.dynamic_rnn", "tf.nn.dynamic_rnn is not in jitgraph yet."), ("contrib.slim", "tf.contrib.slim is not in jitgraph yet.")])
def test_names_to_come_are_told_from_typing_errors(name, text):
    assert text in not_here.sentence(name) and "did you mean" not in not_here.sentence(name)


def test_packaged_names_are_those_of_the_documentation(write_names):
    """`python docs/write_names.py` writes them anew."""
    assert (DOCS.parent / "jitgraph" / "facade" / "tensorflow_names.tsv").read_text() == write_names.packaged()


def test_aliases_mean_the_same_thing():
    from jitgraph.facade.aliases import ALIASES

    for prefix, entries in ALIASES.items():
        for entry in entries.split():
            name, _, same_as = entry.partition("=")
            full = f"{prefix}.{name}" if prefix else name
            if (same_as or name) in names.table():
                assert names.table()[full] == names.table()[same_as or name], full
