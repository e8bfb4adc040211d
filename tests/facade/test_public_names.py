"""The facade: one table of names, resolved when they are used."""
import importlib
import pkgutil
import subprocess
import sys

import pytest

from jitgraph.facade import contrib_modules, names, namespaces, tensorflow_modules

ANSWERED_BY_A_SENTENCE = {"keras"}


def test_every_line_of_the_tables_names_what_is_there(tf):
    """A line that names a module or attribute that is not there is a mistake: programs are told that the name is not here yet."""
    wrong = {}
    for name, place in names.table().items():
        module, _, attribute = place.partition(":")
        try:
            getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            wrong[name] = f"{place}: {error}"
    assert wrong == {}


def test_every_place_of_inner_modules_is_there():
    """A place is a public namespace, or a module of this project behind a colon."""
    tables = [*tensorflow_modules.PYTHON_MODULES.values(), {"": tensorflow_modules.CORE_PLACES}, tensorflow_modules.PYTHON_PLACES,
              contrib_modules.CONTRIB_PLACES]
    places = {place for table in tables for text in table.values() for place in text.split()}
    known = {*names.namespaces(), "raw_ops", "compat", "compat.v1"}
    for place in places - known:
        if place.startswith(":"):
            importlib.import_module(place[1:])
    assert {place for place in places - known if not place.startswith(":")} == ANSWERED_BY_A_SENTENCE


def test_importing_takes_no_numpy():
    code = "import sys, jitgraph; print([m for m in sys.modules if m == 'numpy' or m.startswith('jitgraph.')])"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("name, text", [
    ("reduce_sums", "did you mean tf.reduce_sum?"), ("lite", "convert it with TensorFlow"), ("zzz", "see dir(tf)")])
def test_unknown_names_are_answered_in_one_sentence(tf, name, text):
    with pytest.raises(AttributeError) as caught:
        getattr(tf, name)
    assert text in str(caught.value) and "\n" not in str(caught.value)
    assert not hasattr(tf, name)


def test_namespaces(tf):
    assert tf.nn.softmax is names.resolve("nn.softmax") and "softmax" in dir(tf.nn)
    assert tf.errors.NotFoundError.code == tf.errors.NOT_FOUND == 5
    assert tf.bool.name == "bool" and tf.newaxis is None and "placeholder" in dir(tf)
    with pytest.raises(AttributeError, match=r"tf\.nn\.softmaxx is not there: did you mean tf\.nn\.softmax"):
        tf.nn.softmaxx


def test_python_adds_no_guess_of_its_own(tf):
    """The traceback ends with our sentence, once."""
    code = "import jitgraph as tf; tf.contrib.absent"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("AttributeError: tf.contrib.absent is not in jitgraph yet.")
    assert "mean" not in done.stderr


@pytest.mark.parametrize("namespace", ["train", "nn", "saved_model", "test", "errors"])
def test_dir_and_vars_list_the_names_of_a_namespace(tf, namespace):
    module = getattr(tf, namespace)
    listed = set(names.namespaces()[namespace])
    assert listed <= set(dir(module)) and listed <= set(vars(module)) and set(module.__all__) == listed


def test_versions(tf):
    from importlib.metadata import version

    assert tf.__version__ == tf.VERSION == tf.version.VERSION == "1.15.5" != version("jitgraph")
    assert tf.GIT_VERSION == tf.__git_version__ == tf.version.GIT_VERSION and tf.__compiler_version__ == tf.COMPILER_VERSION
    major, minor, _ = (int(part) for part in tf.__version__.split("."))      # as programs read it
    assert (major, minor) >= (1, 4)


def test_no_module_hides_a_public_name():
    """Importing ``jitgraph.x`` puts the module in the place of ``tf.x``: so it must be no public name, or answer for it."""
    import jitgraph

    for name in (module.name for module in pkgutil.iter_modules(jitgraph.__path__) if module.name != "__main__"):
        assert name not in names.table(), name
        if name in names.namespaces()[""]:
            assert namespaces.answers(importlib.import_module(f"jitgraph.{name}")), name


def test_modules_in_the_place_of_a_namespace_have_its_names():
    """Importing ``jitgraph.contrib.slim.evaluation`` puts it into its package, where the namespace was."""
    for prefix, inside in names.namespaces().items():
        if prefix and namespaces.is_module(prefix):
            module = importlib.import_module(f"jitgraph.{prefix}")
            assert [name for name in inside if not hasattr(module, name)] == [], prefix


def test_table_has_no_name_twice():
    from jitgraph.facade.names_formats import FILES
    from jitgraph.facade.names_numeric import NUMERIC
    from jitgraph.facade.names_ops import OPS

    tables = [*names.TABLE.values(), *OPS.values(), *NUMERIC.values(), *FILES.values()]
    listed = [entry.partition("=")[0] for entries in tables for entry in entries.split()]
    assert sorted(listed) == sorted(set(listed))
